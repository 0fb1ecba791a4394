"""The paper's printed rows through our own macros: they come out as printed."""

from __future__ import annotations

from fractions import Fraction

import pytest

from paccf.audit import tables
from paccf.audit.paper import Paper
from paccf.audit.resample import Interval
from paccf.audit.run import Unsupported
from paccf.published import Printed
from paccf.published.figure import decimal

PAPER = Paper()
# what the paper's rows determine, beside what it prints; the places of which rounding of the inputs explains the rest
ROUNDING = {
    ("macro_main", "Game24", "B200", "net_graph"),
    ("macro_main", "Blocksworld", "B200", "requests"),
    ("domain_macro_ci", "Game24", "B200", "net_graph"),
    ("domain_macro_ci", "Blocksworld", "B200", "requests"),
    ("exclude_tooltree_macro", "B100", "net_graph_all"),
    ("exclude_tooltree_macro", "B500", "net_graph_all"),
}


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("macro_main", 76),
        ("main_ci", 20),
        ("domain_macro_ci", 48),
        ("strong_backbone_ci", 16),
        ("exclude_tooltree_macro", 18),
        ("budget_censor_sensitivity", 24),
        ("cohorts", 14),
        ("per_backbone_main", 150),
    ],
)
def test_comes_out_as_printed(name: str, figures: int) -> None:
    table = tables.build(PAPER, name)
    compared = 0
    for printed in table.printed:
        value = table.rows[printed.row][table.column(printed.column)]
        if printed.text.startswith("["):
            assert value is None, "printed rows carry no tasks to resample"
            continue
        compared += 1
        assert isinstance(value, (int, float))
        theirs = Printed(printed.text)
        key = (name, *map(str, table.rows[printed.row][: 2 if name != "exclude_tooltree_macro" else 1]), printed.column)
        if key in ROUNDING:
            slack = Fraction(1, 80)  # half a digit of the print, and of its inputs: (5 x .005 + .005) / 4 + .005
            assert 0 < abs(Fraction(value) - theirs.value) <= slack
        else:
            assert decimal(Fraction(value).limit_denominator(10**9), theirs.decimals) == theirs.text.lstrip(
                "+"
            ).replace(",", "")
    assert compared == figures


def test_counts_behind_the_binary_conditions() -> None:
    table = tables.build(PAPER, "per_condition_ci")
    assert len(table.rows) == 40
    for printed in table.printed:
        column = table.columns[table.column(printed.column)]
        value = table.rows[printed.row][table.column(printed.column)]
        assert tables.written(value, column) == printed.text.replace("[-0.00", "[0.00")
    assert table.find(domain="Blocksworld", budget="B500", controller="ToolTree")["rgt"] == "11/2/86"
    assert table.find(domain="Game24", budget="B100", controller="ToolChain*")["rgt"] == "2/2/96"
    assert table.find(domain="Game24", budget="B100", controller="LATS")["rgt"] == "0/0/100"


def test_certainty_is_not_claimed() -> None:
    """0 of 100 regressions still leaves up to 3.62 %, two-sided."""
    row = tables.build(PAPER, "per_condition_ci").find(domain="Game24", budget="B100", controller="LATS")
    limits = row["regression_ci"]
    assert isinstance(limits, Interval)
    assert (limits.lo, round(limits.hi, 2)) == (0.0, 3.62)


def test_what_rows_cannot_carry_is_said() -> None:
    for name in ("gross_all_budgets", "coverage_sweep", "q95_l_main", "cases"):
        with pytest.raises(Unsupported, match="paper prints|no certificate"):
            tables.build(PAPER, name)
    assert any("no gross views" in note for note in tables.build(PAPER, "workload").notes)
    assert tables.lacks(PAPER, "cases") == "the paper prints conditions, not tasks"
    assert tables.lacks(PAPER, "macro_main") == ""


def test_without_tooltree_both_cohorts_are_labelled() -> None:
    table = tables.build(PAPER, "exclude_tooltree_macro")
    heads = [c.head for c in table.columns]
    assert "P-Req." in heads
    assert "P-Req. (all)" in heads
    first = table.find(budget="B100")
    assert round(float(first["requests"] or 0), 4) == 3.8817
    assert round(float(first["requests_all"] or 0), 3) == 2.939


def test_where_the_paper_contradicts_itself() -> None:
    findings = PAPER.contradictions
    assert sum(check.made for check in findings.checks) == 1102
    assert len(findings.failures) == 12
    assert sum(failure.startswith("exclude_tooltree_macro") for failure in findings.failures) == 8
    assert tables.build(PAPER, "checks").find(check="exposure")["failed"] == 3
