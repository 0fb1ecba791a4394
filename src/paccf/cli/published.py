"""`paccf published`: the paper's tables as printed, and the recomputation of every determined figure."""

from __future__ import annotations

import textwrap
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from paccf.cli.output import BadInput, clean, emit_json, table

if TYPE_CHECKING:
    from paccf.published import Check, Paper, Remark, Report

WIDTH = 100


@click.group("published")
def command() -> None:
    """The paper's printed tables, and what they imply about each other.

    \b
    Examples:
      paccf published list                    which tables there are
      paccf published show macro_main         one of them, digit for digit
      paccf published check                   recompute every figure that others determine

    A printed figure stands for every number that rounds to it. Recomputed from other printed figures it either
    agrees, or is off by the rounding of its inputs only, or differs: then the paper contradicts itself there.
    """


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def list_(as_json: bool) -> None:
    """List the tables: name, size, what they show, where they stand in the paper.

    \b
    Example:
      paccf published list
    """
    from paccf import published

    found = [published.table(name) for name in published.names()]
    if as_json:
        emit_json(
            {"tables": [{"name": t.name, "rows": len(t.rows), "title": t.title, "section": t.place} for t in found]}
        )
        return
    lines = [(t.name, f"{len(t.rows)} x {len(t.columns)}", t.title, t.place) for t in found]
    click.echo(table(("name", "size", "shows", "section of the paper"), lines, left=4))


@command.command()
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="One JSON object; figures are strings, to keep their digits.")
def show(name: str, as_json: bool) -> None:
    """Print the table NAME as it is printed in the paper.

    \b
    Examples:
      paccf published show q95_l_main
      paccf published show raw_gta --json | jq '.rows[0].token_pct'
    """
    from paccf import published

    if name not in published.names():
        near = get_close_matches(name, published.names(), n=1)
        hint = f" Did you mean '{near[0]}'?" if near else " `paccf published list` names them."
        raise BadInput(f"there is no table '{name}'.{hint}")
    found = published.table(name)
    if as_json:
        rows = [dict(zip(found.columns, row, strict=True)) for row in found.cells]
        emit_json({"name": name, "title": found.title, "section": found.place, "rows": rows})
        return
    figures = [any(map(_figure, column)) for column in zip(*found.cells, strict=True)]
    left = figures.index(True) if any(figures) else len(figures)
    click.echo(f"{found.title} ({found.place})\n")
    click.echo(table(found.columns, found.cells, left=left))


@command.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object with every check and remark.")
@click.option("--all", "everything", is_flag=True, help="List every check, not only those that do not agree.")
@click.option(
    "--tables",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Check the CSV files of this folder instead, e.g. of a revised paper. They are named as in `list`.",
)
def check(as_json: bool, everything: bool, tables: Path | None) -> None:
    """Recompute every printed figure that other printed figures determine.

    \b
    Examples:
      paccf published check                   the counts, what differs and why, what is off by rounding
      paccf published check --all             every single check
      paccf published check --tables revised/ the same for another copy of the tables

    \b
    Verdicts:
      agrees     the recomputed figure rounds to the printed one
      rounding   it does not, but rounding of the inputs explains it
      differs    no unrounded inputs give the printed figure

    The paper's own discrepancies are known and explained. Exit code 1 if another one appears, or if a known
    one no longer does.
    """
    from paccf import published

    try:
        paper: Paper = published.read(tables) if tables else published.load()
        report = published.check(paper)
    except (ValueError, LookupError) as e:
        raise BadInput(str(e.args[0])) from None
    notes = _remarks(paper)
    if as_json:
        emit_json(_report(report, notes))
    else:
        _print(report, notes, everything)
    if not report.ok:
        raise SystemExit(1)


def _remarks(paper: Paper) -> tuple[Remark, ...]:
    """The remarks, or none for figures they cannot be computed from: the checks then say what is wrong."""
    from paccf.published import remarks

    try:
        return remarks(paper)
    except (ValueError, ZeroDivisionError):
        return ()


