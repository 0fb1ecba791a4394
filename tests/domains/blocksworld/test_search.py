"""Searches in Blocksworld: the simulated model tells its truth, and five controllers run, native and gated."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from paccf.domains.blocksworld.blocks import task_of
from paccf.domains.blocksworld.oracle import make as oracle
from paccf.domains.blocksworld.truth import make as truth
from paccf.domains.blocksworld.world import Blocksworld
from paccf.domains.labels import protected
from paccf.domains.sources import tasks
from paccf.method.admission import ScoreGap
from paccf.models.simulated import profiles, simulated
from paccf.search.controllers import CONTROLLERS, controller
from paccf.search.driver import run, search
from paccf.search.trace import Arm, Trace
from paccf.search.tree import Task
from paccf.search.world import Request, Subject

WORLD = Blocksworld()
GATED = Arm("paccf", ScoreGap(20))
COUNT = 60 if os.environ.get("PACCF_THOROUGH") == "1" else 8
each = pytest.mark.parametrize("name", list(CONTROLLERS))
GENERATED = tasks("blocksworld", "generated", "test", 0, COUNT)


def searched(task: Task, name: str, arm: Arm, profile: str = "paper-like", world: Blocksworld = WORLD) -> Trace:
    model = simulated("blocksworld", profile, 0, horizon=world.horizon)
    return run(search(task, world, controller(name), arm=arm, budget=100), model)


def checked(trace: Trace, world: Blocksworld = WORLD) -> None:
    """What holds of every search: legal paths, true verdicts, a bill within its cap, labels that fit the end."""
    assert trace.bill.total <= 100
    assert trace.reason != "failure"
    assert trace.utility == trace.solved
    labels = protected(trace, oracle(horizon=world.horizon))
    for frontier, label in zip(trace.frontiers, labels, strict=True):
        state = world.start(trace.task).state
        for key in frontier.path:
            [action] = [a for a in world.legal(state) if a.key == key]
            state = world.execute(trace.task, state, action).state
        assert {a.key for a in frontier.actions} <= {a.key for a in world.legal(state)}
        if trace.solved and trace.path[: len(frontier.path)] == frontier.path and len(frontier.path) < len(trace.path):
            step = [a.key for a in frontier.actions].index(trace.path[len(frontier.path)])
            assert label[step], "a step that led to the solution is protected"
    assert len(trace.path) <= world.horizon


@each
@pytest.mark.parametrize("arm", [Arm(), GATED], ids=["native", "gated"])
def test_every_controller_searches_generated_problems(name: str, arm: Arm):
    for task in GENERATED:
        checked(searched(task, name, arm))


@each
@pytest.mark.parametrize("arm", [Arm(), GATED], ids=["native", "gated"])
def test_every_controller_searches_planbench(name: str, arm: Arm, planbench: Path):
    for task in tasks("blocksworld", "planbench", "test", 0, COUNT, data=planbench.parent):
        checked(searched(task, name, arm))


@each
def test_the_same_search_again_and_the_gate_at_infinity(name: str):
    task = GENERATED[0]
    one, again = searched(task, name, Arm()), searched(task, name, Arm())
    assert (one.path, one.bill, one.frontiers) == (again.path, again.bill, again.frontiers)
    if name != "tooltree":  # whose own rule is the top 5, and no state here has more than five actions
        wide = searched(task, name, Arm("paccf", ScoreGap(float("inf"))))
        assert (wide.path, wide.bill) == (one.path, one.bill)


def test_a_perfect_model_solves_everything_greedily():
    for task in GENERATED:
        trace = searched(task, "uct", Arm(), "clean")
        assert trace.solved
        assert len(trace.path) == oracle().distance(task, task.data.init)


def test_a_tight_horizon_is_kept():
    task = task_of("a-cb-d--bc")
    for horizon, solved in ((4, True), (3, False)):
        world = Blocksworld(horizon)
        trace = searched(task, "uct", Arm(), "clean", world)
        checked(trace, world)
        assert trace.solved is solved
    assert not any(any(labels) for labels in protected(trace, oracle(horizon=3))), "nothing is protected out of reach"


def test_too_many_blocks_for_the_simulated_model_is_a_failure_that_says_so():
    trace = searched(task_of("abcdefgh--ha"), "lats", Arm())
    assert (trace.reason, trace.bill.total) == ("failure", 1)
    assert "8 blocks: exact distances go through all states" in trace.failure


@pytest.mark.parametrize("profile", profiles())
def test_every_profile_answers_every_kind(profile: str):
    model = simulated("blocksworld", profile, 3)
    task = GENERATED[1]
    state = WORLD.start(task).state
    legal = tuple(WORLD.legal(state))
    reading = WORLD.read_proposals(
        task, state, model.answer(Request("propose", "p", 0, Subject(task, state, k=8))).text
    )
    assert 0 < len(reading.actions) + reading.illegal + reading.unparsable <= len(legal)
    assert model.answer(Request("reflect", "p", 0, Subject(task, state))).text
    for channel in ("child", "pre", "post"):
        texts = [model.answer(Request("evaluate", "p", d, Subject(task, state, legal, channel))).text for d in range(8)]
        assert any(None not in WORLD.read_scores(text, len(legal)) for text in texts)


def test_wrong_is_illegal_garbled_is_unparsable_and_value_is_protection(any_state):
    rng = random.Random(8)
    knows, exact = truth(), oracle()
    task = task_of("abcde--edcba")
    for _ in range(60):
        state = WORLD.start(task).state._replace(atoms=any_state(rng, "abcde"), left=rng.randint(1, 16))
        legal = list(knows.legal(task, state))
        assert legal == WORLD.legal(state)
        labels = exact.protected(task, state, legal)
        for action, label in zip(legal, labels, strict=True):
            assert (knows.value(task, state, action) > 0) is label
            for spoilt, counts in ((knows.wrong, (1, 0)), (knows.garbled, (0, 1))):
                reading = WORLD.read_proposals(task, state, spoilt(task, state, action))
                assert (len(reading.actions), reading.illegal, reading.unparsable) == (0, *counts)
    assert knows.key(state) != knows.key(state._replace(left=state.left - 1))
