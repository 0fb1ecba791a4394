"""What must hold for five controllers in every domain there is, natively and gated: on generated tasks, and on the
tasks of published benchmarks where somebody has their files."""

from __future__ import annotations

import asyncio
import math
import os
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from tests.real import folder

from paccf.domains.labels import labels, places, recorded_places
from paccf.domains.oracles import oracle_for, oracle_of
from paccf.domains.registry import has, names, world
from paccf.domains.sources import Source, sources, tasks
from paccf.method.admission import ScoreGap
from paccf.models.simulated import Simulated, simulated
from paccf.models.tape import Tape, Taped
from paccf.record.taking import taken
from paccf.record.values import Key
from paccf.search.controllers import CONTROLLERS, controller
from paccf.search.driver import run, run_all, search
from paccf.search.trace import Arm, Trace
from paccf.search.tree import Task, descendants
from paccf.search.world import Answer, Request

THOROUGH = bool(os.environ.get("PACCF_THOROUGH"))
TASKS, BUDGET = (12, 100) if THOROUGH else (1, 40)
ARMS = {
    "native": Arm(),
    "gated": Arm("paccf", ScoreGap(15)),
    "strict": Arm("paccf", ScoreGap(0)),
    "all": Arm("paccf", ScoreGap(math.inf)),
    "shadow": Arm("shadow", ScoreGap(15)),
}


def everywhere() -> list[Any]:
    """Every source of every domain, as parameters."""
    return [
        pytest.param(name, source, about, id=f"{name}-{source}")
        for name in names()
        if has(name, "tasks")
        for source, about in sources(name).items()
    ]


each = pytest.mark.parametrize("controller_name", CONTROLLERS)
source_of = pytest.mark.parametrize(("name", "source", "about"), everywhere())


def some(name: str, source: str, about: Source) -> tuple[Task, ...]:
    data = folder(*about.files) if about.files else None
    return tasks(name, source, "test", 5, TASKS, data=data)


def searched(name: str, controller_name: str, task: Task, arm: Arm, model: Any = None, budget: int = BUDGET) -> Trace:
    made = search(task, world(name), controller(controller_name), arm=arm, budget=budget)
    return run(made, model or simulated(name, "paper-like", 0))


def comparable(trace: Trace) -> Any:
    """All that a search left behind, without the margin's own decisions."""
    nodes = [
        (v.path, v.score, v.visits, v.q, v.dead, None if v.outcome is None else v.outcome.key)
        for v in descendants(trace.root)
    ]
    frontiers = [(f.path, f.channel, f.actions, f.observations, f.eligible, f.kept) for f in trace.frontiers]
    return nodes, frontiers, trace.bill, trace.reason, trace.path, trace.utility


@each
@source_of
def test_five_controllers_natively_and_gated(name: str, source: str, about: Source, controller_name: str) -> None:
    place = world(name)
    for task in some(name, source, about):
        traces = {arm: searched(name, controller_name, task, ARMS[arm]) for arm in ARMS}
        for arm, trace in traces.items():
            assert trace.bill.total <= BUDGET
            assert trace.reason != "failure"
            assert 0 <= trace.utility <= 1
            assert trace.censored == (trace.reason == "budget")
            paths = Counter(f.path for f in trace.frontiers)
            assert not paths or max(paths.values()) == 1, "no frontier twice"
            assert set(paths) == {v.path for v in descendants(trace.root) if v.kids is not None}
            assert (
                trace.bill.nodes
                == sum(1 for _ in descendants(trace.root)) - 1
                == sum(len(f.kept) for f in trace.frontiers)
            )
            for f in trace.frontiers:
                assert set(f.kept) <= set(f.eligible)
                assert f.kept == (f.gap if ARMS[arm].name == "paccf" else f.native)
                assert len({a.key for a in f.actions}) == len(f.actions)
                assert len(f.path) < place.horizon
            if place.verified:
                assert trace.solved == (trace.utility == 1) == (trace.reason == "solved")
            else:
                assert not trace.solved
            line = [] if trace.answer is None else trace.answer.actions
            assert place.utility(task, line) == trace.utility
            assert isinstance(place.solution(task, line), str)
            assert all(math.isfinite(value) for value in place.metrics(task, line).values())
        assert comparable(traces["shadow"]) == comparable(traces["native"]), "a shadow changes nothing"
        if controller_name != "tooltree":  # whose own rule is a top K
            assert comparable(traces["all"]) == comparable(traces["native"]), "an infinite margin keeps everything"
        if traces["native"].frontiers:
            assert traces["strict"].frontiers[0].observations == traces["native"].frontiers[0].observations


