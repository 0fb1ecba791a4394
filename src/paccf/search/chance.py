"""Randomness without a stream: a number is the hash of what it is for.

So a draw does not depend on what was drawn before, on the arm, or on concurrency.
"""

from __future__ import annotations

import hashlib

_SEPARATOR = "\x1f"  # no id, key or purpose holds it


def chance(*parts: object) -> float:
    """A number in [0, 1), uniform over hashes of ``parts``."""
    digest = hashlib.blake2b(_SEPARATOR.join(map(str, parts)).encode(), digest_size=8).digest()
    return (int.from_bytes(digest, "big") >> 11) / (1 << 53)


def shuffled(count: int, *parts: object) -> list[int]:
    """A permutation of range(count), uniform over hashes of ``parts``."""
    order = list(range(count))
    if count < 2:
        return order
    text = _SEPARATOR.join(map(str, parts)).encode()
    pool = int.from_bytes(hashlib.shake_256(text).digest(2 * count + 16), "big")  # far more bits than log2(count!)
    for i in range(count - 1, 0, -1):
        pool, j = divmod(pool, i + 1)
        order[i], order[j] = order[j], order[i]
    return order
