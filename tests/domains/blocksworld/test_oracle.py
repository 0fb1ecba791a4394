"""Distances against PlanBench's optimal lengths, against plain search, and what follows for labels."""

from __future__ import annotations

import random
import time

import pytest

from paccf.domains.blocksworld import oracle
from paccf.domains.blocksworld.blocks import DOMAIN, TABLE, checked, facts, task, task_of
from paccf.domains.blocksworld.moves import State, after, moves
from paccf.domains.blocksworld.oracle import TooManyBlocks, distances, graph
from paccf.domains.blocksworld.strips import Problem, applicable, apply, fault, read_problem
from paccf.domains.blocksworld.world import Blocksworld
from paccf.domains.oracles import refusal
from paccf.search.tree import Action

ORACLE = oracle.make()


def explored(init):
    """All states that steps lead to from ``init``, with their distances; by the operators alone."""
    found, queue = {init: 0}, [init]
    for state in queue:
        for step in applicable(DOMAIN, state):
            other = apply(step, state)
            if other not in found:
                found[other] = found[state] + 1
                queue.append(other)
    return found


@pytest.mark.parametrize(("count", "expected"), [(1, 2), (2, 5), (3, 22), (4, 125), (5, 866), (6, 7057)])
def test_as_many_states_as_there_are(count, expected):
    assert len(graph(count)[0]) == expected
    if count < 6:
        blocks = "abcdef"[:count]
        assert len(explored(facts(dict.fromkeys(blocks, TABLE)))) == expected


def test_seven_blocks_are_the_most():
    assert len(graph(7)[0]) == 65_990
    assert task_of("abcdefgh--ha").id
    with pytest.raises(TooManyBlocks, match="8 blocks: exact distances go through all states"):
        ORACLE.distance(task_of("abcdefgh--ha"), frozenset())


def test_fifty_blocks_are_refused_at_once_but_can_be_searched():
    blocks = tuple(f"b{i}" for i in range(50))
    place = {block: below for below, block in zip((TABLE, *blocks), blocks, strict=False)}
    fifty = task(checked(Problem("", blocks, facts(place), frozenset({("on", "b0", "b49")})), "made"))
    start = time.perf_counter()
    world = Blocksworld(120)
    outcome = world.start(fifty)
    for _ in range(98):
        outcome = world.execute(fifty, outcome.state, world.legal(outcome.state)[0])
    for ask in (
        lambda: ORACLE.protected(fifty, outcome.state, world.legal(outcome.state)),
        lambda: ORACLE.value(fifty, outcome.state, 0),
        lambda: ORACLE.facts(fifty),
    ):
        with pytest.raises(TooManyBlocks, match="50 blocks"):
            ask()
    assert len(world.propose(fifty, outcome.state, 8, ())) < 3000
    assert time.perf_counter() - start < 20


def test_what_cannot_be_known_is_said_before_anything_is_searched():
    many, few = task_of("abcdefgh--ha"), task_of("a-cb-d--bc")
    assert ORACLE.refuses(few) is None
    assert refusal(ORACLE, [few]) is None
    said = refusal(ORACLE, [few, many])
    assert said is not None
    assert said.startswith("the task abcdefgh--ha: 8 blocks: exact distances go through all states")


def test_a_label_of_what_is_not_legal_is_refused():
    task = task_of("a-cb-d--bc")
    with pytest.raises(ValueError, match=r"'\(stack a b\)' is not legal where the towers are \[a\]"):
        ORACLE.protected(task, State(task.data.init, 16), [Action("(stack a b)", "")])


def test_every_step_can_be_taken_back():
    found, neighbour = graph(4)
    assert all(number in neighbour[other] for number in found.values() for other in neighbour[number])


def test_distances_are_those_of_plain_search(problems):
    for made in problems:
        if len(made.data.objects) < 5:
            near = {s: d for s, d in explored(made.data.init).items() if made.data.goal <= s}
            assert ORACLE.distance(made, made.data.init) == min(near.values())


@pytest.mark.parametrize(
    "goal",
    [
        {("holding", "a")},
        {("clear", "b"), ("on", "a", "c")},
        {("ontable", "a"), ("ontable", "b")},
        {("handempty",), ("on", "b", "a")},
        {("on", "b", "a"), ("clear", "b"), ("ontable", "a")},
    ],
)
def test_goals_of_any_facts(goal):
    rows = {"a": TABLE, "b": "c", "c": TABLE, "d": "b"}
    distance = distances(tuple("abcd"), frozenset(goal))
    for start in explored(facts(rows)):
        assert distance.of(start) == min(d for s, d in explored(start).items() if goal <= s)
        if random.Random(str(start)).random() < 0.9:
            break


def test_every_optimal_length_of_planbench(instances):
    for row, solved in instances:
        made = task(checked(read_problem(row["pddl"], DOMAIN), "instance"))
        assert ORACLE.distance(made, made.data.init) == solved["optimal_length"]
        plan = [action.key for action in ORACLE.solution(made) or ()]
        assert len(plan) == solved["optimal_length"]
        assert fault(DOMAIN, made.data, plan) is None


def test_a_label_is_a_plan_that_fits(problems):
    """Protected exactly if some legal continuation solves within the horizon; by exhaustion."""
    rng = random.Random(5)
    seen = set()
    for made in problems[:25]:
        horizon = rng.randint(2, 8)
        world = Blocksworld(horizon)
        exact = oracle.make(horizon=horizon)
        state = world.start(made).state
        while world.legal(state):
            actions = world.legal(state)
            labels = exact.protected(made, state, actions)
            children = [world.execute(made, state, action) for action in actions]
            assert labels == [solvable(world, made, child) for child in children]
            values = [exact.value(made, child.state, 0) for child in children]
            assert [value > 0 for value in values] == labels
            assert all(value == 1 for value, child in zip(values, children, strict=True) if child.solved)
            seen |= set(labels)
            chosen = rng.choice(children)
            if chosen.terminal:
                break
            state = chosen.state
    assert seen == {True, False}


def solvable(world, made, outcome):
    """By going through all continuations, a level at a time."""
    level = {outcome.state.atoms: outcome}
    while level:
        if any(made.data.goal <= atoms for atoms in level):
            return True
        states = [o.state for o in level.values()]
        level = {}
        for state in states:
            for action in world.legal(state):
                child = world.execute(made, state, action)
                level[child.state.atoms] = child
    return False


def test_value_grows_towards_the_goal():
    made = task_of("a-cb-d--bc")
    state = State(made.data.init, 16)
    assert ORACLE.value(made, state, 0) == pytest.approx(13 / 17)
    ranked = {a.key: ORACLE.value(made, State(after(state.atoms, a), 15), 1) for a in _legal(state)}
    assert max(ranked, key=ranked.__getitem__) == "(unstack b c)"
    assert ORACLE.value(made, State(made.data.init, 3), 0) == 0
    assert ORACLE.value(made, State(made.data.init, 4), 0) == pytest.approx(1 / 5)


def test_a_solution_longer_than_the_horizon_is_none():
    made = task_of("a-cb-d--bc")
    assert oracle.make(horizon=3).solution(made) is None
    assert [a.key for a in oracle.make(horizon=4).solution(made) or ()] == [
        "(unstack b c)",
        "(put-down b)",
        "(pick-up c)",
        "(stack c b)",
    ]
    assert ORACLE.facts(made) == {"distance": 4, "horizon": 16}


def _legal(state):
    return [move.action for move in moves(state.atoms).values()]
