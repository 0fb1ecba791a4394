"""What `paccf search` is asked for, checked: a plan; and the plan carried out."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from paccf.cli import drawing
from paccf.cli.output import BadInput, lab
from paccf.cli.settings import configured, known
from paccf.domains.oracles import oracle_for, refusal
from paccf.domains.registry import has
from paccf.domains.sources import Split
from paccf.domains.versions import prompts_of
from paccf.method.admission import ScoreGap
from paccf.method.certificate import BrokenCertificate, Certificate, MismatchedCertificate
from paccf.models.live import CeilingReached
from paccf.models.opening import fingerprint as model_fingerprint
from paccf.models.opening import opened
from paccf.models.pace import Spent
from paccf.models.simulated import ProfileError, profiles, simulated
from paccf.models.spec import ModelSpec, SpecError
from paccf.search.controllers import controller, controllers
from paccf.search.driver import Search, Watch, run, run_async, search
from paccf.search.effects import Controller, Setting
from paccf.search.fingerprint import fingerprint
from paccf.search.scoring import Scoring
from paccf.search.trace import Arm, Trace
from paccf.search.tree import Task
from paccf.search.world import Model, ModelFailure, World

MANY = 1 << 20


@dataclass(frozen=True, slots=True)
class Plan:
    """Searches to run: all that decides their outcome."""

    domain: str
    settings: Mapping[str, Any]  # of the world
    world: World
    tasks: tuple[Task, ...]
    controller: str
    make: Callable[[Setting], Controller]
    scoring: Scoring
    arm: Arm
    model: ModelSpec
    budget: int
    seed: int
    fingerprint: dict[str, str]
    promise: str = ""  # what stands behind the margin, in words
    overrides: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()  # what has to be said of every figure that comes of these searches

    @property
    def title(self) -> str:
        """The controller's name in the paper."""
        return controllers()[self.controller].title

    @property
    def model_name(self) -> str:
        """Who answers, as outputs say it."""
        return self.fingerprint["model"].rpartition("@")[0]

    def simulated(self) -> Model:
        """The model of a simulated plan."""
        return simulated(self.domain, self.model.profile, self.seed, self.model.latency_ms, **self.settings)

    def searches(
        self,
        watch: Watch | None = None,
        sent: Callable[[Spent], None] | None = None,
        around: Callable[[Search], Search] = lambda search: search,
        tape: str | None = None,
    ) -> Iterator[Trace]:
        """Run them: on the simulated model one after the other, on a real one all at once if nobody watches; in the
        order of the tasks either way. ``sent`` is told at the end what went over the wire; ``around`` is put around
        every search. ``tape`` is a record whose answers are not asked for again, and that keeps the new ones."""
        begun = [around(self._begun(task, watch)) for task in self.tasks]
        if self.model.simulated:
            answering = self.simulated()
            yield from (run(one, answering) for one in begun)
            return
        with _kept(tape) as through, asyncio.Runner() as runner:
            opening = opened(self.model, self.domain, self.seed, self.settings)
            try:
                model = runner.run(opening.__aenter__())
                taped = through(model)
                try:
                    slots = asyncio.Semaphore(MANY)  # the model itself bounds what is in flight
                    asked = [run_async(one, taped, slots) for one in begun]
                    tasks = [runner.get_loop().create_task(one) for one in asked] if watch is None else asked
                    for one in tasks:
                        yield runner.run(_result(one))
                finally:
                    if tape is not None:
                        runner.run(taped.settled())  # what was sent is paid for: its answers are kept
                    runner.run(opening.__aexit__(None, None, None))
            except (ModelFailure, CeilingReached) as error:
                raise BadInput(str(error)) from None
            if sent is not None:
                sent(model.pace.spent)  # type: ignore[attr-defined]

    def _begun(self, task: Task, watch: Watch | None) -> Search:
        return search(
            task,
            self.world,
            self.make,
            arm=self.arm,
            scoring=self.scoring,
            budget=self.budget,
            seed=self.seed,
            watch=watch,
        )


