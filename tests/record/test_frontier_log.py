"""The frontier log: what is read, what is refused and in which words."""

from __future__ import annotations

import gzip
import io
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paccf.record import frontier_log
from paccf.record.frontier_log import BadLine, Frontier, Skipped, read_frontiers, read_scored

GOOD: dict[str, Any] = {
    "task": "t-17",
    "frontier": "root",
    "scores": [[81, 80, 79, 84], 20.5, None],
    "protected": [True, False, None],
}


def line(**changes: Any) -> bytes:
    fields = {k: v for k, v in {**GOOD, **changes}.items() if v is not ...}
    return json.dumps(fields).encode() + b"\n"


def log(tmp_path: Path, *lines: bytes, name: str = "log.jsonl") -> str:
    path = tmp_path / name
    data = b"".join(lines)
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return str(path)


def refused(tmp_path: Path, bad: bytes) -> BadLine:
    path = log(tmp_path, line(), bad, line(frontier="after"))
    with pytest.raises(BadLine) as caught:
        list(read_frontiers(path))
    skipped = Skipped()
    kept = [f.frontier for f in read_frontiers(path, skipped)]
    assert kept == ["root", "after"], "the rest is read"
    assert (skipped.count, skipped.first) == (1, [str(caught.value)])
    assert caught.value.line == 2
    assert str(caught.value).startswith(f"{path}, line 2, {caught.value.field}: ")
    return caught.value


def test_what_is_read(tmp_path: Path) -> None:
    extra = line(
        frontier="r/1",
        scores=[1, 2.5, -3],
        protected=[False] * 3,
        candidates=["a", "b", "a"],
        eligible=[True, False, True],
        depth=1,
        group="g",
        meta={"anything": [1, {"x": None}]},
    )
    for name in ("log.jsonl", "log.jsonl.gz"):
        found = list(read_frontiers(log(tmp_path, b"\xef\xbb\xbf" + line(), b"\n", b"  \r\n", extra, name=name)))
        assert [f.frontier for f in found] == ["root", "r/1"]
        assert found[0].scores == [[81, 80, 79, 84], 20.5, None]
        assert found[0].protected == [True, False, None]
        assert found[1].eligible == [True, False, True]
    assert [f.frontier for f in read_frontiers(log(tmp_path, line().rstrip()))] == ["root"], "no newline at the end"
    assert list(read_frontiers(log(tmp_path, b""))) == []


@pytest.mark.parametrize(
    ("changes", "field", "said"),
    [
        ({"scores": ["81", 1, 2]}, "scores[0]", "str"),
        ({"scores": [1, [], 2]}, "scores[1]", "length >= 1"),
        ({"scores": [1, [1, None], 2]}, "scores[1]", "null"),
        ({"scores": [1, [1, [2]], 2]}, "scores[1]", "array"),
        ({"scores": [1, 1e308, 2]}, "scores[1]", "<= 1000000000"),
        ({"scores": [1, -(10**30), 2]}, "scores[1]", "-1"),
        ({"scores": [1, True, 2]}, "scores[1]", "bool"),
        ({"scores": {"a": 1}}, "scores", "object"),
        ({"scores": [[[[1]]]]}, "scores[0]", "array"),
        ({"scores": None}, "scores", "null"),
        ({"scores": ...}, "scores", "missing"),
        ({"protected": ...}, "protected", "missing"),
        ({"task": ...}, "task", "missing"),
        ({"task": 17}, "task", "int"),
        ({"frontier": None}, "frontier", "null"),
        ({"protected": [True, False]}, "protected", "2 entries for 3 scores"),
        ({"protected": [1, 0, None]}, "protected", "int"),
        ({"candidates": ["a"]}, "candidates", "1 entries for 3 scores"),
        ({"candidates": [1, 2, 3]}, "candidates", "int"),
        ({"eligible": [True] * 4}, "eligible", "4 entries for 3 scores"),
        ({"score": [1]}, "score", "unknown field"),
        ({"depth": "1"}, "depth", "str"),
        ({"frontier": "root"}, "frontier", "was there before"),
    ],
)
def test_wrong_lines_are_named(tmp_path: Path, changes: dict[str, Any], field: str, said: str) -> None:
    bad = refused(tmp_path, line(**{"frontier": "new", **changes}))
    assert bad.field.startswith(field)
    assert said in bad.problem
    assert len(bad.remedy) > 10


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (line()[:40] + b"\n", "ends in the middle"),
        (b"not json\n", "malformed"),
        (b"[1, 2]\n", "array"),
        (b"17\n", "int"),
        (line().replace(b"20.5", b"NaN"), r"scores\[1\]: NaN and Infinity are not JSON"),
        (line().replace(b"79", b"-Infinity"), r"scores\[0\]: NaN and Infinity are not JSON"),
        (line(meta={"of": math.nan}), "line: NaN and Infinity are not JSON"),
        (line().decode().strip().encode("utf-16") + b"\n", "zero bytes: UTF-16"),
        (b"\0" * 4096 + b"\n", "zero bytes: UTF-16, or a crash while writing"),
        (line().replace(b"20.5", b"1e999"), "1e999|range|<="),
        (line().replace(b"t-17", b"t-\xff\xfe"), "UTF-8"),
        (line(meta={"deep": 0}).replace(b"0}}", b"[" * 100_000 + b"]" * 100_000 + b"}}"), "nested too deeply"),
        (b'{"task": "t", ' + b'"a":[' * 5000 + b"\n", "unknown field|malformed|nested|middle"),
        (line(task="x\ud800"), "malformed|UTF-8|surrogate|unicode"),
    ],
)
def test_broken_lines_are_named(tmp_path: Path, bad: bytes, said: str) -> None:
    import re

    assert re.search(said, str(refused(tmp_path, bad)))


