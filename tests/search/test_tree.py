"""The rules of the tree by hand-computed values."""

from __future__ import annotations

from typing import Any

from paccf.search.tree import (
    Action,
    Node,
    Outcome,
    backup,
    bury,
    descendants,
    mean_score,
    most_valued,
    reward,
    solved,
)


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


def test_backup_is_a_running_mean_up_to_the_root() -> None:
    root = node()
    a = node(root, "a")
    b, c = node(a, "b"), node(a, "c")
    for v, gain in ((b, 1.0), (c, 0.0), (b, 0.5)):
        backup(v, gain)
    assert [(v.visits, v.q) for v in (root, a, b, c)] == [(3, 0.5), (3, 0.5), (2, 0.75), (1, 0.0)]


def test_bury_goes_up_as_far_as_all_kids_are_dead() -> None:
    root = node()
    a, b = node(root, "a"), node(root, "b")
    c, d = node(a, "c", dead=True), node(a, "d")
    bury(a)
    assert not a.dead
    d.dead = True
    bury(a)
    assert (a.dead, root.dead) == (True, False)
    assert c.path == ("a", "c")
    bury(b)
    assert not b.dead, "a node that was never expanded is not finished"
    b.kids = []
    bury(b)
    assert (b.dead, root.dead) == (True, True)
    bury(None)


def test_mean_score_leaves_the_root_out_and_counts_the_unscored_as_nothing() -> None:
    root = node(score=99.0)
    a = node(root, "a", 60.0)
    b = node(a, "b")
    c = node(b, "c", 30.0)
    assert [mean_score(v) for v in (root, a, b, c)] == [0.0, 60.0, 30.0, 30.0]


def test_reward_is_the_verifier_or_the_mean_score() -> None:
    root = node()
    a = node(root, "a", 60.0)
    assert reward(a) == 0.0
    for outcome, worth in ((done(True), 1.0), (done(False), 0.0), (done(None), 0.6), (Outcome("", ""), 0.0)):
        a.outcome = outcome
        assert reward(a) == worth
    a.outcome = done(True)
    assert solved(a)


def test_most_valued() -> None:
    root = node(outcome=Outcome("", ""))
    a = node(root, "a", 90.0, outcome=Outcome("", ""))
    b = node(root, "b", 20.0, outcome=done())
    c = node(root, "c", 20.0, outcome=done())
    node(root, "d", 100.0)  # admitted, never executed
    assert most_valued(root, verified=False) is b, "finished before begun, the first of equals"
    assert most_valued(root, verified=True) is None
    b.outcome = Outcome("", "")
    assert most_valued(root, verified=False) is c
    c.outcome = Outcome("", "")
    assert most_valued(root, verified=False) is a
    c.outcome = done(True)
    assert most_valued(root, verified=True) is c
    assert most_valued(Node(None, None), verified=False) is None


def test_descendants_come_parents_first_and_siblings_in_order() -> None:
    root = node()
    a = node(root, "a")
    node(root, "b")
    node(a, "c")
    node(a, "d")
    assert ["".join(v.path) for v in descendants(root)] == ["", "a", "ac", "ad", "b"]
