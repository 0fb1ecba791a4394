"""The spec of an experiment: one TOML file that says what to run, and nothing about where or how fast.

What decides the results is everything but ``[execution]`` (see `identity`): a run folder holds one such spec and goes
on with no other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

from paccf.method.conformal import pac_rank, rank
from paccf.method.scores import exact
from paccf.models.spec import ModelSpec
from paccf.search.controllers import controller
from paccf.search.scoring import Scoring

Count = Annotated[int, msgspec.Meta(ge=1)]
Number = int | float | str  # exact: 0.95, or "19/20"
Arm = Literal["native", "paccf", "shadow"]

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


class SpecError(ValueError):
    """A spec that cannot be run; says which field, and what to write instead."""


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    pass


class Domain(_Table, frozen=True, kw_only=True):
    """One domain: where its tasks come from, how many, and its world's settings.

    - ``source``: a task source of the domain (`paccf tasks` lists them); "" is its default. Calibration and test tasks
      are cut from it by the seed and never overlap. ``calibration_source``: calibrate on another one.
    - ``test``: test tasks. ``calibration``: pool size here, in place of [calibration] tasks; ``exposed`` likewise.
    - ``settings``: of the domain's world, such as horizon.
    - ``exclude``: task id = reason. Left out of both arms and all controllers, predeclared; nothing is redrawn.
    """

    source: str = ""
    calibration_source: str = ""
    test: Count = 100
    calibration: Count | None = None
    exposed: Count | None = None
    settings: dict[str, Any] = {}
    exclude: dict[str, str] = {}


class Certificate(_Table, frozen=True, kw_only=True):
    """Which order statistic becomes the margin. ``rule`` "pac" needs ``delta``: the promise then holds for this very
    margin with confidence 1 - delta. ``epsilon`` widens the gate."""

    q: Number = 0.95
    rule: Literal["marginal", "pac"] = "marginal"
    delta: Number | None = None
    epsilon: Number = 0


class Calibration(_Table, frozen=True, kw_only=True):
    """The calibration stream of every cell: Native runs at ``budget`` with PAC-CF disabled.

    The first ``tasks`` tasks of the stream are run. With ``exposed``, a controller with fewer protected-exposed tasks
    than that goes on along the stream until it has them or ``limit`` tasks were run: its own exposure count decides,
    never a margin and never another controller. ``probe``: requests that a probe may take under each candidate, where
    ``labels`` are "probed".
    """

    budget: Count
    tasks: Count = 80
    exposed: Count | None = None
    limit: Count | None = None  # twice the pool if left out
    labels: Literal["oracle", "found", "probed"] = "oracle"
    probe: Count = 16


class Evaluator(_Table, frozen=True, kw_only=True):
    """How a frontier is proposed and observed, in both arms: R ``repeats`` of microbatches of ``microbatch``
    candidates. ``temperature`` is [model.temperature] evaluate; ``lattice`` rounds every observation to a multiple of
    it (0: as answered)."""

    repeats: Count = 4
    microbatch: Count = 8
    retries: Annotated[int, msgspec.Meta(ge=0)] = 2
    proposer: Literal["list", "sample"] = "list"
    temperature: Annotated[float, msgspec.Meta(ge=0, le=2)] | None = None
    lattice: Annotated[float, msgspec.Meta(ge=0, le=100)] = 0.0


class Execution(_Table, frozen=True, kw_only=True):
    """How fast, never what: may change between one call and the next.

    - ``searches``: searches in flight at once. ``workers``: processes for the simulated model, 0 for one a core.
    - ``tape``: "auto" keeps the answers of real models only; a simulated model is a tape of itself.
    - ``outage``: seconds to wait for an endpoint that does not answer, before the run stops where it is.
    """

    searches: Count = 256
    workers: Annotated[int, msgspec.Meta(ge=0)] = 0
    tape: Literal["auto", "always"] = "auto"
    outage: Annotated[float, msgspec.Meta(ge=0)] = 7200.0


class Spec(_Table, frozen=True, kw_only=True):
    """A whole experiment. ``beyond`` says aloud why test budgets may be larger than the calibration budget; the
    promise does not cover them, and every output and table says so (`Design.caveats`)."""

    name: str
    about: str = ""
    seed: int = 0
    budgets: tuple[Count, ...]
    arms: tuple[Arm, ...] = ("native", "paccf")
    beyond: str = ""
    domains: dict[str, Domain]
    controllers: dict[str, dict[str, Any]]
    calibration: Calibration
    certificate: Certificate = Certificate()
    evaluator: Evaluator = Evaluator()
    model: ModelSpec = ModelSpec()
    execution: Execution = Execution()

    @property
    def largest(self) -> int:
        """The budget of the test searches; the others are their replays."""
        return self.budgets[-1]

    @property
    def needs_margin(self) -> bool:
        return self.arms != ("native",)

    @property
    def promised(self) -> tuple[int, ...]:
        """The test budgets that a margin promises something at: those it was calibrated for."""
        return tuple(b for b in self.budgets if b <= self.calibration.budget)

    @property
    def scoring(self) -> Scoring:
        e = self.evaluator
        return Scoring(e.repeats, e.microbatch, e.retries, e.proposer)

    def pool(self, domain: str) -> tuple[int, int, int | None]:
        """Of the calibration stream: tasks run in any case, at most, and the exposure count that ends it."""
        own, shared = self.domains[domain], self.calibration
        first = own.calibration or shared.tasks
        exposed = own.exposed or shared.exposed
        limit = first if exposed is None else max(first, shared.limit or 2 * first)
        return first, limit, exposed

    def need_n(self) -> int:
        """The fewest exposed tasks that give a finite margin."""
        c, n = self.certificate, 1
        while (rank(n, c.q) if c.delta is None else pac_rank(n, c.q, c.delta)) > n:
            n += 1
        return n


def checked(spec: Spec) -> Spec:
    """``spec`` with the evaluator's temperature in its model, and every setting of its controllers stated, so that no
    other default can take its place later. Raises `SpecError`: types were checked before, this is about sense. Whether
    the tasks are there is asked when they are drawn."""
    _sense(bool(_NAME.fullmatch(spec.name)), "name", "small letters, digits, . _ -, 64 at most")
    _sense(bool(spec.budgets), "budgets", "at least one budget")
    _sense(list(spec.budgets) == sorted(set(spec.budgets)), "budgets", "distinct and in rising order")
    _sense(spec.arms[:1] == ("native",), "arms", '"native" first: every other arm is compared with it')
    _sense(len(set(spec.arms)) == len(spec.arms), "arms", "every arm once")
    _sense(bool(spec.domains), "domains", "at least one, like [domains.game24]")
    _sense(bool(spec.controllers), "controllers", "at least one, like [controllers.uct]")
    _numbers(spec.certificate)
    calibrated = spec.calibration.budget
    if spec.largest > calibrated and spec.needs_margin and not spec.beyond:
        raise SpecError(
            f"budgets: {spec.largest} is over [calibration] budget {calibrated}; a longer search can only have larger "
            'deficits, so the margin promises nothing there. Calibrate at that budget, or write beyond = "the reason"'
        )
    spec = msgspec.structs.replace(spec, controllers={name: stated(name, c) for name, c in spec.controllers.items()})
    for name in spec.domains:
        _, limit, exposed = spec.pool(name)
        _sense(exposed is None or exposed <= limit, f"domains.{name}", f"exposed {exposed} is over the limit {limit}")
    return _warmed(spec)


def configured(name: str, config: Mapping[str, Any]) -> Any:
    """The controller ``name`` with its config bound. Raises `SpecError`."""
    try:
        make: Any = controller(name)
    except ValueError as error:
        raise SpecError(f"controllers: {error}") from None
    kind = type(make.keywords["config"])
    _refuse(f"controllers.{name}", config, kind.__dataclass_fields__)
    try:
        return controller(name, **vars_of(msgspec.convert(dict(config), kind, strict=False)))
    except (msgspec.ValidationError, ValueError) as error:
        raise SpecError(f"controllers.{name}: {error}") from None


def stated(name: str, config: Mapping[str, Any]) -> dict[str, Any]:
    """Every setting of the controller ``name``, as a spec writes it. Raises `SpecError`."""
    settings = vars_of(configured(name, config).keywords["config"])
    try:
        found: dict[str, Any] = msgspec.to_builtins(settings)
    except TypeError as error:
        raise SpecError(f"controllers.{name}: a setting that no spec can state: {error}") from None
    return found


def vars_of(config: Any) -> dict[str, Any]:
    """The fields of a slotted dataclass, not converted."""
    return {name: getattr(config, name) for name in config.__dataclass_fields__}


def identity(spec: Spec) -> dict[str, Any]:
    """Of a spec, all that decides results: what two calls on one folder have to agree on."""
    fields: dict[str, Any] = msgspec.to_builtins(spec)
    del fields["execution"]
    for name in ("concurrency", "ceilings", "patience", "prices", "key_env", "threads", "latency_ms"):
        fields["model"].pop(name, None)
    return fields


def _numbers(c: Certificate) -> None:
    for field in ("q", "delta", "epsilon"):
        value = getattr(c, field)
        if value is None:
            continue
        try:
            number = exact(value)
        except (ValueError, ArithmeticError, TypeError):
            raise SpecError(f"certificate.{field}: {value!r:.40} is no number") from None
        low, high = (0, None) if field == "epsilon" else (0, 1)
        inside = number >= low if high is None else low < number < high
        _sense(inside, f"certificate.{field}", "0 or more" if high is None else "between 0 and 1")
    if (c.rule == "pac") != (c.delta is not None):
        raise SpecError('certificate.delta: goes with rule = "pac", and rule = "pac" with it')


def _warmed(spec: Spec) -> Spec:
    warmth, stated = spec.evaluator.temperature, spec.model.temperature
    if warmth is None:
        return spec
    replaced = msgspec.structs.replace(stated, evaluate=warmth)
    return msgspec.structs.replace(spec, model=msgspec.structs.replace(spec.model, temperature=replaced))


def _sense(holds: bool, field: str, wanted: str) -> None:
    if not holds:
        raise SpecError(f"{field}: {wanted}")


def _refuse(place: str, table: Mapping[str, Any], known: Any) -> None:
    from difflib import get_close_matches

    for key in table:
        if key not in known:
            near = get_close_matches(str(key), list(known), n=1, cutoff=0.5)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise SpecError(f"{place}.{key} is unknown.{hint} Known here: {', '.join(known)}")
