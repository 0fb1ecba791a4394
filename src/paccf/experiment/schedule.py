"""In which order jobs are handed out, and to whom. The order decides how soon something is known, never what."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeVar

Item = TypeVar("Item")


def fair(groups: Iterable[Sequence[Item]]) -> list[Item]:
    """All items, every group at the same pace: after any share of the list, each group has had that share of its own,
    to within one. So what is done early stands for the whole."""
    ranked = [
        ((place + 1) / len(items), number, item)
        for number, items in enumerate(groups)
        for place, item in enumerate(items)
    ]
    ranked.sort(key=lambda entry: entry[:2])
    return [item for _, _, item in ranked]


class Shard(NamedTuple):
    """The ``number``-th of ``of`` machines, from 1."""

    number: int = 1
    of: int = 1

    def holds(self, place: int) -> bool:
        """Whether the task at this place of its list is this machine's, in all cells and arms alike."""
        return place % self.of == self.number - 1

    @property
    def whole(self) -> bool:
        return self.of == 1


def shard(text: str) -> Shard:
    """``2/4`` as a shard. Raises ValueError."""
    number, slash, count = text.partition("/")
    if slash and number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count) <= 10_000:
        return Shard(int(number), int(count))
    raise ValueError(f"{text!r:.40} is no shard: write 2/4 for the second of four machines")
