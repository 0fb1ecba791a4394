"""Solvability against the known facts and against an independent count."""

import csv
import subprocess
import sys
from functools import cache

from tests.real import folder

from paccf.domains.game24 import oracle
from paccf.domains.game24.moves import moves
from paccf.domains.game24.oracle import Game24Oracle
from paccf.domains.game24.tasks import hands, solvable
from paccf.domains.game24.world import Game24, task_of
from paccf.domains.oracles import oracle_of


def test_solvable_hands():
    assert len(hands()) == 1820
    assert len(solvable()) == 1362
    assert solvable() is solvable()
    ids = [task.id for task in solvable()]
    assert (ids[0], ids[-1]) == ("1-1-1-8", "12-13-13-13")
    assert [t.data for t in solvable()] == sorted(t.data for t in solvable())
    assert all(task_of(i).id == i for i in ids)


@cache
def reaches(state):
    """By floats and sets: another way to count."""
    if len(state) == 1:
        return abs(state[0] - 24) < 1e-6
    for i, a in enumerate(state):
        for j, b in enumerate(state):
            if i == j:
                continue
            rest = [x for n, x in enumerate(state) if n not in (i, j)]
            results = [a - b] + ([a + b, a * b] if i < j else []) + ([a / b] if abs(b) > 1e-9 else [])
            if any(reaches(tuple(sorted([*rest, round(r, 9)]))) for r in results):
                return True
    return False


def test_every_twentieth_hand_by_another_count():
    for task in hands()[::20]:
        assert oracle.reachable(task.data) == reaches(tuple(map(float, task.data))), task.id


def test_sixteen_hands_need_a_fraction():
    @cache
    def whole(state):
        if len(state) == 1:
            return state == (24,)
        return any(whole(m.after) for m in moves(state).by_key.values() if all(type(x) is int for x in m.after))

    needy = [task.id for task in solvable() if not whole(task.data)]
    assert len(needy) == 16
    assert {"3-3-8-8", "1-5-5-5", "1-3-4-6", "1-4-5-6"} <= set(needy)


def test_a_state_is_reachable_iff_a_child_is():
    for task in hands()[::90]:
        stack = [task.data]
        while stack:
            state = stack.pop()
            after = [m.after for m in moves(state).by_key.values()]
            if after:
                assert oracle.reachable(state) == any(map(oracle.reachable, after))
                stack += after[::3]
            else:
                assert oracle.reachable(state) == (state == (24,))


def test_protected_and_value():
    task = task_of("4 7 8 8")
    actions = Game24().legal((4, 6))
    assert Game24Oracle().protected(task, (4, 6), actions) == [a.key == "24" for a in actions]
    assert Game24Oracle().protected(task, (1, 4, 7), Game24().legal((1, 4, 7))).count(True) > 0
    assert (Game24Oracle().value(task, (4, 6), 2), Game24Oracle().value(task, (4, 7), 2)) == (1.0, 0.0)
    known = oracle_of("game24")
    assert known.value(task, task.data, 0) == 1.0
    assert known.protected(task, (4, 6), []) == []


def test_root_facts_of_all_solvable_hands():
    game = Game24()
    alive = [sum(Game24Oracle().protected(t, t.data, game.legal(t.data))) for t in solvable()]
    legal = [len(game.legal(t.data)) for t in solvable()]
    assert (min(legal), max(legal), sum(legal)) == (4, 36, 35345)
    assert (min(alive), max(alive), sum(alive)) == (1, 21, 7776)


def test_the_world_does_not_load_the_oracle():
    code = (
        "import sys; from paccf.domains.registry import world; w = world('game24')\n"
        "from paccf.domains.game24.world import task_of\n"
        "t = task_of('4 7 8 8'); w.propose(t, t.data, 8, []); w.read_proposals(t, t.data, '8 / 8'); w.utility(t, [])\n"
        "assert not [m for m in sys.modules if 'oracle' in m or 'simulated' in m or m.endswith('tasks')]"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def rows():
    with (folder("game24/24.csv") / "game24/24.csv").open(newline="") as file:
        return [task_of(row["Puzzles"]) for row in csv.DictReader(file)]


def test_the_published_puzzles_are_the_solvable_hands():
    assert sorted(t.data for t in rows()) == [t.data for t in solvable()]


def test_root_facts_of_the_test_split():
    split = rows()[900:1000]
    assert sum(len(moves(task.data).by_text) for task in split) == 3036, "30.4 distinct operations a root"
    successors, alive = [], []
    for task in split:
        actions = Game24().legal(task.data)
        successors.append(len(actions))
        alive.append(sum(Game24Oracle().protected(task, task.data, actions)))
    assert (min(successors), max(successors), sum(successors)) == (9, 36, 2913)
    assert (min(alive), max(alive), round(sum(alive) / 100, 1)) == (1, 21, 5.7)
