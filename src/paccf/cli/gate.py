"""`paccf gate`: frontiers on stdin, decisions on stdout, line by line."""

from __future__ import annotations

import json
import sys

import click

from paccf.cli.deployment import deployment, not_compared, read_certificate
from paccf.cli.output import BadInput, remark
from paccf.gate import Gate
from paccf.method.scores import ScoreError
from paccf.record.frontier_log import BadLine, Scored, Skipped, read_scored


@click.command()
@click.argument("certificate", type=click.Path())
@deployment
@click.option("--shadow", is_flag=True, help="Keep everything and say what would have been dropped.")
@click.option("--explain", is_flag=True, help="Add every candidate's score, deficit and reason.")
@click.option("--skip-bad", "skip", is_flag=True, help='Answer a bad line with {"error": ...} and go on.')
@click.option("--json", "as_json", is_flag=True, help="Nothing changes: the output always is one JSON object a line.")
def command(
    certificate: str,
    match: tuple[str, ...],
    budget: int | None,
    override: str | None,
    shadow: bool,
    explain: bool,
    skip: bool,
    as_json: bool,
) -> None:
    """Decide frontiers with a CERTIFICATE: one JSON frontier a line on stdin, one JSON decision a line on stdout.

    Only "scores" is needed; "task", "frontier", "candidates" and "eligible" are used if they are there. Every line is
    answered by a line as soon as it is read, so the command can be the other end of a pipe of any program.

    \b
    Example:
      echo '{"task": "t-1", "frontier": "root", "scores": [81, 20.5, null]}' | paccf gate margin.json
      {"task": "t-1", "frontier": "root", "kept": [0, 2], "dropped": [1]}
    """
    gate = Gate(read_certificate(certificate, match, budget, override))
    for note in not_compared(gate.certificate, match, budget):
        remark(f"Note: {note}")
    try:
        for line, frontier in read_scored("-", _Answered() if skip else None):
            try:
                _write(_decide(gate, frontier, shadow, explain))
            except ScoreError as error:
                bad = BadLine("-", line, f"scores[{error.index}]", *_parts(error.problem))
                if not skip:
                    raise bad from None
                _Answered().add(bad)
    except BadLine as bad:
        raise BadInput(str(bad)) from None


def _parts(problem: str) -> tuple[str, str]:
    """What is wrong, and the remedy as a sentence of its own."""
    what, _, remedy = problem.partition("; ")
    return what, remedy[:1].upper() + remedy[1:]


class _Answered(Skipped):
    """Bad lines are answered in their place."""

    def add(self, bad: BadLine) -> None:
        _write({"error": str(bad), "line": bad.line})


def _write(answer: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


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
