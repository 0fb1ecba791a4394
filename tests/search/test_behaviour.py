"""What must hold for all five controllers alike."""

from __future__ import annotations

import ast
import asyncio
import gc
import math
import subprocess
import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from paccf.domains.game24.world import Game24, task_of
from paccf.domains.registry import names
from paccf.domains.toy import Toy, ToyModel
from paccf.method.admission import ScoreGap
from paccf.models.tape import NotOnTape, Tape, Taped
from paccf.search import controllers as package
from paccf.search.controllers import CONTROLLERS, controller
from paccf.search.driver import NotRecorded, Search, replay, run, run_all, search
from paccf.search.effects import BudgetExhausted, Ending, Proposal, Propose
from paccf.search.scoring import Scoring
from paccf.search.trace import Arm, Trace
from paccf.search.tree import Action, Outcome, Task, descendants
from paccf.search.world import Answer, ModelFailure, Request

NAMES = list(CONTROLLERS)
TASKS = [f"t{i}" for i in range(6)]
each = pytest.mark.parametrize("name", NAMES)
worlds = pytest.mark.parametrize("world", [Toy(), Toy(5, 3, 0.02), Toy(2, 6, 0.0), Toy(3, 4, 0.05, False)], ids=repr)

Searched = Callable[..., Trace]
Everything = Callable[[Trace], dict[str, Any]]


@each
@worlds
def test_every_frontier_is_admitted_exactly_once(name: str, world: Toy, searched: Searched) -> None:
    for task in TASKS:
        trace = searched(name, task, world=world, budget=200)
        paths = Counter(f.path for f in trace.frontiers)
        assert max(paths.values()) == 1, "no path twice"
        expanded = [v for v in descendants(trace.root) if v.kids is not None]
        assert set(paths) == {v.path for v in expanded}, "every expansion went through Admit"
        for v in expanded:
            frontier = next(f for f in trace.frontiers if f.path == v.path)
            kept = {frontier.actions[i].key for i in frontier.kept}
            assert {kid.action.key for kid in v.kids or () if kid.action} == kept
        assert trace.bill.expansions == len(trace.frontiers)
        assert trace.bill.nodes == sum(1 for _ in descendants(trace.root)) - 1


@each
@worlds
def test_an_infinite_margin_is_native_where_native_keeps_all(
    name: str, world: Toy, searched: Searched, everything: Everything
) -> None:
    """Four always keep all; ToolTree's own rule is a top 5, and no state of these worlds has more than five actions."""
    for task in TASKS:
        native = everything(searched(name, task, world=world))
        assert all(f.kept == f.eligible for f in native["frontiers"])
        gated = everything(searched(name, task, world=world, arm=Arm("paccf", ScoreGap(math.inf))))
        for key in ("tree", "bill", "reason", "path"):
            assert native[key] == gated[key]


@each
@worlds
def test_native_answers_never_depend_on_the_margin(
    name: str, world: Toy, searched: Searched, everything: Everything
) -> None:
    for task in TASKS:
        native = everything(searched(name, task, world=world))
        for margin in (0, 15, math.inf):
            shadow = searched(name, task, world=world, arm=Arm("shadow", ScoreGap(margin)))
            found = everything(shadow)
            assert {k: v for k, v in found.items() if k != "frontiers"} == {
                k: v for k, v in native.items() if k != "frontiers"
            }
            for ours, theirs in zip(shadow.frontiers, native["frontiers"], strict=True):
                assert (ours.observations, ours.kept, ours.native) == (theirs.observations, theirs.kept, theirs.native)
                assert ours.gap == tuple(
                    ScoreGap(margin).keep(
                        [list(o) if o else None for o in ours.observations],
                        [i in ours.eligible for i in range(len(ours.actions))],
                    )
                )


