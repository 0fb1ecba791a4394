"""Randomness as a hash: the same words give the same number, on any machine, in any order."""

from __future__ import annotations

import math
from hashlib import blake2b

_SCALE = 2.0**-53


class Chance:
    """Numbers by (seed, words). `at` some words, all further ones come after those."""

    __slots__ = ("_hash",)

    def __init__(self, seed: int) -> None:
        self._hash = blake2b(f"{seed}\x1f".encode(), digest_size=16)

    def at(self, *words: object) -> Chance:
        """The chance of all that begins with ``words``."""
        made = Chance.__new__(Chance)
        made._hash = self._hash.copy()
        made._hash.update("".join(f"{word}\x1f" for word in words).encode())
        return made

    def two(self, words: str) -> tuple[float, float]:
        """Two independent numbers, uniform in [0, 1), 53 bits each, of one hash."""
        state = self._hash.copy()
        state.update(words.encode())
        number = int.from_bytes(state.digest(), "big")
        return (number >> 75) * _SCALE, ((number >> 11) & (2**53 - 1)) * _SCALE

    def uniform(self, words: str) -> float:
        """Uniform in [0, 1), 53 bits."""
        return self.two(words)[0]

    def normal(self, words: str) -> float:
        """Standard normal."""
        u, v = self.two(words)
        return math.sqrt(-2 * math.log(1 - u)) * math.cos(2 * math.pi * v)
