"""What a true-value gap allows: the four regimes of Table (theory_regimes).

Two different boundaries meet here. At 2L the observations themselves may stop telling two children apart,
whoever looks at them. At 4L + epsilon one particular certificate, the interval rule, stops firing. Between
the two, nothing is promised and nothing is ruled out.
"""

from __future__ import annotations

from enum import Enum

from paccf.theory.arguments import finite, not_negative


class Regime(Enum):
    """One row of Table (theory_regimes); ``value`` is a key for machines, ``consequence`` a sentence."""

    UNNECESSARY = "unnecessary"
    IMPOSSIBLE = "impossible"
    OPEN = "open"
    CERTIFIED = "certified"

    @property
    def condition(self) -> str:
        """The row's inequality, boundaries as printed."""
        return _ROWS[self][0]

    @property
    def consequence(self) -> str:
        """What follows for a frontier whose gap lies in this row."""
        return _ROWS[self][1]


_ROWS = {
    Regime.UNNECESSARY: ("gap <= eps", "Either child is a right answer."),
    Regime.IMPOSSIBLE: ("eps < gap <= 2L", "At worst, no number of draws can tell which is better."),
    Regime.OPEN: ("max(eps, 2L) < gap <= 4L + eps", "May be told apart, but no deletion is promised: keep both."),
    Regime.CERTIFIED: ("gap > 4L + eps", "Finitely many draws certify the deletion."),
}


def regime(gap: float, L: float, epsilon: float = 0.0) -> Regime:
    """The row that a two-child gap falls in. Refuses a negative or non-finite argument with ValueError."""
    not_negative("gap", gap), not_negative("L", L), not_negative("epsilon", epsilon)
    if gap <= epsilon:
        return Regime.UNNECESSARY
    if gap <= 2 * L:
        return Regime.IMPOSSIBLE
    return Regime.OPEN if gap <= 4 * L + epsilon else Regime.CERTIFIED


def effective_gap(gap: float, L: float) -> float:
    """Theorem (complexity): Delta_eff = Delta - 4L, the separation that bias leaves. May be negative."""
    return finite("gap", gap) - 4 * not_negative("L", L)
