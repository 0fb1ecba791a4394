"""A controller of somebody else, found by its entry point: in a search, in an experiment, in its certificate."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

CODE = """
from dataclasses import dataclass

from paccf.method.admission import TopK
from paccf.search.controllers import Kind
from paccf.search.effects import Admit, BudgetExhausted, Ending, Execute, Propose
from paccf.search.tree import Node, most_valued, solved


@dataclass(frozen=True)
class Levels:
    width: int = 2


def levels(setting, config):
    level = [setting.root]
    try:
        while level:
            below = []
            for node in level:
                proposal = yield Propose(node, 8)
                admission = yield Admit(node, proposal.actions, native=TopK(config.width))
                node.kids = []
                for i in admission.kept:
                    kid = Node(node, proposal.actions[i], admission.scores[i])
                    node.kids.append(kid)
                    kid.outcome = yield Execute(node, kid.action)
                    if solved(kid):
                        return Ending(kid, "solved")
                    if not kid.outcome.terminal and kid.depth < setting.horizon:
                        below.append(kid)
            level = below
        return Ending(most_valued(setting.root, setting.verified), "exhausted")
    except BudgetExhausted:
        return Ending(most_valued(setting.root, setting.verified), "budget")


KIND = Kind(levels, Levels, "Level by level")
"""


@pytest.fixture
def paccf(tmp_path: Path):  # type: ignore[no-untyped-def]
    """The command, in an environment where the package is installed."""
    (tmp_path / "level_by_level.py").write_text(CODE)

    def run(*args: str, entry: str = "levels = level_by_level:KIND") -> subprocess.CompletedProcess[str]:
        info = tmp_path / "level_by_level-1.dist-info"
        info.mkdir(exist_ok=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: level-by-level\nVersion: 1\n")
        (info / "entry_points.txt").write_text(f"[paccf.controllers]\n{entry}\n")
        path = os.pathsep.join([str(tmp_path), *[p for p in sys.path if p]])
        return subprocess.run(
            [sys.executable, "-m", "paccf", *args],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": path},
        )

    return run


def test_it_searches_with_its_own_settings(paccf) -> None:  # type: ignore[no-untyped-def]
    done = paccf("search", "--task", "4 7 8 8", "--controller", "levels", "--set", "width=3", "--json")
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(done.stdout)["searches"]
    assert max(len(f["kept"]) for f in found["frontiers"]) == 3
    wrong = paccf("search", "--task", "4 7 8 8", "--controller", "levels", "--set", "k=3")
    assert wrong.returncode == 2
    assert "Known: width" in wrong.stderr


def test_it_has_a_place_in_an_experiment(paccf, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    done = paccf("run", "smoke", "-o", "out", "--quiet", "--set", "controllers={levels={width=3}, uct={}}")
    assert done.returncode == 0, done.stderr
    assert "levels" in done.stdout
    frozen = json.loads((tmp_path / "out" / "certificates" / "game24-levels.json").read_text())
    assert frozen["matched_to"]["controller"] == "levels"
    assert frozen["matched_to"]["config"] == "width=3"
    assert paccf("audit", "out").returncode == 0


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("uct = level_by_level:KIND", "a name that is taken"),
        ("levels = level_by_level:levels", "is no paccf.search.controllers.Kind"),
    ],
)
def test_what_cannot_be_one_is_a_sentence(paccf, entry: str, said: str) -> None:  # type: ignore[no-untyped-def]
    done = paccf("search", "--task", "4 7 8 8", "--controller", "uct", entry=entry)
    assert done.returncode == 2, done.stdout
    assert said in done.stderr
    assert "Traceback" not in done.stderr
