"""`paccf doctor`: whether a record is whole, and what to do where it is not."""

from __future__ import annotations

import sys
from dataclasses import asdict

import click

from paccf.cli.output import BadInput, clean, emit_json, lab, remark, say
from paccf.cli.recorded import record_of

SIGNS = {"ok": "ok   ", "note": "note ", "wrong": "WRONG"}


@click.command()
@click.argument("place", required=False)
@click.option("--migrate", is_flag=True, help="Move a record of an older version forward first.")
@click.option("--json", "as_json", is_flag=True, help="The same for machines.")
def command(place: str | None, migrate: bool, as_json: bool) -> None:
    """Examine the record at PLACE (a run folder, a file, a postgresql:// URL): the library that reads it, the disk it
    is on, every page, every row against its seal, rows that belong to nothing, requests that may have been billed.

    Nothing is changed, but for --migrate. Everything is read once, so a long run takes its time. Without PLACE only the
    library is looked at. Exit code 1 if anything is wrong.

    \b
    Examples:
      paccf doctor
      paccf doctor runs/paper
      paccf doctor old.sqlite --migrate
    """
    lab("sqlalchemy", "reading a record")
    from paccf.record.errors import StoreError
    from paccf.record.health import examined, library, migrated

    findings = [library()]
    try:
        if place is not None:
            record = record_of(place)
            if migrate:
                remark(f"{clean(place)} has schema {migrated(record)} now")
            findings += examined(record)
        elif migrate:
            raise BadInput("--migrate: say which record")
    except StoreError as error:
        raise BadInput(str(error)) from None
    wrong = sum(finding.state == "wrong" for finding in findings)
    if as_json:
        emit_json({"place": place, "sound": not wrong, "findings": [asdict(finding) for finding in findings]})
    else:
        width = max(len(finding.what) for finding in findings)
        for finding in findings:
            say(f"{SIGNS[finding.state]}  {finding.what:{width}}  {clean(finding.said)}")
            if finding.remedy:
                say(f"{'':{width + 9}}{clean(finding.remedy[0].upper() + finding.remedy[1:])}.")
    if wrong:
        sys.exit(1)
