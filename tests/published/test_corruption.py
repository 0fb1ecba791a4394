"""A wrong first digit of a printed figure is noticed, unless no other printed figure determines it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from paccf.published import Paper, Printed, Verdict, check, load, names
from paccf.published.check import TOPICS, Topic, run
from paccf.published.known import KNOWN

# No other printed figure determines these; a wrong digit there can pass.
UNDETERMINED = {
    "strong_backbone_ci": {"preq_hi", "net_graph_lo", "net_graph_hi", "token_hi"},
    "per_condition_header": {"position"},
    "gross_all_budgets": {"gross_physical_nodes_pct", "gross_virtual_nodes_pct"},  # but for B500 physical
    "budget_censor_sensitivity": {"token_all"},
    "zero_api_threshold_point": {"candidate_prune_pct", "protected_action_prune_pct"},
    "safety_ablation_main": {"bias_level_in_delta", "pruning_pct", "uct_pcs", "pac_cf_pcs"},
}
# With a wrong first digit these two ends are the exact interval of one other pair (R, G): 5/3 and 2/3.
OTHER_PAIR = {("Game24", "B200", "ToolChain*", "hi"), ("Game24", "B300", "ToolChain*", "hi")}
PAPER = load()


class Watch:
    """Stands in for the paper and remembers which tables were asked for."""

    def __init__(self) -> None:
        self.seen: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        self.seen.add(name)
        return getattr(PAPER, name)


def reads(topic: Topic) -> set[str]:
    watch = Watch()
    assert all(run(topic, watch))  # type: ignore[arg-type]
    return watch.seen


READS = {topic: reads(topic) for topic in TOPICS}


def determined(table: str, row: Any, column: str) -> bool:
    if table == "per_condition_ci" and column in ("lo", "hi"):
        return row.domain != "GTA" and (row.domain, row.budget, row.controller, column) not in OTHER_PAIR
    if table == "gross_all_budgets" and column == "gross_physical_nodes_pct":
        return bool(row.budget == "B500")
    return column not in UNDETERMINED.get(table, ())


def figures(table: str) -> Iterator[tuple[int, str, Printed]]:
    for i, row in enumerate(getattr(PAPER, table)):
        for column in getattr(PAPER, table).columns:
            if isinstance(getattr(row, column), Printed) and determined(table, row, column):
                yield i, column, getattr(row, column)


def wrong(figure: Printed) -> Printed:
    """The figure with its first digit one up."""
    at = next(i for i, c in enumerate(figure.text) if c.isdigit())
    text = figure.text
    return Printed(f"{text[:at]}{(int(text[at]) + 1) % 10}{text[at + 1 :]}")


def corrupted(table: str, i: int, column: str, cell: object) -> Paper:
    found = getattr(PAPER, table)
    rows = list(found.rows)
    rows[i] = replace(rows[i], **{column: cell})
    return replace(PAPER, **{table: replace(found, rows=tuple(rows))})


def noticed(paper: Paper, table: str) -> bool:
    return any(
        c.verdict is Verdict.DIFFERS and (c.key not in KNOWN or KNOWN[c.key].printed != c.printed)
        for topic in TOPICS
        if table in READS[topic]
        for c in run(topic, paper)
    )


@pytest.mark.parametrize("table", [name for name in names() if any(figures(name))])
def test_every_determined_figure(table: str) -> None:
    missed = [
        f"row {i}, {column}: {figure} -> {wrong(figure)}"
        for i, column, figure in figures(table)
        if not noticed(corrupted(table, i, column, wrong(figure)), table)
    ]
    assert not missed


def test_nothing_is_noticed_in_the_paper_itself() -> None:
    assert not any(noticed(PAPER, name) for name in names())


@pytest.mark.parametrize(
    ("table", "row", "column", "text"),
    [
        ("macro_main", 0, "token_reduction_pct", "11.42"),
        ("per_backbone_main", 14, "b500_token_pct", "+4.58"),
        ("raw_game24", 0, "pac_cf_succ", "77"),
        ("raw_gta", 3, "n_eff", "98"),
        ("calibration_rank_audit", 4, "bound_pct", "3.24"),
        ("q95_l_main", 8, "margin", "0.5"),
        ("per_condition_ci", 4, "hi", "3.00"),
        ("adaptive_oracle_audit", 5, "survival_pct", "97.47"),
        ("exclude_tooltree_macro", 0, "preq_reduction_pct", "3.89"),
    ],
)
def test_a_last_digit(table: str, row: int, column: str, text: str) -> None:
    report = check(corrupted(table, row, column, Printed(text)))
    assert not report.ok
    assert report.unexpected or report.vanished


def test_a_corrected_figure_no_longer_contradicts() -> None:
    report = check(corrupted("exclude_tooltree_macro", 0, "preq_reduction_pct", Printed("3.88")))
    assert report.vanished == [("without ToolTree", "exclude_tooltree_macro", "B100", "preq_reduction_pct")]
    assert not report.ok


@pytest.mark.parametrize(
    ("table", "row", "column", "text"),
    [
        ("adaptive_oracle_audit", 0, "exposed", "0"),
        ("raw_gta", 0, "tok_native_m", "0.00"),
        ("raw_game24", 0, "n_eff", "75.5"),
    ],
)
def test_a_figure_nothing_can_be_computed_with(table: str, row: int, column: str, text: str) -> None:
    report = check(corrupted(table, row, column, Printed(text)))
    assert any(c.kind == "possible" for c in report.unexpected)


def test_words() -> None:
    assert not check(corrupted("safety_ablation_main", 2, "delta_minus_4l_positive", "Yes")).ok
    assert not check(corrupted("qual_case_main", 1, "pac_cf", "43")).ok
    assert not check(corrupted("zero_api_native_coverage", 1, "coverage_printed", "95.87")).ok
