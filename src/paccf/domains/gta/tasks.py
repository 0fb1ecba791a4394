"""Where tasks come from: GTA's own files if the user has them, else generated ones. Knows recorded plans: offline."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from paccf.domains.gta.records import DataError, Problem, irregular, read_dataset, read_tools
from paccf.search.tree import Task

# decided before any run, for both arms and all controllers: no legal plan can equal the recorded one
EXCLUDED = {
    "gta-34": "the recorded plan's last call (DrawBox) lacks its required image, so no legal plan can equal it",
    "gta-35": "the recorded plan's last call (DrawBox) lacks its required image, so no legal plan can equal it",
}


def read_files(dataset: Path, toolmeta: Path) -> dict[str, Problem]:
    """The problems of GTA's two files, under their names in the first. Raises `DataError`."""
    return read_dataset(_text(dataset), str(dataset), read_tools(_text(toolmeta), str(toolmeta)))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read: {error}") from None


@lru_cache(2)
def real(dataset: Path, toolmeta: Path) -> tuple[Task, ...]:
    """All tasks of GTA's files, the excluded ones included."""
    return tuple(Task(f"gta-{name}", problem) for name, problem in read_files(dataset, toolmeta).items())


def check(dataset: Path) -> list[str]:
    """What is irregular in a ``dataset.json``, whose ``toolmeta.json`` has to lie beside it."""
    tasks = real(dataset, dataset.with_name("toolmeta.json"))
    return [f"task {task.id.removeprefix('gta-')}: {odd}" for task in tasks for odd in irregular(task.data)]
