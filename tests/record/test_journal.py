"""A replay is held against what was recorded, effect by effect and request by request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from paccf.domains.toy import Toy, ToyModel
from paccf.models.tape import DurableTape, Tape, Taped
from paccf.record.journal import Diverged, Journal, stable
from paccf.record.store import Store
from paccf.record.taking import taken
from paccf.record.values import Key, RunInfo
from paccf.search.controllers import CONTROLLERS, controller
from paccf.search.driver import run, search
from paccf.search.trace import Trace
from paccf.search.tree import Action, Outcome, Task
from paccf.search.world import Answer, Request

WORLD = Toy(density=0.02)


def played(journal: Journal | None, name: str, model: Taped, budget: int = 80, world: Any = WORLD) -> Trace:
    make = controller(name)
    if journal is None:
        return run(search(Task("t", None), world, make, budget=budget), model)
    begun = search(Task("t", None), world, journal.over(make), budget=budget)
    trace = run(journal.asking(begun, model.key), model)
    assert isinstance(trace, Trace)
    return trace


@pytest.mark.parametrize("name", CONTROLLERS)
def test_a_journal_changes_nothing_and_a_smaller_budget_has_its_beginning(name: str) -> None:
    tape = Tape()
    model = Taped(tape, ToyModel(WORLD))
    plain, journal = played(None, name, model), Journal()
    noted = played(journal, name, model)
    assert (noted.frontiers, noted.bill, noted.path) == (plain.frontiers, plain.bill, plain.path)
    assert len(journal.asked) == plain.bill.total
    assert set(journal.asked) == set(tape)
    part = Journal(journal.lines, journal.asked)
    ended = played(part, name, Taped(tape), budget=30)
    assert part.lines == journal.lines[: len(part.lines)]
    assert part.asked == journal.asked[: ended.bill.total]
    kinds = {line.split('"')[1] for line in journal.lines}
    assert {"propose", "admit", "execute"} <= kinds


@pytest.mark.parametrize("name", CONTROLLERS)
def test_another_transition_is_caught_where_it_happens(name: str) -> None:
    class Moved(Toy):
        def execute(self, task: Task, state: str, action: Action) -> Outcome:
            done = super().execute(task, state, action)
            return Outcome(done.state, done.key + "!", done.terminal, done.solved, done.observation)

    journal = Journal()
    model = Taped(Tape(), ToyModel(WORLD))
    played(journal, name, model)
    with pytest.raises(Diverged, match=r'effect \d+: recorded is \["execute".*, replayed is \["execute"'):
        played(Journal(journal.lines), name, model, world=Moved(density=0.02))


def test_another_prompt_is_caught_where_it_is_asked() -> None:
    class Reworded(Toy):
        def propose(self, *given: Any) -> str:
            return super().propose(*given).replace("name", "list")

    journal = Journal()
    model = Taped(Tape(), ToyModel(WORLD))
    played(journal, "uct", model)
    with pytest.raises(Diverged, match=r"request 1: recorded is \w+, replayed is \w+ \(propose, draw 0: .*list"):
        played(Journal(journal.lines, journal.asked), "uct", model, world=Reworded(density=0.02))


def test_a_bill_adds_up_again_from_the_tape(tmp_path: Path, info: RunInfo) -> None:
    class Partly(ToyModel):
        def answer(self, request: Request) -> Answer:
            said = super().answer(request)
            return Answer(said.text) if request.kind == "propose" else said

    with Store.open(tmp_path / "run.sqlite") as store:
        store.begin(info)
        journal = Journal()
        trace = played(journal, "lats", Taped(DurableTape(store, "toy"), Partly(WORLD)))
        key = Key("test", "toy", "lats", "native", 80, "t", 0)
        given = taken(trace, key, WORLD, effects=journal.lines, asked=journal.asked)
        store.save(info, given)
        assert list(store.searches(info)) == [given]
        counted = store.billed(info, key)
        said = given.outcome.costs
        assert counted is not None
        assert counted.unknown_tokens == said.unknown_tokens > 0
        assert (counted.requests, counted.prompt_tokens) == (said.requests, said.prompt_tokens)
        assert store.tape().answers == len(set(journal.asked))
        assert store.tape().maybe_billed == 0


def test_sets_have_one_text() -> None:
    assert stable((frozenset({"b", "a"}), [1, {2}])) == "({'a','b'},(1,{2}))"
