"""`paccf calibrate`: frontier logs in, a frozen margin out."""

from __future__ import annotations

import contextlib
import os
from fractions import Fraction

import click

from paccf.cli.deployment import pairs
from paccf.cli.frontiers import Found, read_all, skip_bad
from paccf.cli.output import BadInput, clean, emit_json, remark, say, unwritable
from paccf.cli.promise import notes, promise
from paccf.method.certificate import BrokenCertificate, Certificate
from paccf.method.conformal import coverage_held
from paccf.method.deficit import TaskDeficits


@click.command()
@click.argument("logs", nargs=-1, required=True, metavar="LOG...")
@click.option("-q", "--coverage", "q", default="0.95", show_default=True, help="Target coverage Q.")
@click.option("--confidence", metavar="C", help="Use the PAC rank: coverage Q holds with confidence C for this margin.")
@click.option("--epsilon", default="0", show_default=True, help="Slack added to the margin when it is deployed.")
@click.option("--match", "match", multiple=True, metavar="KEY=VALUE", help="What the margin is for; repeatable.")
@click.option("--budget", type=click.IntRange(min=1), help="The request cap of the logged runs.")
@click.option(
    "--labels",
    type=click.Choice(["oracle", "found", "probed", "unstated"]),
    default="unstated",
    show_default=True,
    help="How the protected labels were found.",
)
@click.option(
    "--target",
    type=click.Choice(["exposed", "all"]),
    default="exposed",
    show_default=True,
    help="Promise for tasks with protected exposure, or for all tasks (a missing task then counts as covered).",
)
@click.option(
    "--observations", type=click.IntRange(min=1), metavar="R", help="A bare number in the log is the mean of R draws."
)
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write the certificate here.")
@skip_bad
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def command(
    logs: tuple[str, ...],
    q: str,
    confidence: str | None,
    epsilon: str,
    match: tuple[str, ...],
    budget: int | None,
    labels: str,
    target: str,
    observations: int | None,
    output: str | None,
    skip: bool,
    as_json: bool,
) -> None:
    """Freeze a margin from labelled frontier LOGs (.jsonl, .jsonl.gz, or - for stdin).

    The margin is the deficit that the best protected candidate had to survive, at the conformal rank
    k = ceil((n+1) Q) of n protected-exposed tasks. Too few tasks give an infinite margin: keep everything.

    \b
    Examples:
      paccf calibrate train.jsonl -o margin.json
      paccf calibrate train.jsonl.gz -q 0.9 --confidence 0.9 --labels oracle --budget 500 \\
            --match domain=game24 --match evaluator=deepseek-v4-flash -o margin.json
    """
    if output is not None and os.path.realpath(output) in map(os.path.realpath, logs):
        raise BadInput(f"-o {output} is a log that is read; name another file")
    if output is not None and not os.path.isdir(os.path.dirname(output) or "."):  # before any work is done
        raise unwritable(output, FileNotFoundError())
    try:
        found = Found(TaskDeficits(observations or 1))
        read_all(logs, found, skip)
        certificate = Certificate.freeze(
            found.deficits,
            q,
            delta=None if confidence is None else _delta(confidence),
            epsilon=epsilon,
            target=target,  # type: ignore[arg-type]
            labels=labels,  # type: ignore[arg-type]
            budget=budget,
            observations=observations,
            matched_to=pairs(match),
        )
    except ValueError as error:
        raise BadInput(str(error)) from None
    said = [*notes(certificate), *found.notes()]
    words, figures = promise(certificate), summary(certificate)
    if output is not None:
        _tell_of_another(output, certificate)
        try:
            certificate.save(output)
        except OSError as error:
            raise unwritable(output, error) from None
    if as_json:
        emit_json(figures | {"skipped": found.skipped.count, "notes": said, "certificate": output})
        return
    say(f"{clean(', '.join(logs))}: {found.line()}\n")
    say(words)
    for note in said:
        say(f"Note: {note}")
    if output is not None:
        say(f"\nWrote {clean(output)}. Next: paccf coverage HELD_OUT_LOG {clean(output)}")


def summary(certificate: Certificate) -> dict[str, object]:
    """The figures of a certificate that a machine asks for first."""
    counts = certificate.counts
    return {
        "margin": certificate.margin,
        "margin_exact": certificate.margin_exact,
        "feasible": certificate.feasible,
        "need_n": certificate.need_n,
        "n": certificate.n,
        "k": certificate.k,
        "q": float(Fraction(certificate.q)),
        "rule": certificate.rule,
        "delta": None if certificate.delta is None else float(Fraction(certificate.delta)),
        "epsilon": float(Fraction(certificate.epsilon)),
        "bound": (certificate.n + 1 - certificate.k) / (certificate.n + 1) if certificate.feasible else 0.0,
        "confidence": certificate.confidence,
        "coverage_at_90_confidence": coverage_held(certificate.n, certificate.k, "0.9"),
        "at_maximum": certificate.at_maximum,
        "tasks": counts.tasks,
        "exposed": counts.exposed,
        "missing": counts.missing,
        "unresolved": counts.unresolved,
        "frontiers": counts.frontiers,
        "exposed_frontiers": counts.exposed_frontiers,
        "lost_at_eligibility": counts.lost_at_eligibility,
        "observations": certificate.observations,
        "labels": certificate.labels,
        "budget": certificate.budget,
        "target": certificate.target,
        "matched_to": certificate.matched_to,
    }


def _tell_of_another(path: str, certificate: Certificate) -> None:
    """Say that a certificate is replaced by one that is not the same: somebody may have it deployed."""
    with contextlib.suppress(OSError, BrokenCertificate):
        there = Certificate.load(path)
        if there.digest != certificate.digest:
            was = "infinite" if there.margin is None else format(there.margin, "g")
            remark(f"Note: {path} is replaced; its margin was {was} at Q = {float(Fraction(there.q)):g}")


def _delta(confidence: str) -> str:
    from paccf.method.conformal import level
    from paccf.method.scores import plain

    return plain(1 - level(confidence, "confidence"))
