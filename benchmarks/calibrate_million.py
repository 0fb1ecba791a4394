"""What calibration costs beside the mere decoding of its log: 1,000,000 frontiers of 8 candidates, 10,000 tasks.

The logs are generated from a fixed seed into a temporary folder, and removed. Every step runs in a process of its
own, so that its peak resident memory is its own too; the file is in the page cache before the first step.

    python benchmarks/calibrate_million.py [--frontiers N] [--repeats N] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

from measure import Cell, Table, emit

CANDIDATES, PER_TASK, BLOCK = 8, 100, 20_000
KINDS = {
    "draws": "lists of R=4 integer observations",
    "means": "bare means (quarters of points)",
    "named": "lists of R=4, and the candidates' ids",
}


def generate(path: str, kind: str, frontiers: int) -> None:
    """Judges' scores from 0 to 100 around a quality; the better a candidate, the likelier it is protected. Four in
    ten frontiers have no protected candidate, and one in a hundred has an unscored one."""
    import msgspec
    import numpy as np

    random = np.random.default_rng(20261118)
    encode = msgspec.json.Encoder().encode
    with open(path, "wb") as file:
        for start in range(0, frontiers, BLOCK):
            size = min(BLOCK, frontiers - start)
            quality = random.uniform(20, 80, (size, CANDIDATES))
            draws = np.clip(np.rint(quality[:, :, None] + random.normal(0, 8, (size, CANDIDATES, 4))), 0, 100)
            scores = (draws.mean(axis=2) if kind == "means" else draws.astype(int)).tolist()
            chance = (quality - 20) / 120 * (random.random((size, 1)) < 0.62)
            protected = (random.random((size, CANDIDATES)) < chance).tolist()
            for i in np.flatnonzero(random.random(size) < 0.01):
                scores[i][int(random.integers(CANDIDATES))] = None
            for i in range(size):
                number = start + i
                frontier = {
                    "task": f"task-{number // PER_TASK:05d}",
                    "frontier": f"n{number % PER_TASK}",
                    "scores": scores[i],
                    "protected": protected[i],
                }
                if kind == "named":
                    frontier["candidates"] = [f"move {j} of node {number % PER_TASK}" for j in range(CANDIDATES)]
                file.write(encode(frontier) + b"\n")


def decode_json(path: str) -> None:
    with open(path, "rb") as file:
        for line in file:
            json.loads(line)


def decode_msgspec(path: str) -> None:
    import msgspec

    from paccf.record.frontier_log import Frontier

    decode = msgspec.json.Decoder(Frontier).decode
    with open(path, "rb") as file:
        for line in file:
            decode(line)


def read(path: str) -> None:
    from paccf.record.frontier_log import read_frontiers

    for _ in read_frontiers(path):
        pass


def calibrate(path: str) -> None:
    from paccf.method.certificate import Certificate
    from paccf.method.deficit import TaskDeficits
    from paccf.record.frontier_log import read_frontiers

    deficits = TaskDeficits()
    for f in read_frontiers(path):
        deficits.add(f.task, f.scores, f.protected, f.eligible, f.candidates)
    Certificate.freeze(deficits, "0.95")


STEPS: dict[str, tuple[str, Callable[[str], None]]] = {
    "json": ("json.loads, line by line", decode_json),
    "decode": ("(a) msgspec decode, line by line", decode_msgspec),
    "read": ("(b) read_frontiers", read),
    "calibrate": ("(c) read, TaskDeficits.add, Certificate.freeze", calibrate),
}


def run(step: str, path: str) -> None:
    """One step in this process: CPU seconds with its imports, and peak megabytes with the interpreter."""
    start = time.process_time()
    STEPS[step][1](path)
    spent = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps([spent, peak * (1 if sys.platform == "darwin" else 1024) / 2**20]))


def apart(*arguments: str) -> str:
    """The output of this script, run again on one step."""
    command = [sys.executable, os.path.abspath(__file__), *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def measure(kind: str, frontiers: int, repeats: int) -> Table:
    with tempfile.TemporaryDirectory(prefix="paccf-benchmark-") as folder:
        path = os.path.join(folder, "log.jsonl")
        apart("--generate", kind, "--frontiers", str(frontiers), "--path", path)
        size = os.path.getsize(path) / 2**20
        # rounds over all steps, so that a busy minute of the machine does not fall on one of them
        rounds = [{step: json.loads(apart("--step", step, "--path", path)) for step in STEPS} for _ in range(repeats)]
    cpu = {step: min(found[step][0] for found in rounds) for step in STEPS}
    rows: list[dict[str, Cell]] = [
        {
            "step": name,
            "CPU s": round(cpu[step], 2),
            "frontiers/s": round(frontiers / cpu[step]),
            "x decode": round(cpu[step] / cpu["decode"], 2),
            "peak MB": round(max(found[step][1] for found in rounds)),
        }
        for step, (name, _) in STEPS.items()
    ]
    tasks = -(-frontiers // PER_TASK)
    note = (
        f"{frontiers:,} frontiers x {CANDIDATES}, {tasks:,} tasks, {size:,.0f} MB; best of {repeats} processes a step."
    )
    return Table(f"Calibration, {KINDS[kind]}", note, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frontiers", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    for own in ("--generate", "--step", "--path"):
        parser.add_argument(own, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.generate:
        generate(given.path, given.generate, given.frontiers)
    elif given.step:
        run(given.step, given.path)
    else:
        emit([measure(kind, given.frontiers, given.repeats) for kind in KINDS], given.json)


if __name__ == "__main__":
    main()
