"""A spec brought to life: worlds, controllers, tasks, and what every cell's margin is matched to.

A cell is one controller in one domain. Equal specs make equal designs, in every process.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from paccf.domains.registry import has, world
from paccf.domains.versions import prompts_of
from paccf.experiment.lattice import on_lattice
from paccf.experiment.spec import Spec, SpecError, configured
from paccf.models.opening import fingerprint as model_fingerprint
from paccf.record.values import Exclusion
from paccf.search.controllers import controllers
from paccf.search.effects import Controller, Setting
from paccf.search.fingerprint import fingerprint
from paccf.search.tree import Task
from paccf.search.world import World

if TYPE_CHECKING:
    from paccf.domains.probing import Probe
    from paccf.domains.sources import Split


class Cell(NamedTuple):
    """One controller in one domain: what has a margin of its own."""

    domain: str
    controller: str

    def __str__(self) -> str:
        return f"{self.domain} {title(self.controller)}"


def title(controller: str) -> str:
    """A controller's name in the paper."""
    return controllers()[controller].title


class Design:
    """What `spec` says, made. Raises `SpecError` at once for a domain, a setting or a model that cannot be made; tasks
    are drawn when they are first asked for, from the data in the folder ``data``."""

    def __init__(self, spec: Spec, data: str | None = None) -> None:
        self.spec, self.data = spec, data
        self.cells = tuple(Cell(d, c) for d in spec.domains for c in spec.controllers)
        try:
            self.worlds: dict[str, World] = {name: self._world(name) for name in spec.domains}
            self.model = model_fingerprint(spec.model)
            self.prompts = {name: prompts_of(made) for name, made in self.worlds.items()}
        except ValueError as error:
            raise SpecError(str(error)) from None
        self.controllers = {name: configured(name, config) for name, config in spec.controllers.items()}

    def _world(self, name: str) -> World:
        return on_lattice(world(name, **self.spec.domains[name].settings), self.spec.evaluator.lattice)

    def controller(self, cell: Cell) -> Callable[[Setting], Controller]:
        made: Callable[[Setting], Controller] = self.controllers[cell.controller]
        return made

    def matched_to(self, cell: Cell) -> dict[str, str]:
        """What the margin of ``cell`` is bound to."""
        config: Any = self.controllers[cell.controller].keywords["config"]
        found = fingerprint(
            self.worlds[cell.domain],
            cell.controller,
            config,
            self.spec.scoring,
            self.model,
            self.prompts[cell.domain],
        )
        lattice = self.spec.evaluator.lattice
        return found | ({"lattice": f"{lattice:g}"} if lattice else {})

    def caveats(self) -> list[str]:
        """What has to be said in every output about these domains, and of budgets that no margin is for."""
        from paccf.domains.labels import CAVEATS

        said = [text for made in self.worlds.values() for text in getattr(made, "caveats", ())]
        said += CAVEATS.get(self.spec.calibration.labels, ())
        over = self.spec.budgets[len(self.spec.promised) :]
        if over and self.spec.needs_margin:
            said.append(
                f"the margins are calibrated at budget {self.spec.calibration.budget} and promise nothing at "
                f"{', '.join(map(str, over))}, which the spec allows for this reason: {self.spec.beyond}"
            )
        if self.spec.model.simulated:
            from paccf.models.simulated import truth_of

            notes = {name: getattr(truth_of(name), "note", "") for name in self.worlds}
            said += [f"{name}: the model is SIMULATED, {note}" for name, note in notes.items() if note]
        return said

    @property
    def probe(self) -> Probe:
        """What labels by probing may take."""
        from paccf.domains.probing import Probe

        return Probe(self.spec.calibration.probe, seed=self.spec.seed)

    @cached_property
    def tests(self) -> dict[str, tuple[Task, ...]]:
        """The test tasks of every domain, the excluded ones left out."""
        return {name: self._drawn(name, "test", d.test, d.test, d.source) for name, d in self.spec.domains.items()}

    @cached_property
    def streams(self) -> dict[str, tuple[Task, ...]]:
        """The calibration stream of every domain, as long as it may become; no test task is in it."""
        found = {}
        for name, domain in self.spec.domains.items():
            source = domain.calibration_source or domain.source
            without = {t.id for t in self.tests[name]} if source != domain.source else ()
            least, most, _ = self.spec.pool(name)
            found[name] = self._drawn(name, "calibration", least, most, source, without)
        return found

    @property
    def predeclared(self) -> list[Exclusion]:
        """What the benchmark itself leaves out, and what the spec does."""
        from paccf.domains.sources import excluded

        found = []
        for name, domain in self.spec.domains.items():
            try:
                every = {**excluded(name, domain.source, self.data), **domain.exclude}
            except ValueError as error:
                raise SpecError(f"domains.{name}: {error}") from None
            found += [Exclusion(name, task, why) for task, why in every.items()]
        return found

    def drawn(self) -> Design:
        """Itself, with every task there. Raises `SpecError` where tasks or their files are missing: before a folder is
        begun, which could go on with no other spec."""
        _ = self.tests, self.predeclared
        if self.spec.needs_margin:
            _ = self.streams
        return self

    def _drawn(
        self, name: str, split: Split, least: int, most: int, source: str, without: Collection[str] = ()
    ) -> tuple[Task, ...]:
        """``most`` tasks, or as many as there are if they are no fewer than ``least``."""
        from paccf.domains.sources import tasks

        left_out = self.spec.domains[name].exclude
        given: dict[str, Any] = {"without": without, "data": self.data}
        try:
            try:
                found = tasks(name, source, split, self.spec.seed, most, **given)
            except ValueError:
                tasks(name, source, split, self.spec.seed, least, **given)
                found = tasks(name, source, split, self.spec.seed, **given)
        except ValueError as error:
            raise SpecError(f"domains.{name}: {error}") from None
        kept = tuple(task for task in found if task.id not in left_out)
        self._known(name, kept)
        return kept

    def _known(self, name: str, drawn: Collection[Task]) -> None:
        """Refuse tasks of which labels, or the simulated model, would need to know what nobody can."""
        from paccf.domains.oracles import oracle_for, refusal

        exact = self.spec.calibration.labels == "oracle"
        if not has(name, "oracle"):
            if exact:
                raise SpecError(f'calibration.labels: "{name}" has no oracle; write "probed", or "found"')
        elif (exact or self.spec.model.simulated) and (why := refusal(oracle_for(self.worlds[name]), drawn)):
            needs = "labels by an oracle need" if exact else "the simulated model needs"
            raise SpecError(f"domains.{name}: {needs} exact knowledge: {why}")
