"""`paccf runs`: which runs there are; no trace is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from paccf.cli.output import BadInput, clean, emit_json, lab, say, table
from paccf.cli.recorded import RECORD, record_of

FOLDER = "runs"  # where `paccf run` puts them


@click.command()
@click.argument("places", nargs=-1, metavar="[PLACE]...")
@click.option("--json", "as_json", is_flag=True, help="The same for machines.")
def command(places: tuple[str, ...], as_json: bool) -> None:
    """List the runs in every PLACE: a folder of run folders, a run folder, a record's file, a postgresql:// URL.
    Without one, those in ./runs and in this folder. No trace is read, so it is quick also where runs are long.

    \b
    Examples:
      paccf runs
      paccf runs runs/paper postgresql://lab@host/records
    """
    lab("sqlalchemy", "reading a record")
    if places:
        records = [found for place in places for found in _records(place)]
    else:
        records = [str(path) for path in _below(Path(FOLDER)) + _below(Path())]
    lines: list[dict[str, Any]] = [line for record in records for line in _runs(record)]
    if as_json:
        emit_json({"runs": lines})
        return
    if not lines:
        say("There are no runs here. `paccf run demo` makes one in ./runs.")
        return
    head = ("place", "run", "model", "begun (UTC)", "searches", "outcomes", "frontiers")
    whole = [line for line in lines if "problem" not in line]
    if whole:
        rows = [[line["place"], line["name"], line["model"], line["begun"][:16], *_counts(line)] for line in whole]
        say(table(head, rows, left=4))
    for line in lines:
        if "problem" in line:
            say(f"{clean(line['place'])}: {clean(line['problem'])}")


def _counts(line: dict[str, Any]) -> list[str]:
    return [f"{line[name]:,}" for name in ("searches", "outcomes", "frontiers")]


def _below(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob(f"*/{RECORD}") if path.is_file()) if folder.is_dir() else []


def _records(place: str) -> list[str]:
    if "://" not in place and Path(place).is_dir() and not (Path(place) / RECORD).is_file():
        found = [str(path) for path in _below(Path(place))]
        if not found:
            raise BadInput(f"there are no run folders in {place}")
        return found
    return [record_of(place)]


def _runs(record: str) -> list[dict[str, Any]]:
    """What the record says of its runs; or what is wrong with it, so that one bad record hides no other."""
    from paccf.record.errors import StoreError
    from paccf.record.place import named, url_of
    from paccf.record.store import Store

    url = "://" in record
    where = named(url_of(record)) if url else str(Path(record).parent if Path(record).name == RECORD else Path(record))
    try:
        with Store.open(record, readonly=True) as store:
            found = []
            for run in store.runs():
                counts = store.counts(run)
                said = {"model": run.model, "simulated": run.simulated, "caveats": list(run.caveats)}
                found.append({"place": where, "name": run.name, **said, **counts._asdict()})
            return found
    except StoreError as error:
        return [{"place": where, "problem": str(error)}]
