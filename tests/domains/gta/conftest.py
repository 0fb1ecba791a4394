"""GTA's own tasks, where the user has them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from paccf.domains.gta.tasks import real
from paccf.search.tree import Task


def _folder() -> Path | None:
    folders = [os.environ.get("PACCF_DATA"), *(p / "shared" / "data" for p in Path(__file__).resolve().parents)]
    return next((Path(f) / "gta" for f in folders if f and (Path(f) / "gta" / "dataset.json").is_file()), None)


@pytest.fixture(scope="session")
def folder() -> Path:
    found = _folder()
    if found is None:
        pytest.skip("PACCF_DATA names no folder with gta/dataset.json and gta/toolmeta.json")
    return found


@pytest.fixture(scope="session")
def gta(folder: Path) -> tuple[Task, ...]:
    """All 229 tasks."""
    return real(folder / "dataset.json", folder / "toolmeta.json")
