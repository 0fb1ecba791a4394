"""What a reader of a margin has to be told in words: that it keeps everything, or next to everything, and why."""

from __future__ import annotations

from paccf.audit.coverage import Coverage
from paccf.method.certificate import Certificate

LITTLE = 20  # ours: fewer than one candidate in so many dropped is next to nothing


def remark(certificate: Certificate, traces: Coverage | None, auc: float | None = None) -> str:
    """A sentence about a margin that prunes little, without a subject of its own; empty if it prunes. ``traces`` are
    Native test traces, ``auc`` is how well the scores tell the candidates of one frontier apart."""
    c = certificate
    if not c.feasible:
        return f"{c.n} exposed tasks are too few for this level (it takes {c.need_n}), so everything is kept"
    if c.margin is None:
        return "the rank falls on an unresolved task, so everything is kept"
    if traces is None or not traces.candidates or LITTLE * traces.pruned >= traces.candidates:
        return ""
    coin = "" if auc is None else f"; AUC within a frontier {auc:.2f}, where .50 is a coin"
    return (
        f"the margin of {c.margin:g} points drops {traces.pruned:,} of {traces.candidates:,} candidates on Native test "
        "traces: next to nothing is pruned. On calibration tasks this evaluator put what led to a solution up to that "
        f"far below its favourite, so its scores hold little to prune by{coin}"
    )
