"""Checks of the calibration: ranks, bounds, margins, and whether calibration and test tasks look alike."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from paccf.method.tails import fisher_exact
from paccf.published.figure import Span
from paccf.published.finding import Check, Where, counted, determined, repeated, stated
from paccf.published.tables import Paper
from paccf.published.text import BLOCKSWORLD_EXPOSED, LEAST_TASKS, POOL, Q

# Ours: two exposure rates are called different below this two-sided p-value (.05 over the five comparisons)
ALIKE = Fraction(1, 100)


def ranks(paper: Paper) -> Iterator[Check]:
    """Each rank is ceil(Q (n + 1)), each bound 1 - k / (n + 1); both margin tables agree."""
    for row in paper.calibration_rank_audit:
        n, k = row.n.count, row.k_95.count
        name = f"{row.domain} {row.controller}"
        rank = -(-(n + 1) * Q.numerator // Q.denominator)
        at = Where("calibration_rank_audit", name, "k_95")
        yield counted("rank", f"rank ceil(.95 ({n} + 1))", at, row.k_95, rank)
        bound = Span.exact(100 * (1 - Fraction(k, n + 1)))
        at = Where("calibration_rank_audit", name, "bound_pct")
        yield determined("rank bound", f"bound 1 - {k}/{n + 1} in percent", at, row.bound_pct, bound)
        margin = paper.q95_l_main.find(domain=row.domain, controller=row.controller).margin
        at = Where("calibration_rank_audit", name, "margin")
        yield repeated("margin", "margin as in the main text", at, row.margin, margin)


def pools(paper: Paper) -> Iterator[Check]:
    """Exposed tasks fit into their pool, and are enough for a finite margin."""
    for row in paper.calibration_rank_audit:
        n = row.n.count
        at = Where("calibration_rank_audit", f"{row.domain} {row.controller}", "n")
        if row.domain in POOL:
            pool = POOL[row.domain]
            holds = LEAST_TASKS <= n <= pool
            yield stated("pool", f"{LEAST_TASKS} <= exposed <= pool", at, row.n.text, f"pool {pool}", holds)
        else:
            yield counted("pool", "50 exposed tasks in every cell", at, row.n, BLOCKSWORLD_EXPOSED)


def exposure(paper: Paper) -> Iterator[Check]:
    """Calibration and test tasks expose a protected frontier at one rate, by Fisher's exact test."""
    for row in paper.adaptive_oracle_audit:
        if row.domain != "Game24" or row.controller == "pooled":
            continue
        n = paper.calibration_rank_audit.find(domain="Game24", controller=row.controller).n.count
        test, pool = row.exposed.count, POOL["Game24"]
        p = Fraction(fisher_exact(n, pool, test, 100))
        what = "same share of exposed tasks in the calibration pool and in the test set"
        at = Where("calibration_rank_audit", f"Game24 {row.controller}", "n")
        printed = f"{n}/{pool} and {test}/100"
        yield stated("exposure", what, at, printed, f"Fisher p = {float(p):.1e}", p >= ALIKE)
