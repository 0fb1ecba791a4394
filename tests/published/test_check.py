"""The checks on the paper as printed: hand-computed values, the known twelve, and nothing else."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction as F

import pytest

from paccf.published import KNOWN, Check, Verdict, check, load, recovered_counts, reference_tails, remarks
from paccf.published.cells import conditions, macro

REPORT = check()


def one(table: str, row: str, column: str, kind: str | None = None) -> Check:
    found = [
        c
        for c in REPORT.checks
        if (c.where.table, c.where.row, c.where.column) == (table, row, column)
        and (c.kind == kind if kind else c.kind != "inside")
    ]
    assert len(found) == 1, found
    return found[0]


def test_totals() -> None:
    assert len(REPORT.checks) == 1102
    assert Counter(c.verdict.value for c in REPORT.checks) == {"agrees": 1030, "rounding": 60, "differs": 12}
    assert REPORT.counts["token share"] == {"agrees": 6, "rounding": 54, "differs": 0}
    assert sum(sum(c.values()) for c in REPORT.counts.values()) == 1102


def test_exactly_the_known_discrepancies() -> None:
    assert REPORT.ok
    assert {c.key for c in REPORT.having(Verdict.DIFFERS)} == set(KNOWN)
    assert Counter(kind for kind, *_ in KNOWN) == {"without ToolTree": 8, "columns": 1, "exposure": 3}
    assert all(bool(c.explanation) == (c.verdict is Verdict.DIFFERS) for c in REPORT.checks)


def test_every_check_has_its_own_place() -> None:
    assert max(Counter(c.key for c in REPORT.checks).values()) == 1


def test_rounding_cases() -> None:
    found = {str(c.where) for c in REPORT.having(Verdict.ROUNDING) if c.kind != "token share"}
    assert found == {
        "macro_main / Game24 B200 / net_graph_reduction_pct",
        "macro_main / Blocksworld B200 / preq_reduction_pct",
        "gross_subtree_main / Blocksworld Macro / physical_nodes_pct",
        "gross_all_budgets / Blocksworld B500 / gross_physical_nodes_pct",
        "exclude_tooltree_macro / B100 / net_graph_reduction_pct",  # read as all tasks: 8.2475
        "exclude_tooltree_macro / B500 / net_graph_reduction_pct",  # read as all tasks: 12.46
    }


@pytest.mark.parametrize(
    ("table", "row", "column", "kind", "mid"),
    [
        ("macro_main", "Game24 B200", "net_graph_reduction_pct", None, F("6.774")),
        ("macro_main", "Blocksworld B200", "preq_reduction_pct", None, F("5.046")),
        ("main_ci", "ToolTree B100", "preq_pct", None, F("18.95")),
        ("main_ci", "ToolTree B100", "net_graph_pct", None, F(3869, 300)),
        ("strong_backbone_ci", "B500", "net_graph", None, F("12.16")),
        ("exclude_tooltree_macro", "B100", "preq_reduction_pct", "without ToolTree", F(4658, 1200)),
        ("exclude_tooltree_macro", "B100", "preq_reduction_pct", "all-task reading", F(3527, 1200)),
        ("exclude_tooltree_macro", "B500", "net_graph_reduction_pct", "all-task reading", F("12.46")),
        ("gross_subtree_main", "Game24 Macro", "physical_nodes_pct", None, F("14.352")),
        ("gross_subtree_main", "Blocksworld Macro", "matched_roots_pct", None, F("89.144")),
        ("calibration_rank_audit", "Game24 LevinTS", "k_95", None, F(30)),
        ("calibration_rank_audit", "GTA LATS", "bound_pct", None, F(200, 43)),
        ("adaptive_oracle_audit", "Game24 pooled", "survival_pct", None, F(46100, 473)),
        ("text", "Main results", "B100 share", None, F(105800, 1490)),
        ("text", "Main results", "B500 cohort", None, F(1372)),
    ],
)
def test_by_hand(table: str, row: str, column: str, kind: str | None, mid: F) -> None:
    span = one(table, row, column, kind).span
    assert span is not None
    assert span.mid == mid


def test_three_domain_utility_by_hand() -> None:
    # B100: Game24 -5/5 points, Blocksworld (1 + 2 + 0 + 9 + 3)/99/5, GTA from Avg3
    gta = F("0.206") + 0 + F("-0.320") + F("7.053") + F("-0.769")
    expected = (F(-1) + F(1500, 495) + gta / 5) / 3
    assert abs(macro(conditions(load()), "B100", "utility").mid - expected) < F(1, 1000)


def test_half_widths_stay_within_the_tolerance_they_need() -> None:
    widths = [c for c in REPORT.checks if c.kind == "half-width" and c.where.table == "main_ci"]
    worst = max(float(c.recomputed.partition("off by ")[2].partition("%")[0]) for c in widths)
    assert len(widths) == 16
    assert worst == pytest.approx(3.3, abs=0.06)


def test_recovered_counts() -> None:
    counts = recovered_counts(load())
    assert len(counts) == 40
    assert all(len(pairs) == 1 for pairs in counts.values())
    assert counts["Game24", "B100", "LevinTS"] == [(2, 5)]
    assert counts["Blocksworld", "B300", "ToolTree"] == [(11, 2)]


def test_reference_tails() -> None:
    tails = {c: round(float(p), 3) for c, p in reference_tails(load()).items()}
    assert tails == {"UCT-MCTS": 0.763, "ToolChain*": 0.428, "LevinTS": 0.196}


def test_remarks() -> None:
    texts = " ".join(f"{r.topic}: {r.text}" for r in remarks())
    for fact in (
        "duplicate label",
        "includes no image",
        "tab:six_metric_interpretation",
        "Game24 B500 ToolTree NetG -21.34%",
        "[-0.73, 4.11]",
        "1 of 15 margins, Game24 LevinTS (n = k = 30)",
        "UCT-MCTS 0.763, ToolChain* 0.428, LevinTS 0.196",
        "B200 1254 (84.16 %), B300 1325 (88.93 %)",
        "18 of 60 intervals are [0.00, 0.00], 14 of them",
    ):
        assert fact in texts
