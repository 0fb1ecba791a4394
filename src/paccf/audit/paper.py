"""The paper's printed rows as an audit, so that its macros come from the same code as those of a run.

Rows carry no tasks, no traces and no tokens of single searches: what needs them is `Unsupported`. All-task reductions
are printed for the mean over domains only; without ToolTree they follow from it, (5 All - ToolTree) / 4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from paccf.audit.audit import Audit, Cohort, ConditionInterval, Need, Scope
from paccf.audit.bootstrap import paired_interval
from paccf.audit.cells import Cell, Condition, Macro, Totals
from paccf.audit.checks import Check, Findings
from paccf.audit.names import CONTROLLERS, DOMAINS
from paccf.audit.pairs import Floats, Pairs
from paccf.audit.resample import Interval
from paccf.audit.run import Run, Unsupported
from paccf.audit.traced import Traced
from paccf.published import Check as Finding
from paccf.published import Verdict, check, load, recovered_counts
from paccf.published.cells import conditions
from paccf.published.tables import Paper as Tables
from paccf.published.text import BUDGETS, TEST_TASKS
from paccf.record.values import RunInfo

_INFO = RunInfo("paper", "{}", "deepseek-v4-flash", False, {})
_VIEWS = {"requests": "preq", "net_graph": "net_graph", "tokens": "token"}
_BUDGETS = {int(b[1:]): b for b in BUDGETS}


class Paper(Audit):
    """See the module."""

    def __init__(self) -> None:
        super().__init__(Run(_INFO, (), lambda domain, controller, tasks=None: (), where="the paper's printed tables"))
        self._paper = load()

    def require(self, need: Need) -> None:
        if need == "trees":
            assert self.gross_cells
        elif need == "traces":
            assert self.traced
        elif need != "cells" and need != "nothing":
            assert self.pairs

    @cached_property
    def pairs(self) -> dict[str, Pairs]:
        raise Unsupported("the paper prints conditions, not tasks")

    @property
    def domains(self) -> tuple[str, ...]:
        return tuple(DOMAINS)

    def controllers(self, domain: str) -> tuple[str, ...]:
        return tuple(CONTROLLERS)

    @property
    def budgets(self) -> tuple[int, ...]:
        return tuple(_BUDGETS)

    @cached_property
    def cells(self) -> Mapping[Condition, Cell]:
        printed, counts = conditions(self._paper), recovered_counts(self._paper)
        found = {}
        for domain, theirs in DOMAINS.items():
            for controller, name in CONTROLLERS.items():
                for budget, b in _BUDGETS.items():
                    row = printed[theirs, b, name]
                    pairs = counts.get((theirs, b, name), [])
                    rescues, regressions = pairs[0] if len(pairs) == 1 else (0, 0)
                    found[domain, controller, budget] = Cell(
                        tasks=TEST_TASKS[theirs],
                        n_eff=row.n_eff,
                        native=_mean(self._paper, theirs, b, name, "native"),
                        paccf=_mean(self._paper, theirs, b, name, "pac_cf"),
                        gain=float(row.utility.mid),
                        rescues=rescues,
                        regressions=regressions,
                        nbc={
                            view: _saved(float(row.measure(m).mid), float(row.tok_native.value * 10**6))
                            for view, m in _VIEWS.items()
                        },
                        every={view: Totals(None, None) for view in _VIEWS},
                        binary=domain != "gta",
                    )
        return found

    @cached_property
    def gross(self) -> dict[str, dict[str, Floats]]:
        raise Unsupported("the paper prints gross views of some conditions only")

    @cached_property
    def gross_cells(self) -> Mapping[Condition, Cell]:
        raise Unsupported("the paper prints gross views of some conditions only")

    def macro(
        self, quantity: str, budget: int, cohort: Cohort = "nbc", scope: Scope = "every", domain: str | None = None
    ) -> Macro:
        if cohort == "nbc" or quantity not in _VIEWS:
            return super().macro(quantity, budget, cohort, scope, domain)
        if domain is not None or scope == "tooltree":
            return Macro(None, 0)
        row = self._paper.budget_censor_sensitivity.find(budget=_BUDGETS[budget])
        every = float(getattr(row, f"{_VIEWS[quantity]}_all").value)
        if scope == "every":
            return Macro(every, len(DOMAINS) * len(CONTROLLERS))
        # ToolTree ends by itself; where one of its pairs is censored all the same, take it where none is
        whole = next(b for b in self.budgets if b >= budget and self._whole("tooltree", b))
        one = super().macro(quantity, whole, "nbc", "tooltree").value
        assert one is not None
        return Macro((len(CONTROLLERS) * every - one) / (len(CONTROLLERS) - 1), len(DOMAINS) * (len(CONTROLLERS) - 1))

    def _whole(self, controller: str, budget: int) -> bool:
        cells = [self.cells[domain, controller, budget] for domain in self.domains]
        return all(cell.n_eff == cell.tasks for cell in cells)

    def interval(self, quantity: str, budget: int, cohort: Cohort = "nbc", where: str = "every") -> Interval | None:
        """None: printed rows carry no tasks to resample."""
        return None

    @cached_property
    def traced(self) -> dict[tuple[str, str], Traced]:
        raise Unsupported("the paper prints no traces")

    @cached_property
    def contradictions(self) -> Findings:
        """The printed tables held against each other."""
        kinds: dict[str, list[Finding]] = {}
        for found in check(self._paper).checks:
            kinds.setdefault(found.kind, []).append(found)
        return Findings(tuple(Check(kind, len(made), tuple(_differing(made))) for kind, made in kinds.items()))

    @cached_property
    def condition_intervals(self) -> dict[Condition, ConditionInterval]:
        """The binary conditions, from the rescues and regressions that their printed intervals identify."""
        found = {}
        for at in self.conditions():
            cell = self.cells[at]
            if cell.binary:
                ends = paired_interval(cell.rescues, cell.regressions, cell.tasks)
                found[at] = ConditionInterval(Interval(*ends), True)
        return found


def _differing(made: list[Finding]) -> Iterator[str]:
    for found in made:
        if found.verdict is Verdict.DIFFERS:
            yield f"{found.where}: printed {found.printed}, by other printed figures {found.recomputed}"


def _mean(paper: Tables, domain: str, budget: str, controller: str, arm: str) -> float:
    """The mean utility of an arm: a share of solved tasks, or Avg3."""
    if domain == "GTA":
        row = paper.raw_gta.find(budget=budget, controller=controller)
        return float(getattr(row, f"{arm}_avg3").value)
    table = paper.raw_game24 if domain == "Game24" else paper.raw_blocksworld
    return float(getattr(table.find(budget=budget, controller=controller), f"{arm}_succ").value / TEST_TASKS[domain])


def _saved(percent: float, native: float) -> Totals:
    """Totals with the printed reduction; only those of tokens are printed too, so the others have that scale."""
    return Totals(native, native * (1 - percent / 100))
