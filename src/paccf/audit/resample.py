"""The paired task bootstrap by simulation: ratios of totals, task identities shared by controllers, arms, quantities.

One resample is one vector of task weights, multinomial(n; 1/n, ...), and every quantity of a domain is a product with
it. Sums of counts are whole numbers below 2**53, so they are exact and the same on every machine.

Results depend on the seed alone. Resamples come in blocks of a fixed size, each with a random stream of its own named
by (seed, label, block), so that it does not matter how many are drawn at once or by how many threads.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Draws = NDArray[np.float32]

BLOCK = 2048  # ours: resamples a random stream; 1.6 MB of weights for 100 tasks stay in the cache

CONDITION = 200_000  # Bootstrap audit: resamples per condition
MACRO = 300_000  # Bootstrap audit: resamples of domain macros, and of three-domain and ToolTree summaries
GRID = 2.0**-40  # ours: fractional utilities are rounded to it (1e-12), so that their sums too are exact


@dataclass(frozen=True, slots=True)
class Interval:
    """A percentile interval. ``undefined`` resamples had nothing in their denominators and are in no percentile."""

    lo: float
    hi: float
    undefined: int = 0


def weights(stream: np.random.BitGenerator, resamples: int, n: int) -> Floats:
    """(resamples, n) counts: how often each of n tasks is drawn when n are drawn with replacement.

    Unbiased without a division a draw (Lemire 2019): a random word r of w bits becomes the task (r n) >> w, unless the
    low half of r n falls short of 2**w mod n. Words are 16 bits up to 65,535 tasks, else 32.
    """
    if n < 1:
        raise ValueError("a bootstrap needs at least one task")
    drawn = _draw(stream, resamples * n, n).reshape(resamples, n)
    places = np.add(drawn, (np.arange(resamples) * n)[:, None], dtype=np.intp)
    return np.bincount(places.ravel(), minlength=resamples * n).reshape(resamples, n).astype(np.float64)


def _draw(stream: np.random.BitGenerator, need: int, n: int) -> NDArray[Any]:
    """``need`` independent uniform tasks of n."""
    word, wide, bits = ("<u2", np.uint32, 16) if n < 1 << 16 else ("<u4", np.uint64, 32)
    refuse = ((1 << bits) - n) % n
    found: list[NDArray[Any]] = []
    while need > 0:
        words = need * bits // 64 + need // 400 + 64  # a little more than enough, most of the time
        product: NDArray[Any] = stream.random_raw(words).astype("<u8", copy=False).view(word).astype(wide)
        product *= n
        if refuse:
            low = product & ((1 << bits) - 1)
            if low.min() < refuse:
                product = product[low >= refuse]
        product >>= bits
        found.append(product[:need])
        need -= len(found[-1])
    return found[0] if len(found) == 1 else np.concatenate(found)


def stream(seed: int, label: str, block: int) -> np.random.BitGenerator:
    """The random stream of one block of resamples."""
    name = int.from_bytes(hashlib.sha256(f"{seed}\0{label}".encode()).digest()[:16], "big")
    return np.random.SFC64(np.random.SeedSequence(name, spawn_key=(block,)))


def blocks(resamples: int, width: int, statistic: Callable[[int, int], Floats], threads: int = 1) -> Draws:
    """(width, resamples) values of ``statistic(block, size)``, which returns (size, width), over all blocks. They are
    kept in single precision, some 1e-6 of a point, to need half the memory; they are computed in double."""
    found = np.empty((width, resamples), np.float32)
    starts = range(0, resamples, BLOCK)

    def fill(place: int) -> None:
        start = place * BLOCK
        size = min(BLOCK, resamples - start)
        found[:, start : start + size] = statistic(place, size).T

    if threads <= 1:
        for place in range(len(starts)):
            fill(place)
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(fill, range(len(starts))))
    return found


def percentiles(values: Draws, level: float = 0.95) -> Interval | None:
    """The percentile interval of one row (linear interpolation), NaN left out; `None` if there is nothing else."""
    undefined = 0
    if np.isnan(values.sum()):
        defined = values[~np.isnan(values)]
        undefined = len(values) - len(defined)
        values = defined
    if not len(values):
        return None
    tail, last = (1 - level) / 2, len(values) - 1
    ends = []
    for place in (tail * last, (1 - tail) * last):
        at = int(place)
        part = np.partition(values, [at, min(at + 1, last)])
        low, high = float(part[at]), float(part[min(at + 1, last)])
        ends.append(round(low + (high - low) * (place - at), 6))
    return Interval(ends[0], ends[1], undefined)


def intervals(draws: Draws, level: float = 0.95, threads: int = 1) -> list[Interval | None]:
    """The percentile interval of every row."""
    if threads <= 1:
        return [percentiles(row, level) for row in draws]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda row: percentiles(row, level), draws))


@dataclass(frozen=True)
class Cluster:
    """One domain to resample: quantities over shared task identities.

    ``native`` and ``paccf`` are (controllers, quantities, tasks) totals to take ratios of, with zeros for pairs that
    are not in the cohort of that quantity; ``gain`` is (controllers, gains, tasks), differences to take means of.
    """

    name: str
    native: Floats
    paccf: Floats
    gain: Floats

    def draws(self, seed: int, block: int, size: int) -> tuple[Floats, Floats]:
        """(size, controllers, gains) mean gains in points and (size, controllers, quantities) reductions in percent,
        NaN where a Native total is zero."""
        controllers, quantities, n = self.native.shape
        rows = [self.native.reshape(-1, n), self.paccf.reshape(-1, n), 100 * self.gain.reshape(-1, n)]
        totals = weights(stream(seed, self.name, block), size, n) @ np.concatenate(rows).T
        width = controllers * quantities
        reductions = _reduction(totals[:, :width], totals[:, width : 2 * width])
        gains = totals[:, 2 * width :] / n
        return gains.reshape(size, controllers, -1), reductions.reshape(size, controllers, quantities)


def _reduction(native: Floats, paccf: Floats) -> Floats:
    """100 (1 - PAC-CF / Native); NaN over zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = paccf / native
    if native.min(initial=1) <= 0:
        ratio[native <= 0] = np.nan
    ratio *= -100
    ratio += 100
    return ratio


