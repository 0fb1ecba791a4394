"""The engineer's three steps, taken on the engine's own searches, give the engine's own margins and decisions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from tests.experiment.conftest import experiment as experiment  # the fixture

import paccf
from paccf.experiment.folder import Folder
from paccf.experiment.reading import read
from paccf.record.values import Search

CONTROLLERS = ("uct", "toolchain", "lats", "tooltree", "levin")
SETTINGS = (
    "budgets=[30]",
    "calibration.budget=30",
    "calibration.tasks=8",
    "calibration.exposed=5",
    "calibration.limit=16",
    "certificate.q=0.8",
    *(f"controllers.{name}={{}}" for name in CONTROLLERS),
)


def recorded(path: Path, searches: Iterable[Search]) -> None:
    """Log the searches as somebody with a loop of their own would; the oracle is theirs."""
    protected: dict[tuple[tuple[str, ...], str], bool | None] = {}
    recorder = paccf.Recorder(path, oracle=lambda where, key: protected[where, key])
    for search in searches:
        protected.clear()
        with recorder.task(search.outcome.key.task) as log:
            for f in search.frontiers:
                assert f.protected is not None
                log.frontier(
                    f.path,
                    [c.key for c in f.candidates],
                    [c.observations for c in f.candidates],
                    eligible=[c.eligible for c in f.candidates],
                )
                protected |= {(f.path, c.key): label for c, label in zip(f.candidates, f.protected, strict=True)}


@pytest.mark.parametrize("domain", ["game24", "blocksworld", "gta"])
def test_recorder_calibrate_and_gate_are_the_experiment(
    domain: str,
    experiment: Callable[..., tuple[bool, object]],
    tmp_path: Path,
) -> None:
    spec = read("smoke", (f"domains={{{domain}={{test=3}}}}", *SETTINGS))
    assert experiment(spec, tmp_path / "run")[0]
    folder = Folder.look(tmp_path / "run")
    decided = dropped = 0
    try:
        for cell, frozen in folder.certificates().items():
            place = {"domain": cell.domain, "controller": cell.controller}
            log = tmp_path / f"{cell.controller}.jsonl"
            recorded(log, folder.store.searches(folder.run, labels="oracle", phase="calibration", **place))
            own = paccf.calibrate(
                log, q="0.8", labels="oracle", budget=30, observations=4, matched_to=folder.design.matched_to(cell)
            )
            assert own == frozen, cell
            own.save(tmp_path / f"{cell.controller}.json")
            gate = paccf.Gate.load(
                tmp_path / f"{cell.controller}.json", matched_to=folder.design.matched_to(cell), budget=30
            )
            for search in folder.store.searches(folder.run, phase="test", arm="paccf", **place):
                for f in search.frontiers:
                    kept = gate.keep([c.observations for c in f.candidates], [c.eligible for c in f.candidates])
                    assert kept == [i for i, c in enumerate(f.candidates) if c.kept]
                    decided += len(f.candidates)
                    dropped += len(f.candidates) - len(kept)
    finally:
        folder.close()
    assert decided > 100
    assert 0 < dropped < decided
