"""The simulated model's knowledge: gold and noise, read back by the reader that a real answer goes through."""

from __future__ import annotations

from collections import Counter

import pytest

from paccf.domains.gta.calls import Call, call_of, problem_with
from paccf.domains.gta.oracle import make as oracle
from paccf.domains.gta.tasks import draw
from paccf.domains.gta.truth import make, other
from paccf.domains.gta.world import Gta, State
from paccf.models.simulated import simulated
from paccf.search.tree import Task
from paccf.search.world import Request, Subject

WORLD = Gta()
TRUTH = make()
MADE = [draw(6, i) for i in range(150)]


def states(task: Task) -> list[State]:
    """On the gold path, and one step off it."""
    state: State = WORLD.start(task).state
    found = [state]
    for action in oracle().solution(task)[:-1]:
        state = WORLD.execute(task, state, action).state
        found.append(state)
    stray = Call("TextToImage", (("keywords", "stray"),)).action
    return [*found, WORLD.execute(task, found[0], stray).state]


def test_what_comes_to_mind_is_legal_distinct_and_not_made_yet() -> None:
    for task in MADE:
        for state in states(task):
            actions = TRUTH.legal(task, state)
            assert actions == TRUTH.legal(task, state)
            assert len({a.key for a in actions}) == len(actions)
            assert not {a.key for a in actions} & {step.call.key for step in state}
            for action in actions:
                assert problem_with(call_of(action), WORLD.offered(task)) is None
                assert action.key in {a.key for a in WORLD.read_proposals(task, state, action.text).actions}


def test_all_the_kinds_of_noise_are_there() -> None:
    kinds: Counter[str] = Counter()
    for task in MADE:
        gold = task.data.gold.calls
        for place, state in enumerate(states(task)[: len(gold)]):
            due = gold[place]
            for action in TRUTH.legal(task, state):
                call = call_of(action)
                if call.key == due.key:
                    kinds["gold"] += 1
                elif call.tool == "finish":
                    kinds["finish too early"] += 1
                elif call.tool not in {c.tool for c in gold}:
                    kinds["wrong tool"] += 1
                elif call.tool == due.tool and len(call.args) < len(due.args):
                    kinds["dropped argument"] += 1
                elif call.tool == due.tool:
                    kinds["wrong argument"] += 1
    assert min(kinds.values()) > 10
    assert set(kinds) == {"gold", "finish too early", "wrong tool", "dropped argument", "wrong argument"}


def test_values_are_graded_and_only_gold_is_worth_all() -> None:
    for task in MADE:
        for state in states(task):
            actions = TRUTH.legal(task, state)
            marks = oracle().protected(task, state, actions)
            for action, protected in zip(actions, marks, strict=True):
                value = TRUTH.value(task, state, action)
                assert 0 <= value <= 1
                assert protected == (value == 1)


def test_words_decide_how_often_gold_comes_to_mind() -> None:
    def share(words: float) -> float:
        truth, hits, count = make(words=words), 0, 0
        for task in MADE:
            for place, state in enumerate(states(task)[: len(task.data.gold.calls)]):
                hits += task.data.gold.calls[place].key in {a.key for a in truth.legal(task, state)}
                count += 1
        return hits / count

    assert share(1.0) == 1
    assert share(0.0) < share(0.5) < 1
    assert share(0.0) > 0.3, "calls of nothing but an image, and what was written down before"


def test_slips_are_counted_as_what_they_are() -> None:
    for task in MADE[:60]:
        for state in states(task):
            for action in TRUTH.legal(task, state):
                wrong = WORLD.read_proposals(task, state, TRUTH.wrong(task, state, action))
                assert (wrong.actions, wrong.illegal, wrong.unparsable) == ((), 1, 0)
                garbled = WORLD.read_proposals(task, state, TRUTH.garbled(task, state, action))
                assert (garbled.actions, garbled.illegal, garbled.unparsable) == ((), 0, 1)


def test_a_slip_costs_nothing_but_its_own_line() -> None:
    for task in MADE[:60]:
        state: State = ()
        first, second, *_ = TRUTH.legal(task, state)
        for slip in (TRUTH.wrong(task, state, first), TRUTH.garbled(task, state, first)):
            text = "\n".join([first.text, slip, second.text])
            reading = WORLD.read_proposals(task, state, text)
            assert [a.key for a in reading.actions] == [first.key, second.key]
            assert reading.illegal + reading.unparsable == 1


@pytest.mark.parametrize("value", [True, 3, 2.5, "(1, 2, 3, 4)", "3*4.50", "x\ny", "a dog", "", "(a) b", "4"])
def test_another_value_is_another_one_of_its_type(value: bool | int | float | str) -> None:
    ways = [other(value, way) for way in (1, 2, 3)]
    assert value not in ways
    assert all(type(way) is type(value) for way in ways)
    assert isinstance(value, bool) or len(set(ways)) == 3


def test_the_model_says_that_it_is_seeded_with_gold() -> None:
    model = simulated("gta", "paper-like", 0)
    assert model.name == "SIMULATED/paper-like (seeded with gold)"
    assert simulated("game24", "paper-like", 0).name == "SIMULATED/paper-like"


def test_declared_tools_bound_what_the_model_says() -> None:
    task = MADE[0]
    truth = make(tools="declared")
    assert {call_of(a).tool for a in truth.legal(task, ())} <= {*task.data.declared, "finish"}


def test_its_answers_are_read_in_full() -> None:
    model = simulated("gta", "clean", 0)
    for task in MADE[:30]:
        request = Request("propose", WORLD.propose(task, (), 14, ()), 0, Subject(task, (), k=14))
        reading = WORLD.read_proposals(task, (), model.answer(request).text)
        assert (reading.illegal, reading.unparsable) == (0, 0)
        assert len(reading.actions) == min(14, len(TRUTH.legal(task, ())))
