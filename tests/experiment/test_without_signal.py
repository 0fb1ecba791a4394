"""An evaluator whose scores say nothing: the margin comes out wide, next to nothing is pruned, and it is said in words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from click.testing import CliRunner

from paccf.cli import main
from paccf.experiment.folder import Folder
from paccf.experiment.reading import read
from paccf.experiment.results import results

from .conftest import Here

Run = Callable[..., tuple[bool, Here]]
SETS = ("budgets=[20]", "calibration.budget=20", "controllers={levin={}}", "seed=5")


def told(path: Path) -> tuple[float, float, str]:
    """The margin, the share of test candidates beyond it, and the notes of the tables."""
    folder = Folder.look(path)
    try:
        found = results(folder)
    finally:
        folder.close()
    (calibrated,), (covered,) = (table["rows"] for table in found.data["tables"][:2])
    notes = " ".join(note for table in found.tables for note in table[4])
    return float(calibrated["margin"]), float(covered["beyond"].removesuffix(" %")), notes


def test_scores_that_say_nothing_give_a_wide_margin_and_the_report_says_so(experiment: Run, tmp_path: Path) -> None:
    path = tmp_path / "run"
    experiment(read("smoke", [*SETS, "model.profile=useless"]), path)
    margin, beyond, notes = told(path)
    assert margin > 80
    assert beyond < 5
    said = f"the margin of {margin:g} points drops"
    assert said in notes
    assert "next to nothing is pruned" in notes
    assert "no better than a coin (AUC" in notes
    done = CliRunner().invoke(main, ["report", str(path)])
    assert done.exit_code == 0, done.output
    page = (path / "report.html").read_text()
    warning = re.search(r"Game24 LevinTS: the margin of [^.]*\. On calibration[^\"<]*", page)
    assert warning is not None
    assert "no better than a coin (AUC" in warning[0]


def test_scores_that_say_much_do_not(experiment: Run, tmp_path: Path) -> None:
    experiment(read("smoke", [*SETS, "model.profile=clean"]), tmp_path / "run")
    margin, beyond, notes = told(tmp_path / "run")
    assert margin == 0
    assert beyond > 20
    assert "next to nothing" not in notes
    assert "coin" not in notes


def test_too_few_tasks_are_told_too(experiment: Run, tmp_path: Path) -> None:
    changes = ["calibration.tasks=3", "calibration.exposed=3", "calibration.limit=4"]
    experiment(read("smoke", [*SETS, *changes]), tmp_path / "run")
    folder = Folder.look(tmp_path / "run")
    found = json.dumps(results(folder).tables)
    folder.close()
    assert "exposed tasks are too few for this level (it takes 19), so everything is kept" in found
