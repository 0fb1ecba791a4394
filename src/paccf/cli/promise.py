"""What a certificate promises and does not, in words; the same words wherever a certificate is shown."""

from __future__ import annotations

from fractions import Fraction

from paccf.cli.output import clean
from paccf.method.certificate import Certificate
from paccf.method.conformal import coverage_held
from paccf.method.scores import exact, plain


def promise(certificate: Certificate) -> str:
    """The margin and its rank, what is promised, what is not: a labelled line or two each."""
    c, q = certificate, certificate.q
    if c.margin_exact is None:
        return "\n".join(
            [
                "margin    infinite: keep everything",
                f"why       {_why_infinite(c)}",
                "promised  nothing is pruned, so nothing is lost and nothing is saved",
            ]
        )
    whom = "tasks that expose such a candidate" if c.target == "exposed" else "all tasks, exposed or not"
    what = "a solution-bearing candidate" if c.labels in ("oracle", "probed") else "a candidate labelled protected"
    slack = f" + epsilon {c.epsilon}" if c.epsilon != "0" else ""
    tasks = "exchangeable with these" if c.delta is None else "drawn independently like these"
    lines = [
        f"margin    {c.margin:g}{slack} at Q = {q}: rank {c.k} of {c.n} task scores, {_rule(c)}",
        f"promised  wherever {what} stands at a frontier of a task's Native trace, at least one",
        f"          survives, for {whom}, {tasks},",
        f"          {_strength(c)} (miscoverage bound {100 * float(Fraction(c.bound)):.2f} %)",
        f"held      by this very margin, of independent tasks: {q} with confidence {c.confidence:.3f}, "
        f"{coverage_held(c.n, c.k, '0.9'):.3f} with confidence 0.9",
        "not       for frontiers that only the pruned search reaches, other tasks, budgets, prompts or models,",
        "          nor for solutions that the labels missed",
    ]
    if c.matched_to or c.budget is not None:
        budget = [] if c.budget is None else [f"budget <= {c.budget}"]
        lines.append("for       " + ", ".join([*(clean(f"{k}={v}") for k, v in c.matched_to.items()), *budget]))
    return "\n".join(lines)


def notes(certificate: Certificate) -> list[str]:
    """What a reader should know before relying on this margin."""
    c, said = certificate, []
    if c.feasible and c.at_maximum and c.margin_exact is not None:
        said.append(
            "the margin is the largest calibration score, as unstable as any sample maximum; "
            f"{_steady(c) - c.n} more exposed tasks would free it"
        )
    if c.margin_exact is not None and c.limit == 0:
        said.append("a zero margin keeps only ties with the best score: no calibration task ever needed more")
    if c.counts.unresolved:
        said.append(
            f"{c.counts.unresolved} unresolved tasks count with an infinite deficit; resolving their labels can only "
            "lower the margin"
        )
    if c.labels == "found":
        said.append("labels are completions the search found; solutions it missed are outside the promise")
    if c.labels == "unstated":
        said.append("say how labels were found (--labels oracle|found|probed), so that readers know what is promised")
    said.extend(f"override: {clean(note)}" for note in c.overrides)
    return said


def _rule(c: Certificate) -> str:
    return "marginal" if c.delta is None else f"PAC with confidence {plain(1 - exact(c.delta))}"


def _strength(c: Certificate) -> str:
    if c.delta is None:
        return f"with probability {c.q} or more, over the calibration tasks and the new one together"
    samples = f"for at least {plain(100 * (1 - exact(c.delta)))} % of calibration samples"
    return f"with probability {c.q} or more, {samples}"


def _why_infinite(c: Certificate) -> str:
    if c.feasible:
        return (
            f"rank {c.k} of {c.n} falls on an unresolved task; resolve the labels of {c.counts.unresolved} unresolved "
            "tasks or log more tasks"
        )
    return (
        f"{c.n} exposed tasks are too few for Q = {c.q} ({_rule(c)}): it takes {c.need_n}. Log "
        f"{c.need_n - c.n} more exposed tasks or ask for less"
    )


def _steady(c: Certificate) -> int:
    """The smallest n at which this rule's rank is below n."""
    from paccf.method.conformal import pac_rank, rank

    n = c.n
    while (rank(n, c.q) if c.delta is None else pac_rank(n, c.q, c.delta)) >= n:
        n += 1
    return n
