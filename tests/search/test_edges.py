"""Where algorithms break: nothing to choose from, nothing to go by, everything alike, and no room to move."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest

from paccf.domains.toy import Toy, ToyModel
from paccf.method.admission import ScoreGap
from paccf.search.controllers import CONTROLLERS, controller
from paccf.search.driver import run, search
from paccf.search.scoring import Scoring
from paccf.search.trace import Arm, Trace
from paccf.search.tree import Action, Node, Outcome, Task, descendants
from paccf.search.world import Answer, Request

each = pytest.mark.parametrize("name", CONTROLLERS)
arms = pytest.mark.parametrize(
    "arm", [Arm(), Arm("paccf", ScoreGap(0)), Arm("shadow", ScoreGap(0))], ids=lambda a: a.name
)
TASK = Task("t", None)
# until nothing is left, and no step is thrown away for its judgement
OPEN: dict[str, dict[str, Any]] = {
    "lats": {"trajectories": 10**6, "notes": 0},
    "tooltree": {"rollouts": 10**6, "patience": 10**6, "tau_pre": 0.0, "tau_post": 0.0, "top_k": 99},
}


@dataclass(frozen=True)
class Says:
    """A model that proposes ``digits`` in every state (or what ``at`` says of one) and answers every scoring with the
    same ``score``, or not at all."""

    digits: str = "0 1 2"
    score: float | None = 50
    at: tuple[tuple[str, str], ...] = ()
    name: str = "says"

    def answer(self, request: Request) -> Answer:
        about = request.subject
        if request.kind == "propose":
            return Answer(dict(self.at).get(about.state, self.digits))
        return Answer("[]" if self.score is None else json.dumps([self.score] * max(1, len(about.actions))))


class Solved(Toy):
    """One leaf is solved: the task's data."""

    def is_solved(self, task: Task, leaf: str) -> bool:
        return leaf == task.data


class Merging(Toy):
    """States are the same whatever the order of the digits."""

    def execute(self, task: Task, state: str, action: Action) -> Outcome:
        out = Toy.execute(self, task, state, action)
        return Outcome(out.state, "".join(sorted(out.state)), out.terminal, out.solved)


def go(name: str, model: Any, world: Toy, task: Task = TASK, arm: Arm | None = None, **config: Any) -> Trace:
    made = controller(name, **{**OPEN.get(name, {}), **config})
    return run(search(task, world, made, arm=arm, budget=10**6, scoring=Scoring(1, retries=1)), model)


def leaves(trace: Trace) -> set[str]:
    """The executed leaves."""
    return {v.outcome.state for v in descendants(trace.root) if v.outcome is not None and v.outcome.terminal}


@each
@arms
def test_nothing_is_ever_proposed(name: str, arm: Arm) -> None:
    """The root's empty frontier is recorded, and the search is over: asked again once, nothing to score."""
    trace = go(name, Says("x 7"), Toy(), arm=arm)
    assert (trace.reason, trace.answer, trace.solved) == ("exhausted", None, False)
    assert trace.bill.requests == {"propose": 2}
    assert (trace.bill.expansions, trace.bill.nodes, trace.bill.illegal) == (1, 0, 4)
    [frontier] = trace.frontiers
    assert (frontier.actions, frontier.kept, frontier.scores) == ((), (), ())


@each
@arms
def test_a_dead_end_is_left(name: str, arm: Arm) -> None:
    """Nothing is proposed below 0, which ties with the rest: all other leaves are reached all the same."""
    trace = go(name, Says("0 1", at=(("0", ""),)), Toy(2, 3, 0.0), arm=arm)
    assert trace.reason == "exhausted"
    assert leaves(trace) == {"100", "101", "110", "111"}
    assert Counter(f.path for f in trace.frontiers)["0",] == 1


@each
def test_no_score_can_be_read(name: str) -> None:
    """Unscored candidates are kept by every rule, so even a margin of 0 searches everything."""
    for arm in (Arm(), Arm("paccf", ScoreGap(0))):
        trace = go(name, Says("0 1 2", None), Toy(3, 3, 0.0), arm=arm)
        assert trace.reason == "exhausted"
        assert len(leaves(trace)) == 27
        assert trace.bill.unscored == trace.bill.scored == 39
        assert all(v.score is None and math.isfinite(v.q) for v in descendants(trace.root))


@each
def test_everything_ties(name: str) -> None:
    """Equal scores: a margin of 0 keeps everything, the order is that of the proposals, and the same every time."""
    native = go(name, Says(), Solved(3, 3), Task("t", "221"))
    gated = go(name, Says(), Solved(3, 3), Task("t", "221"), Arm("paccf", ScoreGap(0)))
    assert native.path == gated.path == ("2", "2", "1")
    assert [(f.path, f.kept) for f in native.frontiers] == [(f.path, f.kept) for f in gated.frontiers]
    if name != "tooltree":  # whose ties go by hashed jitter
        below = [f.path for f in native.frontiers if len(f.path) == 1]
        assert below == sorted(below)


