"""`paccf report`: the report of a run, one page that opens anywhere."""

from __future__ import annotations

import os
from pathlib import Path

import click

from paccf.cli.auditing import opened, source
from paccf.cli.output import BadInput, emit_json, say, unwritable


@click.command()
@click.argument("run", metavar="RUN")
@click.option("-o", "--output", type=click.Path(), help="Write to this file.  [default: report.html in RUN, or here]")
@click.option("--json", "as_json", is_flag=True, help="Say what was written as JSON.")
@source
def command(
    run: str,
    output: str | None,
    as_json: bool,
    run_name: str | None,
    certificates: tuple[str, ...],
    calibration: tuple[str, ...],
    seed: int,
    threads: int,
) -> None:
    """Write the report of RUN: a run folder, a record database, a frontier log (.jsonl), or `paper`.

    One HTML file with everything in it: the answer with its uncertainty, both arms' bills, what is promised on which
    assumptions, every table and figure with where it comes from and its data, and the trees of the most telling tasks.
    It opens offline, asks nothing of any server, and is the same file for the same record. What the record cannot
    carry is named, with the reason.

    \b
    Examples:
      paccf report demo-run
      paccf report demo-run -o demo.html
      paccf report test.jsonl --certificate margin.json --calibration train.jsonl
    """
    folder = Path(run)
    target = Path(output) if output else folder / "report.html" if folder.is_dir() else Path("report.html")
    if target.is_dir():
        raise BadInput(f"{target} is a folder; name a file, like {target / 'report.html'}")
    with opened(run, run_name, certificates, calibration, seed, threads) as audit:
        from paccf.audit.run import Unsupported
        from paccf.report import page

        try:
            page.write(audit, target)
        except Unsupported as why:
            raise BadInput(f"there is no report of {run}: {why}") from None
        except OSError as error:
            raise unwritable(target, error) from None
        simulated = audit.simulated
    size = os.stat(target).st_size
    if as_json:
        emit_json({"report": str(target), "bytes": size, "simulated": simulated})
    else:
        say(f"Wrote {target} ({size / 1e6:.1f} MB){'; SIMULATED' if simulated else ''}")
