"""`paccf figure`: pictures of a run's audit."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

import click

from paccf.cli.auditing import opened, source
from paccf.cli.output import BadInput, clean, emit_json, lab, picture_format, say, unwritable
from paccf.cli.output import table as aligned

if TYPE_CHECKING:
    from paccf.audit.audit import Audit
    from paccf.report.figures import Figure


@click.command()
@click.argument("run", metavar="RUN")
@click.argument("name", required=False)
@click.option("--list", "list_", is_flag=True, help="List the figures, and which of them this record can carry.")
@click.option("--all", "all_", is_flag=True, help="Draw every figure that the record can carry; -o is a folder.")
@click.option("-o", "--output", type=click.Path(), help="Write to this .svg, .pdf or .png; with --all to this folder.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["svg", "pdf", "png"]),
    default="svg",
    show_default=True,
    help="With --all; otherwise the ending of -o says it.",
)
@click.option("--dark", is_flag=True, help="For dark pages.")
@click.option("--json", "as_json", is_flag=True, help="With --list: one JSON object.")
@source
def command(
    run: str,
    name: str | None,
    list_: bool,
    all_: bool,
    output: str | None,
    form: str,
    dark: bool,
    as_json: bool,
    run_name: str | None,
    certificates: tuple[str, ...],
    calibration: tuple[str, ...],
    seed: int,
    threads: int,
) -> None:
    """Draw the figure NAME of RUN: a run folder, a record database, a frontier log (.jsonl), or `paper`.

    A figure pictures tables of the audit and nothing else: `paccf table` prints the figures in it, with where they
    come from. The same record gives the same bytes.

    \b
    Examples:
      paccf figure demo-run --list
      paccf figure demo-run main_budget_efficiency -o efficiency.svg
      paccf figure demo-run --all -o figures --format pdf
      paccf figure paper main_budget_efficiency -o figure-1.png
    """
    if sum((name is not None, list_, all_)) != 1:
        raise BadInput("say which figure, or --list, or --all: paccf figure RUN NAME -o FILE")
    if not list_ and output is None:
        raise BadInput("say where to: -o FILE that ends in .svg, .pdf or .png; with --all, -o FOLDER")
    if name is not None:
        picture_format(output)
    lab("paccf.report.figures", "drawing")
    with opened(run, run_name, certificates, calibration, seed, threads) as audit:
        if list_:
            _list(audit, as_json)
        elif name is None:
            _all(audit, Path(str(output)), form, dark)
        else:
            path = Path(str(output))
            _write(_figure(audit, run, name), path, path.suffix[1:].lower(), dark)


def _figure(audit: Audit, run: str, name: str) -> Figure:
    from paccf.audit.run import Unsupported
    from paccf.report import figures

    try:
        return figures.build(audit, name)
    except LookupError:
        near = get_close_matches(name, figures.names(), n=1)
        hint = f"Did you mean '{near[0]}'?" if near else "`paccf figure RUN --list` names them."
        raise BadInput(f"there is no figure '{name}'. {hint}") from None
    except Unsupported as why:
        raise BadInput(f"{run} cannot carry the figure {name}: {why}") from None


def _write(figure: Figure, path: Path, form: str, dark: bool) -> None:
    from paccf.report.figures import FORMS

    picture = figure.draw(next(f for f in FORMS if f == form), "dark" if dark else "light")
    try:
        path.write_bytes(picture)
    except OSError as error:
        raise unwritable(path, error) from None
    say(f"Wrote {clean(str(path))}")


def _all(audit: Audit, folder: Path, form: str, dark: bool) -> None:
    from paccf.audit.run import Unsupported
    from paccf.report import figures

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"cannot make the folder {folder}: {error.strerror}") from None
    for name in figures.names():
        try:
            figure = figures.build(audit, name)
        except Unsupported as why:
            say(f"No {name}: {clean(str(why))}")
            continue
        _write(figure, folder / f"{name}.{form}", form, dark)


def _list(audit: Audit, as_json: bool) -> None:
    from paccf.report import figures

    found = [
        (name, kind.title, " ".join(kind.pictures), figures.lacks(audit, name))
        for name, kind in figures.FIGURES.items()
    ]
    if as_json:
        keys = ("name", "title", "tables")
        emit_json({"figures": [{**dict(zip(keys, f, strict=False)), "unsupported": f[3] or None} for f in found]})
        return
    say(aligned(("name", "shows", "pictures the tables", "cannot be drawn because"), found, left=4))
