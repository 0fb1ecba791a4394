"""The world: its notation, its transitions, its verifier, its prompts; and what it refuses."""

from __future__ import annotations

import random

import pytest

from paccf.domains.blocksworld.blocks import TABLE, checked, facts, impossible, places, task, task_of, towers
from paccf.domains.blocksworld.moves import State
from paccf.domains.blocksworld.oracle import graph
from paccf.domains.blocksworld.strips import Problem
from paccf.domains.blocksworld.world import Blocksworld, make
from paccf.search.tree import Action, Task

WORLD = Blocksworld()
TASK = task_of("a-cb-d--bc")
PLAN = [Action(key, "") for key in ("(unstack b c)", "(put-down b)", "(pick-up c)", "(stack c b)")]


def played(world, made, actions):
    outcomes = [world.start(made)]
    for action in actions:
        outcomes.append(world.execute(made, outcomes[-1].state, action))
    return outcomes


def test_a_plan_is_played_and_verified():
    outcomes = played(WORLD, TASK, PLAN)
    assert [o.solved for o in outcomes] == [None, None, None, None, True]
    assert [o.terminal for o in outcomes] == [False, False, False, False, True]
    assert [o.state.left for o in outcomes] == [16, 15, 14, 13, 12]
    assert outcomes[0].key == TASK.data.init
    assert WORLD.utility(TASK, PLAN) == 1
    assert WORLD.metrics(TASK, PLAN) == {"steps": 4, "goal_share": 1}
    assert WORLD.metrics(TASK, []) == {"steps": 0, "goal_share": 0}
    assert WORLD.solution(TASK, PLAN) == "(unstack b c) (put-down b) (pick-up c) (stack c b)"
    assert [WORLD.utility(TASK, PLAN[:n]) for n in range(4)] == [0] * 4
    assert WORLD.utility(TASK, [*PLAN, *PLAN]) == 0, "an illegal step spoils a plan"


def test_the_last_step_ends_a_path():
    world = make(horizon=4)
    assert played(world, TASK, PLAN)[-1].solved is True
    short = make(horizon=3)
    last = played(short, TASK, PLAN[:3])[-1]
    assert (last.terminal, last.solved) == (True, False)
    assert short.legal(last.state) == []
    assert short.utility(TASK, PLAN) == 0
    with pytest.raises(ValueError, match="no step is left of 3"):
        short.execute(TASK, last.state, PLAN[3])


def test_going_back_is_legal_and_another_node_of_the_same_state():
    there = played(WORLD, TASK, [PLAN[0], Action("(stack b c)", "")])
    assert there[2].key == there[0].key
    assert there[2].state != there[0].state, "two steps are gone"


def test_what_is_not_legal_raises():
    state = WORLD.start(TASK).state
    with pytest.raises(ValueError, match=r"'\(pick-up c\)' is not legal where the towers are \[a\] \[c b\] \[d\]"):
        WORLD.execute(TASK, state, Action("(pick-up c)", ""))


@pytest.mark.parametrize("horizon", [0, -1, 1001, 2.5, "16", None])
def test_a_horizon_is_a_number_of_steps(horizon):
    with pytest.raises(ValueError, match="horizon: .* is no number of steps from 1 to 1,000"):
        Blocksworld(horizon)


def test_legal_actions_go_and_come_back_and_nothing_else(any_state):
    rng = random.Random(6)
    for _ in range(50):
        atoms = any_state(rng, "abcde")
        assert facts(places(atoms)) == atoms
        state = State(atoms, 5)
        for action in WORLD.legal(state):
            after = WORLD.execute(TASK, state, action).state
            assert facts(places(after.atoms)) == after.atoms, "a whole state again"
            assert atoms in [WORLD.execute(TASK, after, back).key for back in WORLD.legal(after)]


def test_the_notation_says_all(problems):
    for made in problems:
        again = task_of(made.id)
        assert again.id == made.id
        assert (again.data.init, again.data.goal) == (made.data.init, made.data.goal)
    assert task_of("d-cb-a--bc").id == "a-cb-d--bc"
    assert task_of(" a-cb-d--bc\n") == TASK
    pddl = (
        "(define (problem x) (:domain blocksworld-4ops) (:objects d c b a) (:init (handempty) (clear a) (clear b) "
        "(clear d) (ontable a) (ontable c) (ontable d) (on b c)) (:goal (on c b)))"
    )
    assert task_of(pddl).id == TASK.id


def test_other_problems_have_a_digest_of_their_content():
    ids = set()
    for goal in ({("holding", "b1")}, {("on", "b1", "b2")}, {("on", "b1", "b2"), ("clear", "b1")}):
        for blocks in (("b1", "b2"), ("b1", "b2", "b3")):
            place = dict.fromkeys(blocks, TABLE)
            one = task(checked(Problem("x", blocks, facts(place), frozenset(goal)), "x"))
            other = task(checked(Problem("y", blocks[::-1], facts(place), frozenset(goal)), "y"))
            assert one.id == other.id
            assert one.id.startswith(f"{len(blocks)}-blocks-")
            ids.add(one.id)
    assert len(ids) == 6


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is no problem: write towers from bottom to top"),
        ("abc", "is no problem"),
        ("a-b--", "is no problem"),
        ("a-b--a", "is no problem"),
        ("--ab", "is no problem"),
        ("a b--ab", "is no problem"),
        ("a-b--ab\x1b[31m", "is no problem"),
        ("a" * 10**6 + "--ab", "is no problem"),
        ("a-ab--ab", "a block is named twice in the start"),
        ("a-b--aba", "a block is named twice in the goal"),
        ("a-b--ac", "block c of the goal is not there"),
        ("ab-c--ab", "the goal holds from the start"),
        ("(define", "problem:1: this bracket is never closed"),
    ],
)
def test_a_text_that_is_no_problem_says_why(text, why):
    with pytest.raises(ValueError, match=why):
        task_of(text)


