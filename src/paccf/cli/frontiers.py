"""Reading frontier logs for a command: progress, skipped lines, and what the log looked like."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import click

from paccf.cli.loudness import quiet
from paccf.cli.output import BadInput, clean
from paccf.method.deficit import Label, TaskDeficits
from paccf.method.scores import rounds
from paccf.record.frontier_log import CAVEATS, BadLine, Frontier, Skipped, caveats, read_frontiers

if TYPE_CHECKING:
    from paccf.method.scores import Score

_LOOKED_AT = 1000  # ours: the exposed frontiers whose scores are looked at for decimals that do not count

skip_bad = click.option(
    "--skip-bad", "skip", is_flag=True, help="Leave out lines that cannot be used, count and name them."
)


class Accumulates(Protocol):
    """What takes frontiers one by one: `TaskDeficits`, `Coverage`."""

    def add(
        self,
        task: str,
        scores: Sequence[Score],
        protected: Sequence[Label],
        eligible: Sequence[bool] | None = None,
        candidates: Sequence[str] | None = None,
    ) -> None: ...


@dataclass(slots=True)
class Found:
    """What a pass over the logs found, besides the sums of whoever accumulated it."""

    deficits: TaskDeficits
    skipped: Skipped = field(default_factory=Skipped)
    caveats: dict[str, None] = field(default_factory=dict)  # what the logs say of themselves
    rounded: bool = False  # among the first exposed frontiers is a bare score of more decimals than count

    def notes(self) -> list[str]:
        drawn = sorted({r or self.deficits.observations for r in self.deficits.draws})
        said = list(map(clean, self.caveats))
        if len(drawn) > 1:
            said.append(
                f"candidates have {', '.join(map(str, drawn))} observations; deficits of different R follow different "
                "laws, so log one R"
            )
        if self.rounded:
            r = self.deficits.observations
            what = f"are no means of {r} draws with six decimals" if r > 1 else "have more than six decimals"
            said.append(
                f"bare scores {what} and are rounded, so a candidate exactly at the margin may be dropped: calibrate "
                "with --observations R if each is the mean of R draws, else rescale them"
            )
        if self.skipped.count:
            said.append(f"{self.skipped.count} lines were left out: " + " | ".join(map(clean, self.skipped.first[:5])))
            if self.skipped.count > 5:
                said[-1] += f" | and {self.skipped.count - 5} more"
        return said

    def line(self) -> str:
        d = self.deficits
        text = (
            f"{d.tasks:,} tasks: {len(d.exposed):,} exposed ({d.unresolved:,} of them unresolved), "
            f"{d.missing:,} missing; {d.frontiers:,} frontiers, {d.exposed_frontiers:,} exposed"
        )
        if d.lost_at_eligibility:
            text += f", {d.lost_at_eligibility:,} lost their protected candidates at eligibility"
        return text


def read_all(logs: Sequence[str], found: Found, skip: bool, into: Accumulates | None = None) -> None:
    """Feed every frontier of every log to ``into`` (the deficits by default). Raises `BadInput`."""
    add = (into or found.deficits).add
    for f in follow(logs, found, skip):
        add(f.task, f.scores, f.protected, f.eligible, f.candidates)


def follow(logs: Sequence[str], found: Found, skip: bool) -> Iterator[Frontier]:
    """Every frontier of every log. Raises `BadInput`, also where ``found`` has seen no frontier in the end."""
    seen: set[int] = set()
    left = _LOOKED_AT
    for log in logs:
        try:
            for f in _progress(log, read_frontiers(log, found.skipped if skip else None, seen)):
                if f.meta is not None and CAVEATS in f.meta:
                    found.caveats |= dict.fromkeys(caveats(f))
                if left and True in f.protected:
                    found.rounded = found.rounded or rounds(f.scores, found.deficits.observations)
                    left -= 1
                yield f
        except BadLine as bad:
            raise BadInput(str(bad), "Nothing was written. --skip-bad leaves such lines out and counts them.") from None
        except OSError as error:
            raise BadInput(f"cannot read {log}: {error.strerror or error}") from None
    if not found.deficits.frontiers:
        where = "the logs hold" if len(logs) > 1 else f"{logs[0]} holds"
        raise BadInput(f"{where} no usable frontier; a log has one JSON object a line, see docs/frontier-log.md")


def _progress(name: str, frontiers: Iterator[Frontier]) -> Iterator[Frontier]:
    """Say on a terminal how far a long log is; silent in a pipe and for short ones."""
    if quiet() or not sys.stderr.isatty():
        return frontiers
    return _counted(name, frontiers)


def _counted(name: str, frontiers: Iterator[Frontier]) -> Iterator[Frontier]:
    start, count = time.monotonic(), 0
    for count, f in enumerate(frontiers, 1):
        if count & 0xFFFF == 0:
            rate = count / (time.monotonic() - start)
            click.echo(f"\r{clean(name)}: {count:,} frontiers, {rate:,.0f} a second", err=True, nl=False)
        yield f
    if count > 0xFFFF:
        click.echo("\r\033[K", err=True, nl=False)
