"""Certificates: what is frozen, what is refused, what travels along."""

from __future__ import annotations

import json
import math
import os
import stat
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paccf import Gate
from paccf.method.certificate import BrokenCertificate, Certificate, MismatchedCertificate, digest, write_atomically
from paccf.method.deficit import TaskDeficits


def stream(scores: list[Fraction | int | float], missing: int = 3) -> TaskDeficits:
    """Tasks with these scores (multiples of 1/3): a frontier each of three draws."""
    found = TaskDeficits()
    for i, c in enumerate(scores):
        if c == math.inf:
            found.add(f"t{i}", [5, 4], [False, None])
        else:
            draws = round(Fraction(c) * 3)
            found.add(f"t{i}", [[draws, 0, 0], [0, 0, 0]], [False, True])
    for i in range(missing):
        found.add(f"m{i}", [1, 2], [False, False])
    return found


def freeze(scores: list[Any], **options: Any) -> Certificate:
    return Certificate.freeze(stream(scores), "0.95", **options)


FULL = {
    "epsilon": "0.5",
    "labels": "oracle",
    "budget": 100,
    "observations": 3,
    "matched_to": {"domain": "game24", "evaluator": "müller"},
}


def test_what_is_frozen() -> None:
    c = freeze([Fraction(i, 3) for i in range(50)], **FULL)
    assert (c.n, c.k, c.feasible, c.need_n, c.rule, c.bound) == (50, 49, True, 19, "marginal", "2/51")
    assert (c.margin, c.margin_exact, c.limit) == (16.0, "16", 16)
    assert (c.counts.tasks, c.counts.exposed, c.counts.missing) == (53, 50, 3)
    assert c.deficits[1] == ("t1", "1/3")
    assert not c.at_maximum
    assert c.verify() == []


def test_infinite_margins_are_null_never_infinity(tmp_path: Path) -> None:
    for c in (freeze([1, 2]), freeze([*range(30), *[math.inf] * 8]), freeze([])):
        assert (c.margin, c.margin_exact, c.limit) == (None, None, math.inf)
        path = tmp_path / "m.json"
        c.save(path)
        assert "nfinity" not in path.read_text()
        assert Gate.load(path).keep([100, 0, None]) == [0, 1, 2]
    assert freeze([*range(79), math.inf]).margin == 76.0


def test_pac_and_unconditional_targets() -> None:
    pac = freeze(list(range(60)), delta="0.1")
    assert (pac.rule, pac.delta, pac.k, pac.need_n) == ("pac", "0.1", 60, 45)
    assert pac.confidence >= 0.9
    everybody = freeze(list(range(50)), target="all")
    assert (everybody.n, everybody.deficits[0]) == (53, ("m0", "0"))
    assert everybody.verify() == []


def test_round_trip_and_stable_bytes(tmp_path: Path) -> None:
    c = freeze([Fraction(i, 3) for i in range(25)], **FULL)
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    c.save(first)
    loaded = Certificate.load(first)
    assert loaded == c
    loaded.save(second)
    assert first.read_bytes() == second.read_bytes()
    assert stat.S_IMODE(first.stat().st_mode) & 0o044, "readable like any other file"
    assert sorted(os.listdir(tmp_path)) == ["a.json", "b.json"], "no temporary file stays"


