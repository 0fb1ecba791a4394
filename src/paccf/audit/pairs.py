"""Native and PAC-CF side by side: which tasks are paired, which pairs are in which cohort, and their quantities.

The three cohorts of a domain:
- a task is paired if both arms of every controller have it at every budget, none failed, and nothing excluded it
  (common-task complete case: what is lost for one is lost for all, and nothing is redrawn);
- utility is over all paired tasks;
- workload is over the non-budget-censored pairs (NBC) of each condition: neither arm was ended by the hard budget.
  That conditions on what the intervention may have changed, so the all-task figure always stands beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from paccf.audit.names import CONTROLLERS, DOMAINS, REALIZED, in_order
from paccf.audit.run import Run, Unsupported
from paccf.record.values import Key, Outcome

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

TIE = 1e-12  # Task-Level Paired Statistical Audit: exact ties at this tolerance
ARMS = ("native", "paccf")


@dataclass(frozen=True)
class Pairs:
    """The paired outcomes of one domain. Arrays are indexed [arm, budget, controller, task], arms in the order of
    ``ARMS``; an unknown quantity is NaN."""

    domain: str
    tasks: tuple[str, ...]
    controllers: tuple[str, ...]
    budgets: tuple[int, ...]
    excluded: Mapping[str, str]  # task -> why it is in no pair
    utility: Floats
    censored: Mask
    work: Mapping[str, Floats]  # the realized views
    outcomes: Mapping[tuple[str, int, str, str], Outcome]  # (arm, budget, controller, task)

    @property
    def nbc(self) -> Mask:
        """[budget, controller, task]: neither arm ended by the budget."""
        ended: Mask = self.censored[0] | self.censored[1]
        return ~ended

    @property
    def delta(self) -> Floats:
        """[budget, controller, task]: PAC-CF minus Native utility."""
        gain: Floats = self.utility[1] - self.utility[0]
        return gain

    def at(self, budget: int, controller: str) -> tuple[int, int]:
        """The indices of a condition."""
        return self.budgets.index(budget), self.controllers.index(controller)


def pairs(run: Run) -> dict[str, Pairs]:
    """The paired outcomes of every domain. Raises `Unsupported` if the record has no two arms to compare, or searches
    under more than one seed (then there is no one pair a task)."""
    tests = [o for o in run.outcomes if o.key.phase == "test"]
    if not tests:
        raise Unsupported("the record holds no test searches, only what was scored")
    one_seed(run)
    by_domain: dict[str, list[Outcome]] = {}
    for outcome in tests:
        by_domain.setdefault(outcome.key.domain, []).append(outcome)
    found = {}
    for domain in in_order(by_domain, DOMAINS):
        if made := _paired(domain, by_domain[domain], run):
            found[domain] = made
    if not found:
        raise Unsupported("no domain of the record has both a Native and a PAC-CF arm, so there is nothing to compare")
    if not any(p.tasks for p in found.values()):
        some = next(reason for p in found.values() for reason in p.excluded.values())
        raise Unsupported(f"no task is a complete case of both arms and all controllers, e.g.: {some}")
    return found


def one_seed(run: Run) -> None:
    """Raise `Unsupported` if there is more than one test search of a task, arm and budget."""
    seeds = sorted({o.key.seed for o in run.outcomes if o.key.phase == "test"})
    if len(seeds) > 1:
        raise Unsupported(
            f"the test searches have {len(seeds)} seeds ({seeds[0]}, {seeds[1]}, ...): audit one at a time"
        )


def _arm(key: Key, has_native: bool) -> str | None:
    """A shadow search is a Native one with the margin's opinion noted; it stands in where there is no Native arm."""
    if key.arm == "shadow":
        return None if has_native else "native"
    return key.arm if key.arm in ARMS else None


def _paired(domain: str, outcomes: list[Outcome], run: Run) -> Pairs | None:
    has_native = any(o.key.arm == "native" for o in outcomes)
    found: dict[tuple[str, int, str, str], Outcome] = {}
    for o in outcomes:
        if arm := _arm(o.key, has_native):
            found[arm, o.key.budget, o.key.controller, o.key.task] = o
    if {arm for arm, *_ in found} != set(ARMS):
        return None
    budgets = tuple(sorted({b for _, b, _, _ in found}))
    controllers = in_order((c for _, _, c, _ in found), CONTROLLERS)
    every = sorted({task for *_, task in found})
    excluded = {e.task: e.reason for e in run.exclusions if e.domain == domain}
    for task in every:
        if task not in excluded and (why := _incomplete(found, task, budgets, controllers)):
            excluded[task] = why
    tasks = tuple(task for task in every if task not in excluded)
    shape = (2, len(budgets), len(controllers), len(tasks))
    utility, censored = np.zeros(shape), np.zeros(shape, bool)
    work = {view: np.full(shape, np.nan) for view in REALIZED}
    for a, arm in enumerate(ARMS):
        for b, budget in enumerate(budgets):
            for c, controller in enumerate(controllers):
                for t, task in enumerate(tasks):
                    o = found[arm, budget, controller, task]
                    utility[a, b, c, t] = o.utility
                    censored[a, b, c, t] = o.censored
                    for view, value in realized(o).items():
                        work[view][a, b, c, t] = np.nan if value is None else value
    return Pairs(domain, tasks, controllers, budgets, excluded, utility, censored, work, found)


def realized(outcome: Outcome) -> dict[str, int | None]:
    """The three views of a whole trajectory; tokens are unknown where an answer came without usage."""
    costs = outcome.costs
    return {"requests": costs.total, "net_graph": costs.nodes, "tokens": costs.tokens}


def _incomplete(
    found: Mapping[tuple[str, int, str, str], Outcome],
    task: str,
    budgets: tuple[int, ...],
    controllers: tuple[str, ...],
) -> str:
    """Why a task is no complete case; empty if it is one."""
    for controller in controllers:
        for arm in ARMS:
            for budget in budgets:
                outcome = found.get((arm, budget, controller, task))
                if outcome is None:
                    return f"no {arm} search of {controller} at B{budget} in the record"
                if outcome.end == "failure":
                    return f"technical failure in {controller}, {arm}: {outcome.failure or 'no reason recorded'}"
    return ""