def plan(
    *,
    domain: str,
    world_pairs: tuple[str, ...],
    texts: tuple[str, ...],
    count: int | None,
    source: str,
    split: Split,
    skip: int,
    data: str | None,
    name: str,
    settings: tuple[str, ...],
    scoring: Scoring,
    budget: int,
    seed: int,
    model: ModelSpec,
    arm: str | None,
    margin: str | None,
    certificate: str | None,
    override: str | None,
) -> Plan:
    """Check everything that was asked for before anything runs. Raises `BadInput`."""
    given = drawing.settings(domain, world_pairs)
    world = drawing.place(domain, given)
    known(name, drawing.stated(controllers), "controller")
    answering = _model(model)
    caveats: tuple[str, ...] = tuple(getattr(world, "caveats", ()))
    notes = caveats
    if model.simulated:
        said = drawing.stated(lambda: simulated(domain, model.profile, seed, **given)).note
        caveats += (f"the model is SIMULATED, {said}" if said else "the model is SIMULATED",)
        notes = caveats if said else notes  # every output begins with its name anyway
    make = controller(name, **configured(name, settings))
    config = make.keywords["config"]  # type: ignore[attr-defined]
    matched = fingerprint(world, name, config, scoring, answering, prompts_of(world))
    gap: ScoreGap | None = None
    promise = ""
    overrides: tuple[str, ...] = ()
    calibrated: frozenset[str] = frozenset()
    if margin is not None and certificate is not None:
        raise BadInput("give --margin or --certificate, not both: a certificate holds its margin")
    if override is not None and certificate is None:
        raise BadInput("--override says why a --certificate is used in spite of a mismatch; there is none here")
    if certificate is not None:
        found = _certificate(certificate, matched, budget, override)
        gap, overrides = ScoreGap(found.limit, found.epsilon), tuple(found.overrides)
        promise = f"Q {float(found.q):g}, rank {found.k} of {found.n}"
        calibrated = frozenset(task for task, _ in found.deficits)
    elif margin is not None:
        gap, promise = _margin(margin), "by hand, no promise"
    if (count is None) == (not texts):
        raise BadInput(f"say what to search on: --task '{drawing.example(domain)}' (repeatable), or --tasks N by seed")
    if count is None and (skip or split != "all"):
        raise BadInput("--skip and --split are about tasks that --tasks draws; there are none here")
    if count is None:
        tasks = drawing.named(domain, texts, source, data, seed)
    else:
        tasks = drawing.drawn(
            domain, count, source=source, split=split, seed=seed, skip=skip, data=data, without=calibrated
        )
    if model.simulated and has(domain, "oracle") and (why := refusal(oracle_for(world), tasks)):
        raise BadInput(f"the simulated model needs exact knowledge: {why}")
    if used := len({task.id for task in tasks} & calibrated):
        notes += (f"{used} of these tasks calibrated the margin; its promise is for new ones",)
    return Plan(
        domain,
        given,
        world,
        tasks,
        name,
        make,
        scoring,
        _arm(arm, gap),
        model,
        budget,
        seed,
        matched,
        promise,
        overrides,
        notes,
        caveats,
    )


def _model(spec: ModelSpec) -> str:
    """The model's fingerprint, once it is clear that there is such a model."""
    if spec.simulated and not spec.profile.endswith(".toml"):
        known(spec.profile, profiles(), "profile")
    try:
        return model_fingerprint(spec)
    except (ProfileError, SpecError) as error:
        raise BadInput(str(error)) from None
    except OSError as error:
        raise BadInput(f"cannot read the weights {spec.weights}: {error.strerror or error}") from None


async def _result(trace: Awaitable[Trace]) -> Trace:
    return await trace


@contextmanager
def _kept(tape: str | None) -> Iterator[Callable[[Any], Any]]:
    """What puts a tape before a model: that of the record ``tape``, or none."""
    if tape is None:
        yield lambda model: model
        return
    store = lab("paccf.record.store", "a tape")
    errors = lab("paccf.record.errors", "a tape")
    tapes = lab("paccf.models.tape", "a tape")
    try:
        with store.Store.open(tape) as record:
            yield lambda model: tapes.AsyncTaped(tapes.DurableTape(record, model.fingerprint), model)
    except errors.StoreError as error:
        raise BadInput(str(error)) from None


def _certificate(path: str, matched: dict[str, str], budget: int, override: str | None) -> Certificate:
    try:
        return Certificate.load(path, matched_to=matched, budget=budget, override=override)
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror or error}") from None
    except MismatchedCertificate as error:
        raise BadInput(f"{error}: --override REASON.") from None
    except (BrokenCertificate, ValueError) as error:
        raise BadInput(str(error)) from None


def _margin(text: str) -> ScoreGap:
    try:
        return ScoreGap(math.inf if text.lower() in ("inf", "infinity") else text)
    except (ValueError, ArithmeticError):
        raise BadInput(
            f"--margin {text!r:.40}: a margin is a number of score points, 0 or more, or inf to keep everything"
        ) from None


def _arm(name: str | None, gap: ScoreGap | None) -> Arm:
    name = name or ("native" if gap is None else "paccf")
    if name == "native" and gap is not None:
        raise BadInput("the native arm goes without a margin; --arm shadow shows what the margin would do to it")
    if name != "native" and gap is None:
        raise BadInput(f"the arm {name} needs a margin: --certificate FILE, or --margin N to try one by hand")
    return Arm(name, gap)  # type: ignore[arg-type]
