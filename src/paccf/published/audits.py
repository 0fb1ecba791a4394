"""Checks of the audits and small tables: coverage, survival, the worked example, the controlled check."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from paccf.method.tails import binomial_cdf
from paccf.published.figure import Printed, Span
from paccf.published.finding import Check, Where, counted, determined, repeated, stated
from paccf.published.rows import NativeCoverage
from paccf.published.tables import Paper
from paccf.published.text import BINOMIAL_TAIL, BUDGETS, CONTROLLERS, TEST_TASKS, WORST_CASE, Q


def native_coverage(paper: Paper) -> Iterator[Check]:
    """Coverage of the margin on Native test traces, and the two figures of its note."""
    for row in paper.zero_api_native_coverage:
        at = Where("zero_api_native_coverage", row.controller, "margin")
        margin = paper.q95_l_main.find(domain="Game24", controller=row.controller).margin
        yield repeated("coverage", "margin as calibrated", at, row.margin, margin)
        if row.exposed is None or row.reconstructed is None or row.covered is None:
            continue
        yield from _covered(paper, row, row.exposed.count, row.reconstructed.count, row.covered.count)


def _covered(paper: Paper, row: NativeCoverage, exposed: int, traced: int, covered: int) -> Iterator[Check]:
    at = Where("zero_api_native_coverage", row.controller, "covered")
    holds = covered <= traced <= exposed
    what = "covered <= reconstructed <= exposed"
    yield stated("coverage", what, at, f"{covered} <= {traced} <= {exposed}", "as printed", holds)
    at = Where("zero_api_native_coverage", row.controller, "reconstructed")
    left = 1 if row.controller == "LATS" else 0  # the note: one LATS task is unresolved
    what = "exposed minus unresolved tasks"
    yield stated("coverage", what, at, str(traced), str(exposed - left), traced == exposed - left)
    at = Where("zero_api_native_coverage", row.controller, "coverage_printed")
    share = Span.exact(Fraction(100 * covered, traced))
    yield determined("coverage", "covered / reconstructed in percent", at, _percent(row), share)
    audit = paper.adaptive_oracle_audit.find(domain="Game24", controller=row.controller)
    at = Where("zero_api_native_coverage", row.controller, "exposed")
    holds = audit.exposed.count == exposed
    what = "exposed tasks as in the adaptive audit"
    yield stated("coverage", what, at, str(exposed), audit.exposed.text, holds)
    if row.controller == "LATS":
        at = Where("text", WORST_CASE.place, WORST_CASE.what)
        worst = Span.exact(Fraction(100 * covered, exposed))
        yield determined("coverage", "covered / exposed in percent", at, WORST_CASE.printed, worst)
    if row.controller == "LevinTS":
        at = Where("text", BINOMIAL_TAIL.place, BINOMIAL_TAIL.what)
        tail = Span.exact(Fraction(binomial_cdf(covered, traced, Q)))
        yield determined("coverage", "exact binomial sum", at, BINOMIAL_TAIL.printed, tail)


def thresholds(paper: Paper) -> Iterator[Check]:
    """The offline operating points are the margins, with the same coverage."""
    for row in paper.zero_api_threshold_point:
        native = paper.zero_api_native_coverage.find(controller=row.controller)
        at = Where("zero_api_threshold_point", row.controller, "theta")
        yield repeated("threshold", "threshold is the margin", at, row.theta, native.margin)
        at = Where("zero_api_threshold_point", row.controller, "task_coverage_printed")
        ours, other = row.task_coverage_printed, native.coverage_printed
        yield stated("threshold", "coverage as in the coverage table", at, ours, other, ours == other)


def adaptive(paper: Paper) -> Iterator[Check]:
    """Survival on the adaptive trajectory, and its pooled rows."""
    for row in paper.adaptive_oracle_audit:
        at = Where("adaptive_oracle_audit", f"{row.domain} {row.controller}", "survival_pct")
        share = Span.exact(Fraction(100 * row.no_all_protected_loss.count, row.exposed.count))
        yield determined("adaptive", "survivors / exposed in percent", at, row.survival_pct, share)
    parts = [paper.adaptive_oracle_audit.find(domain="Game24", controller=c) for c in CONTROLLERS]
    pooled = paper.adaptive_oracle_audit.find(domain="Game24", controller="pooled")
    for column in ("exposed", "no_all_protected_loss"):
        figures: list[Printed] = [getattr(part, column) for part in parts]
        at = Where("adaptive_oracle_audit", "Game24 pooled", column)
        total = sum(f.count for f in figures)
        yield counted("adaptive", "sum over the controllers", at, getattr(pooled, column), total)
    blocks = paper.adaptive_oracle_audit.find(domain="Blocksworld")
    every = len(CONTROLLERS) * TEST_TASKS["Blocksworld"]
    at = Where("adaptive_oracle_audit", f"Blocksworld {blocks.controller}", "exposed")
    yield counted("adaptive", "every test task of five controllers", at, blocks.exposed, every)


def case(paper: Paper) -> Iterator[Check]:
    """The worked example: reductions from its counts, and the cap its Native run ends at."""
    for row in paper.qual_case_main:
        if row.reduction_pct is None:
            continue
        native, pac_cf = Printed(row.native).count, Printed(row.pac_cf).count
        at = Where("qual_case_main", row.quantity, "reduction_pct")
        saved = Span.exact(100 * (1 - Fraction(pac_cf, native)))
        yield determined("worked example", "1 - PAC-CF / Native in percent", at, row.reduction_pct, saved)
    requests = paper.qual_case_main.find(quantity="Physical requests")
    at = Where("qual_case_main", "Physical requests", "native")
    holds = Printed(requests.native).count <= 100
    yield stated("worked example", "within its budget B100", at, requests.native, "at most 100", holds)


def controlled(paper: Paper) -> Iterator[Check]:
    """Whether the gap exceeds four biases, and probabilities that are probabilities."""
    for row in paper.safety_ablation_main:
        name = f"L = {row.bias_level_in_delta} Delta"
        at = Where("safety_ablation_main", name, "delta_minus_4l_positive")
        found = "Yes" if 4 * row.bias_level_in_delta.value < 1 else "No"
        printed = row.delta_minus_4l_positive
        yield stated("controlled check", "Delta - 4 L > 0", at, printed, found, printed == found)


def header(paper: Paper) -> Iterator[Check]:
    """The per-condition table has as many column heads as cells in a row (an interval is one cell)."""
    heads = len(paper.per_condition_header.rows)
    cells = len(paper.per_condition_ci.columns) - 1
    at = Where("per_condition_ci", "column heads", "R/G/T")
    what = "as many cells in a row as column heads"
    yield stated("columns", what, at, f"{heads} heads", f"{cells} cells a row", heads == cells)


def configuration(paper: Paper) -> Iterator[Check]:
    """Budgets, controllers and test sets of the frozen configuration are those of the tables."""
    at = Where("frozen_config", "Budgets", "frozen_setting")
    text = paper.frozen_config.find(item="Budgets").frozen_setting
    got = [f"B{b}" for b in re.findall(r"\d+", text)]
    yield stated("configuration", "budgets of the tables", at, text, ", ".join(BUDGETS), got == list(BUDGETS))
    at = Where("frozen_config", "Controllers", "frozen_setting")
    text = paper.frozen_config.find(item="Controllers").frozen_setting
    holds = text.split(", ") == list(CONTROLLERS)
    yield stated("configuration", "controllers of the tables", at, text, ", ".join(CONTROLLERS), holds)
    at = Where("frozen_config", "Primary paired analysis sets", "frozen_setting")
    text = paper.frozen_config.find(item="Primary paired analysis sets").frozen_setting
    sizes = [int(size) for size in re.findall(r"N=(\d+)", text)]
    holds = sizes == [TEST_TASKS["Game24"], TEST_TASKS["GTA"]]
    yield stated("configuration", "test set sizes", at, "N=" + ", N=".join(map(str, sizes)), "100, 99", holds)


def sensitivity(paper: Paper) -> Iterator[Check]:
    """All-task reductions stay positive: the cohort changes their size, not their sign."""
    for row in paper.budget_censor_sensitivity:
        for column in ("preq_all", "net_graph_all", "token_all"):
            printed: Printed = getattr(row, column)
            at = Where("budget_censor_sensitivity", row.budget, column)
            holds = printed.value > 0
            yield stated("all tasks", "all-task reduction is positive", at, printed.text, "above 0", holds)


def _percent(row: NativeCoverage) -> Printed:
    return Printed(row.coverage_printed.partition(" ")[0])
