"""The joined tree of two arms, on the miniature record."""

from __future__ import annotations

from collections.abc import Callable

from paccf.audit.run import Run
from paccf.audit.trees import Line, at_budget, joined, removal
from paccf.record.values import Search


def arms(run: Run, task: str) -> tuple[Search, Search]:
    found = {s.outcome.key.arm: s for s in run.traces("game24", "uct") if s.outcome.key.task == task}
    return found["native"], found["paccf"]


def at(lines: list[Line], path: str) -> Line:
    return next(line for line in lines if " ".join(line.path) == path)


def test_a_path_is_one_line_and_parents_come_first(miniature: Callable[..., Run]) -> None:
    native, paccf = arms(miniature(), "b")
    lines = list(joined(native, paccf))
    assert [" ".join(line.path) for line in lines] == ["u", "u o", "v", "v n", "v m", "v m k", "v m l", "w", "g"]
    assert at(lines, "g").native is None
    assert at(lines, "u o").paccf is None


def test_what_each_arm_made_of_a_candidate(miniature: Callable[..., Run]) -> None:
    native, paccf = arms(miniature(), "b")
    line = at(list(joined(native, paccf)), "v")
    assert line.protected
    assert line.pruned
    assert line.native is not None
    assert (line.native.score, line.native.deficit, line.native.kept, line.native.searched) == (50, 35, True, True)
    assert line.paccf is not None
    assert not line.paccf.kept


def test_what_was_removed(miniature: Callable[..., Run]) -> None:
    native, paccf = arms(miniature(), "b")
    found = removal(native, list(joined(native, paccf)))
    assert (found.roots, found.protected, found.scored) == (3, 2, 4)  # v, w, m; below v: n, m, k, l


def test_a_smaller_budget_has_the_first_frontiers(miniature: Callable[..., Run]) -> None:
    run = miniature()
    native, _ = arms(run, "a")
    small = next(o for o in run.outcomes if o.key.arm == "native" and o.key.task == "a" and o.key.budget == 20)
    assert [f.path for f in at_budget(native, small).frontiers] == [(), ("x",), ("y",)]
