"""The rules by definition, against every gold plan."""

from __future__ import annotations

from itertools import permutations
from typing import Literal

import pytest

from paccf.domains.gta.calls import Call
from paccf.domains.gta.oracle import GtaOracle, make
from paccf.domains.gta.tasks import draw, unplayable
from paccf.domains.gta.truth import other
from paccf.domains.gta.world import Gta, State, Step
from paccf.domains.oracles import oracle_of
from paccf.search.tree import Task

MADE = [draw(4, i) for i in range(120)]
FINISH = Call("finish")


def state_of(calls: tuple[Call, ...]) -> State:
    return tuple(Step(call, None) for call in calls)


def wrong(call: Call) -> Call:
    """Another call of the same tool."""
    (name, value), *rest = call.args
    return Call(call.tool, ((name, other(value, 2)), *rest))


def by_rule(rule: str, match: str, gold: tuple[Call, ...], made: tuple[Call, ...], next_: Call) -> bool:
    """The definition, by brute force over the orders of the recorded plan."""
    plan = [c.key if match == "call" else c.tool for c in (*made, next_)]
    names = [c.key if match == "call" else c.tool for c in gold]
    orders = [tuple(names)] if rule == "prefix" else permutations(names)
    return any(plan == [*order, "finish"][: len(plan)] for order in orders)


@pytest.mark.parametrize("rule", ["prefix", "multiset"])
@pytest.mark.parametrize("match", ["call", "tool"])
def test_the_rules_are_what_they_say(rule: Literal["prefix", "multiset"], match: Literal["call", "tool"]) -> None:
    oracle = make(rule, match)
    seen = {True: 0, False: 0}
    for task in MADE:
        gold = task.data.gold.calls
        if len(gold) > 4:
            continue
        starts = [gold[:i] for i in range(len(gold) + 1)] + [gold[::-1][:i] for i in range(1, len(gold) + 1)]
        starts += [(wrong(gold[0]),), (gold[0], gold[0]), (Call("MathOCR", (("image", "x"),)), *gold)]
        for made in starts:
            tried = [*gold, wrong(gold[-1]), FINISH]
            answers = oracle.protected(task, state_of(made), [call.action for call in tried])
            expected = [by_rule(rule, match, gold, made, call) for call in tried]
            assert answers == expected
            assert oracle.value(task, state_of(made), len(made)) == float(any(expected)), "consistent, so it goes on"
            for answer in answers:
                seen[answer] += 1
    assert min(seen.values()) > 100


def test_one_protected_call_on_the_gold_path_and_none_off_it(gta: tuple[Task, ...]) -> None:
    oracle = make()
    for task in gta:
        gold = task.data.gold.calls
        for i in range(len(gold) + 1):
            marks = oracle.protected(task, state_of(gold[:i]), [c.action for c in (*gold, FINISH)])
            assert [j for j, mark in enumerate(marks) if mark] == [i]
        off = oracle.protected(task, state_of((wrong(gold[0]),)), [c.action for c in (*gold, FINISH)])
        assert not any(off)


def test_the_solution_is_protected_all_along(gta: tuple[Task, ...]) -> None:
    world = Gta()
    for oracle in (make(), make("multiset"), make("prefix", "tool"), make("multiset", "tool")):
        for task in [*MADE, *(task for task in gta if unplayable(task.data) is None)]:
            state: State = world.start(task).state
            for action in oracle.solution(task):
                assert oracle.protected(task, state, [action]) == [True]
                state = world.execute(task, state, action).state
            assert oracle.value(task, state, len(state)) == 1
            assert world.utility(task, oracle.solution(task)) == 1


def test_the_worlds_settings_choose_the_rule() -> None:
    assert oracle_of("gta") == GtaOracle()
    assert oracle_of("gta", rule="multiset", horizon=12) == GtaOracle("multiset")
    assert make(match="tool").facts(MADE[0])["protected by"] == "the prefix rule, equal tools"
    with pytest.raises(ValueError, match='rule is "prefix" or "multiset"'):
        make("best")  # type: ignore[arg-type]
