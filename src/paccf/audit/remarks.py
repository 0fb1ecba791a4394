"""What a reader of a margin has to be told in words: that it keeps nearly everything, or drops blindly, and why."""

from __future__ import annotations

from paccf.audit.coverage import Coverage
from paccf.audit.evaluator import Evaluator
from paccf.method.certificate import Certificate

LITTLE = 20  # ours: fewer than one candidate in so many dropped is next to nothing
COIN = 0.55  # ours: an AUC up to here is no signal


def remark(certificate: Certificate, traces: Coverage | None, judge: Evaluator | None) -> str:
    """What is to be said of a margin, without a subject of its own; empty if it prunes by scores that tell something.
    ``traces`` are Native test traces, ``judge`` the evaluator's scores on them."""
    c = certificate
    if not c.feasible:
        return f"{c.n} exposed tasks are too few for this level (it takes {c.need_n}), so everything is kept"
    if c.margin is None:
        return "the rank falls on an unresolved task, so everything is kept"
    said = []
    if traces is not None and traces.candidates and LITTLE * traces.pruned < traces.candidates:
        said.append(
            f"the margin of {c.margin:g} points drops {traces.pruned:,} of {traces.candidates:,} candidates on Native "
            f"test traces, which lie up to {float(traces.widest):g} points behind the best of their frontier: next to "
            "nothing is pruned. On calibration tasks this evaluator put what led to a solution up to a margin below "
            "its favourite, so its scores hold little to prune by"
        )
    if traces is not None and (coin := _coin(judge)):
        blindly = f"the {traces.pruned:,} of {traces.candidates:,} that the margin of {c.margin:g} points drops there"
        said.append(
            "on Native test traces the evaluator's scores tell candidates that lead to a solution from others no "
            f"better than a coin ({coin}); {blindly} are dropped blindly"
        )
    return ". Also, ".join(said)


def _coin(judge: Evaluator | None) -> str:
    """The figures of an evaluator without signal; empty for another one, and where nothing can be compared."""
    if judge is None or judge.within_auc is None or judge.auc is None or max(judge.within_auc, judge.auc) > COIN:
        return ""
    return f"AUC {judge.within_auc:.2f} within a frontier, {judge.auc:.2f} overall"
