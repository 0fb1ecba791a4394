"""`paccf run`: a whole experiment from one spec; may be killed at any time, and goes on when repeated."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path
from typing import Any

import click

from paccf.cli.experiment import DATA, SETS, in_words, read_spec
from paccf.cli.loudness import quiet
from paccf.cli.output import BadInput, clean, emit_json, say, table
from paccf.experiment.spec import Spec


@click.command()
@click.argument("spec")
@click.option("-o", "--output", metavar="DIR", help="The run folder; runs/NAME if left out.")
@SETS
@click.option("--plan", "only_plan", is_flag=True, help="Say what it will ask and cost, cell by cell; send nothing.")
@click.option("--shard", "part", metavar="I/N", help="Do the I-th of N parts; `paccf merge` puts them together.")
@DATA
@click.option("--json", "as_json", is_flag=True, help="What came out, for machines.")
def command(
    spec: str,
    output: str | None,
    sets: tuple[str, ...],
    only_plan: bool,
    part: str | None,
    data: str | None,
    as_json: bool,
) -> None:
    """Run a whole experiment: calibrate, freeze, deploy both arms on the same tasks, at every budget.

    SPEC is a shipped spec (`paccf spec`), a TOML file, or a run folder to go on with. Killed at any time, the same
    command goes on where it was; with everything there, it computes nothing and prints the same again.

    \b
    Examples:
      paccf run demo
      paccf run paper -o paper-run --set 'domains.game24.test=20'
      paccf run deepseek --plan
    """
    from paccf.experiment.schedule import Shard, shard

    try:
        mine = Shard() if part is None else shard(part)
    except ValueError as error:
        raise BadInput(f"--shard: {error}") from None
    found = read_spec(spec, sets)
    path = Path(output) if output else Path(spec) if (Path(spec) / "spec.toml").exists() else Path("runs") / found.name
    with in_words():
        if only_plan:
            _plan(found, data, as_json)
            return
        complete, stopped = _run(found, path, mine, data, quiet() or as_json)
    if stopped:
        say(f"Stopped: {stopped}. Nothing is lost; to go on: paccf run {path}", err=True)
        sys.exit(130)
    if not complete:
        say(_next(path, mine), err=True)
        return
    with in_words():
        _results(path, data, as_json)


def _run(spec: Spec, path: Path, mine: Any, data: str | None, quiet: bool) -> tuple[bool, str]:
    """Whether everything is there now, and why it was stopped, if it was."""
    from paccf.cli.progress import shown
    from paccf.experiment.design import Design
    from paccf.experiment.executor import Stop
    from paccf.experiment.folder import Folder
    from paccf.experiment.phases import Experiment
    from paccf.experiment.processes import Processes
    from paccf.experiment.reading import toml

    design = Design(spec, data).drawn()
    if not (path / "spec.toml").exists() and not spec.model.simulated:
        from paccf.models.openai import key_of

        key_of(spec.model)  # nothing is begun that could not go on
    folder = Folder.begin(path, design)
    stop = Stop()
    try:
        planned = None if quiet else _planned(folder.design)
        with shown(spec, quiet, planned) as watcher, Processes(toml(spec), spec.execution.workers, stop) as processes:
            executor: Any = processes
            if not spec.model.simulated or spec.execution.tape == "always":
                from paccf.experiment.live import LiveSearches

                executor = live = LiveSearches(folder.design, folder.store, stop, watcher.say)
                watcher.wire = live.pace.spent
                watcher.before = 0.0 if spec.model.prices is None else spec.model.prices.cost(*live.before)
            experiment = Experiment(folder, executor, processes, watcher, stop, mine)
            return asyncio.run(_interruptible(experiment, stop, watcher)), stop.reason
    finally:
        folder.close()


def _planned(design: Any) -> float | None:
    """The money that the whole run is expected to cost; `None` where nobody stated prices."""
    from paccf.experiment.plan import plan

    prices = design.spec.model.prices
    return None if prices is None else sum(line.money(prices) or 0.0 for line in plan(design))


def _next(path: Path, mine: Any) -> str:
    """What to do when a shard has done its part."""
    phase = "test" if any((path / "certificates").glob("*.json")) else "calibration"
    return (
        f"The {phase} runs of part {mine.number}/{mine.of} are done. When those of all parts are: "
        "paccf merge PART PART ... -o WHOLE, then paccf run WHOLE"
    )


async def _interruptible(experiment: Any, stop: Any, watcher: Any) -> bool:
    """Run it; the first Ctrl-C asks it to stop, the second one ends it at once."""

    def asked() -> None:
        loop.remove_signal_handler(signal.SIGINT)
        stop.ask("interrupted")
        watcher.say("stopping: what is in flight is finished first (Ctrl-C again: at once)")

    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, asked)
    complete: bool = await experiment.run()
    return complete


def _plan(spec: Spec, data: str | None, as_json: bool) -> None:
    from paccf.experiment.design import Design
    from paccf.experiment.plan import plan

    lines = plan(Design(spec, data))
    prices = spec.model.prices
    if as_json:
        emit_json(
            [
                {
                    "domain": x.cell.domain,
                    "controller": x.cell.controller,
                    "calibration_searches": [x.calibration, x.extended],
                    "test_searches": x.test,
                    "requests_at_most": x.ceiling,
                    "probe_requests_at_most": x.probes,
                    "requests": round(x.requests),
                    "prompt_tokens": round(x.prompt_tokens),
                    "completion_tokens": round(x.completion_tokens),
                    "money": x.money(prices),
                }
                for x in lines
            ]
        )
        return
    head = ("cell", "calibration", "test", "at most", "expected", "prompt tokens", "completion", "money")
    rows: list[tuple[object, ...]] = [
        (
            str(x.cell),
            f"{x.calibration}" + (f"-{x.extended}" if x.extended > x.calibration else ""),
            x.test,
            f"{x.ceiling:,}",
            f"{x.requests:,.0f}",
            f"{x.prompt_tokens:,.0f}",
            f"{x.completion_tokens:,.0f}",
            "-" if x.money(prices) is None else f"{x.money(prices):,.2f}",
        )
        for x in lines
    ]
    total = sum(x.money(prices) or 0 for x in lines)
    rows.append(
        (
            "all",
            sum(x.calibration for x in lines),
            sum(x.test for x in lines),
            f"{sum(x.ceiling for x in lines):,}",
            f"{sum(x.requests for x in lines):,.0f}",
            f"{sum(x.prompt_tokens for x in lines):,.0f}",
            f"{sum(x.completion_tokens for x in lines):,.0f}",
            "-" if prices is None else f"{total:,.2f}",
        )
    )
    say(f"{clean(spec.name)}: searches, and the requests they can make at most and are expected to make\n")
    say(table(head, rows))
    say(
        "\nNothing was sent. At most: every search up to its budget. Expected: two tasks a cell on the simulated model,"
        "\nwith the real prompts and a terse model's answers; what both arms ask alike is sent once, and smaller"
        "\nbudgets are replays, so less goes over the wire. Retries come on top."
    )
    if probes := sum(x.probes for x in lines):
        size, repeats = spec.evaluator.microbatch, spec.evaluator.repeats
        say(
            f"Both with the probes that label candidates, which are in no search's bill: at most {probes:,} requests,"
            f"\n{spec.calibration.probe} a candidate, {size} candidates for every {repeats} requests of a search."
        )
    if spec.model.simulated:
        say("The model is SIMULATED: it costs nothing.")
    elif prices is None:
        say("State [model.prices] to see the money, and [model.ceilings] money to bound it.")


def _results(path: Path, data: str | None, as_json: bool) -> None:
    from paccf.experiment.folder import Folder
    from paccf.experiment.results import results

    folder = Folder.look(path, data)
    try:
        found = results(folder)
    finally:
        folder.close()
    if as_json:
        emit_json(found.data)
        return
    say(found.head)
    for title, head, rows, left, notes in found.tables:
        say(f"\n{clean(title)}\n")
        say(table(tuple(map(str, head)), rows, left))
        for note in notes:
            say(f"Note: {clean(note)}")
    say(f"\nThe run folder: {clean(str(path))}")
