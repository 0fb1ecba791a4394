"""The cases of a report: which single tasks are shown, and both arms' trees of each as columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from paccf.audit.audit import Audit
from paccf.audit.cases import Case as Found
from paccf.audit.names import controller_title, domain_title
from paccf.audit.pairs import TIE
from paccf.audit.run import Unsupported
from paccf.audit.trees import Side, at_budget, joined, removal
from paccf.record.foreign import clean
from paccf.record.values import Key, Outcome, Path, Search
from paccf.report.page.blocks import Arm, Case

EACH = 6  # ours: rescues, and regressions, that are shown
LARGEST = 20_000  # ours: candidates of a tree that is drawn
UNSEEN, SEARCHED, KEPT, DROPPED, INELIGIBLE = range(5)  # what an arm made of a candidate; the script knows them too


def cases(audit: Audit) -> tuple[Case, ...]:
    """The most telling tasks with their trees. Raises `Unsupported` without trees of two arms."""
    if not audit.run.trees:
        raise Unsupported("a frontier log knows no tree")
    found = chosen(audit)
    arms = _arms(audit, [case for _, case in found])
    made = (_case(audit, what, case, arms) for what, case in found)
    return tuple(case for case in made if case is not None)


def chosen(audit: Audit) -> list[tuple[str, Found]]:
    """The largest rescue and the largest regression of each domain and controller, `EACH` at most, and the tie that
    saved most."""
    gains = [c for c in audit.cases if c.gain > 0]
    losses = [c for c in audit.cases if c.gain < 0]
    found = [("rescued", c) for c in _various(gains)] + [("lost", c) for c in _various(losses)]
    if tie := _cheapest_tie(audit):
        found.append(("tie", tie))
    return found


def _various(ordered: Sequence[Found]) -> list[Found]:
    firsts: dict[tuple[str, str], Found] = {}
    for case in ordered:
        firsts.setdefault((case.domain, case.controller), case)
    return list(firsts.values())[:EACH]


def _cheapest_tie(audit: Audit) -> Found | None:
    """The pair of equal utility at the largest budget that neither arm's budget ended and that saved most."""
    best: Found | None = None
    for domain, p in audit.pairs.items():
        budget = p.budgets[-1]
        for controller in p.controllers:
            for task in p.tasks:
                native, paccf = (p.outcomes[arm, budget, controller, task] for arm in ("native", "paccf"))
                case = Found(domain, controller, budget, task, native, paccf)
                whole = not (native.censored or paccf.censored)
                if whole and abs(case.gain) <= TIE and case.saved > (best.saved if best else 0):
                    best = case
    return best


def _case(audit: Audit, what: str, found: Found, arms: dict[Key, Search]) -> Case | None:
    """The case with its trees; `None` if the record lacks a trace or the tree is too large to draw."""
    native, paccf = arms.get(found.native.key), arms.get(found.paccf.key)
    if native is None or paccf is None:
        return None
    lines = list(joined(native, paccf))
    if len(lines) > LARGEST:
        return None
    places = {line.path: place for place, line in enumerate(lines)}
    gone = removal(native, lines)
    certificate = audit.run.certificates.get((found.domain, found.controller))
    margin = "" if certificate is None else "everything" if certificate.margin is None else f"{certificate.margin:g}"
    where = f"{domain_title(found.domain)} {controller_title(found.controller)} B{found.budget}"
    return Case(
        what=what,
        short=where,
        title=f"{where}, task {clean(found.task)}",
        margin=margin,
        removed=(
            f"The margin dropped {gone.roots:,} candidates; {gone.matched:,} of them are nodes of Native, and "
            f"{gone.scored:,} candidates were scored below those. From {gone.protected:,} of the dropped ones a "
            "solution could be reached."
        ),
        command=f"paccf show RUN {_quoted(found.task)} --controller {found.controller} --domain {found.domain}",
        parents=tuple(places.get(line.path[:-1], -1) for line in lines),
        texts=tuple(clean(line.text or line.path[-1]) for line in lines),
        labels=tuple(line.protected for line in lines),
        native=_arm(found.native, [line.native for line in lines], places),
        paccf=_arm(found.paccf, [line.paccf for line in lines], places),
    )


def _quoted(task: str) -> str:
    return "'" + clean(task).replace("'", "'\\''") + "'"


def _arms(audit: Audit, found: Sequence[Found]) -> dict[Key, Search]:
    """The traces of these cases as far as their budgets."""
    wanted: dict[tuple[object, ...], list[Outcome]] = {}
    for case in found:
        for outcome in (case.native, case.paccf):
            wanted.setdefault(_at_any_budget(outcome.key), []).append(outcome)
    arms = {}
    for domain, controller in sorted({(c.domain, c.controller) for c in found}):
        tasks = {c.task for c in found if (c.domain, c.controller) == (domain, controller)}
        for search in audit.run.traces(domain, controller, tasks):
            for outcome in wanted.get(_at_any_budget(search.outcome.key), ()):
                arms[outcome.key] = at_budget(search, outcome)
    return arms


def _at_any_budget(key: Key) -> tuple[object, ...]:
    return key.phase, key.domain, key.controller, key.arm, key.task, key.seed


def _arm(outcome: Outcome, sides: Sequence[Side | None], places: dict[Path, int]) -> Arm:
    costs = outcome.costs
    answer = outcome.answer or ()
    along = (places.get(answer[: depth + 1]) for depth in range(len(answer)))
    return Arm(
        end=f"{'solved' if outcome.solved else 'not solved'} ({clean(outcome.end)})",
        facts=(
            ("utility", f"{outcome.utility:g}"),
            ("requests", f"{costs.total:,}"),
            ("nodes", f"{costs.nodes:,}"),
            ("scored", f"{costs.scored:,}"),
            ("tokens", "unknown" if costs.tokens is None else f"{costs.tokens:,}"),
        ),
        solution=clean(outcome.solution),
        answer=tuple(place for place in along if place is not None),
        states=tuple(map(_state, sides)),
        scores=tuple(None if side is None else side.score for side in sides),
        deficits=tuple(None if side is None or side.deficit is None else round(side.deficit, 6) for side in sides),
        visits=tuple(None if side is None or side.node is None else side.node.visits for side in sides),
        solved=tuple(_solved(sides)),
    )


def _state(side: Side | None) -> int:
    if side is None:
        return UNSEEN
    if not side.kept:
        return DROPPED if side.eligible else INELIGIBLE
    return SEARCHED if side.searched else KEPT


def _solved(sides: Iterable[Side | None]) -> Iterable[int]:
    return (
        place for place, side in enumerate(sides) if side is not None and side.node is not None and side.node.solved
    )