def _print(report: Report, notes: tuple[Remark, ...], everything: bool) -> None:
    from paccf.published import Verdict

    _failures(report)
    counts = report.counts
    total = {v.value: len(report.having(v)) for v in Verdict}
    lines = [(kind, sum(c.values()), *c.values()) for kind, c in counts.items()]
    lines.append(("total", len(report.checks), *total.values()))
    click.echo(table(("kind of check", "checks", *total), lines))
    known = [c for c in report.having(Verdict.DIFFERS) if c.explanation]
    click.echo(f"\nThe paper contradicts itself in {len(known)} figures, all known:")
    for explanation in dict.fromkeys(c.explanation for c in known):
        click.echo("\n" + _checks([c for c in known if c.explanation == explanation]))
        click.echo(_wrap(explanation, "  "))
    rounding = report.having(Verdict.ROUNDING)
    if not everything:
        tokens = [c for c in rounding if c.kind == "token share"]
        rounding = [c for c in rounding if c.kind != "token share"]
        click.echo(f"\nOff by rounding of the inputs only: {len(tokens)} token shares (see --all), and")
        click.echo(_checks(rounding))
    else:
        click.echo("\nEvery check:")
        click.echo(_checks(list(report.checks), verdict=True))
    click.echo("\nNot a matter of figures:")
    for note in notes:
        click.echo(_wrap(f"{note.topic} ({note.place}): {note.text}", "  ", first="- "))
    click.echo(
        f"\n{len(report.checks)} checks: {total['agrees']} agree, {total['rounding']} rounding, "
        f"{total['differs']} differ. " + ("Only the known ones differ." if report.ok else "FAILED, see the top.")
    )


def _failures(report: Report) -> None:
    if report.unexpected:
        click.echo(f"FAILED: {len(report.unexpected)} discrepancies that are not known:\n")
        click.echo(_checks(report.unexpected) + "\n")
    if report.vanished:
        click.echo(f"FAILED: {len(report.vanished)} known discrepancies no longer appear:\n")
        for _, *where in report.vanished:
            click.echo("  " + clean(" / ".join(where)))
        click.echo()


def _checks(checks: list[Check], verdict: bool = False) -> str:
    header = ["table / row / column", "printed", "recomputed", "how"]
    rows = [[str(c.where), c.printed, c.recomputed, c.what] for c in checks]
    if verdict:
        header.insert(1, "verdict")
        for row, c in zip(rows, checks, strict=True):
            row.insert(1, c.verdict.value)
    return table(header, rows, left=len(header))


def _report(report: Report, notes: tuple[Remark, ...]) -> dict[str, Any]:
    from paccf.published import Verdict

    return {
        "ok": report.ok,
        "total": {"checks": len(report.checks), **{v.value: len(report.having(v)) for v in Verdict}},
        "kinds": report.counts,
        "unexpected": [_json(c) for c in report.unexpected],
        "vanished": [" / ".join(key[1:]) for key in report.vanished],
        "checks": [_json(c) for c in report.checks],
        "remarks": [{"topic": n.topic, "section": n.place, "text": n.text} for n in notes],
    }


def _json(c: Check) -> dict[str, Any]:
    found: dict[str, Any] = {
        "kind": c.kind,
        "what": c.what,
        "table": c.where.table,
        "row": c.where.row,
        "column": c.where.column,
        "printed": c.printed,
        "recomputed": c.recomputed,
        "verdict": c.verdict.value,
    }
    if c.span is not None:  # exact: "97/25"
        found["exact"] = {"middle": str(c.span.mid), "low": str(c.span.lo), "high": str(c.span.hi)}
    if c.explanation:
        found["explanation"] = c.explanation
    return found


def _figure(text: str) -> bool:
    from paccf.published import Printed

    try:
        Printed(text)
    except ValueError:
        return False
    return True


def _wrap(text: str, indent: str, first: str = "") -> str:
    return textwrap.fill(
        clean(text), WIDTH, initial_indent=first or indent, subsequent_indent=indent, break_on_hyphens=False
    )
