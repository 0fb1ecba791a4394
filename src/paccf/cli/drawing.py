"""Which world and which tasks: what the commands about domains share."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import click

from paccf.cli.output import BadInput
from paccf.cli.settings import known, read_pairs
from paccf.domains.registry import names, part, sample, settings_of, task_of, world
from paccf.domains.sources import Finite, Parted, Split, pool, tasks
from paccf.search.tree import Task
from paccf.search.world import World

SPLITS = ("calibration", "test", "all")

world_option = click.option(
    "--world", "world_pairs", multiple=True, metavar="KEY=VALUE", help="A setting of the domain; repeatable."
)
source_option = click.option(
    "--source", default="", metavar="NAME", help="Where the tasks come from.  [default: the domain's own]"
)
split_option = click.option(
    "--split",
    type=click.Choice(SPLITS),
    default="all",
    show_default=True,
    help="Which half of the source; the seed cuts it.",
)
data_option = click.option(
    "--data", type=click.Path(file_okay=False), metavar="DIR", help="Where benchmark files lie.  [default: PACCF_DATA]"
)


def stated(call: Callable[[], Any], option: str = "") -> Any:
    """What ``call`` gives; a ValueError of the domains is bad input, in its own words."""
    try:
        return call()
    except BadInput:
        raise
    except ValueError as error:
        raise BadInput(f"{option}: {error}" if option else str(error)) from None


def settings(domain: str, pairs: tuple[str, ...]) -> dict[str, Any]:
    """The settings of the world that ``KEY=VALUE`` texts ask for."""
    known(domain, names(), "domain")
    make = part(domain, "world").make
    return read_pairs("--world", pairs, make, list(settings_of(make)), f"setting of {domain}")


def place(domain: str, given: dict[str, Any]) -> World:
    """The world with these settings."""
    made: World = stated(lambda: world(domain, **given), "--world")
    return made


def named(domain: str, texts: tuple[str, ...], source: str, data: str | None) -> tuple[Task, ...]:
    """The tasks of these texts: ids of ``source`` if one was named, else as the domain writes tasks."""
    found = []
    there = {task.id: task for task in _listed(domain, source, data)} if source else {}
    for text in texts:
        if text.strip() in there:
            found.append(there[text.strip()])
            continue
        try:
            found.append(task_of(domain, text))
        except ValueError as error:
            among = f"; and no id of the source {source}" if source else ""
            raise BadInput(f"--task: {error}{among}") from None
    if len({task.id for task in found}) < len(found):
        raise BadInput("--task: one task is given twice; a search repeats itself, so once says it all")
    return tuple(found)


def _listed(domain: str, source: str, data: str | None) -> Collection[Task]:
    found = stated(lambda: pool(domain, source, data), "--source")
    if isinstance(found, Finite):
        return found.tasks
    return [*found.calibration, *found.test] if isinstance(found, Parted) else ()


def drawn(
    domain: str,
    count: int | None,
    *,
    source: str,
    split: Split,
    seed: int,
    skip: int = 0,
    data: str | None = None,
    without: Collection[str] = (),
) -> tuple[Task, ...]:
    """``count`` tasks of a split of a source, in the order that the seed decides."""
    found: tuple[Task, ...] = stated(
        lambda: tasks(domain, source, split, seed, count, skip=skip, without=without, data=data)
    )
    return found


def example(domain: str) -> str:
    """A task as one writes it, short enough for a message."""
    return f"{sample(domain)[0]:.60}"
