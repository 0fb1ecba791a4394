"""`paccf export`: a record as files for other tools, or as the frontier log that the engineer's commands read."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar, cast

import click

from paccf.cli.extras import lacking
from paccf.cli.output import BadInput, clean, emit_json, lab, remark, say
from paccf.cli.recorded import RUN_NAME, SKIP_BAD, Lost, chosen, reading

if TYPE_CHECKING:
    from paccf.record.store import Store
    from paccf.record.values import RunInfo

Option = TypeVar("Option", bound=Callable[..., Any])


def _where(name: str, about: str) -> Callable[[Option], Option]:
    kind: Any = click.IntRange(min=1) if name == "budget" else str
    return click.option(f"--{name}", multiple=True, type=kind, help=f"Only {about}. Repeatable.")


@click.command()
@click.argument("record", metavar="RUN")
@click.argument("table", required=False)
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl", "csv", "parquet"]),
    default="jsonl",
    show_default=True,
    help="Of tables; frontier logs are JSON lines.",
)
@click.option("-o", "--output", metavar="PATH", help="A file for one table or one log, else a folder for all of them.")
@click.option("--frontier-log", is_flag=True, help="Labelled frontiers for calibrate, coverage, gate and what-if.")
@click.option("--labels", metavar="MODE", help="Which labels.  [default: the ones that there are, oracle first]")
@_where("phase", "calibration or test searches; of a frontier log, calibration if left out")
@_where("domain", "this domain")
@_where("controller", "this controller")
@_where("arm", "native, paccf or shadow; of a frontier log, native if left out")
@_where("budget", "this budget; traces are those of the largest if left out")
@_where("task", "this task")
@RUN_NAME
@SKIP_BAD
@click.option("--list", "list_", is_flag=True, help="List the tables and their columns.")
@click.option("--json", "as_json", is_flag=True, help="What was written, for machines.")
def command(
    record: str,
    table: str | None,
    form: str,
    output: str | None,
    frontier_log: bool,
    labels: str | None,
    run_name: str | None,
    skip_bad: bool,
    list_: bool,
    as_json: bool,
    **conditions: tuple[Any, ...],
) -> None:
    """Write what is recorded of RUN (a run folder, a record's file, a postgresql:// URL) for other tools.

    With TABLE one table, to stdout or to a file: outcomes, frontiers, candidates, nodes, effects, exclusions,
    certificates, tape. Without it all of them, into a folder, with run.json that says what was run. Rows are written as
    they are read, so a record of any size takes the memory of one search. Parquet needs Polars.

    With --frontier-log, the labelled frontiers: one file DOMAIN-CONTROLLER.jsonl a cell in a folder, or one cell
    (--domain, --controller) to a file or stdout. The margin of such a log is the run's own.

    \b
    Examples:
      paccf export runs/demo outcomes --format csv -o outcomes.csv
      paccf export runs/demo -o exported --format parquet
      paccf export runs/demo --frontier-log --domain game24 --controller uct -o uct.jsonl
      paccf calibrate uct.jsonl --observations 4
      paccf export runs/demo --frontier-log --phase test -o test-logs
    """
    lab("sqlalchemy", "reading a record")
    from paccf.record.flat import TABLES

    if list_:
        _list(as_json)
        return
    if table is not None and table not in TABLES:
        raise BadInput(f"there is no table {table}; there are {', '.join(TABLES)}")
    if frontier_log and (table is not None or form != "jsonl"):
        raise BadInput("--frontier-log is a log of its own, in JSON lines: leave the table and --format out")
    where = {name: list(values) for name, values in conditions.items() if values}
    lost = Lost()
    with reading(record, damaged=skip_bad) as store:
        lost.problem = store.database.problem
        skip = lost if skip_bad else None
        run = chosen(store.runs(skip=skip), run_name, record)
        if run.simulated:
            remark(f"Note: the model of {clean(run.name)} is SIMULATED")
        how: dict[str, Any] = {"skip": skip, **where}
        if frontier_log:
            written = _logs(store, run, _mode(store, run, labels, needed=True), output, how)
        else:
            how["labels"] = _mode(store, run, labels, needed=False)
            written = _tables(store, run, table, form, output, how)
    lost.tell()
    if as_json and output is not None:
        emit_json({"run": run.name, "simulated": run.simulated, "written": written, "left_out": lost.count})
    elif output is not None:
        for name, count in written.items():
            say(f"{clean(name)}: {count:,} rows")
    if lost:
        sys.exit(1)


def _list(as_json: bool) -> None:
    from paccf.record.flat import TABLES

    if as_json:
        emit_json({name: {"about": t.about, "columns": [c._asdict() for c in t.columns]} for name, t in TABLES.items()})
        return
    for name, t in TABLES.items():
        say(f"{name}: {t.about}")
        say("  " + ", ".join(c.name for c in t.columns))


def _mode(store: Store, run: RunInfo, given: str | None, needed: bool) -> str | None:
    """The mode of the labels to give; oracle before probed before found."""
    there = store.modes(run)
    if given is not None and given not in there:
        raise BadInput(f"--labels {given}: the searches of {run.name} have labels {', '.join(there) or 'of no mode'}")
    if needed and not there:
        raise BadInput(f"the searches of {run.name} are not labelled yet; `paccf run` labels them when they have ended")
    return given or next((mode for mode in ("oracle", "probed", "found") if mode in there), None)


def _tables(
    store: Store, run: RunInfo, table: str | None, form: str, output: str | None, how: dict[str, Any]
) -> dict[str, int]:
    from paccf.method.certificate import write_atomically
    from paccf.record import export
    from paccf.record.flat import TABLES, rows

    if table is not None:
        found = rows(store, run, table, **how)
        if output is not None:
            return {output: _write(output, table, found, form)}
        if form == "parquet":
            raise BadInput("Parquet is no text: say where to with -o")
        with _stdout() as file:
            count = (export.write_csv if form == "csv" else export.write_jsonl)(file, table, found)
        return {"-": count}
    folder = _folder(output, "all tables")
    written = {}
    for name in TABLES:
        path = str(folder / f"{name}.{form}")
        written[path] = _write(path, name, rows(store, run, name, **how), form)
    about = {"name": run.name, "simulated": run.simulated, "caveats": run.caveats, "model": run.model}
    about |= {"versions": run.versions, "spec": json.loads(run.spec)}
    write_atomically(folder / "run.json", json.dumps(about, indent=2).encode())
    return written


def _write(path: str, table: str, rows: Iterator[Any], form: Any) -> int:
    from paccf.record.export import write

    try:
        return write(path, table, rows, form)
    except ModuleNotFoundError as error:
        raise BadInput(lacking(error, "Parquet") or str(error)) from None


def _logs(store: Store, run: RunInfo, mode: str | None, output: str | None, how: dict[str, Any]) -> dict[str, int]:
    """A log a cell, or the log of the only cell."""
    how = {"phase": "calibration", "arm": "native", **how}
    outcomes = store.outcomes(run, **how)
    cells = sorted({(o.key.domain, o.key.controller) for o in outcomes})
    if not cells:
        raise BadInput(
            f"{run.name} has no such searches", "paccf runs says what there is; --phase test for test tasks."
        )
    if len(cells) == 1 and (output is None or not Path(output).is_dir()):
        return {output or "-": _log(store, run, cells[0], mode, output, how)}
    named = " and ".join(f"--domain {domain} --controller {controller}" for domain, controller in cells[:1])
    folder = _folder(output, f"the logs of {len(cells)} cells", f"Or one of them: {named}")
    written = {}
    for cell in cells:
        path = str(folder / f"{'-'.join(cell)}.jsonl")
        written[path] = _log(store, run, cell, mode, path, how)
    return written


def _log(
    store: Store, run: RunInfo, cell: tuple[str, str], mode: str | None, output: str | None, how: dict[str, Any]
) -> int:
    from paccf.method.certificate import whole_file

    lines = _lines(store, run, cell, mode, how)
    with _stdout() if output is None else whole_file(output) as file:
        count = 0
        for line in lines:
            file.write(json.dumps(line).encode() + b"\n")
            count += 1
        return count


def _lines(
    store: Store, run: RunInfo, cell: tuple[str, str], mode: str | None, how: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """The frontiers of a cell, without the tasks that are excluded or failed: those calibrate nothing."""
    from paccf.record.flat import largest
    from paccf.record.frontier_log import CAVEATS
    from paccf.record.logged import log_lines

    domain, controller = cell
    frozen = store.certificates(run).get(cell)
    matched = json.loads(frozen)["matched_to"] if frozen else {"domain": domain, "controller": controller}
    said = [*run.caveats, *(["the model is SIMULATED"] if run.simulated else [])]
    meta = {"labels": mode, "run": run.name, "model": run.model, CAVEATS: said, **matched}
    out = {e.task for e in store.exclusions(run) if e.domain == domain}
    found = store.searches(run, mode, **{**how, "domain": domain, "controller": controller})
    for search in found if "budget" in how else largest(found):
        if search.outcome.key.task not in out and not search.outcome.failure:
            yield from log_lines(search, meta)


def _folder(output: str | None, what: str, hint: str = "") -> Path:
    if output is None:
        raise BadInput(f"{what} go into a folder: say which with -o", hint)
    folder = Path(output)
    if folder.exists() and not folder.is_dir():
        raise BadInput(f"{output} is a file, and {what} go into a folder", hint)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _stdout() -> AbstractContextManager[BinaryIO]:
    """Standard output for bytes. On a terminal, what models wrote is written out first: it could drive it."""
    out = sys.stdout.buffer
    if out.isatty():
        return nullcontext(cast(BinaryIO, _Shown(out)))
    return nullcontext(out)


class _Shown:
    """What is written to it, with control characters written out."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out

    def write(self, data: bytes) -> int:
        lines: Sequence[str] = data.decode("utf-8", "replace").split("\n")
        self._out.write("\n".join(map(clean, lines)).encode())
        return len(data)

    def flush(self) -> None:
        self._out.flush()
