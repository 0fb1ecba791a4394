"""Which world and which tasks: what the commands about domains share."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from itertools import islice
from typing import Any

import click

from paccf.cli.output import BadInput
from paccf.cli.settings import known, read_pairs
from paccf.domains.registry import has, names, part, sample, settings_of, task_of, world
from paccf.domains.sources import Finite, Parted, Pool, Split, dealt, pool, sources, tasks
from paccf.search.tree import Task
from paccf.search.world import World

LOOKED_AT = 2_000  # ours: tasks of a source without end among which an id is looked for
ID = re.compile(r"[\w-]{1,80}")
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


def named(
    domain: str, texts: tuple[str, ...], source: str, data: str | None, seed: int, option: str = "--task"
) -> tuple[Task, ...]:
    """The tasks of these texts: ids of ``source`` if one was named, else as the domain writes tasks; and where that is
    no way to write one, ids that `paccf tasks` shows of the domain's own source at ``seed``."""
    found = []
    there: Mapping[str, Task] = {}
    if source:
        there = _listed(domain, source, data, seed, texts)
    for text in map(str.strip, texts):
        if text in there:
            found.append(there[text])
            continue
        try:
            found.append(task_of(domain, text))
        except ValueError as error:
            if not source and (known := _default(domain, data, seed, text)) is not None:
                found.append(known)
                continue
            among = f", and no id of the source {source}" if source else f", and no id of `paccf tasks {domain}`"
            raise BadInput(f"{option}: {error}{among}") from None
    if len({task.id for task in found}) < len(found):
        raise BadInput(f"{option}: one task is given twice; a search repeats itself, so once says it all")
    return tuple(found)


def _default(domain: str, data: str | None, seed: int, text: str) -> Task | None:
    """The task of this id in the domain's own source, if it has one."""
    if not ID.fullmatch(text) or not has(domain, "tasks"):
        return None
    return _listed(domain, next(iter(sources(domain))), data, seed, (text,)).get(text)


def _listed(domain: str, source: str, data: str | None, seed: int, texts: Collection[str]) -> Mapping[str, Task]:
    """The tasks of a source by their ids; of one without end those of ``texts`` that are near its beginning."""
    found: Pool = stated(lambda: pool(domain, source, data), "--source")
    if isinstance(found, Parted):
        return {task.id: task for task in (*found.calibration, *found.test)}
    if isinstance(found, Finite):
        for text in texts:
            if text.strip() in found.excluded:
                raise BadInput(f"{text.strip()} is left out of the source {source}: {found.excluded[text.strip()]}")
        return {task.id: task for task in found.tasks}
    wanted, near = {text.strip() for text in texts}, {}
    for task in islice(dealt(found, "all", domain, seed), LOOKED_AT):
        if task.id in wanted:
            near[task.id] = task
            if len(near) == len(wanted):
                break
    return near


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
