"""The controllers' rules by hand-computed values, and the driver with a scripted model."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from paccf.domains.toy import Toy
from paccf.search.controllers import CONTROLLERS, controller
from paccf.search.controllers.lats import birth_value, uct_value
from paccf.search.controllers.levin import Levin, levin_cost, policy, softmax
from paccf.search.controllers.toolchain import blend, lcs, place, remembered
from paccf.search.controllers.tooltree import answer as tooltree_answer
from paccf.search.controllers.tooltree import best_value, stalled
from paccf.search.controllers.tooltree import select as tooltree_select
from paccf.search.controllers.uct import descend
from paccf.search.controllers.uct import select as uct_select
from paccf.search.driver import NOTE_LIMIT, run, search
from paccf.search.effects import Setting
from paccf.search.scoring import Scoring
from paccf.search.trace import Trace
from paccf.search.tree import (
    Action,
    Node,
    Outcome,
    Task,
    descendants,
)
from paccf.search.world import Answer, Kind, Request

TASK = Task("t", None)


def node(parent: Node | None = None, key: str = "", score: float | None = None, **fields: Any) -> Node:
    """A node with these statistics, hung under its parent."""
    made = Node(parent, Action(key, key) if parent else None, score)
    for name, value in fields.items():
        setattr(made, name, value)
    if parent is not None:
        parent.kids = [*(parent.kids or []), made]
    return made


def done(solved: bool | None = None) -> Outcome:
    return Outcome("", "", True, solved)


@dataclass
class Scripted:
    """A toy world's model whose answers are written down: digits by state, scores by the state they lead to. What
    is not written: all digits, and 50 points. ``asked`` is every request in order."""

    world: Toy = field(default_factory=Toy)
    proposals: dict[str, list[str]] = field(default_factory=dict)  # state -> answers, one a draw, the last repeated
    scores: dict[str, float] = field(default_factory=dict)
    post: dict[str, float] = field(default_factory=dict)
    asked: list[Request] = field(default_factory=list)
    name: str = "scripted"

    def answer(self, request: Request) -> Answer:
        self.asked.append(request)
        about = request.subject
        if request.kind == "propose":
            said = self.proposals.get(about.state, [" ".join(map(str, range(self.world.branching)))])
            return Answer(said[min(request.draw, len(said) - 1)])
        if request.kind == "reflect":
            return Answer(f"  note on {about.state} " + "x" * (NOTE_LIMIT if about.state == "" else 0))
        table = self.post if request.kind == "appraise" else self.scores
        return Answer(json.dumps([table.get(about.state + a.key, 50) for a in about.actions]))

    def kinds(self) -> dict[Kind, int]:
        return dict(Counter(r.kind for r in self.asked))


class Leaves(Toy):
    """A toy world whose solved leaves are named by the task."""

    def is_solved(self, task: Task, leaf: str) -> bool:
        return leaf in (task.data or ())


def go(name: str, model: Scripted, leaves: Sequence[str] = (), budget: int = 1000, **config: Any) -> Trace:
    """One search with R = 1 unless a scoring is given."""
    scoring = config.pop("scoring", Scoring(1))
    started = search(Task("t", tuple(leaves)), model.world, controller(name, **config), budget=budget, scoring=scoring)
    return run(started, model)


def expanded(trace: Trace) -> list[str]:
    return ["".join(f.path) for f in trace.frontiers]


@pytest.mark.parametrize(
    ("name", "config", "said"),
    [
        ("uct", {"k": 0}, "k: a whole number 1 or more, not 0"),
        ("uct", {"k": 2.5}, "k: a whole number"),
        ("uct", {"k": True}, "k: a whole number"),
        ("uct", {"c": math.nan}, "c: a number 0 or more"),
        ("uct", {"rollout": "greddy"}, "rollout: one of greedy, random, value, not 'greddy'"),
        ("toolchain", {"alpha": 1.5}, "alpha: a number from 0 to 1"),
        ("toolchain", {"consistency": "vote"}, "consistency: one of score, votes, auto"),
        ("lats", {"trajectories": 0}, "trajectories: a whole number 1 or more"),
        ("tooltree", {"tau_post": 101}, "tau_post: a number from 0 to 100"),
        ("levin", {"temperature": 0}, "temperature: a number above 0"),
        ("levin", {"policy": "softmax"}, "policy: one of"),
        ("levin", {"temprature": 1}, "levin is configured by k, temperature"),
    ],
)
def test_a_meaningless_setting_is_refused_where_it_is_made(name: str, config: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        controller(name, **config)


# --- UCT


def test_uct_select_by_hand() -> None:
    root = node(visits=10)
    a = node(root, "a", 10.0, visits=8, q=0.5)
    b = node(root, "b", 90.0, visits=2, q=0.1)
    # ln 10 = 2.302585: a = .5 + 1.414214 sqrt(.287823) = 1.258713, b = .1 + 1.414214 sqrt(1.151293) = 1.617427
    assert uct_select(root, math.sqrt(2)) is b
    # with c = .5: a = .768246, b = .636491
    assert uct_select(root, 0.5) is a
    # they meet where .4 = c (1.072983 - .536492): c = .745585
    assert uct_select(root, 0.7455) is a
    assert uct_select(root, 0.7457) is b


def test_uct_select_order() -> None:
    root = node(visits=3)
    node(root, "a", 100.0, visits=3, q=1.0)
    b, c, d = node(root, "b", 20.0), node(root, "c", 40.0), node(root, "d", 40.0)
    e = node(root, "e", 99.0, dead=True)
    assert uct_select(root, 1.4) is c, "unvisited first, then by score, then by order; never a dead one"
    c.dead = True
    assert uct_select(root, 1.4) is d
    d.dead = True
    assert uct_select(root, 1.4) is b
    f = node(root, "f")  # unscored
    b.dead = True
    assert uct_select(root, 1.4) is f
    for v in (b, c, d, f):
        v.dead, v.visits, v.q = False, 3, 1.0
    assert uct_select(root, 1.4).action == Action("a", "a"), "equal bounds go by score"
    assert e.dead


def test_uct_descend() -> None:
    root = node()
    kids = [node(root, k, s) for k, s in (("a", None), ("b", 70.0), ("c", 70.0), ("d", 10.0))]
    setting = Setting(root, 3, True, lambda v, purpose: {(): 0.5}[v.path])
    assert descend(root, kids, "greedy", setting) is kids[1]
    assert descend(root, kids, "random", setting) is kids[2], "int(.5 * 4)"


def test_uct_search_by_hand() -> None:
    """Two actions, depth 2. The first simulation goes 1, 10 (ties by order); the second takes the unvisited 0 over
    the dead-ended 1, and so on; every leaf in turn."""
    model = Scripted(Leaves(2, 2), scores={"0": 40, "1": 60})
    trace = go("uct", model, ["11"])
    assert expanded(trace) == ["", "1", "0"]
    # rollouts: 10 (r=0), 00 (r=0); ln 2 / 1 on both sides: 1 wins by score: 11, solved
    assert (trace.path, trace.reason) == (("1", "1"), "solved")
    assert {"".join(v.path): (v.visits, v.q) for v in descendants(trace.root) if v.visits} == {
        "": (3, pytest.approx(1 / 3)),
        "1": (2, 0.5),
        "10": (1, 0.0),
        "11": (1, 1.0),
        "0": (1, 0.0),
        "00": (1, 0.0),
    }
    assert model.kinds() == {"propose": 3, "evaluate": 3}


def test_uct_value_rollouts_back_up_the_best_score() -> None:
    model = Scripted(Leaves(2, 2), scores={"0": 40, "1": 60, "10": 30, "11": 20, "00": 80})
    trace = go("uct", model, budget=6, rollout="value")
    assert expanded(trace) == ["", "1", "0"]
    # executing costs no request, so the four failed leaves are visited too: each backs 0 up
    assert [(v.visits, v.q) for v in (trace.root, *(trace.root.kids or []))] == [
        (7, pytest.approx((0.6 + 0.3 + 0.8) / 7)),
        (3, pytest.approx(0.8 / 3)),
        (3, pytest.approx(0.3 / 3)),
    ]


# --- ToolChain*


def test_lcs() -> None:
    assert lcs("abcbdab", "bdcaba") == 4
    assert lcs((), ("a",)) == lcs(("a",), ()) == lcs("abc", "xyz") == 0
    assert lcs(("a", "c", "b"), ("a", "b")) == 2


def test_remembered_and_place() -> None:
    memory = (("a", "b", "c", "d"), ("b", "a"), ())
    assert remembered(("a", "b"), memory) == 1.0  # 2 of min(2, 4)
    assert remembered(("c", "b"), memory) == 0.5
    assert remembered(("a", "x", "d"), memory) == pytest.approx(2 / 3)
    assert remembered(("a",), ()) is None
    assert remembered(("a",), ((),)) is None
    assert place("a", memory) == (1 / 4 + 2 / 2) / 2
    assert place("d", memory) == 1.0
    assert place("x", memory) is None


def test_blend() -> None:
    assert blend(None, 0.3, 0.5) == 0.7
    assert blend(0.75, 0.64, 0.5) == pytest.approx(0.5 * 0.6)
    assert blend(0.75, 0.64, 0.0) == pytest.approx(0.36)
    assert blend(0.75, 0.64, 1.0) == pytest.approx(0.25)
    assert blend(1.0, 0.0, 0.5) == 0.0


def test_toolchain_order_by_hand() -> None:
    """Without memory f = sum(1 - s) + (1 - s) of the last. 0: .1 + .1; 1: .4 + .4; 00: .1 + .9 + .9 = 1.9,
    01: .1 + .8 + .8 = 1.7; 10: .4 + .3 + .3 = 1.0, 11: .4 + .5 + .5 = 1.4."""
    scores = {"0": 90, "1": 60, "00": 10, "01": 20, "10": 70, "11": 50}
    model = Scripted(Leaves(2, 3), scores={**scores, "100": 99, "110": 100})
    trace = go("toolchain", model, ["110"])
    assert expanded(trace) == ["", "0", "1", "10", "11"]  # 100 costs .4 + .3 + .01 + .01 and fails, then 11
    assert (trace.path, trace.reason) == (("1", "1", "0"), "solved")
    assert {"".join(v.path): round(v.cost, 9) for v in descendants(trace.root) if v.depth == 2} == {
        "00": 1.0,
        "01": 0.9,
        "10": 0.7,
        "11": 0.9,
    }


def test_toolchain_memory_changes_the_order() -> None:
    model = Scripted(Leaves(2, 2), scores={"0": 60, "1": 50})
    assert expanded(go("toolchain", model)) == ["", "0", "1"]
    # g1 of 1 is 1, so its step costs 0; h1 = 1 / 2, so what is ahead costs sqrt(.5 * .5) = .5; 0 costs sqrt(.4) + .4
    trace = go("toolchain", model, memory=(("1", "1"),), budget=4)
    assert expanded(trace) == ["", "1"]
    assert [round(v.cost, 6) for v in trace.root.kids or []] == [round(0.4**0.5, 6), 0.0]


def test_toolchain_votes() -> None:
    model = Scripted(Leaves(2, 2), proposals={"": ["1", "0", "1", "1"]})
    trace = go("toolchain", model, k=4, budget=5, scoring=Scoring(1, proposer="sample"))
    assert {v.path: v.cost for v in trace.root.kids or []} == {("1",): 0.25, ("0",): 0.75}
    trace = go("toolchain", model, k=4, budget=5, consistency="score", scoring=Scoring(1, proposer="sample"))
    assert {v.cost for v in trace.root.kids or []} == {0.5}


class Merging(Leaves):
    """States are the same whatever the order of the digits."""

    def execute(self, task: Task, state: str, action: Action) -> Outcome:
        new = state + action.key
        over = len(new) == self.horizon
        return Outcome(new, "".join(sorted(new)), over, self.is_solved(task, new) if over else None)


def test_toolchain_closes_a_state_at_its_first_pop() -> None:
    trace = go("toolchain", Scripted(Merging(2, 3), scores={"0": 60, "1": 50, "01": 10, "10": 90}))
    assert "10" in expanded(trace)
    assert "01" not in expanded(trace)
    cut = next(v for v in descendants(trace.root) if v.path == ("0", "1"))
    assert (cut.dead, cut.kids) == (True, None)


# --- LevinTS


def test_softmax_and_policy() -> None:
    assert softmax([20.0 * math.log(3), 0.0], 20.0) == pytest.approx([0.75, 0.25])
    assert softmax([20.0 * math.log(2), 0.0, None], 20.0) == pytest.approx([0.5, 0.25, 0.25])  # unscored: the worst
    assert softmax([None, None], 20.0) == [0.5, 0.5]
    assert softmax([1e6, 0.0], 1.0) == [1.0, 0.0]
    config = Levin(temperature=20, mix=0.1)
    assert policy([20.0 * math.log(3), 0.0], None, config) == pytest.approx([0.725, 0.275])
    assert policy([0.0, 100.0], [3, 1], config) == pytest.approx([0.725, 0.275]), "votes, not scores"
    assert sum(policy([5.0, 80.0, None], None, Levin())) == pytest.approx(1)
    assert min(policy([0.0, 1e6], None, Levin())) == 0.01 / 2, "a log of it is finite"


def test_levin_cost() -> None:
    assert levin_cost(0, 0.0, 0) == -math.inf
    assert levin_cost(0, 0.0, 1) == 0.0
    assert levin_cost(2, math.log(0.25), 0) == pytest.approx(math.log(8))
    assert levin_cost(2, math.log(0.25), 1) == pytest.approx(math.log(12))


def test_levin_order_by_hand() -> None:
    """pi(0) = .75, pi(1) = .25 at every state. Costs d / pi: 0: 1.33; 1: 4; 00: 3.56; 01: 10.67; 000: 7.1."""
    score = 20 * math.log(3)
    model = Scripted(Leaves(2, 3), scores={s + "0": round(score, 6) for s in ("", "0", "1", "00", "01", "10", "11")})
    model.scores |= {s + "1": 0 for s in ("", "0", "1", "00", "01", "10", "11")}
    trace = go("levin", model, mix=0.0)
    # 10 and 01 cost 10.67 both, but 01 was pushed first
    assert expanded(trace) == ["", "0", "00", "1", "01", "10", "11"]
    kid = (trace.root.kids or [])[1]
    assert kid.cost == pytest.approx(math.log(4), abs=1e-6)
    assert trace.reason == "exhausted"


def test_levin_cuts_a_state_that_was_expanded_with_at_least_this_probability() -> None:
    """pi is .5 everywhere but after 1: 10 has pi = .5 * .73 and is popped before 01, the same state at .5 * .5."""
    trace = go("levin", Scripted(Merging(2, 4), scores={"10": 70}))
    assert "10" in expanded(trace)
    assert "01" not in expanded(trace)
    cut = next(v for v in descendants(trace.root) if v.path == ("0", "1"))
    assert (cut.dead, cut.kids) == (True, None)


def test_levin_expands_a_state_again_if_it_is_likelier() -> None:
    """Depth counts: a shallow unlikely way to a state is popped before a deep likely one, which may then pass."""

    class Shortcut(Leaves):
        """01 and 1 are one state."""

        def execute(self, task: Task, state: str, action: Action) -> Outcome:
            new = state + action.key
            return Outcome(new, "1" if new == "01" else new)

    third = round(20 * math.log(0.45 / 0.55), 6)
    scores = {"0": 0, "1": third, "00": -1000, "01": 0}  # pi(0) = .55, pi(1) = .45; pi(01) = .55
    trace = go("levin", Scripted(Shortcut(2, 3), scores=scores), mix=0.0)
    # d / pi: 0: 1.82, 1: 2.22, 01: 3.64; log pi of 01 is better than that of 1
    assert expanded(trace)[:4] == ["", "0", "1", "01"]
    scores["1"] = 20.0  # now pi(1) = .73: 01 comes later and is no likelier
    trace = go("levin", Scripted(Shortcut(2, 3), scores=scores), mix=0.0)
    assert "01" not in expanded(trace)


# --- LATS


def test_lats_values() -> None:
    assert birth_value(80.0, None, 0.5) == 0.8
    assert birth_value(80.0, 0.2, 0.5) == 0.5
    assert birth_value(80.0, 0.2, 0.8) == pytest.approx(0.68)
    assert birth_value(None, 0.2, 0.5) == 0.1
    assert birth_value(None, None, 0.5) == 0.0
    root = node(visits=5)
    a = node(root, "a", visits=2, q=0.3)
    assert uct_value(a, 1.0) == pytest.approx(0.3 + math.sqrt(1.6094379 / 2))
    assert uct_value(a, 0.0) == 0.3
    root.visits = 0
    assert uct_value(a, 1.0) == 0.3


def test_lats_counts_the_value_at_birth_as_a_visit() -> None:
    model = Scripted(Leaves(2, 2), scores={"0": 40, "1": 60, "10": 10, "11": 20})
    trace = go("lats", model, trajectories=1)
    assert trace.reason == "early stop"
    assert {"".join(v.path): (v.visits, round(v.q, 9)) for v in descendants(trace.root)} == {
        "": (2, 0.0),
        "0": (1, 0.4),
        "1": (2, 0.3),  # (.6 + 0) / 2
        "10": (1, 0.1),
        "11": (2, 0.1),  # (.2 + 0) / 2
    }


def test_lats_shows_its_notes_to_later_prompts_and_keeps_three() -> None:
    model = Scripted(Leaves(2, 3))
    trace = go("lats", model, budget=500)
    assert trace.reason == "exhausted"
    assert model.kinds()["reflect"] == 3
    places = [i for i, r in enumerate(model.asked) if r.kind == "reflect"]
    for i, request in enumerate(model.asked):
        if request.kind != "reflect":
            written = sum(place < i for place in places)
            assert request.prompt.count("note on") == written, "the notes so far, in every later prompt"
    assert go("lats", Scripted(Leaves(2, 3)), notes=0).bill.requests.get("reflect") is None


def test_lats_leaves_dead_ends() -> None:
    """A state without proposals is worth nothing and not visited again; a solved child ends the search at once."""
    model = Scripted(Leaves(2, 2), proposals={"1": ["", ""]}, scores={"0": 10, "1": 90})
    trace = go("lats", model, ["01"])
    one = (trace.root.kids or [])[1]
    assert (one.dead, one.kids, one.visits, one.q) == (True, [], 2, 0.45)
    assert (trace.path, trace.reason) == (("0", "1"), "solved")
    assert model.kinds() == {"propose": 2 + 3, "evaluate": 2}, (
        "the empty state was asked three times, no leaf executed twice"
    )


def test_lats_self_consistency() -> None:
    model = Scripted(Leaves(2, 2), proposals={"": ["1", "0", "1", "1", "0"]}, scores={"0": 40, "1": 60})
    trace = go("lats", model, budget=6, scoring=Scoring(1, proposer="sample"))
    assert [(v.path, v.q) for v in trace.root.kids or []] == [(("1",), 0.6), (("0",), pytest.approx(0.4))]


# --- ToolTree


def test_tooltree_select_by_hand() -> None:
    root = node(visits=6)
    a = node(root, "a", 50.0, visits=4, q=0.7)
    b = node(root, "b", 100.0, visits=2, q=0.2)
    # ln 6 = 1.791759: a = .7 + 1.4 * .5 sqrt(.447940) = 1.168497; b = .2 + 1.4 sqrt(.895880) = 1.325120
    assert tooltree_select(root, 1.4) is b
    assert tooltree_select(root, 0.5) is a  # .867 and .673
    b.pruned = True
    assert tooltree_select(root, 1.4) is a
    a.dead = True
    assert tooltree_select(root, 1.4) is None
    c, d = node(root, "c", 0.0, jitter=0.2), node(root, "d", 90.0, jitter=0.1)
    assert tooltree_select(root, 1.4) is c, "unvisited siblings go by jitter, not by pre-evaluation"
    root.visits = 1  # ln 1 = 0: no exploration
    c.visits, d.visits = 2, 3
    c.q = d.q = 0.5
    assert tooltree_select(root, 1.4) is d, "equal values go by more visits"
    d.visits = 2
    assert tooltree_select(root, 1.4) is c, "and then by jitter"


def test_tooltree_answer_follows_executed_kids_that_are_not_pruned() -> None:
    root = node()
    a = node(root, "a", q=0.6, outcome=done())
    node(root, "b", q=0.9, outcome=done(), pruned=True)
    c = node(a, "c", q=0.5, outcome=done())
    node(a, "d", q=0.8)  # never executed
    assert tooltree_answer(root, verified=False) is c
    assert tooltree_answer(root, verified=True) is None
    c.outcome = done(True)
    assert tooltree_answer(root, verified=True) is c
    assert tooltree_answer(Node(None, None), verified=False) is None


def test_tooltree_eligibility_then_exactly_top_k() -> None:
    pre = {"0": 30, "1": 29.999999, "2": 80, "3": 80, "4": 55, "5": 80, "6": 31}
    model = Scripted(Leaves(7, 1), scores=pre)
    [frontier] = go("tooltree", model, top_k=3, rollouts=1).frontiers
    assert frontier.eligible == (0, 2, 3, 4, 5, 6), "tau_pre is inclusive and exact"
    assert frontier.kept == (2, 3, 5)
    assert frontier.channel == "pre"
    [frontier] = go("tooltree", model, top_k=2, rollouts=1).frontiers
    assert frontier.kept == (2, 3), "exactly k, ties in order of proposal"
    [frontier] = go("tooltree", model, top_k=99, rollouts=1).frontiers
    assert frontier.kept == frontier.eligible
    assert [v.points for v in go("tooltree", model, rollouts=1).root.kids or []] == [80, 80, 80, 55, 31], "best first"


def test_tooltree_rollouts_cap_and_patience() -> None:
    model = Scripted(Leaves(3, 6))
    trace = go("tooltree", model, rollouts=7, patience=99, tau_post=0.0)
    assert (trace.bill.requests["appraise"], trace.reason) == (7, "early stop")
    # the first rollout sets the best value; no later one betters a constant judgement
    trace = go("tooltree", Scripted(Leaves(3, 6)), patience=4)
    assert (trace.bill.requests["appraise"], trace.reason) == (1 + 4, "early stop")


def test_tooltree_stalls_when_a_window_brings_nothing() -> None:
    assert not stalled([0.5] * 3, 3, 0.01), "there is no value before the window yet"
    assert stalled([0.5] * 4, 3, 0.01)
    assert stalled([0.5, 0.4, 0.509, 0.3], 3, 0.01)
    assert not stalled([0.5, 0.4, 0.51, 0.3], 3, 0.01), "an improvement by exactly that much is one"
    assert not stalled([0.9, 0.2, 0.1, 0.1, 0.3], 3, 0.01), "what fell and recovers has improved on the window's start"
    assert stalled([0.2, 0.9, 0.8, 0.8, 0.8], 3, 0.01)


def test_tooltree_best_value_leaves_out_what_is_pruned_or_never_ran() -> None:
    root = node()
    assert best_value(root) == 0.0
    node(root, "a", q=0.39, outcome=done(), pruned=True)
    node(root, "b", q=0.8)
    assert best_value(root) == 0.0
    node(root, "c", q=0.41, outcome=done())
    assert best_value(root) == 0.41


def test_tooltree_patience_in_a_search() -> None:
    """One action a state, judged 10, 20, .. 60, 60, ..: the root value is 60 - 150 / n after n >= 6 rollouts. Three
    rollouts later it is better by .02 as long as 150 (1/n - 1/(n + 3)) >= 2: 225 >= n (n + 3), so up to n = 13."""
    model = Scripted(Leaves(1, 30), post={"0" * depth: min(depth, 6) * 10 for depth in range(31)})
    assert go("tooltree", model, patience=3, tau_post=0.0, improvement=0.02).bill.requests["appraise"] == 14 + 3
    assert go("tooltree", model, patience=3, tau_post=0.0).reason == "exhausted", "by 1e-3 to the end"


def test_tooltree_post_pruned_steps_are_not_expanded() -> None:
    model = Scripted(Leaves(2, 3), scores={"0": 90, "1": 80}, post={"0": 39.999999, "1": 40})
    trace = go("tooltree", model, patience=99)
    assert "0" not in expanded(trace)
    assert "1" in expanded(trace)


# --- the driver


def test_proposals_are_merged_and_the_illegal_counted() -> None:
    model = Scripted(Leaves(3, 1), proposals={"": ["2 9 2 x 0"]})
    trace = go("levin", model)
    [frontier] = trace.frontiers
    assert [a.key for a in frontier.actions] == ["2", "0"], "distinct, in order of first appearance"
    assert trace.bill.illegal == 2
    assert trace.bill.nodes == trace.bill.scored == 2
    assert model.kinds() == {"propose": 1, "evaluate": 1}


def test_a_proposal_without_a_legal_action_is_asked_again_as_a_new_draw() -> None:
    model = Scripted(Leaves(3, 1), proposals={"": ["7 8", "9", "1"]})
    trace = go("levin", model)
    assert [r.draw for r in model.asked if r.kind == "propose"] == [0, 1, 2]
    assert trace.bill.illegal == 3
    assert [a.key for a in trace.frontiers[0].actions] == ["1"]
    model = Scripted(Leaves(3, 1), proposals={"": ["7", "8", "9", "1"]})
    trace = go("levin", model)
    assert (trace.bill.requests, trace.reason) == ({"propose": 3}, "exhausted")
    assert trace.frontiers[0].actions == (), "an empty frontier is recorded"


def test_samples_are_merged_with_their_votes() -> None:
    model = Scripted(Leaves(3, 1), proposals={"": ["2", "x", "0", "2"]})
    trace = go("levin", model, k=4, mix=0.0, scoring=Scoring(1, proposer="sample"))
    assert model.kinds() == {"propose": 4, "evaluate": 1}
    assert [math.exp(-v.cost) for v in trace.root.kids or []] == pytest.approx([2 / 3, 1 / 3])
    assert trace.bill.illegal == 1
    assert {r.subject.k for r in model.asked if r.kind == "propose"} == {1}


def test_the_cap_holds_in_the_middle_of_a_scoring_round() -> None:
    model = Scripted(Leaves(3, 2))
    trace = go("levin", model, budget=3, scoring=Scoring(4))
    assert model.kinds() == {"propose": 1, "evaluate": 2}
    assert (trace.reason, trace.frontiers, trace.bill.nodes) == ("budget", [], 0)
    assert trace.censored


def test_a_note_is_cut_to_what_later_prompts_repeat() -> None:
    notes: list[str] = []

    def reflecting(setting: Setting) -> Any:
        from paccf.search.effects import Ending, Reflect

        notes.append((yield Reflect(setting.root)))
        return Ending(None, "exhausted")

    run(search(TASK, Toy(), reflecting, budget=1), Scripted())
    assert len(notes[0]) == NOTE_LIMIT
    assert notes[0].startswith("note on ")


def test_using_a_node_that_was_never_executed_is_an_error() -> None:
    def hasty(setting: Setting) -> Any:
        from paccf.search.effects import Propose

        yield Propose(Node(setting.root, Action("0", "0")), 1)

    with pytest.raises(RuntimeError, match="before it was executed"):
        run(search(TASK, Toy(), hasty, budget=1), Scripted())


def test_unknown_controllers_and_settings_are_named() -> None:
    with pytest.raises(ValueError, match=f"there are {', '.join(CONTROLLERS)}"):
        controller("mcts")
    with pytest.raises(ValueError, match="configured by k, c, rollout, not by width"):
        controller("uct", width=3)


@pytest.mark.parametrize("name", CONTROLLERS)
def test_hashed_chance_knows_seed_task_node_and_purpose(name: str, searched: Callable[..., Trace]) -> None:
    seen: list[float] = []

    def curious(setting: Setting) -> Any:
        from paccf.search.effects import Ending

        kid = Node(setting.root, Action("a", "a"))
        seen.extend(setting.chance(v, p) for v in (setting.root, kid) for p in ("x", "y"))
        yield from ()
        return Ending(None, "exhausted")

    for task, seed in (("t", 0), ("t", 1), ("u", 0)):
        run(search(Task(task, None), Toy(), curious, budget=0, seed=seed), Scripted())
    assert len(set(seen)) == len(seen) == 12
    assert searched(name, "t").seed == 0
