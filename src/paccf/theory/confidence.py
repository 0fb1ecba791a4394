"""Radii that hold at all sample counts at once: the paper's union bound, and tighter ones with its promise.

Every boundary here answers two questions. ``interval(observations)`` is where the conditional mean of the
draws lies; over the whole frontier and all n together it is wrong with probability at most delta. Analytic
boundaries also give ``radius(n)``, half the interval's width, which depends on the count alone and takes the
place of u_stat. Bias is not in them: add L per candidate, 2L for a difference of two.

All of these assume conditionally sigma^2-sub-Gaussian residuals; paccf.theory.betting assumes bounds instead.
Needs SciPy (the ``lab`` extra).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeVar

import numpy as np
from scipy.special import lambertw, zeta

from paccf.theory.arguments import count, finite, positive, probability
from paccf.theory.radius import u_stat


class Boundary(Protocol):
    """Anything that turns the draws of one candidate into an interval for their conditional mean."""

    def interval(self, observations: Sequence[float]) -> tuple[float, float]: ...


@dataclass(frozen=True)
class Analytic(ABC):
    """A boundary whose width depends on the count alone. Refuses bad sigma, arms, delta with ValueError."""

    sigma: float
    arms: int
    delta: float

    # certified deletion: radii * radius(n) < gap - 4L - epsilon
    radii: ClassVar[int] = 4  # two for the interval test, two for the means' own deviations

    def __post_init__(self) -> None:
        positive("sigma", self.sigma), count("arms", self.arms), probability("delta", self.delta)

    @abstractmethod
    def radius(self, n: float) -> float:
        """Half the width of the interval after n draws. Refuses n < 1."""

    def interval(self, observations: Sequence[float]) -> tuple[float, float]:
        """Mean of the draws, plus and minus radius(their number). Refuses none at all, and NaN."""
        count("the number of observations", len(observations))
        mean = finite("the mean of the observations", float(np.mean(observations)))
        r = self.radius(len(observations))
        return mean - r, mean + r


@dataclass(frozen=True)
class Union(Analytic):
    """The paper's: delta spread over counts as 6 / (pi^2 n^2) and evenly over candidates: Eq. (ustat_main)."""

    def radius(self, n: float) -> float:
        return u_stat(n, self.sigma, self.arms, self.delta)


@dataclass(frozen=True)
class Stitched(Analytic):
    """Howard, Ramdas, McAuliffe & Sekhon (2021), polynomial stitching, on both sides at alpha / 2.

    radius = sigma k1 sqrt(n l) / n with l = s ln ln(eta n) + ln(zeta(s) / (alpha ln^s eta)) and
    k1 = (eta^1/4 + eta^-1/4) / sqrt 2, intrinsic time n, alpha = delta / (2K).
    """

    eta: ClassVar[float] = 2.0  # eta = 2, s = 1.4: the defaults of the authors' confseq package
    s: ClassVar[float] = 1.4

    def radius(self, n: float) -> float:
        count("n", n)
        alpha = self.delta / (2 * self.arms)
        constant: float = math.log(zeta(self.s) / (alpha * math.log(self.eta) ** self.s))
        k1: float = (self.eta**0.25 + self.eta**-0.25) / math.sqrt(2)
        return self.sigma * k1 * math.sqrt((self.s * math.log(math.log(self.eta * n)) + constant) / n)


_SMALL = 1e-150  # its square still is a normal double


def mixture_radius(n: float, sigma: float, alpha: float, n0: float) -> float:
    """Robbins' two-sided normal mixture at level alpha, narrowest near n = n0 and valid at every n.

    sigma sqrt((n + rho) ln((n + rho) / (rho alpha^2))) / n, rho = n0 / (-W_-1(-alpha^2 / e) - 1).
    """
    rho = n0 / (_minus_w(alpha) - 1)
    return sigma * math.sqrt((n + rho) * (math.log1p(n / rho) - 2 * math.log(alpha))) / n


