"""SIMULATED frontier logs under the standing assumption: value + persistent bounded bias + noise per draw.

For trying out calibration and gating where the truth is known. A task is a walk through a tree of which some
branches hold a solution (they are *protected*) and some do not. The walk goes down the best-scored branch,
now and then back to one left behind, and logs every frontier it scores. Below an unprotected branch nothing is
protected; below a protected one something always is.

Tasks are independent and identically distributed given the seed. Each has a difficulty, uniform on [0, 1]: a
harder task has fewer protected branches that stand out less, more bias, and a longer walk. Randomness is
keyed by (seed, task index) alone, so task 17 is the same in a log of 20 tasks, of a million, or started at 17.
NumPy only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from string import ascii_lowercase
from typing import Any

import numpy as np
from numpy.random import Generator, Philox
from numpy.typing import NDArray

from paccf.theory.arguments import count, not_negative, positive

CHILDREN = (2, 6)  # candidates per frontier, both ends included; with all below: ours
VALUE = (45.0, 14.0)  # points a branch without a solution is worth: mean, standard deviation
LEAD = (22.0, 10.0)  # what a protected branch is worth beyond that: in the easiest, in the hardest task
PROTECTED = (0.4, 0.1)  # chance of each branch of a live frontier to be protected, easiest and hardest
UNSOLVABLE = 0.08  # chance of a task with nothing protected anywhere
WALK = 2.0  # frontiers beyond the first: Poisson with mean WALK * (0.5 + difficulty), at most LONGEST
LONGEST = 12
RETURN = 0.2  # chance that a step goes back to a branch left behind


@dataclass(frozen=True)
class Evaluator:
    """Who scores: R ``repeats`` draws, |bias| <= ``bias`` per candidate, Gaussian ``noise`` per draw.

    Draws are rounded to multiples of ``lattice`` and kept on 0-100. Rounding and the ends of the scale add to
    the stated bias: at most lattice / 2, and more within a few points of 0 or 100.
    """

    repeats: int = 4  # the paper's R
    bias: float = 12.0  # L, in points
    noise: float = 4.0  # in points
    lattice: float = 1.0

    def __post_init__(self) -> None:
        count("repeats", self.repeats), not_negative("bias", self.bias), not_negative("noise", self.noise)
        for name in ("bias", "noise"):
            if getattr(self, name) > 1e6:
                raise ValueError(f"{name} is {getattr(self, name)}; give at most 1e6, the scale has 100 points")
        if not 1e-6 <= positive("lattice", self.lattice) <= 100:
            raise ValueError(
                f"lattice is {self.lattice}; give 1e-6 to 100: the finest digit that is read, the length of the scale"
            )


def simulate_frontiers(
    tasks: int, seed: int = 0, *, first: int = 0, evaluator: Evaluator | None = None
) -> Iterator[dict[str, Any]]:
    """Frontiers of tasks first, ..., first + tasks - 1, one plain dict each, in order; memory of one task.

    Each is {"task", "frontier", "depth", "candidates", "scores", "protected", "meta"}: the frontier's id is its
    path from the root, scores are R draws per candidate, protected is the truth, meta says SIMULATED. Refuses
    negative arguments, at once.
    """
    for name, value in (("tasks", tasks), ("seed", seed), ("first", first)):
        if not 0 <= value < 2**63:
            raise ValueError(f"{name} is {value}; give a whole number from 0 on")
    judge = evaluator or Evaluator()
    return (line for index in range(first, first + tasks) for line in _task(index, seed, judge))


@dataclass(frozen=True)
class _Branch:
    path: str
    depth: int
    alive: bool  # its subtree holds a solution


def _task(index: int, seed: int, judge: Evaluator) -> Iterator[dict[str, Any]]:
    rng = Generator(Philox(key=np.array([seed, index], np.uint64)))  # a keyed hash: no stream is shared
    difficulty, solvable, *steps = rng.random(2 + 2 * LONGEST).tolist()
    length = 1 + min(LONGEST - 1, int(rng.poisson(WALK * (0.5 + difficulty))))
    sizes = rng.integers(CHILDREN[0], CHILDREN[1] + 1, length).tolist()
    protected = _protected(rng, sizes, difficulty)
    scores = _draws(rng, protected.shape, difficulty, judge)
    cast = int if float(judge.lattice).is_integer() else float

    here = _Branch("0", 0, solvable >= UNSOLVABLE)
    behind: list[_Branch] = []
    for f, size in enumerate(sizes):
        mask = protected[f, :size].tolist() if here.alive else [False] * size
        rows = scores[f, np.arange(size), np.array(mask, int)].astype(cast).tolist()
        yield {
            "task": f"t-{index:04d}",
            "frontier": here.path,
            "depth": here.depth,
            "candidates": list(ascii_lowercase[:size]),
            "scores": rows,
            "protected": mask,
            "meta": {"source": "SIMULATED", "seed": seed},
        }
        below = [_Branch(f"{here.path}.{ascii_lowercase[c]}", here.depth + 1, mask[c]) for c in range(size)]
        top = below.pop(max(range(size), key=lambda c: sum(rows[c])))
        back = behind and steps[2 * f] < RETURN
        here = behind.pop(int(steps[2 * f + 1] * len(behind))) if back else top
        behind += [*below, top] if back else below


def _between(ends: tuple[float, float], difficulty: float) -> float:
    return ends[0] + (ends[1] - ends[0]) * difficulty


def _protected(rng: Generator, sizes: list[int], difficulty: float) -> NDArray[np.bool_]:
    """Which branches hold a solution, should their frontier be alive: always one at least among the first size."""
    mask = rng.random((len(sizes), CHILDREN[1])) < _between(PROTECTED, difficulty)
    sure = (rng.random(len(sizes)) * sizes).astype(int)
    mask[np.arange(len(sizes)), sure] = True
    return mask


def _draws(rng: Generator, shape: tuple[int, ...], difficulty: float, judge: Evaluator) -> NDArray[np.float64]:
    """Scores (frontier, candidate, 0 or 1 for protected, draw): both truths, of which the walk reads one."""
    value = VALUE[0] + VALUE[1] * rng.standard_normal(shape)
    bias = judge.bias * (0.4 + 0.6 * difficulty) * rng.uniform(-1, 1, shape)
    noise = judge.noise * rng.standard_normal((*shape, 1, judge.repeats))
    lead = np.array([0.0, _between(LEAD, difficulty)])
    score = (value + bias)[..., None, None] + lead[:, None] + noise
    top = math.floor(100 / judge.lattice)
    steps = np.clip(np.rint(score / judge.lattice), 0, top)
    return np.asarray(np.round(steps * judge.lattice, 6))
