"""What the printed tables and the source say that is not a wrong figure, but that a reader should know."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from paccf.method.tails import beta_binomial_cdf
from paccf.published.cells import conditions
from paccf.published.figure import decimal
from paccf.published.tables import Paper, load
from paccf.published.text import BINOMIAL_TAIL, BUDGETS, CONTROLLERS, TEST_TASKS


@dataclass(frozen=True, slots=True)
class Remark:
    """A finding that is no discrepancy of figures: its topic, its place in the paper, and what is to be said."""

    topic: str
    place: str
    text: str


def remarks(paper: Paper | None = None) -> tuple[Remark, ...]:
    """All remarks; their figures are computed from the tables."""
    paper = paper or load()
    return (*_source(), *_claims(paper), *_calibration(paper), *_unprinted(paper))


def reference_tails(paper: Paper) -> dict[str, Fraction]:
    """controller -> P(at most as many covered test tasks as observed), under the law of conformal coverage."""
    tails = {}
    for row in paper.zero_api_native_coverage:
        if row.covered is None or row.reconstructed is None or row.covered.count == row.reconstructed.count:
            continue
        cell = paper.calibration_rank_audit.find(domain="Game24", controller=row.controller)
        x, m, k, n = row.covered.count, row.reconstructed.count, cell.k_95.count, cell.n.count
        tails[row.controller] = Fraction(beta_binomial_cdf(x, m, k, n))
    return tails


def _source() -> Iterator[Remark]:
    yield Remark(
        "duplicate label",
        "Main results; Realized workload visualization",
        "The label fig:main_budget_efficiency is defined twice, so that references to it are ambiguous.",
    )
    yield Remark("empty figure", "Main results", "The first of these figures includes no image file.")
    yield Remark(
        "misnamed label",
        "Experiment Protocol Details",
        "The table of five metrics is labelled tab:six_metric_interpretation.",
    )
    yield Remark(
        "unexplained exclusion",
        "Experimental Setup",
        "Blocksworld has 99 test tasks; only for GTA is it said why the number is not 100.",
    )


def _claims(paper: Paper) -> Iterator[Remark]:
    worse = [
        f"{d} {b} {c} {name} {figure}%"
        for (d, b, c), cell in conditions(paper).items()
        for name, figure in (("PReq", cell.preq), ("NetG", cell.net_graph), ("Token", cell.token))
        if figure.value < 0
    ]
    yield Remark(
        "claim needs a qualifier",
        "Abstract",
        "All five workload metrics are said to fall. The two gross ones exist for two of three domains, and single "
        f"conditions rise: {', '.join(worse)}.",
    )
    row = paper.domain_macro_ci.find(domain="Blocksworld", budget="B100")
    yield Remark(
        "claim needs a qualifier",
        "Main results",
        "The workload intervals above zero are those of the three-domain macro: the Blocksworld B100 interval for "
        f"physical requests, [{row.preq_lo}, {row.preq_hi}], contains zero.",
    )


def _calibration(paper: Paper) -> Iterator[Remark]:
    at_max = [r for r in paper.calibration_rank_audit if r.k_95.count == r.n.count]
    cells = ", ".join(f"{r.domain} {r.controller} (n = k = {r.n})" for r in at_max)
    yield Remark(
        "margin at the maximum",
        "Experiment Protocol Details",
        f"The order statistic is the largest deficit only for n from 19 to 38: {len(at_max)} of "
        f"{len(paper.calibration_rank_audit.rows)} margins, {cells}.",
    )
    yield Remark(
        "calibration budget not stated",
        "Experimental Setup",
        "The margins are fixed across budgets, but at which budget they were calibrated is not said. A task's "
        "deficit can only grow with the budget, so a margin earned at B100 promises nothing at B500.",
    )
    tails = ", ".join(f"{c} {decimal(p, 3)}" for c, p in reference_tails(paper).items())
    yield Remark(
        "reference law",
        "Native-trace empirical certificate coverage",
        "The count of covered test tasks is not binomial but beta-binomial(m; k, n + 1 - k), because the margin is "
        f"itself random. The chance of at most the observed count is {tails}; the binomial reference for LevinTS is "
        f"{BINOMIAL_TAIL.printed}. The conclusion stands.",
    )


def _unprinted(paper: Paper) -> Iterator[Remark]:
    total = len(CONTROLLERS) * sum(TEST_TASKS.values())
    sizes = dict.fromkeys(BUDGETS, 0)
    for (_, budget, _), cell in conditions(paper).items():
        sizes[budget] += cell.n_eff
    shares = ", ".join(f"{b} {sizes[b]} ({decimal(Fraction(100 * sizes[b], total), 2)} %)" for b in BUDGETS)
    yield Remark(
        "cohorts", "Main results", f"Non-budget-censored pairs of {total}: {shares}; B200 and B300 are not printed."
    )
    flat = [r for r in paper.per_condition_ci if r.lo.value == r.hi.value == 0]
    binary = sum(r.domain != "GTA" for r in flat)
    yield Remark(
        "degenerate intervals",
        "Per-Condition Paired Utility Intervals",
        f"{len(flat)} of {len(paper.per_condition_ci.rows)} intervals are [0.00, 0.00], {binary} of them of solved "
        "tasks. That no task changed is not certainty: none of 100 still allows a rate of 2.95 % (one-sided 95 %).",
    )