def _minus_w(alpha: float) -> float:
    """-W_-1(-alpha^2 / e), also where that square is too small for a double: the w with w = 1 - 2 ln alpha + ln w."""
    if alpha > _SMALL:
        return -float(lambertw(-(alpha**2) / math.e, -1).real)
    known = 1 - 2 * math.log(alpha)
    w = known
    for _ in range(10):  # each step divides the error by w > 600
        w = known + math.log(w)
    return w


@dataclass(frozen=True)
class Mixture(Analytic):
    """Robbins' normal mixture at delta / K. ``n0`` is the count one expects; a poor one costs width only."""

    n0: float = 100.0

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("n0", self.n0)

    def radius(self, n: float) -> float:
        return mixture_radius(count("n", n), self.sigma, self.delta / self.arms, self.n0)


@dataclass(frozen=True)
class Pairwise(Mixture):
    """The same for differences b_i - b_j of candidates with equal counts, over all K(K-1)/2 pairs.

    A difference of independent draws has variance proxy 2 sigma^2 (less, when repeats share noise) and bias
    within 2L, so deletion is certified once 2 radius(n) < gap - 4L - epsilon. ``interval`` takes the
    differences, draw by draw. Refuses a frontier of one, which has no pairs.
    """

    radii: ClassVar[int] = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.arms < 2:
            raise ValueError(f"arms is {self.arms}; a difference needs 2 or more")

    def radius(self, n: float) -> float:
        pairs = self.arms * (self.arms - 1) / 2
        return mixture_radius(count("n", n), math.sqrt(2) * self.sigma, self.delta / pairs, self.n0)


def analytic(sigma: float, arms: int, delta: float, n0: float = 100.0) -> dict[str, Analytic]:
    """All four by name, the paper's first; no pairwise on a frontier of one."""
    found = {
        "union": Union(sigma, arms, delta),
        "stitched": Stitched(sigma, arms, delta),
        "mixture": Mixture(sigma, arms, delta, n0),
    }
    return {**found, "pairwise": Pairwise(sigma, arms, delta, n0)} if arms > 1 else found


_SCAN = 64  # radii are decreasing from here on for every admissible delta; below, every count is tried
_MOST = 2**60


def least_draws(boundary: Analytic, room: float) -> float:
    """The smallest count with radii * radius(n) < room, room = gap - 4L - epsilon; infinity for room <= 0.

    Also infinite beyond 2^60 draws, where a double no longer tells counts apart.
    """
    finite("room", room)

    def enough(n: int) -> bool:
        return boundary.radii * boundary.radius(n) < room

    if room <= 0 or not enough(_MOST):
        return math.inf
    for n in range(1, _SCAN + 1):
        if enough(n):
            return n
    low, high = _SCAN, 2 * _SCAN
    while not enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


Tuned = TypeVar("Tuned", bound=Mixture)


def tuned(kind: type[Tuned], sigma: float, arms: int, delta: float, room: float) -> Tuned:
    """A mixture whose n0 is the count it then needs for this room: the fixed point, reached by iteration.

    That is the best n0 for this room. It may use the room only because the room is known before any draw; a
    value chosen by looking at the scores would void the promise. Refuses room <= 0, where no count is enough.
    """
    positive("room", room)
    n0 = 100.0
    for _ in range(100):  # settles within ten; the bound guards a two-step cycle between neighbours
        n = least_draws(kind(sigma, arms, delta, n0), room)
        if n in (n0, math.inf):
            break
        n0 = n
    return kind(sigma, arms, delta, n0)


def compare(room: float, sigma: float, arms: int, delta: float) -> dict[str, float]:
    """least_draws by each boundary of ``analytic``, mixtures tuned for this room; infinity for room <= 0."""
    found = {}
    for name, boundary in analytic(sigma, arms, delta).items():
        if isinstance(boundary, Mixture) and room > 0:
            boundary = tuned(type(boundary), sigma, arms, delta, room)
        found[name] = least_draws(boundary, room)
    return found
