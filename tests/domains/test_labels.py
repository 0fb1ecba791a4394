"""Labels: what each mode says of a finished search, in memory and from the record."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from paccf.domains.blocksworld.world import Blocksworld
from paccf.domains.game24.tasks import solvable
from paccf.domains.game24.world import Game24, task_of
from paccf.domains.labels import accepted, by_finds, by_oracle, labels, places, protected, recorded_places
from paccf.domains.oracles import oracle_for, oracle_of
from paccf.domains.probing import Probe, by_probes, by_probes_async, probing
from paccf.domains.sources import tasks
from paccf.domains.toy import Toy, ToyModel
from paccf.models.simulated import simulated
from paccf.record.taking import taken
from paccf.record.values import Key, Search
from paccf.search.controllers import CONTROLLERS, controller
from paccf.search.driver import run, search
from paccf.search.trace import Trace
from paccf.search.tree import Action, Task, descendants
from paccf.search.world import Answer, ModelFailure, Request

each = pytest.mark.parametrize("name", CONTROLLERS)
GAME = Game24()


def played(name: str, hand: str, budget: int = 100, profile: str = "paper-like") -> Trace:
    return run(search(task_of(hand), GAME, controller(name), budget=budget), simulated("game24", profile, 0))


def toyed(name: str, task: str, world: Toy, budget: int = 80) -> Trace:
    return run(search(Task(task, None), world, controller(name), budget=budget), ToyModel(world))


def recorded(trace: Trace, world: Any) -> Search:
    key = Key("single", world.name, "c", trace.arm.name, trace.budget, trace.task.id, trace.seed)
    return taken(trace, key, world)


@each
def test_the_record_is_labelled_as_the_search_was(name: str) -> None:
    for hand in ("4 7 8 8", "1 5 5 5", "1 1 1 1"):
        for budget in (0, 6, 100):
            trace = played(name, hand, budget)
            record = recorded(trace, GAME)
            assert recorded_places(record, GAME, trace.task) == places(trace)
            for mode in ("oracle", "found"):
                found = labels(trace, mode, GAME, trace.task)  # type: ignore[arg-type]
                assert found == labels(record, mode, GAME, trace.task)  # type: ignore[arg-type]
                assert [len(row) for row in found] == [len(f.actions) for f in trace.frontiers]
            assert labels(trace, "oracle", GAME, trace.task) == list(map(tuple, protected(trace, oracle_of("game24"))))


@each
def test_what_was_found_is_under_its_candidate(name: str) -> None:
    """By another way: walk the subtree of every candidate of every frontier."""
    seen = set()
    for task in [f"t{i}" for i in range(12)]:
        trace = toyed(name, task, Toy(3, 3, 0.08))
        nodes = {node.path: node for node in descendants(trace.root)}
        for frontier, row in zip(trace.frontiers, labels(trace, "found", Toy(3, 3, 0.08), trace.task), strict=True):
            for action, label in zip(frontier.actions, row, strict=True):
                below = nodes.get((*frontier.path, action.key))
                solved = below is not None and any(v.outcome and v.outcome.solved for v in descendants(below))
                assert label is solved
                seen.add(label)
    assert seen == {True, False}


@each
def test_what_was_found_is_protected(name: str) -> None:
    for task in solvable()[::200]:
        trace = run(search(task, GAME, controller(name), budget=60), simulated("game24", "paper-like", 1))
        exact = labels(trace, "oracle", GAME, task)
        for true, found in zip(exact, labels(trace, "found", GAME, task), strict=True):
            assert all(t or not f for t, f in zip(true, found, strict=True))


def test_without_a_verifier_the_utility_speaks() -> None:
    world = Toy(3, 3, 0.2, verified=False)
    traces = [toyed("uct", f"t{i}", world) for i in range(10)]
    finds = [accepted(trace, world) for trace in traces]
    assert sum(map(len, finds)) > 3
    assert all(world.is_solved(t.task, "".join(p)) for t, paths in zip(traces, finds, strict=True) for p in paths)
    for trace in traces:
        assert labels(recorded(trace, world), "found", world, trace.task) == labels(trace, "found", world, trace.task)


def test_what_cannot_be_labelled_is_said() -> None:
    trace = played("uct", "4 7 8 8")
    record = recorded(trace, GAME)
    with pytest.raises(ValueError, match="the record is of the task 4-7-8-8, not of 1-1-4-6"):
        labels(record, "oracle", GAME, task_of("1 1 4 6"))
    with pytest.raises(ValueError, match="has no tree: found labels are made at the largest budget"):
        labels(replace(record, nodes=()), "found", GAME, trace.task)
    with pytest.raises(ValueError, match="no way of labelling called 'guessed'"):
        labels(record, "guessed", GAME, trace.task)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no frontier that leads to"):
        recorded_places(replace(record, frontiers=record.frontiers[1:]), GAME, trace.task)
    assert by_oracle(trace.task, [], oracle_for(GAME)) == by_finds([], []) == []


def leads_on(world: Toy, task: Task, state: str) -> bool:
    if len(state) == world.horizon:
        return world.is_solved(task, state)
    return any(leads_on(world, task, state + str(d)) for d in range(world.branching))


@pytest.mark.parametrize("world", [Toy(3, 4, 0.05), Toy(2, 3, 0.3), Toy(3, 4, 0.05, verified=False)], ids=repr)
def test_a_probe_that_may_walk_everything_is_exact(world: Toy) -> None:
    seen = set()
    for i in range(8):
        trace = toyed("lats", f"t{i}", world)
        at = places(trace)
        found, spent = by_probes(trace.task, world, at, ToyModel(world), Probe(10**6))
        assert spent > 0
        for place, row in zip(at, found, strict=True):
            exact = [leads_on(world, trace.task, place.state + a.key) for a in place.actions]
            assert list(row) == exact
            seen |= set(exact)
    assert seen == {True, False}


def test_more_budget_only_ever_tells_more() -> None:
    world = Toy(3, 4, 0.03)
    task = Task("t5", None)
    trace = toyed("uct", "t5", world)
    at = places(trace)
    before: Any = None
    told = []
    for budget in range(16):
        found, spent = by_probes(task, world, at, ToyModel(world), Probe(budget))
        assert spent <= budget * sum(len(p.actions) for p in at)
        flat = [label for row in found for label in row]
        assert before is None or all(b is None or b is f for b, f in zip(before, flat, strict=True))
        before = flat
        told.append(sum(label is not None for label in flat))
    assert told[0] < told[-1] == len(before)


class Spy(ToyModel):
    """Remembers what it was asked."""

    def answer(self, request: Request) -> Answer:
        ASKED.append((request.kind, request.draw))
        return ToyModel.answer(self, request)


ASKED: list[tuple[str, int]] = []


def test_a_probe_is_blind_to_scores_and_shares_nothing_with_the_search() -> None:
    world = Toy(3, 4, 0.05)
    trace = toyed("levin", "t1", world)
    ASKED.clear()
    one, _ = by_probes(trace.task, world, places(trace), Spy(world, signal=40.0), Probe(4))
    assert ASKED
    assert all(kind == "propose" and draw >= 1 << 20 for kind, draw in ASKED)
    two, _ = by_probes(trace.task, world, places(trace), ToyModel(world, signal=0.0), Probe(4))
    assert one == two
    others = [by_probes(trace.task, world, places(trace), ToyModel(world), Probe(3, seed=s))[0] for s in range(9)]
    assert any(other != others[0] for other in others), "another seed walks in another order"


def test_probes_at_once_give_the_same_labels() -> None:
    world = Toy(3, 4, 0.05)
    trace = toyed("uct", "t2", world)

    class Later:
        async def answer(self, request: Request) -> Answer:
            await asyncio.sleep(0)
            return ToyModel(world).answer(request)

    async def go() -> Any:
        return await by_probes_async(trace.task, world, places(trace), Later(), Probe(3), asyncio.Semaphore(7))

    assert asyncio.run(go()) == by_probes(trace.task, world, places(trace), ToyModel(world), Probe(3))


def test_where_nothing_legal_is_proposed_nobody_can_tell() -> None:
    world = Toy(3, 4, 0.0)
    place = places(toyed("uct", "t2", world))[0]
    asked = probing(Task("t2", None), world, place, Action("0", "0"), Probe(50))
    next(asked)
    end: Callable[[Answer], Any] = asked.send
    with pytest.raises(StopIteration) as stop:
        end(Answer("nothing"))
    assert stop.value.value == (None, 1)
    with pytest.raises(ValueError, match="a probe has a budget of 0 or more"):
        Probe(-1)


class Filtered(ToyModel):
    """Will not speak of one prompt."""

    def answer(self, request: Request) -> Answer:
        if request.prompt == UNSPOKEN:
            raise ModelFailure("filtered")
        return ToyModel.answer(self, request)


UNSPOKEN = ""


def test_where_the_model_will_not_answer_nobody_can_tell_and_all_else_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    world, probe = Toy(3, 4, 0.05), Probe(50)
    trace = toyed("uct", "t2", world)
    at = places(trace)
    whole, _ = by_probes(trace.task, world, at, ToyModel(world), probe)
    first = next(probing(trace.task, world, at[0], at[0].actions[0], probe))
    monkeypatch.setattr(sys.modules[__name__], "UNSPOKEN", first.prompt)

    class Later:
        async def answer(self, request: Request) -> Answer:
            await asyncio.sleep(0)
            return Filtered(world).answer(request)

    found, spent = by_probes(trace.task, world, at, Filtered(world), probe)
    later = by_probes_async(trace.task, world, at, Later(), probe, asyncio.Semaphore(7))
    assert asyncio.run(later) == (found, spent), "and the request that was not answered is counted"
    assert found[0][0] is None
    pairs = [(a, b) for one, two in zip(whole, found, strict=True) for a, b in zip(one, two, strict=True)]
    assert all(told in (None, exact) for exact, told in pairs)
    assert sum(told is not None for _, told in pairs) > len(pairs) / 2
    assert by_probes(trace.task, world, at[:1], Filtered(world), Probe(1))[1] == len(at[0].actions)


def test_probes_of_the_game_are_sound() -> None:
    """What a probe calls reachable is; and with all moves proposed, what it calls unreachable is not."""
    count = 0
    for hand in ("4 7 8 8", "3 3 8 8", "1 2 3 4"):
        trace = played("lats", hand, 40)
        model = simulated("game24", "clean", 0)
        found, _ = by_probes(trace.task, GAME, places(trace), model, Probe(40, width=40))
        for row, exact in zip(found, labels(trace, "oracle", GAME, trace.task), strict=True):
            assert all(p is not True or t for p, t in zip(row, exact, strict=True))
            count += sum(p is True for p in row)
    assert count > 10


def test_a_probe_walks_no_state_twice() -> None:
    """Blocksworld has 125 states of four blocks, so that a probe is done long before it has walked 2.3 ** 8 paths; and
    where everything possible is proposed, it knows what the oracle knows."""
    world, model = Blocksworld(8), simulated("blocksworld", "clean", 0, horizon=8)
    seen = set()
    for task in tasks("blocksworld", "generated:4", "test", 0, 4):
        trace = run(search(task, world, controller("uct"), budget=40), model)
        found, spent = by_probes(task, world, places(trace), model, Probe(1000))
        assert found == labels(trace, "oracle", world, task)
        assert spent < 8 * 125 * sum(map(len, found))
        seen |= {label for row in found for label in row}
    assert seen == {True, False}
