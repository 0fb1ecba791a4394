"""`paccf import`: a run or a tape from another machine, from one record into another."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from paccf.cli.output import BadInput, clean, emit_json, lab, say
from paccf.cli.recorded import RECORD, SKIP_BAD, Lost, reading, record_of

if TYPE_CHECKING:
    from paccf.record.store import Store

FILES = (".sqlite", ".sqlite3", ".db")


@click.command()
@click.argument("source", metavar="FROM")
@click.option(
    "-o", "--output", required=True, metavar="INTO", help="A record's file, a postgresql:// URL, or a run folder."
)
@click.option("--run", "names", multiple=True, metavar="NAME", help="Only this run. Repeatable.  [default: all]")
@click.option("--tape-only", is_flag=True, help="Only the answers, so that nothing is paid for twice.")
@click.option("--no-tape", is_flag=True, help="Only the runs.")
@click.option("--keep", is_flag=True, help="Where an answer of the tape differs, keep the one in INTO.")
@SKIP_BAD
@click.option("--json", "as_json", is_flag=True, help="What was brought, for machines.")
def command(
    source: str,
    output: str,
    names: tuple[str, ...],
    tape_only: bool,
    no_tape: bool,
    keep: bool,
    skip_bad: bool,
    as_json: bool,
) -> None:
    """Bring the runs in FROM (a run folder, a record's file, a postgresql:// URL) with their tape INTO another record.

    What both have is compared, not written again: an import may be repeated or cut short, and a difference is an error
    that names both. INTO is made if it is not there: a file if its name ends in .sqlite or .db, else a run folder,
    which every command goes on with; that takes one run. With --skip-bad, FROM may be damaged: what can be read is
    brought, what cannot is counted and named.

    \b
    Examples:
      paccf import laptop/run.sqlite -o runs/paper
      paccf import runs/paper -o postgresql://lab@host/records
      paccf import postgresql://lab@host/records --run paper -o runs/paper
      paccf import runs/pilot -o runs/paper --tape-only
      paccf import damaged.sqlite -o saved.sqlite --skip-bad
    """
    lab("sqlalchemy", "reading a record")
    if tape_only and (no_tape or names):
        raise BadInput("--tape-only brings the tape and no run; it goes with neither --run nor --no-tape")
    from paccf.record.copying import Copied, copy_run, copy_tape
    from paccf.record.errors import StoreError
    from paccf.record.store import Store as Opened

    lost, copied = Lost(), Copied()
    skip = lost if skip_bad else None
    with reading(source, damaged=skip_bad) as store:
        lost.problem = store.database.problem
        there = [run.name for run in store.runs(skip=skip)]
        if unknown := [name for name in names if name not in there]:
            raise BadInput(f"{source} holds no run {unknown[0]}; it holds {', '.join(there) or 'none'}")
        runs = [] if tape_only else [name for name in there if not names or name in names]
        target = _target(output, runs, store, source)
        try:
            with Opened.open(target) as into:
                for name in runs:
                    copied.add(copy_run(store, into, name, skip))
                if not no_tape:
                    copy_tape(store, into, keep=keep, skip=skip, into=copied)
        except StoreError as error:
            raise BadInput(str(error)) from None
        if Path(target).name == RECORD and (Path(target).parent / "spec.toml").exists():
            _certificates(Path(target).parent)
    if as_json:
        emit_json({"runs": runs, "into": clean(output), **asdict(copied), "left_out": lost.count})
    else:
        say(
            f"Brought {len(runs)} runs: {copied.searches:,} searches, {copied.labels:,} labellings, "
            f"{copied.certificates} certificates, {copied.exclusions} exclusions; and {copied.answers:,} answers, of "
            f"which {copied.new:,} are new."
        )
        if copied.kept:
            say(f"{copied.kept:,} answers differ; those in {clean(output)} stayed.")
        if not tape_only and (Path(output) / "spec.toml").exists():
            say(f"How far it is: paccf status {clean(output)}")
    lost.tell()
    if lost:
        sys.exit(1)


def _target(output: str, runs: list[str], store: Store, source: str) -> str:
    """The database to write; a run folder is made for the one run it takes."""
    path = Path(output)
    if "://" in output or output.endswith(FILES) or path.is_file():
        return output
    if (path / RECORD).is_file() and not (path / "spec.toml").exists():
        return record_of(output)
    from paccf.cli.experiment import in_words
    from paccf.experiment.merging import folder_of

    if not runs:
        if not (path / "spec.toml").exists():
            raise BadInput(
                f"there is no run folder {output} to bring a tape into; name one, or a file ending in .sqlite"
            )
        return str(path / RECORD)
    if len(runs) > 1:
        raise BadInput(f"a run folder takes one run, and {source} holds {', '.join(runs)}: say --run NAME")
    with in_words():
        folder_of(store, runs[0], path)
    return str(path / RECORD)


def _certificates(folder: Path) -> None:
    from paccf.cli.experiment import in_words
    from paccf.experiment.merging import certificate_files

    with in_words():
        certificate_files(folder)
