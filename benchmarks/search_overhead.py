"""What a search costs beside its model: CPU time and memory a node, our five controllers beside two libraries.

A trivial world (five actions a state, nothing is ever solved) with a trivial model, in one process. A node is a child
that was created. Ours pays for more at each of them: a budget check, a shuffled order, reading the answers, the
admission rule and the complete record of every frontier. The peers are called as their documentation does it.

    python benchmarks/search_overhead.py            # about a minute
    python benchmarks/search_overhead.py --nodes 500 20000 --json

TreeQuest and llm-reasoners are peers, not dependencies: a missing one is named in its row. llm-reasoners imports torch
and transformers for type names that a search does not use; where they are missing, empty modules stand in.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib
import importlib.metadata
import math
import signal
import statistics
import sys
import time
import tracemalloc
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from measure import Cell, Table, emit
from paccf.search.controllers import CONTROLLERS, controller
from paccf.search.driver import run, search
from paccf.search.effects import Channel
from paccf.search.scoring import Scoring
from paccf.search.tree import Action, Outcome, Task
from paccf.search.world import Answer, ModelFailure, Reading, Request

BRANCHING, HORIZON = 5, 8  # 488,280 nodes down to the horizon
ACTIONS = tuple(Action(str(i), str(i)) for i in range(BRANCHING))
CONFIGS: dict[str, dict[str, Any]] = {  # let them run: none of their own ends, no reflections
    "lats": {"trajectories": 10**9, "notes": 0},
    "tooltree": {"rollouts": 10**9, "patience": 10**9, "tau_pre": 0.0, "tau_post": 0.0},
}
PATIENCE = 10  # CPU seconds that one search may take; beyond it, the largest size that it managed is shown


def score(state: int, action: int) -> int:
    """0 to 100, without rhyme or reason."""
    return (state * 7919 + action * 104729) % 101


@dataclass(frozen=True, slots=True)
class Trivial:
    """States are numbered like the places of a heap, so every one is new."""

    horizon: int = HORIZON
    verified: bool = True
    name: str = "trivial"

    def start(self, task: Task) -> Outcome:
        return Outcome(0, 0)

    def execute(self, task: Task, state: int, action: Action) -> Outcome:
        new = state * BRANCHING + 1 + int(action.key)
        return Outcome(new, new)

    def utility(self, task: Task, actions: Sequence[Action]) -> float:
        return 0.0

    def solution(self, task: Task, actions: Sequence[Action]) -> str:
        return ""

    def propose(self, task: Task, state: int, k: int, notes: Sequence[str]) -> str:
        return str(state)

    def read_proposals(self, task: Task, state: int, text: str) -> Reading:
        return Reading(ACTIONS)

    def evaluate(
        self, task: Task, state: int, actions: Sequence[Action], channel: Channel, notes: Any, outcomes: Any
    ) -> str:
        return str(state)

    def read_scores(self, text: str, count: int) -> list[float | None]:
        return [float(word) for word in text.split()]

    def reflect(self, task: Task, actions: Sequence[Action]) -> str:
        return ""


class Until:
    """The trivial world's model, which fails for good after so many frontiers: a search of exactly that size."""

    name = "trivial"

    def __init__(self, frontiers: int) -> None:
        self.left = frontiers

    def answer(self, request: Request) -> Answer:
        about = request.subject
        if request.kind == "propose":
            if not self.left:
                raise ModelFailure("large enough")
            self.left -= 1
            return Answer("", 1, 1)
        return Answer(" ".join([str(score(about.state, int(a.key))) for a in about.actions]), 1, 1)


