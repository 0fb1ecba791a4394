"""`paccf gate`: frontiers on stdin, decisions on stdout, line by line."""

from __future__ import annotations

import json
import sys

import click

from paccf.cli.calibrate import pairs
from paccf.cli.frontiers import skip_bad
from paccf.cli.output import BadInput, say
from paccf.gate import Gate
from paccf.method.certificate import BrokenCertificate, MismatchedCertificate
from paccf.record.frontier_log import BadLine, Scored, Skipped, read_scored


@click.command()
@click.argument("certificate", type=click.Path())
@click.option("--match", "match", multiple=True, metavar="KEY=VALUE", help="What you deploy on; must fit. Repeatable.")
@click.option("--budget", type=click.IntRange(min=1), help="The request cap you deploy with; must not be larger.")
@click.option("--override", metavar="REASON", help="Use the margin in spite of a mismatch; marked in every decision.")
@click.option("--shadow", is_flag=True, help="Keep everything and say what would have been dropped.")
@click.option("--explain", is_flag=True, help="Add every candidate's score, deficit and reason.")
@skip_bad
def command(
    certificate: str,
    match: tuple[str, ...],
    budget: int | None,
    override: str | None,
    shadow: bool,
    explain: bool,
    skip: bool,
) -> None:
    """Decide frontiers with a CERTIFICATE: one JSON frontier a line on stdin, one JSON decision a line on stdout.

    Only "scores" is needed; "task", "frontier", "candidates" and "eligible" are used if they are there. A decision
    is written as soon as its frontier is read, so the command can be the other end of a pipe of any program.

    \b
    Example:
      echo '{"task": "t-1", "frontier": "root", "scores": [81, 20.5, null]}' | paccf gate margin.json
      {"task": "t-1", "frontier": "root", "kept": [0, 2], "dropped": [1]}
    """
    try:
        gate = Gate.load(certificate, matched_to=pairs(match) if match else None, budget=budget, override=override)
    except OSError as error:
        raise BadInput(f"cannot read {certificate}: {error.strerror or error}") from None
    except (BrokenCertificate, MismatchedCertificate, ValueError) as error:
        raise BadInput(str(error)) from None
    skipped = Skipped()
    try:
        for _, frontier in read_scored("-", skipped if skip else None):
            sys.stdout.write(json.dumps(_decide(gate, frontier, shadow, explain)) + "\n")
            sys.stdout.flush()
    except BadLine as bad:
        raise BadInput(str(bad)) from None
    if skipped.count:
        say(f"{skipped.count} lines left out: {' | '.join(skipped.first)}", err=True)


def _decide(gate: Gate, frontier: Scored, shadow: bool, explain: bool) -> dict[str, object]:
    decision = (gate.shadow if shadow else gate.explain)(frontier.scores, frontier.eligible)
    out: dict[str, object] = {"task": frontier.task, "frontier": frontier.frontier}
    out = {key: value for key, value in out.items() if value is not None}
    out |= {"kept": decision.kept, "dropped": decision.dropped}
    if shadow:
        out["would_drop"] = decision.would_drop
    if frontier.candidates is not None:
        out["candidates"] = [frontier.candidates[i] for i in decision.kept]
    if explain:
        out["verdicts"] = [
            {"index": v.index, "score": v.score, "deficit": v.deficit, "kept": v.kept, "reason": v.reason}
            for v in decision.verdicts
        ]
    if decision.overrides:
        out["overrides"] = decision.overrides
    return out