@each
@pytest.mark.parametrize(
    "scoring", [Scoring(), Scoring(4, 2), Scoring(3, 2, 1, "sample")], ids=["list", "b2", "sample"]
)
def test_the_budget_is_never_exceeded_and_spending_is_a_prefix(name: str, scoring: Scoring) -> None:
    """Every B from 0 to 60: at most B requests, and the requests at B are the first of those at B + 1."""
    world = Toy(3, 4, 0.01)

    class Spy(ToyModel):
        asked: list[Request]

        def answer(self, request: Request) -> Answer:
            spent.append((request.kind, request.prompt, request.draw))
            return ToyModel.answer(self, request)

    longest: list[tuple[str, str, int]] = []
    for task in ("t1", "t2"):
        longest = []
        for budget in range(61):
            spent: list[tuple[str, str, int]] = []
            trace = run(
                search(Task(task, None), world, controller(name), budget=budget, scoring=scoring),
                Spy(world, malformed=0.1),
            )
            assert trace.bill.total == len(spent) <= budget
            assert spent[: len(longest)] == longest
            if trace.censored:
                assert len(spent) == budget
            longest = spent


@each
def test_resuming_from_every_prefix_equals_the_uninterrupted_run(name: str, everything: Everything) -> None:
    world = Toy(3, 4, 0.02)
    model = ToyModel(world, malformed=0.1)

    def go(answering: Any) -> dict[str, Any]:
        return everything(run(search(Task("t3", None), world, controller(name), budget=45), answering))

    tape = Tape()
    whole = go(Taped(tape, model))
    assert go(model) == whole
    replay = Taped(tape)
    assert go(replay) == whole, "the tape alone is enough"
    for count in range(len(tape)):
        resumed = Taped(tape.first(count), model)
        assert go(resumed) == whole
        assert resumed.sent == len(tape) - count, "no answer is asked for twice"
    with pytest.raises(NotOnTape, match="no answer for"):
        go(Taped(tape.first(len(tape) - 1)))


ARMS = [Arm(), Arm("paccf", ScoreGap(12)), Arm("shadow", ScoreGap(12))]
ASKED = {"list": Scoring(), "in threes": Scoring(3, 3, 1), "sampled": Scoring(2, 8, 1, "sample")}


@each
@pytest.mark.parametrize("arm", ARMS, ids=lambda arm: arm.name)
@pytest.mark.parametrize("asked", ASKED)
def test_a_smaller_budget_is_a_prefix_of_a_larger_one(name: str, arm: Arm, asked: str) -> None:
    """The frontiers of a search at b are those of the same search at B whose `spent` is b or less; what was asked is
    the first b requests. So one search serves all budgets below its own."""
    world, largest = Toy(3, 5, 0.01), 200

    class Spy(ToyModel):
        def answer(self, request: Request) -> Answer:
            sent.append((request.kind, request.prompt, request.draw))
            return ToyModel.answer(self, request)

    def go(budget: int) -> Trace:
        sent.clear()
        made = search(Task("t", None), world, controller(name), arm=arm, scoring=ASKED[asked], budget=budget, seed=5)
        return run(made, Spy(world, malformed=0.15))

    sent: list[tuple[str, str, int]] = []
    whole = go(largest)
    asked_for = list(sent)
    spent = [f.spent for f in whole.frontiers]
    assert spent == sorted(spent)
    assert len(spent) > 3
    assert spent[-1] <= whole.bill.total <= largest
    for budget in sorted({0, 1, largest, *(s + d for s in spent for d in (-1, 0, 1) if s + d <= largest)}):
        trace = go(budget)
        assert trace.frontiers == [f for f in whole.frontiers if f.spent <= budget]
        assert sent == asked_for[:budget]
        assert trace.censored == (budget < whole.bill.total) or whole.censored
        if not trace.censored:
            assert (trace.path, trace.reason, trace.bill) == (whole.path, whole.reason, whole.bill)


@each
@pytest.mark.parametrize("arm", ARMS, ids=lambda arm: arm.name)
def test_every_driver_gives_the_same_trace(name: str, arm: Arm, everything: Everything) -> None:
    world, tape = Toy(3, 4, 0.02), Tape()
    model = ToyModel(world, malformed=0.1)

    def begun() -> Search:
        return search(Task("t5", None), world, controller(name), arm=arm, budget=50, seed=1)

    whole = everything(run(begun(), Taped(tape, model)))
    [waited] = asyncio.run(run_all([begun()], Waiting(model), 8))
    assert everything(waited) == whole
    assert everything(replay(begun(), tape.find)) == whole
    less = tape.first(len(tape) - 1)
    with pytest.raises(NotRecorded, match="no answer for"):
        replay(begun(), less.find)


