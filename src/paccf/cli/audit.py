"""`paccf audit`: everything a record says, held against everything else it says."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from paccf.cli.auditing import opened, source
from paccf.cli.output import BadInput, clean, emit_json, say
from paccf.cli.output import table as aligned

if TYPE_CHECKING:
    from paccf.audit.audit import Audit
    from paccf.audit.tables import Table

SHOWN = ("macro_main", "zero_api_native_coverage", "adaptive_oracle_audit")  # what a person sees first
FIRST = 20  # ours: contradictions that are printed


@click.command()
@click.argument("run", metavar="RUN")
@click.option("--json", "as_json", is_flag=True, help="One JSON object: checks, and every table with its figures.")
@source
def command(
    run: str,
    as_json: bool,
    run_name: str | None,
    certificates: tuple[str, ...],
    calibration: tuple[str, ...],
    seed: int,
    threads: int,
) -> None:
    """Audit RUN: compute every table from its record, and check the record against itself.

    RUN is a run folder, a record database, or a frontier log (.jsonl) with --certificate. Bills are held against
    traces, budgets and tapes, decisions against the certificates, certificates against the calibration traces,
    coverage against the frontier log. What a record cannot carry is said, with the reason. No model is called.
    Exit code 1 if the record contradicts itself.

    \b
    Examples:
      paccf audit demo-run
      paccf audit demo-run --json > audit.json
      paccf audit test.jsonl --certificate margin.json --calibration train.jsonl
    """
    with opened(run, run_name, certificates, calibration, seed, threads) as audit:
        from paccf.audit.run import Unsupported

        try:
            findings = audit.contradictions
        except Unsupported as why:
            raise BadInput(f"{run} cannot be audited: {why}") from None
        made, lacking = _tables(audit)
        if as_json:
            _json(audit, made, lacking)
        else:
            _print(audit, made, lacking)
    sys.exit(0 if findings.sound else 1)


def _tables(audit: Audit) -> tuple[dict[str, Table], dict[str, str]]:
    """Every table the record carries, and why it does not carry the others."""
    from paccf.audit import tables
    from paccf.audit.run import Unsupported

    made: dict[str, Table] = {}
    lacking: dict[str, str] = {}
    for name in tables.names(audit):
        if name in tables.NO_RECORD:
            continue
        try:
            made[name] = tables.build(audit, name)
        except Unsupported as why:
            lacking[name] = str(why)
    return made, lacking


def _print(audit: Audit, made: dict[str, Table], lacking: dict[str, str]) -> None:
    from paccf.report.tables import SIMULATED, render

    findings = audit.contradictions
    say(f"{clean(audit.name)} ({clean(audit.where)})")
    if audit.simulated:
        say(SIMULATED)
    for caveat in audit.caveats:
        say(f"Note: {clean(caveat)}")
    say()
    for name in SHOWN:
        if name in made:
            say(render(made[name]) + "\n")
    said = [
        ("failed" if c.failures else "--" if c.impossible else "ok", c.made, c.what, c.impossible)
        for c in findings.checks
    ]
    say(aligned(("", "made", "check", "not made because"), said, left=1))
    say(f"\n{len(made)} tables: {', '.join(made)}. `paccf table RUN NAME` prints one.")
    for name, why in lacking.items():
        say(f"No {name}: {clean(why)}")
    failures = findings.failures
    if failures:
        say(f"\nThe record contradicts itself in {len(failures)} places:")
        for failure in failures[:FIRST]:
            say(f"  {clean(failure)}")
        if len(failures) > FIRST:
            say(f"  and {len(failures) - FIRST} more; --json has all of them")
    else:
        say("\nThe record does not contradict itself" + _unmade(findings.left, len(findings.checks)))


def _unmade(left: int, kinds: int) -> str:
    """The end of the verdict: how much of it was not looked at."""
    if not left:
        return "."
    if left == kinds:
        return ": none of its checks could be made, see above."
    return f" where it was checked; {left} of {kinds} kinds of check could not be made, see above."


def _json(audit: Audit, made: dict[str, Table], lacking: dict[str, str]) -> None:
    from paccf.report.tables import document

    findings = audit.contradictions
    checks = [
        {"check": c.what, "made": c.made, "failures": list(c.failures), "not_made_because": c.impossible or None}
        for c in findings.checks
    ]
    emit_json(
        {
            "name": audit.name,
            "record": audit.where,
            "simulated": audit.simulated,
            "caveats": list(audit.caveats),
            "sound": findings.sound,
            "checks": checks,
            "tables": {name: document(table) for name, table in made.items()},
            "unsupported": lacking,
        }
    )
