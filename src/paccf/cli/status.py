"""`paccf status`: how far a run folder is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from paccf.cli.experiment import DATA, folder_path, in_words
from paccf.cli.output import clean, emit_json, say, table

if TYPE_CHECKING:
    from paccf.record.tape import Totals


@click.command()
@click.argument("folder")
@DATA
@click.option("--json", "as_json", is_flag=True, help="The same for machines.")
def command(folder: str, data: str | None, as_json: bool) -> None:
    """How far the run in FOLDER is; also while it runs.

    \b
    Example:
      paccf status runs/demo
    """
    path = folder_path(folder)
    with in_words():
        from paccf.experiment.folder import Folder
        from paccf.experiment.state import state

        opened = Folder.look(path, data)
        try:
            found, spec, caveats = state(opened), opened.design.spec, opened.design.caveats()
        finally:
            opened.close()
    tape = found.tape
    if as_json:
        cells = [
            asdict(c) | {"cell": None, "domain": c.cell.domain, "controller": c.cell.controller} for c in found.cells
        ]
        for cell in cells:
            del cell["cell"]
        emit_json(
            {
                "name": spec.name,
                "simulated": spec.model.simulated,
                "caveats": caveats,
                "complete": found.complete,
                "cells": cells,
                "excluded": found.excluded,
                "tape": tape._asdict(),
            }
        )
        return
    said = "SIMULATED " if spec.model.simulated else ""
    say(f"{said}{clean(spec.name)}: {'complete' if found.complete else 'not complete'}")
    for caveat in caveats:
        say(f"Note: {clean(caveat)}")
    say("")
    head = ("cell", "calibrated", "margin", "tested", "solved", "censored", "failed", "requests")
    rows = [
        (
            str(c.cell),
            f"{c.calibrated}/{c.pool}" + ("+" if c.calibrated > c.pool else ""),
            c.margin or "-",
            f"{c.tested}/{c.tests}",
            c.solved,
            c.censored,
            c.failed,
            f"{c.requests:,}",
        )
        for c in found.cells
    ]
    say(table(head, rows))
    if found.excluded:
        say(f"\n{found.excluded} tasks are excluded from both arms and all controllers of their domains.")
    if tape.answers or tape.attempts:
        say("\n" + "\n".join(_tape(tape)))
    if not found.complete:
        say(f"\nTo go on: paccf run {clean(folder)}")


def _tape(tape: Totals) -> Iterator[str]:
    """What the tape holds. Usage that nobody stated is unknown, and not zero."""
    known = tape.answers - tape.unknown
    usage = [f"{tape.prompt_tokens:,} prompt and {tape.completion_tokens:,} completion tokens"] if known else []
    if tape.unknown:
        usage.append(f"usage of {tape.unknown:,} answers unknown")
    yield ", ".join([f"Tape: {tape.answers:,} answers", f"{tape.attempts:,} attempts on the wire", *usage]) + "."
    if tape.failed:
        yield f"{tape.failed:,} requests failed, the last attempt at each without an answer."
    if tape.maybe_billed:
        yield (
            f"{tape.maybe_billed:,} requests have no answer: they are under way, or a crash cut them off and they may "
            "have been billed."
        )
