"""The `local` spec, tiny: calibrated and deployed with a real language model through real HTTP. What the model says is not
judged here; docs/reproduce.md tells of a larger run. Skipped where the runtime or the weights are not installed."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

from click.testing import CliRunner
from tests.parts import need

from paccf.cli import main
from paccf.experiment.folder import Folder
from paccf.models.weights import NoWeights, found

SETS = (
    "budgets=[2, 3]",
    "calibration.budget=3",
    "calibration.tasks=2",
    "calibration.exposed=2",
    "calibration.limit=4",
    "certificate.q=0.6",
    "domains.game24.test=1",
    "evaluator.repeats=1",
    "controllers.levin.k=4",
    "model.max_tokens.evaluate=48",
    "model.threads=1",
)


def paccf(*arguments: str) -> str:
    done = CliRunner().invoke(main, [*arguments])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_the_whole_experiment_with_a_real_model(tmp_path: Path) -> None:
    need(find_spec("xllamacpp"), 'the local runtime is not installed: pip install "paccf[local]"')
    try:
        found()
    except NoWeights as missing:
        need(False, str(missing))
    path = str(tmp_path / "run")
    first = paccf("run", "local", "-o", path, "--quiet", *(part for change in SETS for part in ("--set", change)))
    assert "SmolLM2-135M-Instruct" in first
    assert "SIMULATED" not in first
    assert "Calibration audit" in first
    assert "PAC-CF against Native" in first
    status = json.loads(paccf("status", path, "--json"))
    assert status["complete"]
    (cell,) = status["cells"]
    assert 2 <= cell["calibrated"] <= 4
    assert (cell["tested"], cell["failed"]) == (2, 0)
    folder = Folder.look(Path(path))
    try:
        (certificate,) = folder.certificates().values()
        native = list(folder.store.searches(folder.run, phase="test", arm="native", budget=3))
        outcomes = folder.store.outcomes(folder.run)
        asked = folder.store.tape()
    finally:
        folder.close()
    assert certificate.n >= 2
    assert certificate.matched_to["model"].startswith("local SmolLM2")
    scores = [c.score for s in native for f in s.frontiers for c in f.candidates]
    assert any(score is not None for score in scores)
    assert all(score is None or 0 <= score <= 100 for score in scores)
    assert asked.attempts == sum(o.costs.sent for o in outcomes) > 0, "every send is a real one, and is in a bill"
    assert asked.prompt_tokens > 50 * asked.attempts
    again = paccf("run", path, "--quiet")
    assert again == first
    assert json.loads(paccf("status", path, "--json"))["tape"] == status["tape"], "nothing was asked again"
    lines = json.loads(paccf("replay", path, "--budget", "2", "--json"))
    assert lines["cells"][0]["answered"] == 1, "a smaller budget is on the tape"
    assert not lines["simulated"]
    assert "does not contradict itself" in paccf("audit", path)
