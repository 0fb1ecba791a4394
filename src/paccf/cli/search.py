"""`paccf search`: run a search and see what it drops, what it finds and what it costs."""

from __future__ import annotations

import shlex
import sys

import click

from paccf.cli import search_report as report
from paccf.cli.drawing import data_option, source_option, split_option, world_option
from paccf.cli.fitting import coloured, rich_text, width
from paccf.cli.modelling import model_options, spec_of
from paccf.cli.output import BadInput, emit_json, say, table
from paccf.cli.search_log import Log
from paccf.cli.searching import Plan, plan
from paccf.cli.tree_end import drawing
from paccf.cli.tree_view import watcher
from paccf.cli.waiting import Waiting
from paccf.domains.probing import Probe
from paccf.domains.sources import Split
from paccf.models.pace import Spent
from paccf.record.values import LabelMode
from paccf.search.scoring import Scoring
from paccf.search.trace import Trace


@click.command()
@click.option(
    "--task",
    "texts",
    multiple=True,
    metavar="TEXT",
    help="What to solve, like '4 7 8 8', or an id of --source; repeatable.",
)
@click.option("--tasks", "count", type=click.IntRange(min=1), metavar="N", help="N tasks, drawn by --seed.")
@source_option
@split_option
@click.option(
    "--skip",
    type=click.IntRange(min=0),
    default=0,
    metavar="M",
    help="Leave out the first M that would be drawn, so that N new ones are.",
)
@data_option
@click.option("--domain", default="game24", show_default=True, help="`paccf tasks` lists them.")
@world_option
@click.option("--controller", default="lats", show_default=True, help="uct, toolchain, lats, tooltree or levin.")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="A controller setting; repeatable.")
@click.option("--budget", type=click.IntRange(min=1), default=100, show_default=True, help="Hard cap on requests.")
@click.option("--certificate", type=click.Path(), help="Prune with the margin of this certificate; it has to fit.")
@click.option("--margin", metavar="N", help="Prune with a margin picked by hand: no promise. inf keeps everything.")
@click.option("--override", metavar="REASON", help="Use a certificate that does not fit; marked in the output.")
@click.option(
    "--arm",
    type=click.Choice(["native", "paccf", "shadow"]),
    help="native: the controller's own rule. paccf: the margin. shadow: native, showing what the margin would do.  "
    "[default: paccf with a margin, native without]",
)
@model_options
@click.option("--profile", help="How good the simulated model is: a name or a .toml file.  [default: paper-like]")
@click.option("--seed", default=0, show_default=True, help="Decides every draw.")
@click.option("--repeats", type=click.IntRange(1, 1000), default=4, show_default=True, help="R, observations a score.")
@click.option("--microbatch", type=click.IntRange(min=1), default=8, show_default=True, help="Candidates a request.")
@click.option(
    "--proposer",
    type=click.Choice(["list", "sample"]),
    default="list",
    show_default=True,
    help="Candidates from one request that lists them, or from one request each.",
)
@click.option("--latency-ms", type=click.FloatRange(0, 60_000), help="Time that a simulated answer takes.")
@click.option(
    "--tape",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Keep a real model's answers in this record: none is asked for twice, and the same command goes on.",
)
@click.option("--log", type=click.Path(dir_okay=False), metavar="FILE", help="Append a labelled frontier log.")
@click.option(
    "--labels",
    type=click.Choice(["oracle", "found", "probed"]),
    default="oracle",
    show_default=True,
    help="How the log is labelled; each way promises something else.",
)
@click.option(
    "--probe", type=click.IntRange(min=0), default=16, show_default=True, help="Requests a candidate, when probed."
)
@click.option("--tree/--no-tree", default=None, help="Show every frontier live.  [default: one task on a terminal]")
@click.option("--json", "as_json", is_flag=True, help="One JSON object with everything.")
def command(
    texts: tuple[str, ...],
    count: int | None,
    source: str,
    split: Split,
    skip: int,
    data: str | None,
    domain: str,
    world_pairs: tuple[str, ...],
    controller: str,
    settings: tuple[str, ...],
    budget: int,
    certificate: str | None,
    margin: str | None,
    override: str | None,
    arm: str | None,
    model: str,
    model_name: str | None,
    model_spec: str | None,
    key_env: str | None,
    evaluator: str | None,
    concurrency: int | None,
    profile: str | None,
    seed: int,
    repeats: int,
    microbatch: int,
    proposer: str,
    latency_ms: float | None,
    tape: str | None,
    log: str | None,
    labels: LabelMode,
    probe: int,
    tree: bool | None,
    as_json: bool,
) -> None:
    """Search, and see it: the tree with its scores, what was dropped and why, the solution, the bill.

    Without --model the model is simulated: the truth, distorted as its profile says. It costs nothing and every output
    names it. --model local is a small real one without a network, any other an endpoint: see `paccf models`.

    \b
    Examples. Look at one search, then at what a margin does to it:
      paccf search --task "4 7 8 8"
      paccf search --task "4 7 8 8" --controller uct --margin 30
      paccf search --task "4 7 8 8" --controller uct --margin 30 --arm shadow

    \b
    Earn the margin, then use it on new tasks (the first one's last line is the second one):
      paccf search --tasks 80 --split calibration --controller uct --log uct.jsonl
      paccf calibrate uct.jsonl --labels oracle --budget 100 --match ... -o uct.json
      paccf search --tasks 100 --split test --controller uct --certificate uct.json

    Exit codes: 0 the search ended, solved or not; 1 the model failed; 2 bad input.
    """
    planned = plan(
        domain=domain,
        world_pairs=world_pairs,
        texts=texts,
        count=count,
        source=source,
        split=split,
        skip=skip,
        data=data,
        name=controller,
        settings=settings,
        scoring=Scoring(repeats, microbatch, proposer=proposer),  # type: ignore[arg-type]
        budget=budget,
        seed=seed,
        model=spec_of(
            model=model,
            model_name=model_name,
            model_spec=model_spec,
            key_env=key_env,
            evaluator=evaluator,
            concurrency=concurrency,
            profile=profile,
            latency_ms=latency_ms,
        ),
        arm=arm,
        margin=margin,
        certificate=certificate,
        override=override,
    )
    if tape is not None and planned.model.simulated:
        raise BadInput("--tape keeps the answers of a real model; a simulated one is a tape of itself")
    book = None if log is None else Log(log, planned, labels, Probe(probe, seed=seed))
    wire: list[Spent] = []
    if as_json:
        traces = _run(planned, book, wire, tape, live=False)
        searches = [report.as_data(t, planned) for t in traces]
        emit_json(report.described(planned) | {"wire": report.wire_data(wire), "searches": searches})
    else:
        room = width() if sys.stdout.isatty() else None
        say(report.head(planned, room))
        for note in planned.overrides:
            say(f"override: {note}")
        for note in planned.notes:
            say(f"Note: {note}")
        live = (len(planned.tasks) == 1 and room is not None) if tree is None else tree
        traces = _run(planned, book, wire, tape, live)
        if live:
            for trace in traces:
                click.echo("\n" + "\n".join(drawing(trace, width(), rich_text())), color=coloured())
            say()
        if len(traces) == 1:
            say(report.summary(traces[0], planned, room))
        else:
            say(table(report.COLUMNS, [report.row(t, planned, room) for t in traces], left=3))
            say(f"\n{report.total(traces, planned)}")
            for failure in dict.fromkeys(t.failure for t in traces if t.failure):
                say(f"failed: {failure}")
        for spent in wire:
            say(report.wire(spent))
        if book is not None:
            probed = f" The probes took {book.probed:,} requests." if labels == "probed" else ""
            say(f"\nAppended {book.frontiers:,} frontiers to {log}.{probed} Next:\n  {_next(planned, book)}")
    if any(t.reason == "failure" for t in traces):
        sys.exit(1)


def _run(planned: Plan, book: Log | None, wire: list[Spent], tape: str | None, live: bool) -> list[Trace]:
    """All searches, each logged as soon as it has ended; ``wire`` gets what a real model was sent."""
    traces = []
    with Waiting(len(planned.tasks), planned.budget) as waiting:
        watch = watcher(planned.arm, planned.budget, waiting.clear) if live else None
        for trace in planned.searches(watch, wire.append, waiting.over, tape):
            traces.append(trace)
            if book is not None:
                book.add(trace)
    return traces


def _next(planned: Plan, book: Log) -> str:
    match = " ".join(f"--match {shlex.quote(f'{key}={value}')}" for key, value in planned.fingerprint.items())
    log = shlex.quote(str(book.path))
    return f"paccf calibrate {log} --labels {book.mode} --budget {planned.budget} {match} -o margin.json"
