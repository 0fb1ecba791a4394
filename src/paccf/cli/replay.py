"""`paccf replay`: what another budget or margin would have done, from the tape; no model is asked."""

from __future__ import annotations

import asyncio
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from paccf.cli.experiment import DATA, folder_path, in_words
from paccf.cli.loudness import quiet
from paccf.cli.output import BadInput, clean, emit_json, remark, say, table

if TYPE_CHECKING:
    from paccf.experiment.design import Cell
    from paccf.experiment.folder import Folder
    from paccf.experiment.replaying import Replayed
    from paccf.experiment.work import Margin

HEAD = (
    "domain",
    "controller",
    "margin",
    "tasks",
    "answered",
    "utility",
    "requests",
    "net nodes",
    "tokens",
    "N_eff",
    "lacking",
)


@click.command()
@click.argument("folder")
@click.option("--budget", type=click.IntRange(min=1), help="Requests a search may use.  [default: the run's largest]")
@click.option("--margin", metavar="L", help="One margin for all cells, or inf to keep everything.")
@click.option("-q", "--coverage", "q", metavar="Q", help="Freeze the margins anew at this coverage.")
@click.option("--domain", multiple=True, help="Only this domain. Repeatable.")
@click.option("--controller", multiple=True, help="Only this controller. Repeatable.")
@click.option(
    "--missing", "missing", metavar="FILE", help="Write the requests that the tape cannot answer, as JSON lines."
)
@DATA
@click.option("--json", "as_json", is_flag=True, help="The same for machines.")
def command(
    folder: str,
    budget: int | None,
    margin: str | None,
    q: str | None,
    domain: tuple[str, ...],
    controller: tuple[str, ...],
    missing: str | None,
    data: str | None,
    as_json: bool,
) -> None:
    """Replay the test tasks of the run in FOLDER at another budget or margin, from its tape. Nothing is sent.

    Without --margin and -q the frozen margins are used, so `--budget 250` shows what they would have done there. A
    smaller budget is exact. Under another margin a search may come to ask what nobody asked: its replay ends there, the
    task counts as lacking, and --missing names the requests. What would have been asked after them nobody knows.

    Where the run itself searched under the same rule, the replay has to do what is recorded, effect by effect; a
    difference is an error that names both (exit code 1).

    \b
    Examples:
      paccf replay runs/demo --budget 100
      paccf replay runs/paper --budget 250 --margin 20
      paccf replay runs/deepseek -q 0.9 --missing ask.jsonl
    """
    path = folder_path(folder)
    if margin is not None and q is not None:
        raise BadInput("give --margin or -q, not both: -q says which margins")
    with in_words():
        from paccf.experiment.folder import Folder

        opened = Folder.look(path, data)
        try:
            _replay(opened, budget or opened.design.spec.largest, margin, q, domain, controller, missing, as_json)
        finally:
            opened.close()


def _replay(
    opened: Folder,
    budget: int,
    margin: str | None,
    q: str | None,
    domains: tuple[str, ...],
    controllers: tuple[str, ...],
    missing: str | None,
    as_json: bool,
) -> None:
    from paccf.experiment.replaying import jobs

    cells = _cells(opened, domains, controllers)
    margins = _margins(opened, cells, margin, q)
    work = jobs(opened, budget, margins)
    if not work:
        raise BadInput("no test search of these cells is recorded yet; paccf status says how far the run is")
    done = asyncio.run(_all(opened, work))
    by_cell = {cell: [one for one in done if one.job.cell == cell] for cell in cells}
    if missing is not None:
        _write(Path(missing), done)
    notes = _notes(opened, budget, margin, q)
    lines = _lines(opened, by_cell, margins)
    if as_json:
        lacking = sum(len(one.lacking) for one in done)
        emit_json(
            {
                "name": opened.run,
                "simulated": opened.design.spec.model.simulated,
                "budget": budget,
                "notes": notes,
                "cells": lines,
                "means": _means(opened, by_cell),
                "requests_missing_at_least": lacking,
            }
        )
        return
    said = "SIMULATED " if opened.design.spec.model.simulated else ""
    asked = f"margin {margin}" if margin is not None else f"margins at Q {q}" if q else "the frozen margins"
    say(f"{said}{clean(opened.run)}: what if, at budget {budget}, with {clean(asked)}; against Native at that budget\n")
    say(table(HEAD, [_row(line) for line in [*lines, *_means(opened, by_cell)]], left=2))
    say("")
    for note in notes:
        say(f"Note: {clean(note)}")
    short = [one for one in done if one.outcomes is None]
    if short:
        least = sum(len(one.lacking) for one in short)
        say(
            f"\n{len(short):,} of {len(done):,} replays lack answers: {least:,} requests at the least, where they came"
            "\nto a stop. Figures are over the tasks that were answered, where less went another way: no fair sample."
        )
        if missing is None:
            say("--missing FILE writes the requests.")
    else:
        say(f"\nAll {len(done):,} replays were answered.")


def _cells(opened: Folder, domains: tuple[str, ...], controllers: tuple[str, ...]) -> list[Cell]:
    spec = opened.design.spec
    for given, known, what in ((domains, spec.domains, "domain"), (controllers, spec.controllers, "controller")):
        for name in given:
            if name not in known:
                raise BadInput(f"the run has no {what} {name!r:.80}; it has {', '.join(known)}")
    return [
        cell
        for cell in opened.design.cells
        if (not domains or cell.domain in domains) and (not controllers or cell.controller in controllers)
    ]


