"""Where tasks come from: GTA's own files if the user has them, else generated ones. Knows recorded plans: offline."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from paccf.domains.data import DataFile, Files
from paccf.domains.gta.calls import Card, by_name, problem_with
from paccf.domains.gta.cards import CARDS
from paccf.domains.gta.records import (
    DataError,
    Place,
    Problem,
    irregular,
    named,
    read_dataset,
    read_problem,
    read_tools,
)
from paccf.domains.gta.scenes import SCENES, Draw
from paccf.domains.sources import Finite, Pool, Source, Stream
from paccf.search.tree import Task

DATASET, TOOLMETA = "gta/dataset.json", "gta/toolmeta.json"


def unplayable(problem: Problem) -> str | None:
    """Why a task is left out before any run, for both arms and all controllers: no legal plan can equal its recorded
    one. `None` if one can. Of GTA's 229 tasks it leaves out 34 and 35, whose last call has no image to draw on."""
    cards = by_name(problem.cards)
    for i, call in enumerate(problem.gold.calls, 1):
        if reason := problem_with(call, cards):
            return f"no legal plan can equal the recorded one, whose call {i} is none: {reason}"
    return None


def read_files(dataset: Path, toolmeta: Path) -> dict[str, Problem]:
    """The problems of GTA's two files, under their names in the first. Raises `DataError`."""
    return read_dataset(_text(dataset), str(dataset), read_tools(_text(toolmeta), str(toolmeta)))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read: {error}") from None


def real(dataset: Path, toolmeta: Path) -> tuple[Task, ...]:
    """All tasks of GTA's files, the excluded ones included."""
    return tuple(Task(f"gta-{name}", problem) for name, problem in read_files(dataset, toolmeta).items())


def check(dataset: Path) -> list[str]:
    """What is irregular in a ``dataset.json``; by the ``toolmeta.json`` beside it, or else by our cards."""
    beside = dataset.with_name(Path(TOOLMETA).name)
    cards = read_tools(_text(beside), str(beside)) if beside.is_file() else CARDS
    problems = read_dataset(_text(dataset), str(dataset), cards)
    return [f"task {name}: {odd}" for name, problem in problems.items() for odd in irregular(problem)]


def check_tools(toolmeta: Path) -> list[str]:
    """What is irregular in a ``toolmeta.json``: tools that are not the fourteen."""
    names = {card.name for card in read_tools(_text(toolmeta), str(toolmeta))}
    return [f"the tool {name} is {word}" for word, odd in _odd(names) for name in sorted(odd)]


def _odd(names: set[str]) -> list[tuple[str, set[str]]]:
    known = {card.name for card in CARDS}
    return [("missing", known - names), ("not known", names - known)]


def draw(seed: int, i: int) -> Task:
    """The ``i``-th generated task of ``seed``: a record in GTA's schema, read as one of its own. The name is made of
    the content, so that equal tasks have equal names."""
    record = generated(seed, i)
    return named(read_problem(Place(record, f"generated task {i} of seed {seed}"), CARDS))


def generated(seed: int, i: int) -> dict[str, Any]:
    """A task record of one of the scenes, as ``dataset.json`` would have it."""
    choices = Draw((seed, "gta", i))
    scene = choices.pick(SCENES)(choices)
    used = dict.fromkeys(tool for tool, *_ in scene.calls)
    dialogs: list[dict[str, Any]] = [{"role": "user", "content": scene.query}]
    for tool, args, kind, output in scene.calls:
        function = {"name": tool, "arguments": args}
        dialogs.append({"role": "assistant", "tool_calls": [{"type": "function", "function": function}]})
        dialogs.append({"role": "tool", "name": tool, "content": {"type": kind, "content": output}})
    dialogs.append({"role": "assistant", "content": scene.answer or "The image is ready."})
    return {
        "tools": [_record(card) for card in CARDS if card.name in used],
        "files": [{"type": "image", "path": path, "url": None} for path in scene.files],
        "dialogs": dialogs,
        "gt_answer": {"whitelist": [list(dict.fromkeys(scene.required))], "blacklist": None} if scene.answer else None,
    }


def _record(card: Card) -> dict[str, Any]:
    inputs = [{**asdict(slot), "filetype": None} for slot in card.inputs]
    return {"name": card.name, "description": card.description, "inputs": inputs, "outputs": [{"type": card.output}]}


def _gta(files: Files, _: str) -> Pool:
    tasks = real(files.path(DATASET), files.path(TOOLMETA))
    excluded = {task.id: reason for task in tasks if (reason := unplayable(task.data))}
    return Finite([task for task in tasks if task.id not in excluded], excluded)


SOURCES = {
    "generated": Source("tool-planning tasks made of our own scenes, in GTA's schema", lambda files, _: Stream(draw)),
    "gta": Source("the tasks of GTA, two of 229 excluded for technical reasons", _gta, (DATASET, TOOLMETA)),
}

_HOME = "https://github.com/open-compass/GTA"
FILES = (
    DataFile(
        DATASET,
        "229 requests about images with recorded plans and tool outputs (GTA)",
        "Apache-2.0",
        _HOME,
        "a6ee050d7ba99d9777a2005fac9654eb8c88f890989b54f89b5bc2134287998e",
        1_434_666,
        (
            "SPORT-Agents/SPORT-Agents/c4cabf5432284ad9ac2536cafa71f5126de3c4d9/"
            "data_generation/gta_pipeline/prompts/query/gta_metadata.json",
        ),
        check,
    ),
    DataFile(
        TOOLMETA,
        "the cards of GTA's 14 tools",
        "Apache-2.0",
        _HOME,
        "3cbc7a5cba6cf611a11ece09b26fe4954ae95a8058baff3642a80c7894a8fb22",
        14_459,
        (
            "Fugtemypt123/ToolVQA-release/99caf3a5cc613bf44d4bb60066fead87e871c430/"
            "opencompass/data/ToolVQA/toolmeta.json",
        ),
        check_tools,
    ),
)