@each
def test_one_candidate_a_frontier(name: str) -> None:
    """A frontier of one is recorded and gated like any other."""
    trace = go(name, Says("1", 3), Solved(3, 6), Task("t", "111111"), Arm("paccf", ScoreGap(0)))
    assert (trace.reason, trace.bill.expansions, trace.bill.nodes) == ("solved", 6, 6)
    assert [f.kept for f in trace.frontiers] == [(0,)] * 6


@each
@pytest.mark.parametrize("leaf", ["0", "2", "-"])
def test_the_horizon_is_one_step(name: str, leaf: str) -> None:
    trace = go(name, Says(), Solved(3, 1), Task("t", leaf))
    assert len(trace.frontiers) == 1, "nothing is expanded at the horizon"
    assert trace.reason == ("exhausted" if leaf == "-" else "solved")
    assert trace.path == (() if leaf == "-" else (leaf,))


@each
def test_a_state_that_does_not_end_at_the_horizon_ends_there_all_the_same(name: str) -> None:
    """Worlds differ in whether the last step is terminal; no controller goes beyond it."""

    class Short(Toy):
        def execute(self, task: Task, state: str, action: Action) -> Outcome:
            return Outcome(state + action.key, state + action.key)

    trace = go(name, Says("0 1"), Short(2, 3))
    assert trace.reason == "exhausted"
    assert max(len(f.path) for f in trace.frontiers) == 2
    assert trace.bill.nodes == 2 + 4 + 8
    assert trace.answer is None


@each
def test_equal_states_on_different_paths(name: str) -> None:
    """Trees keep the paths apart; best-first searches expand a state once (LevinTS: unless it has become likelier)."""
    trace = go(name, Says("0 1"), Merging(2, 4, 0.0))
    assert trace.reason == "exhausted"
    states = Counter("".join(sorted(f.path)) for f in trace.frontiers)
    if name in ("toolchain", "levin"):
        assert set(states.values()) == {1}
        assert len(states) == 1 + 2 + 3 + 4
        cut = [v for v in descendants(trace.root) if v.dead and v.kids is None and v.outcome and not v.outcome.terminal]
        assert cut, "what was cut is in the tree, executed and not expanded"
    else:
        assert sum(states.values()) == 2**4 - 1


def test_levin_without_mixing_survives_a_probability_of_nothing() -> None:
    """exp(-100 / 0.01) is 0: such a candidate comes last, and is not lost."""

    class Sure(Says):
        def answer(self, request: Request) -> Answer:
            if request.kind == "propose":
                return Says.answer(self, request)
            return Answer(json.dumps([100 * (a.key == "1") for a in request.subject.actions]))

    trace = go("levin", Sure("0 1"), Solved(2, 2), Task("t", "00"), temperature=0.01, mix=0.0)
    assert (trace.reason, trace.path) == ("solved", ("0", "0"))
    assert [f.path for f in trace.frontiers] == [(), ("1",), ("0",)]
    assert next(v for v in descendants(trace.root) if v.path == ("0",)).cost == math.inf


@pytest.mark.parametrize("arm", [Arm(), Arm("paccf", ScoreGap(12))], ids=lambda a: a.name)
def test_levin_expands_at_most_depth_over_probability(arm: Arm) -> None:
    """The bound of Orseau and others, 2018. It holds with a margin too: a frontier shares out 1 at most."""
    world, tight = Toy(3, 4, 0.05), 0.0
    for task in (Task(f"t{i}", None) for i in range(40)):
        trace = go("levin", ToyModel(world), world, task, arm)
        if trace.answer is not None:
            bound = trace.answer.depth * math.exp(trace.answer.cost)
            assert len(trace.frontiers) <= bound
            tight = max(tight, len(trace.frontiers) / bound)
    assert tight > 0.3, "a bound far above what happens would say little"


def test_levin_may_test_goals_at_generation() -> None:
    """Then a solved child ends the search without being the next in order, and no later than on pop."""
    model, world = ToyModel(Toy(3, 4, 0.05)), Toy(3, 4, 0.05)
    saved = 0
    for task in (Task(f"t{i}", None) for i in range(10)):
        pop, early = go("levin", model, world, task), go("levin", model, world, task, goal="generation")
        assert early.reason == pop.reason
        assert [f.path for f in early.frontiers] == [f.path for f in pop.frontiers][: len(early.frontiers)]
        saved += len(pop.frontiers) - len(early.frontiers)
    assert saved > 0


@each
@arms
def test_a_budget_of_nothing(name: str, arm: Arm) -> None:
    started = search(TASK, Toy(), controller(name), arm=arm, budget=0)
    with pytest.raises(StopIteration) as end:
        next(started)
    trace = end.value.value
    assert (trace.reason, trace.censored, trace.answer, trace.bill.total) == ("budget", True, None, 0)
    assert trace.frontiers == []
    assert isinstance(trace.root, Node)
