"""Who plays jobs: this process, its workers, or other machines. What is played is the same."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from paccf.experiment.work import Done, Job


class Halt(Exception):
    """The run cannot go on now; nothing is lost, and the same command continues it later."""


class Stop:
    """Somebody's wish that no new work be begun. What is in flight is finished."""

    def __init__(self) -> None:
        self.reason = ""

    @property
    def asked(self) -> bool:
        return bool(self.reason)

    def ask(self, reason: str) -> None:
        """The first reason stands."""
        self.reason = self.reason or reason


class Executor(Protocol):
    """Plays jobs in any order. It begins them in the order given as far as it can, and after a `Stop` begins none."""

    def play(self, jobs: Sequence[Job]) -> AsyncIterator[Done]:
        """Every job as it is done. Raises `Halt` if no further job can be played."""
        ...