def mean_defined(values: Floats, axis: int) -> Floats:
    """The mean over what is not NaN; NaN where nothing is."""
    if not np.isnan(values.sum()):
        return np.asarray(values.mean(axis=axis))
    there = ~np.isnan(values)
    count = there.sum(axis=axis)
    total = np.where(there, values, 0).sum(axis=axis)
    return np.asarray(np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0))


def macro_draws(
    clusters: Sequence[Cluster],
    groups: Sequence[Sequence[Sequence[int]]],
    seed: int,
    resamples: int = MACRO,
    threads: int = 1,
) -> Draws:
    """Resampled macros, one row each: for every domain the macro of ``groups[0]``, then for every group the mean over
    domains. ``groups[g][d]`` are the controllers of domain d in group g; the rows of a macro are its gains, then its
    reductions. Domains are resampled independently of each other."""
    one = clusters[0]
    rows = one.gain.shape[1] + one.native.shape[1]

    def statistic(block: int, size: int) -> Floats:
        parts = [cluster.draws(seed, block, size) for cluster in clusters]
        found: list[Floats] = []
        for place, group in enumerate(groups):
            macros = [
                np.concatenate([mean_defined(part[:, list(chosen)], 1) for part in both], axis=1)
                for both, chosen in zip(parts, group, strict=True)
                if len(chosen)
            ]
            if not place:
                found = macros
            found = [*found, mean_defined(np.stack(macros), 0)]
        return np.concatenate(found, axis=1)

    return blocks(resamples, rows * (len(clusters) + len(groups)), statistic, threads)
