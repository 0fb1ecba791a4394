"""Figures picture tables and nothing else; the same tables give the same bytes; hostile text stays text."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html import unescape
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.audit.conftest import record

from paccf.audit import tables
from paccf.audit.audit import Audit
from paccf.audit.paper import Paper
from paccf.audit.run import Unsupported
from paccf.audit.tables import Table
from paccf.cli import main
from paccf.published import load
from paccf.report import figures
from paccf.report.figures.style import apart, plain

HOSTILE = "\x1b[2J</text><script>alert(1)</script>$\\frac{1}{0}$ -- \u202e 漢"


@pytest.fixture(scope="module")
def mini() -> Audit:
    return Audit(record(), resamples=2000, condition_resamples=2000)


def words(svg: str) -> str:
    """What is written in a picture: letters are outlines, and each word stands before them in a comment."""
    return "\n".join(re.findall(r"<!-- (.*?) -->", svg))


@pytest.mark.parametrize("name", figures.names())
def test_every_figure_in_every_format(mini: Audit, name: str) -> None:
    figure = figures.build(mini, name)
    assert figure.simulated
    assert figure.caption.endswith(".")
    svg = figure.draw("svg")
    assert svg == figures.build(mini, name).draw("svg")
    ET.fromstring(svg)
    assert {"SIMULATED", figure.title} <= set(words(svg.decode()).split("\n"))
    assert figure.draw("pdf", "dark").startswith(b"%PDF")
    assert figure.draw("png").startswith(b"\x89PNG")
    assert "SIMULATED" not in words(_real(figure).draw("svg").decode())


def _real(figure: figures.Figure) -> figures.Figure:
    return replace(figure, data=tuple(replace(table, simulated=False) for table in figure.data))


@pytest.mark.parametrize("name", ["bill", "main_budget_efficiency", "workload"])  # narrow, high, wide
def test_what_has_to_be_said_of_a_run_stands_in_every_picture_of_it(mini: Audit, name: str) -> None:
    """Whole, however narrow the picture, and it covers nothing: the picture grows by it."""
    figure = figures.build(mini, name)
    caveats = ("the declared tools were offered: a leak; compare with no other result", HOSTILE)
    said = replace(figure, data=tuple(replace(table, caveats=caveats) for table in figure.data))
    before, after = (ET.fromstring(one.draw("svg")).attrib["height"] for one in (figure, said))
    assert float(after.removesuffix("pt")) > float(before.removesuffix("pt"))
    letters = [
        re.sub(r"\W+", "", text)
        for text in (unescape(words(said.draw("svg").decode())), *(plain(c, 400) for c in caveats))
    ]
    assert all(text in letters[0] for text in letters)


@pytest.mark.parametrize("form", figures.FORMS)
def test_the_same_bytes(mini: Audit, form: figures.Form) -> None:
    first, again = (figures.build(Audit(record(), resamples=2000), "deficits").draw(form) for _ in "ab")
    assert first == again


def test_one_picture_for_light_and_dark_pages(mini: Audit) -> None:
    text = figures.build(mini, "workload").web()
    ET.fromstring(text)
    assert "prefers-color-scheme:dark" in text
    assert "var(--ink)" in text
    rules, rest = text.split("</style>", 1)
    assert "#1a2029" in rules
    assert "#1a2029" not in rest


@pytest.mark.parametrize("name", figures.names())
def test_hostile_names(mini: Audit, name: str) -> None:
    """Names of domains, controllers and kinds of requests come from a record."""
    figure = figures.build(mini, name)

    def named(table: Table) -> Table:
        changed = [tuple(HOSTILE if v in ("Game24", "UCT-MCTS") else v for v in row) for row in table.rows]
        columns = [replace(c, key=f"requests_{HOSTILE}") if c.key == "requests_propose" else c for c in table.columns]
        return replace(table, rows=tuple(changed), columns=tuple(columns))

    hostile = replace(figure, data=tuple(map(named, figure.data)))
    root = ET.fromstring(hostile.web())
    assert not [e for e in root.iter() if e.tag.endswith("script")]
    assert plain(HOSTILE, 99).count("[U+") >= 1
    assert hostile.draw("png")
    assert hostile.draw("pdf")


def test_the_papers_figure() -> None:
    """Its points are the printed macros, from the paper's own rows."""
    figure = figures.build(Paper(), "main_budget_efficiency")
    assert not figure.simulated
    (table,) = figure.data
    printed = load().macro_main
    assert len(table.rows) == len(printed.rows)
    for row in printed.rows:
        ours = table.find(domain=row.domain, budget=row.budget)
        for key, value in (
            ("utility", row.delta_utility_pp),
            ("requests", row.preq_reduction_pct),
            ("net_graph", row.net_graph_reduction_pct),
            ("tokens", row.token_reduction_pct),
        ):
            assert ours[key] == pytest.approx(float(value.value), abs=0.0101)
        assert ours["utility"] == pytest.approx(ours["paccf"] - ours["native"], abs=1e-2)  # type: ignore[operator]


def test_what_cannot_be_drawn_is_said(mini: Audit) -> None:
    with pytest.raises(LookupError, match="there is no figure"):
        figures.build(mini, "nonsense")
    with pytest.raises(Unsupported):
        figures.build(Paper(), "deficits")
    assert figures.lacks(Paper(), "deficits")
    assert not figures.lacks(mini, "deficits")
    assert set().union(*(k.pictures for k in figures.FIGURES.values())) <= set(tables.TABLES)


def test_words_move_apart_no_more_than_they_must() -> None:
    assert apart([0.1, 0.5, 0.9], 0.1) == [0.1, 0.5, 0.9]
    assert apart([0.5, 0.5], 0.1) == pytest.approx([0.45, 0.55])
    moved = apart([0.3, 0.31, 0.32, 0.9], 0.1)
    assert moved == pytest.approx([0.21, 0.31, 0.41, 0.9])
    chain = apart([0.0, 0.05, 0.14], 0.1)
    assert all(b - a >= 0.1 - 1e-9 for a, b in pairwise(chain))
    assert sum(chain) == pytest.approx(0.19)


def test_the_command(tmp_path: Path) -> None:
    run = CliRunner().invoke
    said = run(main, ["figure", "paper", "--list"])
    assert said.exit_code == 0
    assert "main_budget_efficiency" in said.output
    path = tmp_path / "one.png"
    assert run(main, ["figure", "paper", "main_budget_efficiency", "-o", str(path)]).exit_code == 0
    assert path.read_bytes().startswith(b"\x89PNG")
    said = run(main, ["figure", "paper", "--all", "-o", str(tmp_path / "all"), "--format", "pdf", "--dark"])
    assert said.exit_code == 0
    made = {p.name for p in (tmp_path / "all").iterdir()}
    assert made == {"main_budget_efficiency.pdf", "workload.pdf", "per_condition_ci.pdf"}
    assert "No deficits: " in said.output


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["paper"], "say which figure"),
        (["paper", "workload"], "say where to"),
        (["paper", "workload", "-o", "x.gif"], "cannot draw x.gif"),
        (["paper", "worklod", "-o", "x.svg"], "Did you mean 'workload'?"),
        (["paper", "bill", "-o", "x.svg"], "cannot carry the figure bill"),
        (["nowhere", "bill", "-o", "x.svg"], "there is no run at nowhere"),
        (["paper", "workload", "-o", "/nowhere/x.svg"], "cannot write"),
    ],
)
def test_bad_input(arguments: list[str], told: str) -> None:
    said = CliRunner().invoke(main, ["figure", *arguments])
    assert said.exit_code == 2
    assert told in said.output