class Waiting:
    """A model that answers in another order than asked."""

    def __init__(self, model: ToyModel) -> None:
        self.model, self.now, self.most = model, 0, 0

    async def answer(self, request: Request) -> Answer:
        self.now += 1
        self.most = max(self.most, self.now)
        for _ in range(hash((request.prompt, request.draw)) % 7):
            await asyncio.sleep(0)
        self.now -= 1
        return self.model.answer(request)


@each
@pytest.mark.parametrize("in_flight", [1, 50])
def test_same_tree_at_any_concurrency(name: str, in_flight: int, searched: Searched, everything: Everything) -> None:
    world = Toy()
    model = Waiting(ToyModel(world))
    started = [search(Task(task, None), world, controller(name), budget=60) for task in TASKS]
    found = asyncio.run(run_all(started, model, in_flight))
    assert [everything(t) for t in found] == [everything(searched(name, task)) for task in TASKS]
    assert model.most <= in_flight
    if in_flight > 1:
        assert model.most > 4, "requests were really in flight together"


@each
def test_same_seed_same_bytes_in_a_new_process(name: str, searched: Searched) -> None:
    code = (
        "from functools import partial\n"
        "from paccf.domains.toy import Toy, ToyModel\n"
        "from paccf.search.controllers import controller\n"
        "from paccf.search.driver import run, search\n"
        "from paccf.search.tree import Task\n"
        f"t = run(search(Task('t1', None), Toy(), controller({name!r}), budget=60), ToyModel(Toy()))\n"
        "print(repr((t.frontiers, t.bill, t.reason, t.path)))"
    )
    out = [
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": str(seed)}
        ).stdout
        for seed in (1, 2)
    ]
    trace = searched(name, "t1")
    assert out[0] == out[1] == repr((trace.frontiers, trace.bill, trace.reason, trace.path)) + "\n"
    tapes = [Tape(), Tape()]
    for seed, tape in enumerate(tapes):
        searched(name, "t1", seed=seed, model=Taped(tape, ToyModel(Toy())))
    assert set(tapes[0]) != set(tapes[1]), "another seed asks in another order"


@each
def test_margins_only_ever_drop(name: str, searched: Searched) -> None:
    """Where native keeps all, the gate can only take away; in ToolTree it may also keep more than the top K."""
    for task in TASKS:
        trace = searched(name, task, arm=Arm("paccf", ScoreGap(10)), budget=100)
        for f in trace.frontiers:
            assert set(f.kept) <= set(f.eligible)
            assert f.kept == f.gap
            if name != "tooltree":
                assert set(f.kept) <= set(f.native)


# let them run until there is nothing left: none of their own ends
ENDLESS: dict[str, dict[str, Any]] = {
    "lats": {"trajectories": 10**6, "notes": 0},
    "tooltree": {"rollouts": 10**6, "patience": 10**6, "tau_post": 0.0, "tau_pre": 0.0},
}


@each
def test_finished_branches_are_not_walked_again(name: str) -> None:
    """Without any solution a small tree is exhausted, with a budget far larger than it: every state is asked about once
    and every step executed once."""
    executed: Counter[tuple[str, str]] = Counter()

    class Watched(Toy):
        def execute(self, task: Task, state: str, action: Action) -> Outcome:
            executed[state, action.key] += 1
            return Toy.execute(self, task, state, action)

    world = Watched(2, 5, 0.0)
    make = controller(name, **ENDLESS.get(name, {}))
    trace = run(search(Task("t", None), world, make, budget=10**6), ToyModel(world))
    assert trace.reason == "exhausted"
    assert len(trace.frontiers) == trace.bill.requests["propose"] == 2**5 - 1
    assert set(executed.values()) == {1}
    assert len(executed) == trace.bill.nodes == 2**6 - 2
    assert not trace.solved
    assert trace.answer is None


@each
def test_without_a_verifier_the_most_valued_plan_is_returned(name: str, searched: Searched) -> None:
    world = Toy(3, 3, 0.1, verified=False)
    for task in TASKS:
        for budget in (0, 4, 12, 80):
            trace = searched(name, task, world=world, budget=budget)
            assert not trace.solved
            if budget == 0:
                assert (trace.answer, trace.reason) == (None, "budget")
            if budget == 80:
                assert trace.answer is not None
                assert trace.answer.depth == 3


