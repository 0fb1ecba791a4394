"""`paccf tasks`: which tasks there are, and which of them a draw takes."""

from __future__ import annotations

import click

from paccf.cli.drawing import data_option, drawn, source_option, split_option, stated
from paccf.cli.output import clean, emit_json, say, table
from paccf.cli.settings import known
from paccf.domains.registry import has, names
from paccf.domains.sources import Finite, Parted, Pool, Split, digest_of, pool, sources
from paccf.search.tree import Task

SHOWN = 10


@click.command()
@click.argument("domain", required=False)
@source_option
@split_option
@click.option("--seed", default=0, show_default=True, help="Decides the cut and the order.")
@click.option(
    "-n", "count", type=click.IntRange(min=1), metavar="N", help="The first N.  [default: 10, with --json all]"
)
@data_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(
    domain: str | None, source: str, split: Split, seed: int, count: int | None, data: str | None, as_json: bool
) -> None:
    """Show where tasks come from, and the tasks of a draw with the hash that records them.

    \b
    Examples:
      paccf tasks                                        the domains and their sources
      paccf tasks game24                                 tasks of the default source
      paccf tasks game24 --split test --seed 7 -n 100    a hundred to test on
      paccf tasks game24 --source tot-test --split calibration --data DIR

    One seed cuts a source once: its calibration and its test never share a task.
    """
    if domain is None:
        _domains(as_json)
        return
    known(domain, names(), "domain")
    name = source or next(iter(stated(lambda: sources(domain))))
    found: Pool = stated(lambda: pool(domain, name, data))
    size = size_of(found, split)
    many = count
    if many is None and not (as_json and size is not None):
        many = SHOWN if size is None else min(SHOWN, size)
    chosen = drawn(domain, many, source=name, split=split, seed=seed, data=data)
    excluded = dict(found.excluded) if isinstance(found, Finite) else {}
    if as_json:
        emit_json(
            {
                "domain": domain,
                "source": name,
                "split": split,
                "seed": seed,
                "count": len(chosen),
                "of": size,
                "digest": digest_of(chosen),
                "tasks": [task.id for task in chosen],
                "excluded": excluded,
            }
        )
        return
    say(clean(f"{domain}  source {name}  split {split}  seed {seed}"))
    for task in chosen:
        say(f"  {line(task)}")
    of = "of as many as you like" if size is None else f"of {size:,}"
    say(f"{len(chosen):,} {of}, hash {digest_of(chosen)}")
    for task_id, reason in excluded.items():
        say(f"excluded: {clean(task_id)}: {clean(reason)}")


def size_of(found: Pool, split: Split) -> int | None:
    """How many tasks a split has; `None` if there is no end."""
    if isinstance(found, Finite):
        half = len(found.tasks) // 2
        return {"calibration": half, "test": len(found.tasks) - half, "all": len(found.tasks)}[split]
    if isinstance(found, Parted):
        one, two = len(found.calibration), len(found.test)
        return {"calibration": one, "test": two, "all": one + two}[split]
    return None


def line(task: Task) -> str:
    """A task in one line: its id, and what it is where the id does not say it."""
    about = getattr(task.data, "about", "")
    return clean(f"{task.id}  {about:.90}" if about else task.id)


def _domains(as_json: bool) -> None:
    rows = [
        (name, source, about.about, ", ".join(about.files) or "-", about.takes)
        for name in names()
        if has(name, "tasks")
        for source, about in sources(name).items()
    ]
    if as_json:
        keys = ("domain", "source", "about", "files", "takes")
        emit_json({"sources": [dict(zip(keys, row, strict=True)) for row in rows]})
        return
    say(table(("domain", "source", "files", "tasks"), [(d, s, f, a) for d, s, a, f, _ in rows], left=4))
    for _, source, _, _, takes in rows:
        if takes:
            say(f"\n{source}:... takes {takes}.")
    say("\nFiles are found by `paccf data where`; `paccf data list` says which there are.")
