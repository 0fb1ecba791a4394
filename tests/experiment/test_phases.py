"""A whole small experiment: matched arms, idempotent phases, certificates from the record, replayed budgets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from paccf.experiment.design import Cell, Design
from paccf.experiment.executor import Stop
from paccf.experiment.folder import Folder, OtherSpec
from paccf.experiment.labelling import certificate
from paccf.experiment.phases import Experiment
from paccf.experiment.progress import Progress
from paccf.experiment.reading import read
from paccf.experiment.schedule import Shard
from paccf.experiment.spec import Spec
from paccf.experiment.work import Job, play
from paccf.method.certificate import MismatchedCertificate
from paccf.models.simulated import simulated
from paccf.record.values import Exclusion

from .conftest import SMALL, Here, contents

Run = Callable[..., tuple[bool, Here]]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import asyncio

    path = tmp_path_factory.mktemp("whole") / "run"
    folder = Folder.begin(path, Design(read("smoke", SMALL)))
    stop = Stop()
    here = Here(folder.design, stop)
    assert asyncio.run(Experiment(folder, here, here, Progress(), stop).run())
    folder.close()
    return path


def test_everything_is_there(whole: Path, small: Spec) -> None:
    found = contents(whole)
    keys = [s.outcome.key for s in found["searches"]]
    assert len(keys) == len(set(keys))
    tests = [k for k in keys if k.phase == "test"]
    assert len(tests) == 2 * 3 * 2 * 2, "controllers x tasks x arms x budgets"
    assert {(k.arm, k.budget) for k in keys if k.phase == "calibration"} == {("native", 20)}
    assert all(f.protected is not None for s in found["searches"] for f in s.frontiers), "all are labelled"
    assert set(found["certificates"]) == {("game24", "uct"), ("game24", "levin")}
    calibrated = {k.task for k in keys if k.phase == "calibration"}
    assert not calibrated & {k.task for k in tests}


def test_it_goes_on_where_it_was_and_the_order_does_not_matter(
    whole: Path, small: Spec, experiment: Run, tmp_path: Path
) -> None:
    path = tmp_path / "run"
    played = 0
    for limit in (3, 5, 4):
        complete, here = experiment(small, path, limit=limit, backwards=limit == 5)
        assert not complete
        played += len(here.played)
    complete, here = experiment(small, path)
    assert complete
    total = len({(j.phase, j.cell, j.task.id) for j in here.played}) + played
    assert contents(path) == contents(whole)
    complete, again = experiment(small, path)
    assert complete
    assert not again.played, "nothing is left to do"
    folder = Folder.look(path)
    assert total == len(
        {(k.outcome.key.phase, k.outcome.key.controller, k.outcome.key.task) for k in folder.store.searches(small.name)}
    ), "nothing was played twice"
    folder.close()


def test_a_certificate_is_a_function_of_the_record(whole: Path) -> None:
    folder = Folder.look(whole)
    for cell, frozen in folder.certificates().items():
        searches = folder.store.searches(
            folder.run, labels="oracle", phase="calibration", domain=cell.domain, controller=cell.controller
        )
        assert certificate(cell, searches, folder.design) == frozen
        assert frozen.budget == 20
        assert frozen.counts.exposed >= 4 or frozen.counts.tasks == 12
        assert frozen.matched_to == folder.design.matched_to(cell)
        file = whole / "certificates" / f"{cell.domain}-{cell.controller}.json"
        assert msgspec.json.decode(file.read_bytes())["digest"] == frozen.digest
    folder.close()


def test_replayed_budgets_are_real_runs_at_those_budgets(whole: Path, small: Spec) -> None:
    folder = Folder.look(whole)
    model = simulated("game24", small.model.profile, small.seed)
    margins = {cell: c.margin_exact for cell, c in folder.certificates().items()}
    tasks = {task.id: task for task in folder.design.tests["game24"]}
    replayed = list(folder.store.searches(folder.run, phase="test", budget=10))
    assert replayed
    for search in replayed:
        key = search.outcome.key
        cell = Cell(key.domain, key.controller)
        job = Job("test", cell, tasks[key.task], (key.arm,), (10,), margins[cell])  # type: ignore[arg-type]
        real = play(job, folder.design, model).searches[0]
        assert real.outcome == search.outcome
        assert list(real.frontiers) == list(search.frontiers)
    folder.close()


def test_the_arms_differ_by_admission_alone(whole: Path) -> None:
    folder = Folder.look(whole)
    pairs: dict[Any, dict[str, Any]] = {}
    for s in folder.store.searches(folder.run, phase="test", budget=20):
        pairs.setdefault((s.outcome.key.controller, s.outcome.key.task), {})[s.outcome.key.arm] = s
    for arms in pairs.values():
        native, paccf = arms["native"].frontiers, arms["paccf"].frontiers
        for a, b in zip(native, paccf, strict=False):
            assert [c.observations for c in a.candidates] == [c.observations for c in b.candidates]
            if [c.kept for c in a.candidates] != [c.kept for c in b.candidates]:
                break
            assert a.path == b.path
    folder.close()


def test_another_spec_is_refused_with_the_difference(whole: Path) -> None:
    with pytest.raises(OtherSpec, match=r"budgets is \[10, 20\] there, \[20\] here"):
        Folder.begin(whole, Design(read("smoke", [*SMALL, "budgets=[20]"])))
    with pytest.raises(OtherSpec, match="seed is 1 there, 2 here"):
        Folder.begin(whole, Design(read("smoke", [*SMALL, "seed=2"])))
    with pytest.raises(OtherSpec, match="controllers.uct.k is 8 there, 9 here"):
        Folder.begin(whole, Design(read("smoke", [*SMALL, "controllers.uct.k=9"])))
    assert "\nk = 8\n" in (whole / "spec.toml").read_text()


def test_what_a_killed_process_was_writing_is_cleared_away(whole: Path, small: Spec) -> None:
    for name in ("spec.toml.abc.part", "certificates/game24-uct.json.abc.part"):
        (whole / name).write_text("half")
    Folder.begin(whole, Design(small)).close()
    assert not list(whole.rglob("*.part"))


def test_a_margin_that_was_frozen_and_not_yet_written_gets_its_file(
    whole: Path, small: Spec, experiment: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    freeze = Folder.freeze

    def killed(folder: Folder, cell: Cell, certificate: Any) -> None:
        freeze(folder, cell, certificate)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Folder, "freeze", killed)
        with pytest.raises(KeyboardInterrupt):
            experiment(small, tmp_path / "run")
    assert not list(tmp_path.rglob("certificates/*.json"))
    experiment(small, tmp_path / "run")
    assert contents(tmp_path / "run") == contents(whole)


def test_two_processes_on_one_folder(whole: Path, small: Spec) -> None:
    from paccf.record.errors import Locked

    folder = Folder.begin(whole, Design(small))
    try:
        with pytest.raises(Locked, match="is being written"):
            Folder.begin(whole, Design(small))
        looking = Folder.look(whole)
        assert looking.certificates()
        looking.close()
    finally:
        folder.close()


class Failing(Here):
    """The model refuses one task."""

    async def play(self, jobs: Any) -> Any:
        async for done in super().play(jobs):
            if done.job.task.id == self.victim and done.job.cell.controller == "uct":
                outcome = replace(done.searches[0].outcome, end="failure", failure="too long a prompt")
                searches = (replace(done.searches[0], outcome=outcome), *done.searches[1:])
                done = replace(done, searches=searches)
            yield done

    victim = ""


@pytest.mark.parametrize("phase", ["calibration", "test"])
def test_a_technical_failure_takes_the_task_out_of_everything(phase: str, small: Spec, tmp_path: Path) -> None:
    import asyncio

    design = Design(small)
    victim = (design.streams if phase == "calibration" else design.tests)["game24"][1].id
    folder = Folder.begin(tmp_path / "run", design)
    here = Failing(design, Stop())
    here.victim = victim
    assert asyncio.run(Experiment(folder, here, here, Progress(), here.stop).run())
    (out,) = folder.store.exclusions(folder.run)
    assert (out.domain, out.task) == ("game24", victim)
    assert "UCT-MCTS" in out.reason
    assert "too long a prompt" in out.reason
    if phase == "calibration":
        for found in folder.certificates().values():
            assert victim not in dict(found.deficits), "neither controller calibrates on it"
            assert found.counts.tasks >= 5, "and no other task takes its place"
    folder.close()


def test_predeclared_exclusions(experiment: Run, small: Spec, tmp_path: Path) -> None:
    design = Design(small)
    out, stream = design.tests["game24"][0].id, [t.id for t in design.tests["game24"]]
    spec = read("smoke", [*SMALL, f"domains.game24.exclude.{out}='no image'"])
    assert [t.id for t in Design(spec).tests["game24"]] == stream[1:], "nothing is redrawn"
    experiment(spec, tmp_path / "run")
    folder = Folder.look(tmp_path / "run")
    assert folder.store.exclusions(folder.run) == [Exclusion("game24", out, "no image")]
    folder.close()


def test_a_margin_is_not_used_beyond_its_budget_or_for_another_system(whole: Path, small: Spec) -> None:
    folder = Folder.begin(whole, Design(small))
    try:
        cell = Cell("game24", "uct")
        found = folder.certificates()[cell]
        experiment = Experiment(folder, Here(folder.design, Stop()), Here(folder.design, Stop()), Progress(), Stop())
        with pytest.raises(MismatchedCertificate, match="budget: calibrated with at most 10"):
            experiment._deployable(cell, msgspec.structs.replace(found, budget=10))
        other = {**found.matched_to, "model": "another"}
        with pytest.raises(MismatchedCertificate, match="model: calibrated for 'another'"):
            experiment._deployable(cell, msgspec.structs.replace(found, matched_to=other))
    finally:
        folder.close()


def test_a_shard_waits_for_the_others(small: Spec, experiment: Run, tmp_path: Path) -> None:
    complete, here = experiment(small, tmp_path / "run", shard=Shard(1, 2))
    assert not complete
    assert {job.phase for job in here.played} == {"calibration"}
    stream = [t.id for t in Design(small).streams["game24"]]
    assert all(stream.index(job.task.id) % 2 == 0 for job in here.played)


def test_scores_on_a_lattice(small: Spec, experiment: Run, tmp_path: Path) -> None:
    spec = read("smoke", [*SMALL, "evaluator.lattice=25"])
    experiment(spec, tmp_path / "run")
    folder = Folder.look(tmp_path / "run")
    seen = {
        o
        for s in folder.store.searches(folder.run)
        for f in s.frontiers
        for c in f.candidates
        for o in c.observations or ()
    }
    assert seen <= {0, 25, 50, 75, 100}
    assert all(c.matched_to["lattice"] == "25" for c in folder.certificates().values())
    folder.close()
