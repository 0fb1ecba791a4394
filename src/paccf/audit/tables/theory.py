"""The two tables of the paper that come from its theory and not from a record."""

from __future__ import annotations

from paccf.audit.audit import Audit
from paccf.audit.tables.beside import beside
from paccf.audit.tables.table import Column, Printed, Source, Table, Value


def safety_ablation_main(audit: Audit) -> Table:
    """The controlled check at the sufficient boundary; simulated here and now, from no record."""
    from paccf.theory.boundary import Setting, check

    rows: list[tuple[Value, ...]] = []
    for row in check(Setting()):
        sufficient = "Yes" if row.sufficient else "No"
        rows.append((f"{row.level:.2f}", sufficient, 100 * row.pruning.value, row.uct.value, row.survived.value))
    columns = (
        Column("level", "L / Δ"),
        Column("sufficient", "Δ - 4L > 0"),
        Column("pruning", "Pruning", 1, "%"),
        Column("uct", "UCT PCS", 2),
        Column("paccf", "PAC-CF PCS", 2),
    )
    match = {"sufficient": "delta_minus_4l_positive", "pruning": "pruning_pct", "uct": "uct_pcs", "paccf": "pac_cf_pcs"}
    return Table(
        "safety_ablation_main",
        "Controlled check around the sufficient separation boundary",
        columns,
        tuple(rows),
        Source("paccf theory boundary: simulated frontiers, 2,000 a row; settings are ours, the paper prints none"),
        ("SIMULATED, whatever the run was",),
        printed=beside("safety_ablation_main", columns, rows, {"level": "bias_level_in_delta"}, match),
    )


def theory_regimes(audit: Audit) -> Table:
    """What a gap allows."""
    from paccf.published import load
    from paccf.theory.regimes import Regime

    rows = tuple((regime.condition, regime.consequence) for regime in Regime)
    printed = []
    for place, row in enumerate(load().theory_regimes):
        printed += [Printed(place, "gap", row.gap_regime), Printed(place, "consequence", row.consequence)]
    return Table(
        "theory_regimes",
        "What the true-value gap of two children allows",
        (Column("gap", "Gap"), Column("consequence", "Consequence")),
        rows,
        Source("paccf theory: the four regimes; from no record"),
        printed=tuple(printed),
    )