def _margins(opened: Folder, cells: list[Cell], margin: str | None, q: str | None) -> dict[Cell, Margin]:
    from paccf.experiment.replaying import refrozen
    from paccf.method.scores import exact, plain

    if margin is not None:
        if margin.lower() in ("inf", "infinity"):
            return dict.fromkeys(cells)
        try:
            value = exact(margin)
        except ValueError as error:
            raise BadInput(f"--margin: {error}") from None
        if value < 0:
            raise BadInput(f"--margin {margin:.40}: a margin is 0 or more, or inf to keep everything")
        return dict.fromkeys(cells, plain(value))
    frozen = {cell: c.margin_exact for cell, c in opened.certificates().items()}
    if q is not None:
        try:
            frozen = refrozen(opened, q)
        except ValueError as error:
            raise BadInput(f"-q: {error}") from None
    if not set(frozen) >= set(cells):
        raise BadInput("the run has no frozen margins yet; finish it, or give --margin L")
    return {cell: frozen[cell] for cell in cells}


async def _all(opened: Folder, work: list[Any]) -> list[Replayed]:
    from paccf.experiment.executor import Stop
    from paccf.experiment.processes import Processes
    from paccf.experiment.reading import toml
    from paccf.experiment.replaying import replays

    spec = opened.design.spec
    text, done = toml(spec), []
    with Processes(text, spec.execution.workers, Stop()) as processes:
        async for one in replays(opened, work, text, processes):
            done.append(one)
            if len(done) % 200 == 0 and not quiet():
                remark(f"replayed {len(done):,} of {len(work):,}")
    order = {job: place for place, job in enumerate(work)}
    return sorted(done, key=lambda one: order[one.job])


def _notes(opened: Folder, budget: int, margin: str | None, q: str | None) -> list[str]:
    spec = opened.design.spec
    notes = list(opened.design.caveats())
    if spec.model.simulated and not opened.store.tape().answers:
        notes.append("the simulated model computes every answer, so none is missing")
    if margin is not None:
        notes.append("a margin by hand carries no promise")
    elif budget > spec.calibration.budget:
        notes.append(
            f"the margins were calibrated at budget {spec.calibration.budget}; at {budget} nothing is promised"
        )
    if q is not None:
        notes.append(
            "choosing Q by what it does on test tasks would be choosing on the test; calibrate anew for a promise"
        )
    return notes


def _lines(opened: Folder, by_cell: Any, margins: Any) -> list[dict[str, Any]]:
    from paccf.audit.names import REALIZED, controller_title, domain_title
    from paccf.experiment.replaying import figures

    info = opened.store.run(opened.run)
    found = []
    for cell, done in by_cell.items():
        cut = figures(info, done)
        lacking = [one for one in done if one.outcomes is None]
        line: dict[str, Any] = {
            "domain": domain_title(cell.domain),
            "controller": controller_title(cell.controller),
            "margin": margins[cell],
            "tasks": len(done),
            "answered": len(done) - len(lacking),
            "utility": None if cut is None else cut.gain,
        }
        line |= {view: None if cut is None else cut.nbc[view].reduction for view in REALIZED}
        found.append(line | {"n_eff": cut.n_eff if cut else 0, "lacking": sum(len(one.lacking) for one in lacking)})
    return found


def _means(opened: Folder, by_cell: Any) -> list[dict[str, Any]]:
    """Of every domain over the tasks that all controllers could answer, and of all domains."""
    from paccf.audit.names import domain_title
    from paccf.experiment.replaying import means

    info = opened.store.run(opened.run)
    domains = list(dict.fromkeys(cell.domain for cell in by_cell))
    places: list[tuple[str, list[Any]]] = [
        (domain_title(name), [one for cell, done in by_cell.items() if cell.domain == name for one in done])
        for name in domains
    ]
    if len(domains) > 1:
        places.append(("all", [one for done in by_cell.values() for one in done]))
    found = []
    for name, done in places:
        cases, values = means(info, done)
        found.append({"domain": name, "controller": "mean", "answered": cases, **values})
    return found


def _row(line: dict[str, Any]) -> tuple[object, ...]:
    margin = "" if "margin" not in line else "keep all" if line["margin"] is None else line["margin"]
    saved = [_signed(line.get(view), "%") for view in ("utility", "requests", "net_graph", "tokens")]
    saved[0] = saved[0].replace("%", "pp")
    rest = [line.get(name, "") for name in ("n_eff", "lacking")]
    return line["domain"], line["controller"], margin, line.get("tasks", ""), line["answered"], *saved, *rest


def _signed(value: float | None, unit: str) -> str:
    return "-" if value is None or not math.isfinite(value) else f"{value + 0.0:+.2f} {unit}"


def _write(path: Path, done: list[Replayed]) -> None:
    """One JSON line a missing request, once each."""
    seen: set[tuple[str, str, int, str]] = set()
    with open(path, "w", encoding="utf-8") as file:
        for one in done:
            for kind, draw, prompt in one.lacking:
                if (name := (one.job.cell.domain, kind, draw, prompt)) not in seen:
                    seen.add(name)
                    line = {"domain": name[0], "controller": one.job.cell.controller, "task": one.job.task.id}
                    line |= {"kind": kind, "prompt": prompt}
                    file.write(json.dumps({**line, "draw": draw}) + "\n")
