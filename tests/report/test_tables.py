"""One table in five formats; hostile text stays text in all of them."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.audit.conftest import miniature as miniature

from paccf.audit import tables
from paccf.audit.audit import Audit
from paccf.audit.paper import Paper
from paccf.audit.resample import Interval
from paccf.audit.run import Run
from paccf.audit.tables import Column, Printed, Source, Table, written
from paccf.report.tables import FORMATS, Format, render

PAPER = Paper()
HOSTILE = "\x1b[2J</script>|_\\end{table}$x^{2}$ & 50% #1 ~ {a} \u202e=é"

TABLE = Table(
    "sample",
    "A sample",
    (Column("task", "Task"), Column("n", "N", 0), Column("saved", "Saved", 2, "%", True), Column("ci", "95% CI", 1)),
    (
        ("=1+1", 1234, -0.001, Interval(-1.25, 2.0)),
        (HOSTILE, 5, 12.345, None),
        ("plain", 0, None, Interval(0.0, 0.0)),
    ),
    Source("all of it", {"records": 3}),
    ("a note",),
    frozenset({2}),
    (Printed(0, "saved", "+12.30"),),
    simulated=True,
    of="run x",
)


def test_text() -> None:
    text = render(TABLE)
    lines = text.split("\n")
    assert lines[0] == "A sample [sample]"
    assert lines[1].startswith("SIMULATED")
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert re.search(r"=1\+1 +1,234 +\+0\.00% +\[-1\.2, 2\.0\]", text)
    assert re.search(r"plain +0 +-- +\[0\.0, 0\.0\]", text)
    assert lines[lines.index("") + 1].split() == ["Task", "N", "Saved", "95%", "CI"]
    assert text.endswith("Note: a note.\nFrom: all of it.\nRecord: run x; 3 records")


@pytest.mark.parametrize(
    ("value", "text"), [(21.25, "21.25"), (8.75, "8.75"), (25.0, "25.0"), (1.125, "1.125"), (25 / 3, "8.333333")]
)
def test_a_margin_is_not_rounded(value: float, text: str) -> None:
    assert written(value, Column("margin", "Margin", 1, exact=True)) == text


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("q95_l_main", "uct"),
        ("calibration_rank_audit", "margin"),
        ("margin_by_q", "margin"),
        ("margin_steps", "margin"),
        ("deficits", "deficit"),
        ("zero_api_native_coverage", "margin"),
        ("zero_api_threshold_point", "theta"),
        ("coverage_sweep", "theta"),
    ],
)
def test_every_table_writes_margins_whole(miniature: Callable[..., Run], name: str, key: str) -> None:
    table = tables.build(Audit(miniature()), name)
    assert written(21.25, table.columns[table.column(key)]) == "21.25"
    assert written(21.125, table.columns[table.column(key)]) == "21.125"


def test_beside_paper() -> None:
    text = render(TABLE, beside_paper=True)
    assert "paper" in text.split("\n")[3]
    assert "+12.30" in text
    assert "+12.30" not in render(TABLE)
    found = json.loads(render(TABLE, "json", beside_paper=True))
    assert found["rows"][0]["saved_paper"] == "+12.30"
    assert found["rows"][1]["saved_paper"] == ""


def test_markdown() -> None:
    text = render(TABLE, "md")
    rows = [line for line in text.split("\n") if line.startswith("|")]
    cells = [len(re.findall(r"(?<!\\)\|", row)) for row in rows]
    assert cells == [5] * 5, "foreign bars do not open columns"
    assert "</script>" not in text
    assert "\\<" in text
    assert "SIMULATED" in text


def test_csv_and_json_keep_full_figures() -> None:
    rows = list(csv.DictReader(io.StringIO(render(TABLE, "csv"))))
    assert list(rows[0]) == ["task", "n", "saved", "ci_lo", "ci_hi", "simulated"]
    assert rows[0] == {
        "task": "'=1+1", "n": "1234", "saved": "-0.001", "ci_lo": "-1.25", "ci_hi": "2.0", "simulated": "SIMULATED"
    }  # fmt: skip
    assert rows[1]["ci_lo"] == ""
    found = json.loads(render(TABLE, "json"))
    assert found["simulated"] is True
    assert found["rows"][0] == {"task": "=1+1", "n": 1234, "saved": -0.001, "ci": [-1.25, 2.0]}
    assert found["rows"][1]["task"] == HOSTILE
    assert found["source"] == {"query": "all of it", "counts": {"records": 3}}


def document(text: str) -> tuple[str, list[str]]:
    """The body of a LaTeX document, checked for balance, and its table rows."""
    assert text.startswith("\\documentclass")
    assert text.rstrip().endswith("\\end{document}")
    assert text.isascii()
    bare = re.sub(r"\\[\\{}%&#$_]", "", text)
    assert bare.count("{") == bare.count("}")
    assert bare.count("$") % 2 == 0
    begun, ended = (re.findall(rf"\\{which}\{{(\w+)\}}", text) for which in ("begin", "end"))
    assert sorted(begun) == sorted(ended)
    rows = [line for line in text.split("\n") if line.endswith(r"\\") and not line.startswith(r"\caption")]
    return text, rows


def columns_of(text: str) -> int:
    kinds = re.search(r"\\begin\{(?:tabular|longtable)\}\{((?:[lr]|p\{[^}]*\})+)\}", text)
    assert kinds is not None
    return len(re.findall(r"[lr]|p\{[^}]*\}", re.sub(r"p\{[^}]*\}", "l", kinds[1])))


def test_latex() -> None:
    text, rows = document(render(TABLE, "tex"))
    assert r"\usepackage{booktabs,graphicx,longtable}" in text
    for rule in (r"\toprule", r"\midrule", r"\bottomrule"):
        assert rule in text
    assert len(rows) == 4
    assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {columns_of(text) - 1}
    assert "[U+00E9]" in text, "what a plain font lacks is written as its code"
    assert "SIMULATED" in text
    fragment = render(TABLE, "tex", fragment=True)
    assert fragment.startswith("% needs booktabs")
    assert "documentclass" not in fragment


@pytest.mark.parametrize(
    "name", [n for n in tables.names(PAPER) if not tables.lacks(PAPER, n) and n != "safety_ablation_main"]
)
@pytest.mark.parametrize("form", FORMATS)
def test_every_table_of_the_paper_in_every_format(name: str, form: Format) -> None:
    table = tables.build(PAPER, name)
    text = render(table, form, beside_paper=True)
    assert text
    if form == "tex":
        whole, rows = document(text)
        assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {columns_of(whole) - 1}
    if form == "csv":
        lines = list(csv.reader(io.StringIO(text)))
        assert {len(line) for line in lines} == {len(lines[0])}
        assert len(lines) == len(table.rows) + 1


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="no LaTeX here; its structure is tested above")
@pytest.mark.parametrize("name", ["macro_main", "per_condition_ci"])
def test_latex_compiles(name: str, tmp_path: Path) -> None:
    (tmp_path / "table.tex").write_text(render(tables.build(PAPER, name), "tex"))
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "table.tex"], cwd=tmp_path, check=False
    )
    assert done.returncode == 0
