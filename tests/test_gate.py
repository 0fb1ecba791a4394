"""The gate in somebody's own loop, and what starting it costs."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from paccf import Gate
from paccf.method.certificate import Certificate
from paccf.method.deficit import TaskDeficits
from paccf.method.scores import ScoreError


@pytest.fixture
def gate() -> Gate:
    found = TaskDeficits()
    for i in range(19):
        found.add(f"t{i}", [30, 30 - i], [False, True])
    return Gate(Certificate.freeze(found, "0.95", epsilon="0.5", observations=4))


def test_it_keeps_what_the_certificate_says(gate: Gate) -> None:
    assert gate.certificate.margin == 18
    assert gate.keep([88, 69.5, 69.499999, None, 12]) == [0, 1, 3]
    assert gate.keep([[88, 88, 88, 88], [70, 69, 70, 69], [69, 69, 69, 69]]) == [0, 1]
    assert gate.keep([88, 1, 70], [False, True, True]) == [2]


def test_explain_gives_a_reason_for_every_candidate(gate: Gate) -> None:
    decision = gate.explain([88, 70, None, 12])
    assert (decision.kept, decision.dropped, decision.would_drop) == ([0, 1, 2], [3], [])
    assert (decision.top, decision.margin) == (88.0, 18.5)
    assert [v.deficit for v in decision.verdicts] == [0.0, 18.0, None, 76.0]
    assert [v.reason.split()[0] for v in decision.verdicts] == ["the", "within", "unscored,", "beyond"]
    assert "drop: beyond the margin (18.5)" in str(decision)
    assert "Verdict(3" in repr(decision.verdicts[3])
    assert gate.explain([None]).top is None


def test_shadow_keeps_all_and_tells(gate: Gate) -> None:
    decision = gate.shadow([88, 70, None, 12])
    assert (decision.kept, decision.dropped, decision.would_drop) == ([0, 1, 2, 3], [], [3])
    assert "would drop: beyond" in str(decision)
    assert gate.shadow([5, 88, 12], [True, False, True]).kept == [0, 2]


def test_as_many_draws_as_the_calibration_had(gate: Gate) -> None:
    """Means of fewer draws are noisier: the margin was not earned on them."""
    with pytest.raises(ScoreError, match=r"scores\[1\]: 2 observations, but the margin was calibrated with 4"):
        gate.keep([[88, 88, 88, 88], [70, 69]])
    for decide in (gate.keep, gate.explain, gate.shadow):
        with pytest.raises(ScoreError, match="1 observations"):
            decide([[88], [70]])
    with pytest.raises(ScoreError, match="3 observations"):
        gate.rule.keep_many(np.ones((5, 2, 3)))
    assert gate.rule.keep_many(np.ones((1, 2, 4))).all()
    assert gate.keep([88, [70, 70, 69, 69], None]) == [0, 1, 2]
    varied = TaskDeficits()
    for i in range(19):
        varied.add(f"t{i}", [[9] * (1 + i % 2), [7] * (1 + i % 2)], [False, True])
    assert Gate(Certificate.freeze(varied, "0.95")).keep([[4, 4], [2], [1]]) == [0, 1]


def test_a_margin_of_single_draws_is_for_single_draws() -> None:
    single, bare = TaskDeficits(), TaskDeficits()
    for i in range(19):
        single.add(f"t{i}", [[81], [80]], [False, True])
        bare.add(f"t{i}", [81, 80], [False, True])
    for found in (single, bare):
        gate = Gate(Certificate.freeze(found, "0.95"))
        assert gate.certificate.observations == 1
        for decide in (gate.keep, gate.explain, gate.shadow):
            with pytest.raises(ScoreError, match=r"scores\[0\]: 4 observations, but the margin was calibrated with 1"):
                decide([[81, 80, 79, 84], [10, 11, 12, 13]])
        assert gate.keep([[81], [80], [79], None, 80]) == [0, 1, 3, 4]
    nothing = Gate(Certificate.freeze(TaskDeficits(), "0.95"))
    assert nothing.certificate.observations is None
    assert nothing.keep([[1, 2], [3, 4]]) == [0, 1]


def test_the_draws_of_the_calibration_are_known_without_being_stated() -> None:
    drawn = TaskDeficits()
    for i in range(9):
        drawn.add(f"t{i}", [[30] * 4, [30 - i] * 4], [False, True])
    lists = Gate(Certificate.freeze(drawn, "0.9"))
    assert lists.certificate.observations == 4
    with pytest.raises(ScoreError, match="1 observations, but the margin was calibrated with 4"):
        lists.keep([[95], [60]])
    thirds = TaskDeficits(3)
    for i in range(9):
        thirds.add(f"t{i}", [80 + 1 / 3, 80], [False, True])
    means = Gate(Certificate.freeze(thirds, "0.9"))
    assert (means.certificate.observations, means.certificate.margin_exact) == (3, "1/3")
    assert means.keep([80.333333333333, 80]) == [0, 1], "exactly at the margin"


def test_a_gate_travels_between_processes_as_it_is(gate: Gate) -> None:
    far = pickle.loads(pickle.dumps(gate))
    assert far.certificate == gate.certificate
    assert far.keep([88, 1, 70]) == [0, 2]
    with pytest.raises(ScoreError, match="calibrated with 4"):
        far.keep([[88], [70]])


def test_an_infinite_margin_explains_itself() -> None:
    open_gate = Gate(Certificate.freeze(TaskDeficits(), "0.95"))
    assert math.isinf(open_gate.explain([1, 99]).margin)
    assert "within the margin (no limit)" in str(open_gate.explain([1, 99]))


def loaded_by(code: str) -> set[str]:
    out = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"], capture_output=True, text=True
    )
    assert out.returncode == 0, out.stderr
    return set(out.stdout.split())


def test_importing_the_gate_needs_only_the_standard_library() -> None:
    new = loaded_by("from paccf import Gate") - loaded_by("")
    foreign = {m for m in new if m.partition(".")[0] not in sys.stdlib_module_names | {"paccf"}}
    assert foreign == set()
    heavy = {"typing", "dataclasses", "fractions", "json", "hashlib", "re", "inspect", "importlib.metadata"}
    assert not new & heavy, "these would be most of its few milliseconds"


def test_loading_a_gate_needs_no_numpy(tmp_path: Path, gate: Gate) -> None:
    path = tmp_path / "m.json"
    gate.certificate.save(path)
    code = f"from paccf import Gate\ng = Gate.load({str(path)!r})\nassert g.keep([88, 12, 70]) == [0, 2]"
    assert not loaded_by(code) & {"numpy", "scipy", "click", "matplotlib"}
