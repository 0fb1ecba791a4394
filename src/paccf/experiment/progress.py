"""How far an experiment is: counts by cell, a rate, what was spent. It is told of every job and changes nothing."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence

from paccf.experiment.design import Cell
from paccf.experiment.work import Done, Job
from paccf.models.pace import Spent


class Progress:
    """The counts. The clock is for people only. ``planned`` is the money that `plan` expects, where prices are stated.
    Of a model that is waited for, ``wire`` is what goes over the wire now, and ``before`` what the folder had paid for
    when this process began."""

    def __init__(self, planned: float | None = None) -> None:
        self.planned = planned
        self.wire: Spent | None = None
        self.before = 0.0
        self.name = ""
        self.total: Counter[Cell] = Counter()
        self.ready: Counter[Cell] = Counter()
        self.ceiling = 0  # requests that this phase can still make, at most, when it began
        self.requests = self.probes = 0
        self.eligible = self.pruned = 0
        self.messages: list[str] = []
        self.began = time.monotonic()

    def phase(self, name: str, jobs: Sequence[Job], done: int) -> None:
        self.name, self.began = name, time.monotonic()
        self.total, self.ready = Counter(job.cell for job in jobs), Counter()
        self.ceiling = self.requests + sum(len(job.arms) * job.budgets[-1] for job in jobs)

    def done(self, done: Done) -> None:
        self.ready[done.job.cell] += 1
        self.probes += done.probes
        for search in done.searches:
            self.requests += search.outcome.costs.total
            if search.outcome.key.arm == "paccf":
                for f in search.frontiers:
                    self.eligible += sum(c.eligible for c in f.candidates)
                    self.pruned += sum(c.eligible and not c.kept for c in f.candidates)

    def say(self, text: str) -> None:
        self.messages.append(text)

    @property
    def rate(self) -> float:
        """Jobs a second in this phase."""
        return self.ready.total() / max(time.monotonic() - self.began, 1e-9)

    @property
    def left(self) -> float | None:
        """Seconds until this phase ends at this rate; `None` if nothing is known."""
        done = self.ready.total()
        return (self.total.total() - done) / self.rate if done else None

    def line(self) -> str:
        """One line for people."""
        done, total = self.ready.total(), self.total.total()
        parts = [f"{self.name} {done:,} of {total:,}", f"{self.rate:.1f}/s"]
        if self.left is not None:
            parts.append(f"{duration(self.left)} left")
        parts.append(f"{self.requests:,} requests of {self.ceiling:,} at most")
        if self.probes:
            parts.append(f"{self.probes:,} more of probes")
        if self.wire is not None:
            parts += _billed(self.wire, self.before, self.planned)
        if self.eligible:
            parts.append(f"{100 * self.pruned / self.eligible:.1f} % pruned")
        return ", ".join(parts)


def _billed(wire: Spent, before: float, planned: float | None) -> Iterator[str]:
    """What the provider was asked for and billed. A send that failed is sent again or ends its search."""
    yield f"{wire.answers:,} answered"
    if failed := wire.sends - wire.answers:
        yield f"{failed:,} sent in vain"
    if wire.cost is not None:
        of = "" if planned is None else f" of {planned:,.2f} planned"
        yield f"{before + wire.cost:,.2f} spent{of}"
        if wire.unknown:
            yield f"{wire.unknown:,} of unknown cost"


def duration(seconds: float) -> str:
    """Like ``1 h 05 min``, ``4 min 10 s`` or ``9 s``."""
    whole = round(seconds)
    if whole >= 3600:
        return f"{whole // 3600} h {whole % 3600 // 60:02} min"
    return f"{whole // 60} min {whole % 60:02} s" if whole >= 60 else f"{whole} s"
