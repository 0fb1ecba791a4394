"""`paccf table`: one table of a run's audit, in the format that is wanted."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

import click

from paccf.cli.auditing import opened, source
from paccf.cli.output import BadInput, emit_json, say, unwritable
from paccf.cli.output import table as aligned

if TYPE_CHECKING:
    from paccf.audit.audit import Audit


@click.command()
@click.argument("run", metavar="RUN")
@click.argument("name", required=False)
@click.option("--list", "list_", is_flag=True, help="List the tables, and which of them this record can carry.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "md", "tex", "csv", "json"]),
    default="text",
    show_default=True,
    help="How to print it.",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option("--beside-paper", is_flag=True, help="Put the paper's figure next to each of ours, digit for digit.")
@click.option("--fragment", is_flag=True, help="LaTeX without the document around it, for \\input.")
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write to this file.")
@source
def command(
    run: str,
    name: str | None,
    list_: bool,
    form: str,
    as_json: bool,
    beside_paper: bool,
    fragment: bool,
    output: str | None,
    run_name: str | None,
    certificates: tuple[str, ...],
    calibration: tuple[str, ...],
    seed: int,
    threads: int,
) -> None:
    """Print the table NAME of RUN: a run folder, a record database, a frontier log (.jsonl), or `paper`.

    Every figure comes from the record alone, with its denominator, its cohort and where it comes from. The paper's
    tables have the names of `paccf published list`; `paper` as RUN makes them from the paper's printed rows.

    \b
    Examples:
      paccf table demo-run --list
      paccf table demo-run macro_main --beside-paper
      paccf table demo-run per_condition_ci --format tex -o table.tex
      paccf table test.jsonl coverage_sweep --certificate margin.json
      paccf table paper exclude_tooltree_macro --beside-paper
    """
    from paccf.audit import tables
    from paccf.audit.run import Unsupported
    from paccf.report.tables import FORMATS, render

    if (name is None) == (not list_):
        raise BadInput("say which table, or --list: paccf table RUN NAME")
    with opened(run, run_name, certificates, calibration, seed, threads) as audit:
        if name is None:
            _list(audit, as_json)
            return
        try:
            found = tables.build(audit, name)
        except LookupError:
            near = get_close_matches(name, tables.names(audit), n=1)
            hint = f"Did you mean '{near[0]}'?" if near else "`paccf table RUN --list` names them."
            raise BadInput(f"there is no table '{name}'. {hint}") from None
        except Unsupported as why:
            raise BadInput(f"{run} cannot carry the table {name}: {why}") from None
    kind = "json" if as_json else form
    text = render(found, next(f for f in FORMATS if f == kind), beside_paper, fragment)
    if output is None:
        say(text.rstrip("\n"))
        return
    try:
        with open(output, "w", encoding="utf-8") as file:
            file.write(text if text.endswith("\n") else text + "\n")
    except OSError as error:
        raise unwritable(output, error) from None
    say(f"Wrote {output}")


def _list(audit: Audit, as_json: bool) -> None:
    from paccf.audit import tables

    rows = [(name, title, tables.lacks(audit, name)) for name, title in tables.titles(audit).items()]
    if as_json:
        emit_json({"tables": [{"name": n, "title": t, "unsupported": w or None} for n, t, w in rows]})
        return
    say(aligned(("name", "shows", "cannot be made because"), rows, left=3))