START = {"a": TABLE, "b": "a", "c": TABLE}


@pytest.mark.parametrize(
    ("goal", "why"),
    [
        ({("on", "a", "a")}, "block a would be above itself"),
        ({("on", "a", "b"), ("on", "b", "a")}, "block a would be above itself"),
        ({("on", "a", "b"), ("on", "b", "c"), ("on", "c", "a")}, "block a would be above itself"),
        ({("on", "a", "c"), ("on", "b", "c")}, "blocks a and b would both be on c"),
        ({("on", "a", "b"), ("on", "a", "c")}, "block a would be on b and on c"),
        ({("on", "a", "b"), ("ontable", "a")}, "block a would be on b and on the table"),
        ({("on", "a", "b"), ("clear", "b")}, "block b would be clear or in the hand"),
        ({("holding", "a"), ("on", "b", "a")}, "block a would be clear or in the hand"),
        ({("holding", "a"), ("clear", "a")}, "block a would be clear or in the hand"),
        ({("holding", "a"), ("holding", "b")}, "the hand would hold a and b"),
        ({("holding", "a"), ("handempty",)}, "the hand would hold a and be empty"),
    ],
)
def test_goals_out_of_reach_are_refused(goal, why):
    with pytest.raises(ValueError, match=f"x: the goal cannot be reached: {why}"):
        checked(Problem("", tuple("abc"), facts(START), frozenset(goal)), "x")


def test_a_goal_is_impossible_exactly_if_no_state_holds_it():
    """All sets of up to three facts over three blocks, against all 22 states."""
    from itertools import combinations

    every = [("handempty",)] + [(p, x) for p in ("ontable", "clear", "holding") for x in "abc"]
    every += [("on", x, y) for x in "abc" for y in "abc"]
    names = dict(enumerate([*"abc", TABLE, "the hand"]))
    states = [facts({names[i]: names[place] for i, place in enumerate(state)}) for state in graph(3)[0]]
    for size in (1, 2, 3):
        for goal in map(frozenset, combinations(every, size)):
            assert (impossible(goal) is None) == any(goal <= state for state in states), goal


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda init: init - {("clear", "b")}, r"init is no whole state: \(clear b\) is missing"),
        (lambda init: init - {("handempty",)}, r"init is no whole state: \(handempty\) is missing"),
        (lambda init: init - {("ontable", "c")}, "init does not say where block c is"),
        (lambda init: init | {("on", "b", "c")}, "init is no state: block b would be on"),
        (lambda init: init | {("clear", "a")}, "init is no state: block a would be clear"),
        (lambda init: init | {("holding", "d")}, "init is no state"),
    ],
)
def test_an_init_is_one_whole_state(change, why):
    goal = frozenset({("on", "a", "c")})
    with pytest.raises(ValueError, match=f"x: {why}"):
        checked(Problem("", tuple("abc"), change(facts(START)), goal), "x")


def test_words_of_the_prompts_are_no_names():
    with pytest.raises(ValueError, match="'table' is no name for a block here"):
        checked(
            Problem("", ("table", "b"), facts({"table": TABLE, "b": TABLE}), frozenset({("on", "b", "table")})), "x"
        )


def test_prompts_say_what_is_asked():
    state = WORLD.start(TASK).state
    actions = WORLD.legal(state)
    asked = WORLD.propose(TASK, state, 7, ["be quick\nand careful"])
    for part in (
        "block c is on block b",
        "[a] [c b] [d]",
        "hand is empty",
        "Steps left: 16",
        "up to 7",
        "(unstack a d)",
    ):
        assert part in asked
    assert "- be quick and careful" in asked
    child, pre, post = (WORLD.evaluate(TASK, state, actions, channel, (), None) for channel in ("child", "pre", "post"))
    assert len({child, pre, post}) == 3
    shown = "3. unstack block b from block c: then the towers are [a] [c] [d], and the hand holds b"
    assert shown in child
    assert shown in post
    assert "3. unstack block b from block c\n" in pre, "what is not taken yet does not show what it leads to"
    assert "JSON list of 3 whole numbers" in child
    assert "JSON list of 1 whole number " in WORLD.evaluate(TASK, state, actions[:1], "child", (), None)
    assert "1. unstack block b from block c\n" in WORLD.reflect(
        TASK, [Action("(unstack b c)", "unstack block b from block c")]
    )
    goal = frozenset({("clear", "a"), ("holding", "c"), ("ontable", "b")})
    other = Task("x", Problem("", tuple("abc"), facts(START), goal))
    assert "block b is on the table, and block c is in the hand, and nothing is on block a" in WORLD.propose(
        other, State(facts(START), 1), 1, ()
    )


def test_towers_stand_in_order():
    assert towers(START) == [["a", "b"], ["c"]]
    assert towers({"b": "a"}) == [["a", "b"]], "a goal's chain begins with a block that the goal does not place"
