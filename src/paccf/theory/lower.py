"""What no method can do: Theorem (lower_bound) and Proposition (additive_lower_bound).

Both are statements about Gaussian draws of common variance sigma^2 with bias bounded by L, and about a
learner that is right with probability at least 1 - delta in every admissible world. They bound the expected
number of draws in the worst case, not on your frontier.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from paccf.theory.arguments import finite, not_negative, positive, probability
from paccf.theory.regimes import Regime, regime


def kl(p: float, q: float) -> float:
    """kl(p, q), the divergence between coins of bias p and q, in nats; infinite when q excludes what p has."""
    for name, value in (("p", p), ("q", q)):
        if not 0 <= value <= 1:
            raise ValueError(f"{name} is {value}; give a probability between 0 and 1")
    parts = ((p, q), (1 - p, 1 - q))
    if any(a > 0 and b == 0 for a, b in parts):
        return math.inf
    return sum(a * math.log(a / b) for a, b in parts if a > 0)


@dataclass(frozen=True)
class World:
    """Two children: what they are worth, and the persistent bias of the evaluator on each."""

    values: tuple[float, float]
    biases: tuple[float, float]

    @property
    def observed(self) -> tuple[float, float]:
        """The means that draws converge to; all that a learner can ever find out."""
        return self.values[0] + self.biases[0], self.values[1] + self.biases[1]


def two_worlds(gap: float, L: float, centre: float = 0.0) -> tuple[World, World]:
    """The pair in the proof of Theorem (lower_bound): opposite best children, biases within L.

    The bias pulls the children together by as much as L allows. For gap <= 2L the observed means coincide in
    both worlds, so no data can tell them apart; beyond, a separation of gap - 2L is left.
    """
    pull, half = min(not_negative("L", L), not_negative("gap", gap) / 2), gap / 2
    finite("centre", centre)
    p = World((centre + half, centre - half), (-pull, pull))
    return p, World(p.values[::-1], p.biases[::-1])


def _draws(sigma: float, shift: float, information: float) -> float:
    """Draws that carry ``information`` nats, when one carries at most shift^2 / (2 sigma^2)."""
    ratio = sigma / shift
    return 2 * ratio * ratio * information  # a product overflows to infinity, a power would raise


def two_point_bound(gap: float, sigma: float, delta: float, L: float, epsilon: float = 0.0) -> float:
    """Eq. (two_point_lower_bound_main): 2 sigma^2 kl(1-delta, delta) / (gap - 2L)^2 expected draws at least.

    0 when gap <= epsilon (any answer is right), infinite when epsilon < gap <= 2L (impossible). Refuses
    delta >= 1/2, where a guess would do.
    """
    positive("sigma", sigma), probability("delta", delta, below=0.5)
    row = regime(gap, L, epsilon)
    if row is Regime.UNNECESSARY:
        return 0.0
    if row is Regime.IMPOSSIBLE:
        return math.inf
    return _draws(sigma, gap - 2 * L, kl(1 - delta, delta))


class Standing(Enum):
    """What Proposition (additive_lower_bound) says about one candidate."""

    COUNTED = "counted"  # in the index set I
    UNASSERTED = "no bound asserted"  # gap + epsilon <= 2L: bias can hide the change entirely
    UNNECESSARY = "within epsilon"  # gap <= epsilon: no need to tell it from the best


@dataclass(frozen=True)
class Term:
    """One candidate's part of the sum; ``draws`` is None unless it is counted."""

    gap: float
    standing: Standing
    draws: float | None


@dataclass(frozen=True)
class AdditiveBound:
    """Eq. (additive_lower_bound_main): the terms in the order given, the index set I, and the sum over it."""

    terms: tuple[Term, ...]

    @property
    def index_set(self) -> tuple[int, ...]:
        return tuple(i for i, t in enumerate(self.terms) if t.standing is Standing.COUNTED)

    @property
    def total(self) -> float:
        return math.fsum(t.draws for t in self.terms if t.draws is not None)


def additive_bound(gaps: Sequence[float], sigma: float, delta: float, L: float, epsilon: float = 0.0) -> AdditiveBound:
    """The bound for a frontier whose candidates other than m* have these gaps to it (leave m* out).

    Assumes what the proposition assumes: each counted candidate could, in another admissible world, beat the
    best by more than epsilon. Refuses delta >= 1/2 and negative gaps.
    """
    positive("sigma", sigma), probability("delta", delta, below=0.5)
    not_negative("L", L), not_negative("epsilon", epsilon)
    information = kl(delta, 1 - delta)

    def term(gap: float) -> Term:
        if not_negative("gap", gap) <= epsilon:
            return Term(gap, Standing.UNNECESSARY, None)
        shift = gap + epsilon - 2 * L
        if shift <= 0:
            return Term(gap, Standing.UNASSERTED, None)
        return Term(gap, Standing.COUNTED, _draws(sigma, shift, information))

    return AdditiveBound(tuple(term(float(g)) for g in gaps))
