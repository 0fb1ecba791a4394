"""What a decision of the gate costs: one frontier at a time, millions at once, and the import.

Beside the two things people write instead, a Python loop and a NumPy expression over floats; and on how many
frontiers that float expression decides otherwise than the exact one.

    python benchmarks/gate_decision.py [--frontiers N] [--repeats N] [--json]
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from measure import Cell, Table, best, emit, per_call

CANDIDATES, MARGIN = 8, 30
Row = dict[str, Cell]


def gate() -> Any:
    """A gate of margin 30, from a certificate of 20 tasks with that deficit."""
    from paccf import Gate
    from paccf.method.certificate import Certificate
    from paccf.method.deficit import TaskDeficits

    deficits = TaskDeficits()
    for task in range(20):
        deficits.add(f"task-{task}", [MARGIN, 0], [False, True])
    return Gate(Certificate.freeze(deficits, "0.95", observations=4))


def kinds() -> dict[str, list[list[Any]]]:
    """A thousand frontiers of each kind, so that no branch is learned by heart."""
    draw = random.Random(20261118)
    one = [[round(draw.uniform(0, 100), 2) for _ in range(CANDIDATES)] for _ in range(1000)]
    return {
        "floats": one,
        "ints": [[draw.randint(0, 100) for _ in range(CANDIDATES)] for _ in range(1000)],
        "floats, one exactly at the margin": [[100.0, 70.0, *f[2:]] for f in one],
        "lists of 4 observations": [
            [[draw.randint(0, 100) for _ in range(4)] for _ in range(CANDIDATES)] for _ in range(1000)
        ],
        "floats, one unscored": [[*f[:5], None, *f[6:]] for f in one],
    }


def loop(scores: Sequence[float]) -> list[int]:
    """What one writes by hand."""
    top = max(scores)
    return [i for i, s in enumerate(scores) if top - s <= MARGIN]


def one_at_a_time(repeats: int) -> Table:
    keep = gate().keep

    def cost(call: Callable[[Any], object], frontiers: list[list[Any]]) -> float:
        turn = itertools.cycle(frontiers).__next__
        return (per_call(lambda: call(turn()), repeats) - per_call(turn, repeats)) * 1e6

    rows: list[Row] = [{"scores": k, "us a decision": round(cost(keep, f), 2)} for k, f in kinds().items()]
    by_hand = {"scores": "floats, loop by hand (not exact)", "us a decision": round(cost(loop, kinds()["floats"]), 2)}
    note = f"Gate.keep on {CANDIDATES} candidates, CPU microseconds, best of {repeats}."
    return Table("One frontier", note, [*rows, by_hand])


def block(frontiers: int) -> Any:
    """One-decimal scores, made piece by piece: a peak of the making would hide the peak of the deciding."""
    import numpy as np

    random = np.random.default_rng(20261118)
    scores = np.empty((frontiers, CANDIDATES))
    for start in range(0, frontiers, 10_000):
        rows = scores[start : start + 10_000]
        rows[:] = np.round(random.uniform(0, 100, rows.shape), 1)
    return scores


def exact_block(scores: Any) -> object:
    from paccf.method.admission import ScoreGap

    return ScoreGap(MARGIN).keep_many(scores)


def float_block(scores: Any) -> object:
    return scores.max(axis=1, keepdims=True) - scores <= MARGIN


def loop_block(scores: Any) -> object:
    return [loop(row) for row in scores.tolist()]


def keep_block(scores: Any) -> object:
    keep = gate().keep
    return [keep(row) for row in scores.tolist()]


WAYS: dict[str, tuple[str, Callable[[Any], object], int]] = {  # the last: on which part of the frontiers
    "many": ("ScoreGap.keep_many (exact)", exact_block, 1),
    "float": ("NumPy over floats (not exact)", float_block, 1),
    "keep": ("Gate.keep in a loop (exact)", keep_block, 20),
    "loop": ("Python loop by hand (not exact)", loop_block, 20),
}


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 2**20


def run(way: str, frontiers: int, repeats: int) -> None:
    """One way in this process: CPU seconds, and how far the peak rises above what holds the scores."""
    scores = block(frontiers)
    before = peak()
    print(json.dumps([best(lambda: WAYS[way][1](scores), repeats), peak() - before]))


def many_at_once(frontiers: int, repeats: int) -> Table:
    rows: list[Row] = []
    for way, (name, _, part) in WAYS.items():
        size = frontiers // part
        command = [sys.executable, os.path.abspath(__file__), "--way", way, "--frontiers", str(size)]
        command += ["--repeats", str(repeats)]
        seconds, rise = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        rate: Row = {"way": name, "frontiers": size, "CPU s": round(seconds, 2), "frontiers/s": round(size / seconds)}
        rows.append({**rate, "MB above the scores": round(rise) if part == 1 else None})
    note = f"{frontiers:,} frontiers x {CANDIDATES} in float64 ({frontiers * CANDIDATES * 8 / 2**20:,.0f} MB); "
    return Table("Many frontiers", note + f"every way in its own process, best of {repeats}.", rows)


def float_errors(frontiers: int) -> Table:
    """How often ``top - mean <= margin`` in floats decides otherwise, on scores from 0 to 10."""
    import numpy as np

    from paccf.method.admission import ScoreGap

    random = np.random.default_rng(20261118)
    rows: list[Row] = []
    for name, step, repeats, margin, bound in [
        ("one-decimal scores, R=1", 0.1, 1, "2.7", 2.7),
        ("one-decimal scores, R=3", 0.1, 3, "0", 0.0),
        ("one-decimal scores, R=3", 0.1, 3, "2.7", 2.7),
        ("whole scores, R=3", 1, 3, "10/3", 10 / 3),
        ("whole scores, R=4", 1, 4, "2.75", 2.75),
    ]:
        whole = random.integers(0, round(10 / step) + 1, (frontiers, CANDIDATES, repeats))
        draws = whole / 10 if step == 0.1 else whole.astype(float)
        means = draws.mean(axis=2)
        gap = whole.sum(axis=2).max(axis=1, keepdims=True) - whole.sum(axis=2)
        rule = ScoreGap(margin)
        at = gap == round(bound * repeats / step)  # exactly at the margin; at 0 the best itself is no such case
        touched = (at.sum(axis=1) > (1 if margin == "0" else 0)).sum()
        kept, near = rule.keep_many(draws), means.max(axis=1, keepdims=True) - means <= bound
        wrong = (kept != near).any(axis=1).sum()
        shares = {"of all": f"{wrong / frontiers:.2%}", "of those at the margin": f"{wrong / touched:.1%}"}
        lost = int((kept & ~near).sum())
        row: Row = {"scores": name, "margin": margin, "frontiers": frontiers, "at the margin": int(touched)}
        rows.append(
            {**row, "decided otherwise": int(wrong), **shares, "dropped": lost, "added": int((near & ~kept).sum())}
        )
    note = f"{CANDIDATES} candidates, scores uniform on their lattice from 0 to 10; dropped and added are candidates."
    return Table("Where floats decide otherwise than the exact rule", note, rows)


def imports(repeats: int = 20) -> Table:
    """Median CPU and wall milliseconds of new interpreters, less the empty one."""
    cases = {
        "empty interpreter": ["-c", "pass"],
        "from paccf import Gate": ["-c", "from paccf import Gate"],
        "import numpy": ["-c", "import numpy"],
        "paccf --help": ["-c", "from paccf.cli import main; main()", "--help"],
    }
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in cases}
    for _ in range(repeats):
        for name, arguments in cases.items():
            before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
            subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
            wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            times[name].append((cpu * 1e3, wall * 1e3))
    cpu0, wall0 = (statistics.median(x) for x in zip(*times["empty interpreter"], strict=True))
    rows: list[Row] = []
    for name, found in times.items():
        cpu, wall = (statistics.median(x) for x in zip(*found, strict=True))
        row: Row = {"process": name, "CPU ms": round(cpu, 1), "wall ms": round(wall, 1)}
        rows.append({**row, "CPU ms over empty": round(cpu - cpu0, 1), "wall ms over empty": round(wall - wall0, 1)})
    return Table("Start", f"Median of {repeats} new processes each, taken in turn.", rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frontiers", type=int, default=4_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--way", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.way:
        run(given.way, given.frontiers, given.repeats)
        return
    many = many_at_once(given.frontiers, given.repeats)  # first: its processes inherit this one's peak memory
    errors = float_errors(min(1_000_000, given.frontiers))
    emit([one_at_a_time(given.repeats), many, errors, imports()], given.json)


if __name__ == "__main__":
    main()
