"""The promise of a whole cell, stream and all: calibration and test tasks drawn anew, margins held against new traces."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from benchmarks.coverage_redraws import Drawn, figures, redraw

from paccf.experiment.folder import Folder
from paccf.experiment.reading import read

from .conftest import SMALL, Here

REDRAWS = 60
TINY = (
    *SMALL,
    "controllers={uct={}}",
    "domains.game24.test=4",
    "certificate.q=0.8",
    "model.profile=useless",
)  # no ties


@pytest.fixture(scope="module")
def drawn() -> list[list[Drawn]]:
    return [redraw("smoke", seed, TINY) for seed in range(REDRAWS)]


def test_the_margins_cover_as_many_new_tasks_as_their_ranks_promise(drawn: list[list[Drawn]]) -> None:
    for f in figures(drawn):
        assert f.redraws > REDRAWS / 2
        assert f.promised >= 0.8
        assert f.mean >= f.promised - 2 * f.error, f  # the seeds are fixed; one rank lower fails
        assert f.mean < 1, "where nothing is ever lost, nothing is shown"


def test_a_redraw_is_what_an_experiment_would_freeze(
    drawn: list[list[Drawn]], tmp_path: Path, experiment: Callable[..., tuple[bool, Here]]
) -> None:
    experiment(read("smoke", [*TINY, "seed=3"]), tmp_path / "run")
    folder = Folder.look(tmp_path / "run")
    frozen = folder.certificates()
    folder.close()
    for (cell, c), one in zip(frozen.items(), drawn[3], strict=True):
        assert (str(cell), c.counts.tasks, c.n, c.k) == (one.cell, one.tasks, one.n, one.k)
        assert one.margin == ("" if c.margin is None else f"{c.margin:g}")