@each
def test_technical_failures_are_their_own_end(name: str) -> None:
    world = Toy()

    class Failing(ToyModel):
        def answer(self, request: Request) -> Answer:
            if request.kind == "evaluate":
                raise ModelFailure("no such model")
            return ToyModel.answer(self, request)

    trace = run(search(Task("t", None), world, controller(name), budget=50), Failing(world))
    assert (trace.reason, trace.failure, trace.answer, trace.censored) == ("failure", "no such model", None, False)
    assert trace.bill.requests["evaluate"] == trace.bill.unknown_tokens == 4, "charged, and what they used is unknown"
    assert trace.bill.tokens is None

    class FailingLater(Waiting):
        async def answer(self, request: Request) -> Answer:
            if request.kind == "evaluate" and request.draw == 2:
                raise ModelFailure("gone")
            return await Waiting.answer(self, request)

    [late] = asyncio.run(
        run_all([search(Task("t", None), world, controller(name), budget=50)], FailingLater(ToyModel(world)), 8)
    )
    assert (late.reason, late.failure, late.bill.unknown_tokens) == ("failure", "gone", 4)
    assert late.bill.prompt_tokens == trace.bill.prompt_tokens > 0, "what was answered before is in the sums"


WIDTH = {"uct": ("k", 8), "toolchain": ("k", 8), "lats": ("n", 5), "tooltree": ("k", 14), "levin": ("k", 8)}


class Verbose:
    """Says every legal move whatever it was asked for, a bad one before and each twice; gives all the same score."""

    name = "verbose"

    def answer(self, request: Request) -> Answer:
        if request.kind == "propose":
            legal = [action.text for action in Game24().legal(request.subject.state)]
            return Answer("\n".join(["1 + 1 = 3", *[text for text in legal for _ in range(2)]]))
        return Answer(str([70] * len(request.subject.actions)))


