"""GTA's own tasks, where the user has them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.real import folder as found

from paccf.domains.gta.tasks import real
from paccf.search.tree import Task


@pytest.fixture(scope="session")
def folder() -> Path:
    return found("gta/dataset.json", "gta/toolmeta.json") / "gta"


@pytest.fixture(scope="session")
def gta(folder: Path) -> tuple[Task, ...]:
    """All 229 tasks."""
    return real(folder / "dataset.json", folder / "toolmeta.json")