def test_a_packed_log_by_another_name(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(gzip.compress(line()))
    with pytest.raises(BadLine, match=r"line 1, file: packed with gzip. Name it .jsonl.gz"):
        list(read_frontiers(str(path)))


def test_a_log_cut_in_the_middle(tmp_path: Path) -> None:
    path = log(tmp_path, line(), line(frontier="cut")[:-30])
    with pytest.raises(BadLine, match="line 2, line: ends in the middle. A frontier is one line"):
        list(read_frontiers(path))
    whole = gzip.compress(b"".join(line(frontier=str(i)) for i in range(100_000)))
    packed = tmp_path / "cut.jsonl.gz"
    packed.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(BadLine, match="file: the compressed file is cut or damaged"):
        list(read_frontiers(str(packed)))
    skipped = Skipped()
    assert 10_000 < sum(1 for _ in read_frontiers(str(packed), skipped)) < 100_000
    assert skipped.count == 1
    packed.write_bytes(b"this is not gzip")
    with pytest.raises(BadLine, match="damaged"):
        list(read_frontiers(str(packed)))


def test_lines_across_blocks_and_over_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small blocks and limits: every way a line can lie across them."""
    lines = [line(frontier=str(i), meta={"pad": "x" * (i % 7)}) for i in range(40)]
    huge = b"x" * 5000 + b"\n"
    for block in (7, 64, 300, 4096):
        for where in (0, 20, 40):
            monkeypatch.setattr(frontier_log, "_BLOCK", block)
            monkeypatch.setattr(frontier_log, "LINE_LIMIT", 2000)
            path = log(tmp_path, *lines[:where], huge, *lines[where:], b"not json\n")
            skipped = Skipped()
            assert [f.frontier for f in read_frontiers(path, skipped)] == [str(i) for i in range(40)], (block, where)
            assert [said.split(",")[1] for said in skipped.first] == [f" line {where + 1}", " line 42"], (block, where)
    path = log(tmp_path, *lines, huge.rstrip())
    monkeypatch.setattr(frontier_log, "_BLOCK", 64)
    with pytest.raises(BadLine, match="line 41, line: .* MiB long"):
        list(read_frontiers(path))


def test_a_line_of_100_megabytes_is_let_go(tmp_path: Path) -> None:
    path = tmp_path / "huge.jsonl"
    with open(path, "wb") as file:
        file.write(b'{"task": "')
        for _ in range(100):
            file.write(b"x" * 2**20)
        file.write(b'"}\n' + line())
    code = (
        "import re, sys\n"
        "from paccf.record.frontier_log import *\n"
        "s = Skipped()\n"
        "print(len(list(read_frontiers(sys.argv[1], s))), s.first[0])\n"
        "print(int(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1]) // 1024)\n"
    )
    out = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True).stdout
    said, megabytes = out.strip().split("\n")
    assert said.startswith(f"1 {path}, line 1, line: 100 MiB long")
    assert int(megabytes) < 150


def test_decisions_need_only_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO(b'{"scores": [1, 2]}\n{"task": "t", "scores": [], "protected": null}\n')

    monkeypatch.setattr(sys, "stdin", Stdin())
    assert [(n, f.scores, f.task) for n, f in read_scored("-")] == [(1, [1, 2], None), (2, [], "t")]


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text()),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=8), inner, max_size=4)),
    max_leaves=12,
)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.one_of(
            st.binary(max_size=60),
            st.dictionaries(st.sampled_from([*GOOD, "meta"]), json_values).map(lambda v: json.dumps(v).encode()),
        ),
        max_size=6,
    )
)
def test_whatever_comes_is_read_or_named(lines: list[bytes]) -> None:
    import tempfile

    with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
        file.write(b"\n".join(lines))
        file.flush()
        skipped = Skipped()
        found = list(read_frontiers(file.name, skipped))
    assert all(len(f.scores) == len(f.protected) for f in found)
    assert len(found) + skipped.count <= sum(part.count(b"\n") + 1 for part in lines)


def test_the_schema_is_what_the_docs_say() -> None:
    fields = set(msgspec.json.schema(Frontier)["$defs"]["Frontier"]["properties"])
    assert fields == {"task", "frontier", "scores", "protected", "candidates", "eligible", "depth", "group", "meta"}
    text = (Path(__file__).parents[2] / "docs" / "frontier-log.md").read_text()
    assert all(f"`{name}`" in text for name in fields)