@each
def test_no_more_than_k_candidates_are_taken_of_a_list(name: str) -> None:
    setting, width = WIDTH[name]
    world, hand = Game24(), task_of("4 7 8 8")
    first = [action.key for action in world.legal(hand.data)]
    assert len(first) == 22
    for k, config in ((width, {}), (3, {setting: 3})):
        trace = run(search(hand, world, controller(name, **config), budget=60), Verbose())
        root, *others = trace.frontiers
        assert [action.key for action in root.actions] == first[:k], "the first that were said"
        assert others
        assert all(1 <= len(f.actions) <= k for f in others)
        assert root.spent == 1 + 4 * -(-k // 8), "a longer answer is no dearer to score"


class Sampled(ToyModel):
    """Its first sample of five names three actions."""

    def answer(self, request: Request) -> Answer:
        if request.kind == "propose":
            return Answer(["0 1 2", "x 2 1", "0", "7", "0"][request.draw % 5])
        return ToyModel.answer(self, request)


@each
def test_a_sample_is_one_candidate(name: str) -> None:
    world, make = Toy(3, 4), controller(name, **{WIDTH[name][0]: 5})
    scoring = Scoring(1, proposer="sample")
    trace = run(search(Task("t", None), world, make, budget=40, scoring=scoring), Sampled(world))
    assert len(trace.frontiers) > 1
    assert all([action.key for action in f.actions] == ["0", "2"] for f in trace.frontiers)


def test_a_sample_is_one_vote() -> None:
    def once(setting: Any) -> Any:
        answers.append((yield Propose(setting.root, 5)))
        return Ending(None, "exhausted")

    answers: list[Proposal] = []
    run(search(Task("t", None), Toy(), once, budget=5, scoring=Scoring(proposer="sample")), Sampled(Toy()))
    assert answers == [Proposal((Action("0", "0"), Action("2", "2")), (3, 1), True)]


@each
@pytest.mark.parametrize("said", ["[]", "", "I cannot help with that."])
def test_malformed_answers_are_asked_again_and_then_left_unscored(name: str, said: str) -> None:
    world = Toy()

    class Deaf(ToyModel):
        def answer(self, request: Request) -> Answer:
            if request.kind == "evaluate":
                return Answer(said)
            return ToyModel.answer(self, request)

    trace = run(search(Task("t", None), world, controller(name), budget=60, arm=Arm("paccf", ScoreGap(0))), Deaf(world))
    first = trace.frontiers[0]
    assert first.observations == (None,) * len(first.actions)
    assert first.kept == tuple(range(len(first.actions))), "unscored candidates are kept, at any margin"
    assert trace.bill.requests["evaluate"] >= 12, "four observations, asked three times"
    assert trace.bill.unscored >= len(first.actions)
    assert trace.bill.tokens is None
    assert trace.bill.unknown_tokens == trace.bill.requests["evaluate"]


def test_nothing_in_flight_is_refused_instead_of_waited_for() -> None:
    with pytest.raises(ValueError, match="1 or more"):
        asyncio.run(run_all([], Waiting(ToyModel(Toy())), 0))


def test_a_controller_may_not_go_on_after_its_budget() -> None:
    def greedy(setting: Any) -> Any:
        while True:
            try:
                yield Propose(setting.root, 1)
            except BudgetExhausted:
                yield Propose(setting.root, 1)
        return Ending(None, "exhausted")

    with pytest.raises(RuntimeError, match="after its budget had ended"):
        run(search(Task("t", None), Toy(), greedy, budget=1), ToyModel(Toy()))


def test_controllers_import_no_world_model_oracle_or_clock() -> None:
    allowed = {"math", "heapq", "dataclasses", "typing", "functools", "__future__"}
    for file in Path(package.__file__).parent.glob("[!_]*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            names = (
                [a.name for a in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else []
            )
            for found in names:
                ours = found.startswith(
                    ("paccf.search.effects", "paccf.search.tree", "paccf.method.admission", "paccf.search.controllers")
                )
                assert ours or found.partition(".")[0] in allowed | {"collections"}, f"{file.name} imports {found}"
        assert len(file.read_text().splitlines()) <= 150, f"{file.name} is laid beside its paper"


def test_no_oracle_is_loaded_by_a_search() -> None:
    """At run time too: a search answered by a tape or a real model loads no module that knows solutions, in any domain
    and with any controller."""
    code = (
        "import sys\n"
        "SECRET = ('oracle', 'oracles', 'labels', 'probing', 'truth', 'simulated', 'tasks', 'sources')\n"
        "class Forbid:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        assert not (name.startswith('paccf') and name.rpartition('.')[2] in SECRET), name\n"
        "sys.meta_path.insert(0, Forbid())\n"
        "from paccf.domains.registry import names, sample, task_of, world\n"
        "from paccf.search.controllers import CONTROLLERS, controller\n"
        "from paccf.search.driver import run, search\n"
        "from paccf.search.world import Answer\n"
        "class Real:\n"
        "    name = 'real'\n"
        "    def answer(self, request):\n"
        "        if request.kind == 'propose':\n"
        "            return Answer(said)\n"
        "        return Answer(str([50] * len(request.subject.actions)))\n"
        "for name in names():\n"
        "    text, said = sample(name)\n"
        "    if name == 'game24':\n"
        "        said = '8 / 8 = 1 (left: 1 4 7)\\n7 - 1 = 6 (left: 4 6)\\n4 * 6 = 24 (left: 24)'\n"
        "    for one in CONTROLLERS:\n"
        "        t = run(search(task_of(name, text), world(name), controller(one), budget=60), Real())\n"
        "        assert t.frontiers and t.reason != 'failure', (name, one, t.reason)\n"
        "        assert t.solved or name != 'game24', one\n"
        "    print(name)\n"
        "print([m for m in sys.modules if 'oracle' in m])\n"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    *searched, loaded = out.stdout.split("\n")[:-1] or [""]
    assert (searched, loaded) == (list(names()), "[]"), out.stderr


@each
def test_nothing_grows_without_bound(name: str) -> None:
    """What a search holds on to, tree and record, is less than a kilobyte a node, however many nodes there are."""

    def held(budget: int) -> float:
        gc.collect()
        tracemalloc.start()
        trace = run(search(Task("t", None), world, make, budget=budget, scoring=Scoring(1)), model)
        gc.collect()
        size, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert trace.bill.nodes > 200
        return size / trace.bill.nodes

    world = Toy(5, 9, 0.0)
    model, make = ToyModel(world, signal=0.0), controller(name, **ENDLESS.get(name, {}))
    held(300)  # fills the caches
    few, many = held(300), held(1500)
    assert many < 1000
    assert many < 1.1 * few
