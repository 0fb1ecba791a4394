"""Where tasks come from. A source is a pool; the seed cuts it, so that calibration and test never share a task."""

from counting.oracle import reaches
from counting.world import task_of
from paccf.domains.sources import Finite, Source


def solvable(files, argument):
    pairs = [(a, b) for a in range(1, 13) for b in range(20, 100) if reaches(a, 6, b)]
    return Finite([task_of(f"{a} to {b}") for a, b in pairs])


SOURCES = {"generated": Source("numbers up to 12 to numbers below 100, where 6 steps are enough", solvable)}