@each
@source_of
def test_labels_of_the_record_are_those_of_the_search(
    name: str, source: str, about: Source, controller_name: str
) -> None:
    place = world(name)
    oracle = oracle_for(place)
    for task in some(name, source, about):
        trace = searched(name, controller_name, task, ARMS["native"])
        key = Key("single", name, controller_name, "native", BUDGET, task.id, 0)
        record = taken(trace, key, place)
        assert recorded_places(record, place, task) == places(trace)
        exact = labels(trace, "oracle", place, task, oracle)
        assert exact == labels(record, "oracle", place, task, oracle)
        found = labels(trace, "found", place, task)
        assert found == labels(record, "found", place, task)
        assert [len(row) for row in exact] == [len(row) for row in found] == [len(f.actions) for f in trace.frontiers]
        # a plan is as good in another order, which GTA's prefix rule does not follow but its verifier does
        wide = labels(trace, "oracle", place, task, oracle_of("gta", rule="multiset")) if name == "gta" else exact
        for true, seen in zip(wide, found, strict=True):
            assert all(t or not s for t, s in zip(true, seen, strict=True)), "what was found can be reached"
        if name == "gta":
            for strict, true in zip(exact, wide, strict=True):
                assert all(t or not s for s, t in zip(strict, true, strict=True)), (
                    "the rule by order is the stricter one"
                )
        if trace.solved:
            assert any(found[0])


class Waiting:
    """Answers in another order than asked."""

    def __init__(self, model: Simulated) -> None:
        self.model = model

    async def answer(self, request: Request) -> Answer:
        for _ in range(len(request.prompt) * (request.draw + 3) % 5):
            await asyncio.sleep(0)
        return self.model.answer(request)


@each
@pytest.mark.parametrize("name", [name for name in names() if has(name, "tasks")])
def test_concurrency_and_resuming_change_nothing(name: str, controller_name: str) -> None:
    model = simulated(name, "paper-like", 0)
    drawn = tasks(name, "", "test", 5, 2)
    arm = ARMS["gated"]
    whole = [comparable(searched(name, controller_name, task, arm, model)) for task in drawn]
    started = [search(t, world(name), controller(controller_name), arm=arm, budget=BUDGET) for t in drawn]
    assert [comparable(t) for t in asyncio.run(run_all(started, Waiting(model), 20))] == whole
    tape = Tape()
    assert comparable(searched(name, controller_name, drawn[0], arm, Taped(tape, model))) == whole[0]
    assert comparable(searched(name, controller_name, drawn[0], arm, Taped(tape))) == whole[0], "the tape is enough"
    for count in range(0, len(tape), 11):
        again = Taped(tape.first(count), model)
        assert comparable(searched(name, controller_name, drawn[0], arm, again)) == whole[0]
    larger = searched(name, controller_name, drawn[0], arm, model)
    for budget in range(0, BUDGET, 9):
        smaller = searched(name, controller_name, drawn[0], arm, model, budget)
        assert smaller.bill.total <= budget
        assert [f.path for f in smaller.frontiers] == [f.path for f in larger.frontiers][: len(smaller.frontiers)]


class Thinking:
    """Answers as the simulated model does, behind thoughts in which it weighs every action and other scores."""

    def __init__(self, model: Simulated, close: str = "</think>") -> None:
        self.model, self.name, self.close = model, model.name, close

    def answer(self, request: Request) -> Answer:
        about, found = request.subject, self.model.answer(request)
        legal = self.model.truth.legal(about.task, about.state) if request.kind == "propose" else ()
        weighed = "\n".join([action.text for action in legal]) + f"\n{[7] * max(1, len(about.actions))}\nHm. " * 9000
        return replace(found, text=f"<think>{weighed}{self.close}{found.text}")


@pytest.mark.parametrize("name", [name for name in names() if has(name, "tasks")])
def test_what_a_model_weighs_in_its_thoughts_is_no_answer(name: str) -> None:
    model = simulated(name, "paper-like", 0)
    reflected = 0
    for task in tasks(name, "", "test", 5, 4):
        plain = searched(name, "lats", task, ARMS["native"], model, 100)
        assert comparable(searched(name, "lats", task, ARMS["native"], Thinking(model), 100)) == comparable(plain)
        reflected += plain.bill.requests.get("reflect", 0)
        cut_off = searched(name, "lats", task, ARMS["native"], Thinking(model, close=""))
        assert not any(frontier.actions for frontier in cut_off.frontiers)
    assert reflected or name != "blocksworld", "where trajectories fail, a note is of the answer too"
