"""Single tasks worth a look, found by rule: the largest rescues and regressions, cheapest first among equals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from paccf.audit.pairs import TIE, Pairs
from paccf.record.values import Outcome


@dataclass(frozen=True, slots=True)
class Case:
    """One task under one controller at one budget, in both arms."""

    domain: str
    controller: str
    budget: int
    task: str
    native: Outcome
    paccf: Outcome

    @property
    def gain(self) -> float:
        """PAC-CF minus Native utility."""
        return self.paccf.utility - self.native.utility

    @property
    def saved(self) -> int:
        """Physical requests that PAC-CF did without."""
        return self.native.costs.total - self.paccf.costs.total


def find(pairs: Mapping[str, Pairs]) -> list[Case]:
    """Every pair whose utilities differ: rescues by gain, then by requests saved, and regressions after them, the
    largest loss first. A task that is a case at several budgets stands at the smallest."""
    found: dict[tuple[str, str, str, bool], Case] = {}
    for domain, p in pairs.items():
        for b, budget in enumerate(p.budgets):
            for c, controller in enumerate(p.controllers):
                for t, task in enumerate(p.tasks):
                    gain = p.delta[b, c, t]
                    if abs(gain) > TIE:
                        both = (p.outcomes[arm, budget, controller, task] for arm in ("native", "paccf"))
                        case = Case(domain, controller, budget, task, *both)
                        found.setdefault((domain, controller, task, gain > 0), case)
    return sorted(found.values(), key=_order)


def _order(case: Case) -> tuple[bool, float, int, int, str, str, str]:
    loss = case.gain < 0
    return loss, -abs(case.gain), -case.saved, case.budget, case.domain, case.controller, case.task