def paths(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every leaf of a JSON value."""
    if isinstance(value, dict):
        return [p for k, v in value.items() for p in paths(v, (*at, k))]
    if isinstance(value, list):
        return [p for k, v in enumerate(value) for p in paths(v, (*at, k))]
    return [at]


def changed(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    return None if value is None else value + "1"


def edited(raw: dict[str, Any], path: tuple[Any, ...]) -> dict[str, Any]:
    new: dict[str, Any] = json.loads(json.dumps(raw))
    spot: Any = new
    for key in path[:-1]:
        spot = spot[key]
    spot[path[-1]] = changed(spot[path[-1]])
    return new


def test_every_edit_of_a_frozen_file_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    freeze(list(range(25)), **FULL).save(path)
    raw = json.loads(path.read_text())
    for leaf in paths(raw):
        new = edited(raw, leaf)
        if new != raw:
            path.write_text(json.dumps(new))
            with pytest.raises(BrokenCertificate):
                Certificate.load(path)


def test_an_edit_with_a_new_digest_fails_the_arithmetic(tmp_path: Path) -> None:
    """A forged digest does not help: rank, bound, margin and counts follow from the deficits."""
    path = tmp_path / "m.json"
    freeze(list(range(25)), **FULL).save(path)
    raw = json.loads(path.read_text())
    follow = {"n", "k", "feasible", "need_n", "bound", "margin", "margin_exact", "q", "rule"}
    for leaf in paths(raw):
        if leaf[0] in follow or leaf in [("counts", "exposed"), ("deficits", 24, 1), ("deficits", 3, 1)]:
            new = edited(raw, leaf)
            new["digest"] = digest(new)
            path.write_text(json.dumps(new))
            with pytest.raises(BrokenCertificate):
                Certificate.load(path)


def test_deficits_stand_in_rank_order(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    freeze(list(range(25)), **FULL).save(path)
    raw = json.loads(path.read_text())
    raw["deficits"][0], raw["deficits"][1] = raw["deficits"][1], raw["deficits"][0]
    raw["digest"] = digest(raw)
    path.write_text(json.dumps(raw))
    with pytest.raises(BrokenCertificate, match="not in rank order"):
        Certificate.load(path)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"x"',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"schema": "paccf.certificate/2"}',
        b'{"schema": "paccf.certificate/1"}',
        b'{"schema": "paccf.certificate/1", "margin": Infinity}',
        b'{"schema": "paccf.certificate/1", "margin": NaN}',
    ],
)
def test_what_is_no_certificate(data: bytes) -> None:
    with pytest.raises(BrokenCertificate, match="schema|not a certificate|digest"):
        Certificate.parse(data)


@given(st.binary(max_size=80))
def test_bytes_never_surprise(data: bytes) -> None:
    with pytest.raises(BrokenCertificate):
        Certificate.parse(data)


def test_mismatches_name_the_field_and_both_values(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    freeze(list(range(25)), **FULL).save(path)
    same = dict(FULL["matched_to"])  # type: ignore[call-overload]
    Gate.load(path, matched_to=same, budget=100)
    with pytest.raises(MismatchedCertificate, match="domain: calibrated for 'game24', deployed on 'gta'"):
        Gate.load(path, matched_to={**same, "domain": "gta"})
    with pytest.raises(MismatchedCertificate, match="extra: calibrated for nothing stated, deployed on 'x'"):
        Gate.load(path, matched_to={**same, "extra": "x"})
    with pytest.raises(MismatchedCertificate, match="evaluator: .*deployed on nothing stated"):
        Gate.load(path, matched_to={"domain": "game24"})
    with pytest.raises(MismatchedCertificate, match="at most 100 requests a task, deployed with 101"):
        Gate.load(path, budget=101)


def test_an_override_is_carried_along(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    freeze(list(range(25)), **FULL).save(path)
    gate = Gate.load(path, budget=500, override="pilot run")
    assert gate.certificate.overrides == [
        "budget: calibrated with at most 100 requests a task, deployed with 500; a longer search can only have larger "
        "deficits (overridden: pilot run)"
    ]
    assert "pilot run" in str(gate.explain([1, 2]))
    assert gate.explain([1, 2]).overrides == gate.certificate.overrides
    gate.certificate.save(path)
    assert Gate.load(path).certificate.overrides == gate.certificate.overrides
    twice = Gate.load(path, matched_to={"domain": "gta"}, override="another one").certificate.overrides
    assert twice[0] == gate.certificate.overrides[0]
    assert all("(overridden: another one)" in note for note in twice[1:])
    assert len(twice) > 1


def test_an_override_has_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    freeze(list(range(25)), **FULL).save(path)
    for empty in ("", "  "):
        with pytest.raises(MismatchedCertificate, match="override with a reason .*; this one is empty"):
            Gate.load(path, budget=500, override=empty)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"budget": 0}, "budget is 0; give 1 or more"),
        ({"observations": -3}, "observations is -3; give 1 or more"),
        ({"matched_to": {"R": 4}}, "matched_to: 'R' is 4; write both as texts, for example '4'"),
        ({"epsilon": "-1"}, "epsilon must not be negative"),
        ({"labels": "guessed"}, "labels"),
        ({"target": "some"}, "target"),
    ],
)
def test_nothing_is_frozen_that_could_not_be_loaded(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        freeze(list(range(25)), **settings)


def test_a_deployment_that_cannot_be_described_so(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    freeze(list(range(25)), **FULL).save(path)
    with pytest.raises(ValueError, match="'R' is 4; write both as texts"):
        Gate.load(path, matched_to={"R": 4})  # type: ignore[dict-item]
    with pytest.raises(ValueError, match="budget is 0; give the request cap"):
        Gate.load(path, budget=0, override="whatever")


def test_writing_is_atomic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.json"
    write_atomically(path, b"old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match="No space"):
            write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["m.json"]
    with pytest.raises(OSError, match="No such file"):
        write_atomically(tmp_path / "nowhere" / "m.json", b"new")


def test_a_negative_epsilon_is_refused() -> None:
    with pytest.raises(ValueError, match="epsilon"):
        freeze([1], epsilon="-1")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("epsilon",), "nonsense"),
        (("epsilon",), "-5"),
        (("epsilon",), "1e99999999"),
        (("q",), "1e99999999"),
        (("observations",), 0),
        (("budget",), -3),
        (("counts", "unresolved"), 300),
        (("counts", "frontiers"), -1),
        (("counts", "tasks"), 99),
        (("matched_to", "domain"), "\ud800"),
        (("deficits", 0, 0), "t1"),
    ],
)
def test_what_no_calibration_writes_is_broken_whatever_its_digest(path: Any, value: Any) -> None:
    raw = json.loads(json.dumps(__import__("msgspec").to_builtins(freeze(list(range(25)), **FULL))))
    spot = raw
    for key in path[:-1]:
        spot = spot[key]
    spot[path[-1]] = value
    raw["digest"] = digest(raw)
    with pytest.raises(BrokenCertificate):
        Certificate.parse(json.dumps(raw).encode())
    with pytest.raises(BrokenCertificate, match="twice"):
        Certificate.parse(b'{"schema": "paccf.certificate/1", "n": 1, "n": 2}')


def test_a_certificate_that_states_no_budget_fits_no_budget(tmp_path: Path) -> None:
    freeze(list(range(25))).save(tmp_path / "m.json")
    Gate.load(tmp_path / "m.json")
    with pytest.raises(MismatchedCertificate, match="calibrated without saying, deployed with 500"):
        Gate.load(tmp_path / "m.json", budget=500)


def test_the_gate_reads_means_as_the_calibration_did() -> None:
    found = TaskDeficits(3)
    for i in range(19):
        found.add(f"t{i}", [26 + 1 / 3, 0.0], [False, True])
    gate = Gate(Certificate.freeze(found, "0.95", observations=3))
    assert gate.certificate.margin_exact == "79/3"
    assert gate.keep([79.0, 52.666666666666664]) == [0, 1]
    assert gate.keep([79.0, 52.66666]) == [0]
