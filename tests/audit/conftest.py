"""A record small enough to be audited on paper: one domain, one controller, two budgets, every kind of trouble.

Margin 30, frozen from 19 calibration tasks. Candidates are written key:score, * protected, ? unresolved; a score s
stands for the observations s - 1 and s + 1.

task a  Native  ()      x:80* y:60 z:30     at  5     PAC-CF  ()   the same, z dropped     at  5
                (x)     p:90* q:50          at 10             (x)  the same, q dropped     at 10
                (y)     r:40  s:20          at 15             (y)  the same                at 15
                (x q)   t:10                at 22
                solved after 24                               solved after 16
task b  Native  ()      u:85 v:50* w:10     at  4     PAC-CF  ()   the same, v, w dropped  at  4
                        (its own rule drops w)                ()   again: v:50* g:45       at  8
                (v)     n:60 m:25*          at  8             (v)  n:60 m:25*, m dropped   at 12   nested below (v)
                (v m)   k:50* l:45          at 12             finished after 30
                (u)     o:30                at 16
                out of budget at 20 and at 40
task c  Native  ()      g:50? h:50?         at  3     PAC-CF  the same, but solved after 6: a rescue
                finished after 6
task d  PAC-CF failed for a technical reason: out of both arms
task e  excluded beforehand
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from paccf.audit.run import Run, of_searches
from paccf.method.certificate import Certificate
from paccf.method.deficit import TaskDeficits
from paccf.record.values import Candidate, Costs, Exclusion, Frontier, Key, Outcome, RunInfo, Search

MARGIN = 30
CALIBRATION = [30 * i // 18 for i in range(19)]  # deficits; the 19th of 19 is the margin at Q = .95
INFO = RunInfo("mini", '{"seed": 7, "budgets": [20, 40]}', "nobody", True, {"paccf": "0"})


def frontier(path: str, spent: int, text: str, arm: str, dropped: str = "") -> Frontier:
    """``text`` as in the module; ``dropped`` are keys that Native's own rule drops."""
    parsed = []
    for part in text.split():
        key, _, score = part.partition(":")
        label = True if score.endswith("*") else None if score.endswith("?") else False
        parsed.append((key, float(score.rstrip("*?")), label))
    top = max((s for _, s, _ in parsed), default=0.0)
    candidates = []
    for key, score, _ in parsed:
        native = key not in dropped.split()
        gap = None if arm == "native" else top - score <= MARGIN
        kept = native if gap is None else gap
        candidates.append(Candidate(key, f"do {key}", (score - 1, score + 1), score, True, native, gap, kept))
    labels = tuple(label for *_, label in parsed)
    return Frontier(tuple(path.split()), "score", tuple(candidates), spent, labels)


def outcome(key: Key, end: str, requests: int, frontiers: Sequence[Frontier], utility: float) -> Outcome:
    """Ten tokens a request, one of them a completion."""
    inside = [f for f in frontiers if f.spent <= requests]
    bill = Costs(
        {"evaluate": requests - len(inside), "propose": len(inside)},
        9 * requests,
        requests,
        nodes=sum(c.kept for f in inside for c in f.candidates),
        expansions=len(inside),
        scored=sum(len(f.candidates) for f in inside),
    )
    solved = utility == 1.0
    return Outcome(key, end, solved, utility, ("x",) if solved else None, "", bill, len(inside))


def searches() -> list[tuple[Search, list[Outcome]]]:
    """Every test search at budget 40, with its outcome at 20."""
    a = [
        ("", 5, "x:80* y:60 z:30"),
        ("x", 10, "p:90* q:50"),
        ("y", 15, "r:40 s:20"),
        ("x q", 22, "t:10"),
    ]
    b = [("", 4, "u:85 v:50* w:10"), ("v", 8, "n:60 m:25*"), ("v m", 12, "k:50* l:45"), ("u", 16, "o:30")]
    again = [b[0], ("", 8, "v:50* g:45"), ("v", 12, "n:60 m:25*")]
    c = [("", 3, "g:50? h:50?")]
    # task, arm, frontiers, (end, requests, utility) at 20 and at 40
    rows: list[tuple[str, str, Any, tuple[str, int, float], tuple[str, int, float]]] = [
        ("a", "native", a, ("budget", 20, 0.0), ("solved", 24, 1.0)),
        ("a", "paccf", a[:3], ("solved", 16, 1.0), ("solved", 16, 1.0)),
        ("b", "native", b, ("budget", 20, 0.0), ("budget", 40, 0.0)),
        ("b", "paccf", again, ("budget", 20, 0.0), ("finished", 30, 0.0)),
        ("c", "native", c, ("finished", 6, 0.0), ("finished", 6, 0.0)),
        ("c", "paccf", c, ("solved", 6, 1.0), ("solved", 6, 1.0)),
        ("d", "native", c, ("finished", 6, 0.0), ("finished", 6, 0.0)),
        ("d", "paccf", c, ("failure", 6, 0.0), ("failure", 6, 0.0)),
    ]
    found = []
    for task, arm, given, small, large in rows:
        made = [frontier(path, spent, text, arm, "w" if arm == "native" else "") for path, spent, text in given]
        keys = [Key("test", "game24", "uct", arm, budget, task, 7) for budget in (20, 40)]
        less, more = (
            outcome(key, end, requests, made, utility)
            for key, (end, requests, utility) in zip(keys, (small, large), strict=True)
        )
        if more.end == "failure":
            less, more = (replace(o, failure="the endpoint died") for o in (less, more))
        found.append((Search(more, made), [less]))
    return found


def calibrating() -> list[Search]:
    found = []
    for i, deficit in enumerate(CALIBRATION):
        made = [frontier("", 4, f"s:{deficit}* t:0" if not deficit else f"s:90 t:{90 - deficit}*", "native")]
        key = Key("calibration", "game24", "uct", "native", 40, f"cal{i:02}", 7)
        found.append(Search(outcome(key, "finished", 9, made, 0.0), made))
    return found


def certificate() -> Certificate:
    deficits = TaskDeficits(2)
    for search in calibrating():
        for f in search.frontiers:
            scores = [list(c.observations or ()) for c in f.candidates]
            deficits.add(search.outcome.key.task, scores, f.protected or (), None, [c.key for c in f.candidates])
    return Certificate.freeze(deficits, "0.95", labels="oracle", budget=40, observations=2)


Change = Callable[[Search], Search]


def record(
    change: Change = lambda s: s,
    changed: Callable[[Outcome], Outcome] = lambda o: o,
    frozen: Certificate | None = None,
    seed: Callable[[Key], Key] = lambda k: k,
) -> Run:
    """The record above; ``change`` is applied to every test search, ``changed`` to every outcome."""
    whole, small = [], []
    for search, others in searches():
        altered = change(search)
        own = changed(altered.outcome)
        whole.append(replace(altered, outcome=replace(own, key=seed(own.key))))
        small += [replace(changed(o), key=seed(o.key)) for o in others]
    whole += calibrating()
    margins = {("game24", "uct"): frozen or certificate()}
    return of_searches(INFO, whole, small, margins, [Exclusion("game24", "e", "no picture")], "oracle")


@pytest.fixture
def miniature() -> Callable[..., Run]:
    """`record`."""
    return record