def ours(name: str, repeats: int) -> Callable[[int], object]:
    def grow(nodes: int) -> object:
        make = controller(name, **CONFIGS.get(name, {}))
        started = search(Task("t", None), Trivial(), make, budget=10**9, scoring=Scoring(repeats))
        trace = run(started, Until(nodes // BRANCHING))
        assert trace.bill.nodes == nodes
        return trace

    return grow


def treequest(way: str) -> Callable[[int], object]:
    from treequest import StandardMCTS  # type: ignore[import-untyped,unused-ignore]

    algorithm = StandardMCTS(samples_per_action=BRANCHING)

    def generate(parent: int | None) -> tuple[int, float]:
        state = 0 if parent is None else parent + 1
        return state, score(state, 0) / 100

    def grow(nodes: int) -> object:
        state = algorithm.init_tree()
        if way == "step":
            for _ in range(nodes):
                state = algorithm.step(state, {"a": generate})
        elif way == "step in place":
            for _ in range(nodes):
                state = algorithm.step(state, {"a": generate}, inplace=True)
        else:
            for _ in range(nodes // BRANCHING):
                state, trials = algorithm.ask_batch(state, BRANCHING, ["a"])
                for trial in trials:
                    state = algorithm.tell(state, trial.trial_id, generate(trial.parent_state))
        return state

    return grow


STUBS = (("torch", ""), ("transformers", "StoppingCriteriaList"))


def llm_reasoners() -> Any:
    """Its module of algorithms, with empty modules for what a search does not use and is not here."""
    for name, attribute in STUBS:
        try:
            __import__(name)
        except ModuleNotFoundError:
            sys.modules[name] = types.ModuleType(name)
            if attribute:
                setattr(sys.modules[name], attribute, object)
    return importlib.import_module("reasoners.algorithm")


def reasoners() -> tuple[dict[str, Callable[[int], object]], str]:
    """llm-reasoners' MCTS (greedy simulation, every iteration to the depth limit) in two ways, and what was stubbed.

    As it comes it adds the rewards of a path up. Beside such sums its exploration weight of 1 is too small for this
    world: it walks finished paths again and again. With their mean it explores.
    """
    MCTS = llm_reasoners().MCTS
    stubs = [name for name, _ in STUBS if sys.modules[name].__spec__ is None]

    class World:
        def init_state(self) -> int:
            return 0

        def step(self, state: int, action: int) -> tuple[int, dict[str, Any]]:
            return state * BRANCHING + 1 + action, {}

        def is_terminal(self, state: int) -> bool:
            return False

    class Config:
        created = 0

        def get_actions(self, state: int) -> range:
            self.created += BRANCHING
            if self.created > self.limit:
                raise _LargeEnough
            return range(BRANCHING)

        def fast_reward(self, state: int, action: int) -> tuple[float, dict[str, Any]]:
            return score(state, action) / 100, {}

        def reward(self, state: int, action: int, **_: Any) -> tuple[float, dict[str, Any]]:
            return score(state, action) / 100, {}

        def __init__(self, limit: int) -> None:
            self.limit = limit

    def grow(nodes: int, **settings: Any) -> object:
        algorithm = MCTS(depth_limit=HORIZON, n_iters=10**9, output_strategy="follow_max", **settings)
        with contextlib.suppress(_LargeEnough):
            algorithm(World(), Config(nodes))
        return algorithm.root

    ways = {"mean of rewards": partial(grow, cum_reward=statistics.fmean), "sum of rewards, its default": grow}
    return ways, f" ({' and '.join(stubs)} stubbed)" if stubs else ""


class _LargeEnough(Exception):
    pass


def seconds(grow: Callable[[int], object], nodes: int, times: int = 1) -> float:
    """CPU seconds of ``times`` searches one after the other, the collector as it is."""
    gc.collect()
    start = time.process_time()
    for _ in range(times):
        grow(nodes)
    return time.process_time() - start


def managed(grow: Callable[[int], object], nodes: int) -> bool:
    """Whether a search of that size ends within our patience. Nothing is timed here: while a process has a CPU timer
    its clock moves in steps of milliseconds."""
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    try:
        grow(nodes)
    except TimeoutError:
        return False
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return True


def impatient(*_: object) -> None:
    raise TimeoutError


def bytes_a_node(grow: Callable[[int], object], nodes: int) -> int:
    """What a finished search holds on to, tree and record."""
    gc.collect()
    tracemalloc.start()
    kept = grow(nodes)
    gc.collect()
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del kept
    return size // nodes


def row(name: str, grow: Callable[[int], object], small: int, large: int) -> dict[str, Cell]:
    """Small and large searches in turn, as many small ones as make up a large one: on a shared machine the best of
    many short runs would be quieter than one long run can be."""
    if not managed(grow, small):
        return missing(name, f"over {PATIENCE} s for {small:,} nodes")
    size = small
    for nodes in [*(n for n in (2000, 5000, 20_000) if small < n < large), large]:
        if not managed(grow, nodes):
            break
        size = nodes
    few, many, ratios = math.inf, math.inf, []
    for _ in range(1 if size < large else 5):
        times = max(1, size // small)
        short, long = seconds(grow, small, times) / times / small, seconds(grow, size) / size
        few, many = min(few, short), min(many, long)
        ratios.append(long / short)
    print(f"{name}: {few * 1e6:.1f} and {many * 1e6:.1f} µs a node at {small} and {size}", file=sys.stderr)
    return {
        "search": name,
        "µs a node, small": few * 1e6,
        "large is": size,
        "µs a node, large": many * 1e6,
        "large / small": statistics.median(ratios),
        "nodes/s, large": int(1 / many),
        "bytes a node": bytes_a_node(grow, size),
    }


def missing(name: str, why: str) -> dict[str, Cell]:
    return {
        "search": f"{name}: {why}",
        **dict.fromkeys(
            ("µs a node, small", "large is", "µs a node, large", "large / small", "nodes/s, large", "bytes a node")
        ),
    }


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    asked.add_argument("--nodes", type=int, nargs=2, default=(500, 50_000), metavar=("SMALL", "LARGE"))
    asked.add_argument("--json", action="store_true")
    options = asked.parse_args()
    signal.signal(signal.SIGPROF, impatient)
    small, large = (n // BRANCHING * BRANCHING for n in options.nodes)
    rows = [row(CONTROLLERS[name][2], ours(name, 1), small, large) for name in CONTROLLERS]
    rows += [row("UCT-MCTS, R=4", ours("uct", 4), small, large)]
    try:
        version = importlib.metadata.version("treequest")
        for way in ("ask_batch/tell", "step in place", "step"):
            rows.append(row(f"TreeQuest {version} MCTS, `{way}`", treequest(way), small, large))
    except (ImportError, importlib.metadata.PackageNotFoundError) as error:
        rows.append(missing("TreeQuest", f"not here ({error})"))
    try:
        ways, note = reasoners()
        version = importlib.metadata.version("llm-reasoners")
        rows += [row(f"llm-reasoners {version} MCTS, {way}{note}", grow, small, large) for way, grow in ways.items()]
    except (ImportError, importlib.metadata.PackageNotFoundError) as error:
        rows.append(missing("llm-reasoners", f"not here ({error})"))
    note = (
        f"CPU time, means over {small:,} and {large:,} nodes in turn, the best of five; the ratio is the median of the "
        f"five. A search that needs more than {PATIENCE} s is shown once, at the largest size that it managed."
    )
    emit([Table("Search overhead, branching 5, a trivial world and model", note, rows)], options.json)


if __name__ == "__main__":
    main()
