"""What tests of several rooms share: the places where a record may lie."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tests import postgres as server
from tests.parts import need

# how fast examples are made says how busy the machine is, nothing about us
settings.register_profile("paccf", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("paccf")

_numbers = itertools.count()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Callable[[], str]]:
    """Makes empty databases on a real PostgreSQL server, and gives their URLs."""
    need(server.binaries(), "PostgreSQL's server is not installed (apt-get install postgresql)")
    with server.server() as rest:
        yield lambda: server.create(rest, f"test{next(_numbers)}")


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a new record may lie: in a SQLite file, in a PostgreSQL database."""
    if request.param == "sqlite":
        return str(tmp_path / "run.sqlite")
    url: str = request.getfixturevalue("postgres")()
    return url
