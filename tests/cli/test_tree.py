"""What a person sees of a search: every line fits, hostile text stays text, and the finished tree is the search's."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paccf.cli.fitting import cells, fit, fit_both, fit_end, flowed, padded
from paccf.cli.tree_end import MOST, drawing
from paccf.cli.tree_view import bar, lines, ranked
from paccf.cli.waiting import Waiting
from paccf.domains.registry import task_of, world
from paccf.domains.sources import tasks
from paccf.domains.toy import Toy, ToyModel
from paccf.method.admission import ScoreGap
from paccf.models.simulated import simulated
from paccf.search.controllers import CONTROLLERS, controller
from paccf.search.driver import run, search
from paccf.search.trace import Arm, Frontier, Trace
from paccf.search.tree import Action, Node, Outcome, Task, descendants
from paccf.search.world import Answer, ModelFailure, Request

ARMS = [Arm(), Arm("paccf", ScoreGap(10)), Arm("shadow", ScoreGap(10)), Arm("paccf", ScoreGap(float("inf")))]
EVIL = "go\x1b]0;x\x07\u202e\x1b[2J\n漢字" * 4
each = pytest.mark.parametrize("name", CONTROLLERS)


def traced(name: str, domain: str, arm: Arm, budget: int = 60) -> Trace:
    task = tasks(domain, "", "test", 3, 1)[0]
    return run(
        search(task, world(domain), controller(name), arm=arm, budget=budget), simulated(domain, "paper-like", 0)
    )


def seen(frontier: Frontier, arm: Arm, room: int, rich: bool = True) -> list[str]:
    return [click.unstyle(line) for line in lines(frontier, arm, 60, room, rich)]


@each
@pytest.mark.parametrize("domain", ["game24", "blocksworld", "gta"])
def test_every_line_fits(name: str, domain: str) -> None:
    for arm in ARMS:
        trace = traced(name, domain, arm)
        for room in (24, 40, 63, 64, 80, 200):
            for f in trace.frontiers:
                for rich in (True, False):
                    shown = seen(f, arm, room, rich)
                    assert max(map(cells, shown)) <= room
                    assert sum(bool(re.search(r"  (keep|drop)  ", line)) for line in shown) == len(f.actions)
                    assert rich or "".join(shown).isascii()
            drawn = [click.unstyle(line) for line in drawing(trace, room)]
            assert max(map(cells, drawn)) <= room
            assert len(drawn) <= MOST
            assert "".join(drawing(trace, room, rich=False)).isascii()


def test_candidates_come_best_first_and_the_margin_ends_where_it_drops() -> None:
    scores = (50.0, 90.0, None, 70.0, 20.0, 70.1)
    actions = tuple(Action(str(i), f"move {i}") for i in range(6))
    frontier = Frontier(
        (), "pre", actions, tuple(s and (s,) for s in scores), scores, (0, 1, 2, 3, 5), (1, 5), (1, 2, 3, 5), (1, 2, 3, 5), 7
    )  # fmt: skip
    assert list(ranked(frontier)) == [1, 5, 3, 0, 2, 4]
    assert seen(frontier, Arm("paccf", ScoreGap(20)), 90) == [
        "root ──────────────────────────────────────────────────────────────────── 7 of 60 requests",
        "   90.0 █████████   keep  move 1",
        "   70.1 ███████     keep  move 5",
        "   70.0 ███████     keep  move 3  the native rule would drop it",
        "   70.0 ┄┄┄┄┄┄┄┄┄┄  margin 20 ends here",
        "   50.0 █████       drop  move 0  deficit 40 > 20",
        "      -             keep  move 2  unscored, so it is kept",
        "   20.0 ██          drop  move 4  ineligible: below the controller's own threshold",
    ]
    assert seen(frontier, Arm("paccf", ScoreGap(20)), 40)[-4:] == [
        "   20.0  drop  move 4",
        "               ineligible: below the",
        "               controller's own",
        "               threshold",
    ]


@pytest.mark.parametrize(
    ("score", "shown"), [(0.0, ""), (100.0, "█" * 10), (55.0, "█████▌"), (1.3, "▏"), (None, ""), (140.0, "█" * 10)]
)
def test_bar(score: float | None, shown: str) -> None:
    assert bar(score) == shown.ljust(10)
    assert len(bar(score, rich=False)) == 10
    assert bar(55.0, rich=False) == "######    "


def test_hostile_text_neither_drives_the_terminal_nor_leaves_its_line() -> None:
    evil = Action("k" + EVIL, EVIL)
    frontier = Frontier(
        (evil.key,) * 3, "child", (evil, evil), ((1.0,), None), (1.0, None), (0, 1), (0, 1), None, (0, 1)
    )
    root = Node(None, None)
    root.outcome = Outcome("", "")
    kid = Node(root, evil, 50.0)
    kid.outcome, root.kids = Outcome("", "", True, True), [kid]
    model = ToyModel(Toy())
    trace = run(search(Task("t", None), Toy(), controller("uct"), budget=0), model)
    hostile: dict[str, Any] = {f: getattr(trace, f) for f in trace.__dataclass_fields__}
    hostile |= {"root": root, "answer": kid, "frontiers": [frontier]}
    for room in (24, 50, 80, 200):
        for line in [*lines(frontier, Arm(), 9, room), *drawing(Trace(**hostile), room)]:
            plain = click.unstyle(line)
            assert not re.search("[\x00-\x1f\x7f-\x9f\u202e]", plain)
            assert cells(plain) <= room


@given(st.text(), st.integers(1, 30))
def test_fit(text: str, room: int) -> None:
    for found in (fit(text, room), fit_end(text, room), fit_both(text, room)):
        assert cells(found) <= room
        assert (found == text) == (cells(text) <= room) or not text
    assert cells(padded(fit(text, room), room)) == room


def test_wide_characters_take_two_columns() -> None:
    assert (cells("漢字"), cells("e\u0301"), cells("abc")) == (4, 1, 3)
    assert (fit_both("漢字漢字漢字", 9), fit_both("abcdefghijkl", 10)) == ("漢字漢…字", "abcde…ijkl")
    assert (fit("漢字漢字", 5), fit_end("漢字漢字", 5), fit("漢字", 4)) == ("漢字…", "…漢字", "漢字")


@given(st.lists(st.text("ab漢-", min_size=1, max_size=12)), st.integers(6, 30))
def test_flowed(words: list[str], room: int) -> None:
    found = flowed(words, room, indent="  ")
    assert all(cells(line) <= room for line in found)
    assert "".join("".join(found).split()) == "".join(words)


@each
def test_the_finished_tree_has_what_was_looked_at_and_where_the_answer_ends(name: str) -> None:
    task = task_of("game24", "4 7 8 8")
    model = simulated("game24", "paper-like", 0)
    trace = run(search(task, world("game24"), controller(name), arm=ARMS[1], budget=100), model)
    shown = [click.unstyle(line) for line in drawing(trace, 200)]
    executed = [v for v in descendants(trace.root) if v.outcome is not None]
    waiting = sum(int(n) for line in shown for n in re.findall(r"(\d+) admitted, never", line))
    dropped = sum(int(n) for line in shown for n in re.findall(r"(\d+) dropped", line))
    if len(shown) < MOST:
        assert sum("dropped" not in line and "never looked" not in line for line in shown) == len(executed)
        assert waiting == trace.bill.nodes - (len(executed) - 1)
        assert dropped == trace.bill.scored - trace.bill.nodes
    if trace.answer is not None and trace.answer.action is not None:
        [star] = [line for line in shown if "★" in line]
        assert star.endswith("★ solved")
        assert trace.answer.action.text in star


def test_watching_changes_nothing_and_failures_pass_through() -> None:
    class Failing(ToyModel):
        def answer(self, request: Request) -> Answer:
            if request.kind == "evaluate":
                raise ModelFailure("gone")
            return ToyModel.answer(self, request)

    def begun(budget: int = 30) -> Any:
        return search(Task("t", None), Toy(), controller("lats"), budget=budget)

    waiting = Waiting(2, 30)
    plain, seen_ = run(begun(), ToyModel(Toy())), run(waiting.over(begun()), ToyModel(Toy()))
    assert (seen_.bill, seen_.frontiers, seen_.path) == (plain.bill, plain.frontiers, plain.path)
    assert (waiting.spent, waiting.ended) == (plain.bill.total, 1)
    failed = run(waiting.over(begun()), Failing(Toy()))
    assert (failed.reason, failed.failure, waiting.ended) == ("failure", "gone", 2)


def on_terminal(columns: int, *args: str, **environment: str) -> str:
    """What `paccf search` writes to a terminal of so many columns."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "paccf", "search", *args],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "COLUMNS": str(columns), "TERM": "xterm", "PYTHONIOENCODING": "utf-8", **environment},
    )
    os.close(theirs)
    found = b""
    try:
        while part := os.read(ours, 65536):
            found += part
    except OSError:  # the other side is closed
        pass
    os.close(ours)
    assert process.wait(60) == 0, found
    return found.decode()


@pytest.mark.parametrize("columns", [40, 100])
def test_on_a_terminal_it_is_live_and_as_wide_as_the_screen(columns: int) -> None:
    text = on_terminal(columns, "--task", "4 7 8 8", "--controller", "uct", "--margin", "20")
    assert "\x1b[32m" in text, "coloured"
    assert "request 1 of 100: propose ..." in text, "it says what it waits for"
    left = re.sub(r"\x1b\[[0-9;]*m", "", re.sub(r"\r\x1b\[2K[^\r\n]*(?=\r\x1b\[2K)", "", text)).replace("\r\x1b[2K", "")
    shown = left.replace("\r\n", "\n").split("\n")
    assert max(map(cells, shown)) <= columns
    assert "keep" in text
    assert any(line.startswith("solution    8 * (4") for line in shown)
    assert "request 1 of" not in left, "and takes it back"


def test_no_color_and_ascii_terminals_are_respected() -> None:
    text = on_terminal(80, "--task", "4 7 8 8", "--controller", "uct", NO_COLOR="1", PYTHONIOENCODING="ascii")
    assert text.isascii()
    assert "\x1b[32m" not in text
    assert "########" in text
