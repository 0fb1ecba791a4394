"""One check: a printed figure beside what other printed figures make of it. And the five ways to make one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from paccf.published.figure import Printed, Span, Verdict, judge, same


@dataclass(frozen=True, slots=True)
class Where:
    """The printed figure in question. ``table`` is ``text`` for a figure of the running text."""

    table: str
    row: str
    column: str

    def __str__(self) -> str:
        return f"{self.table} / {self.row} / {self.column}"


@dataclass(frozen=True, slots=True)
class Check:
    """A verdict on one printed figure. ``explanation`` is filled for discrepancies that are known."""

    kind: str
    what: str
    where: Where
    printed: str
    recomputed: str
    verdict: Verdict
    span: Span | None = None
    explanation: str = ""

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What identifies the check: its kind and its place."""
        return (self.kind, self.where.table, self.where.row, self.where.column)


def determined(kind: str, what: str, where: Where, printed: Printed, recomputed: Span) -> Check:
    """A figure that others determine up to their rounding."""
    return Check(kind, what, where, printed.text, recomputed.decimal(), judge(printed, recomputed), recomputed)


def counted(kind: str, what: str, where: Where, printed: Printed, recomputed: int) -> Check:
    """A count that other counts determine: it is equal or it differs."""
    verdict = Verdict.AGREES if printed.value == recomputed else Verdict.DIFFERS
    return Check(kind, what, where, printed.text, str(recomputed), verdict, Span.exact(recomputed))


def repeated(kind: str, what: str, where: Where, printed: Printed, other: Printed) -> Check:
    """A quantity printed twice: equal, or the finer print rounds to the coarser one."""
    verdict = Verdict.AGREES if same(printed, other) else Verdict.DIFFERS
    return Check(kind, what, where, printed.text, other.text, verdict, other.span)


def stated(kind: str, what: str, where: Where, printed: str, found: str, holds: bool) -> Check:
    """A statement that printed figures decide."""
    return Check(kind, what, where, printed, found, Verdict.AGREES if holds else Verdict.DIFFERS)


def near(kind: str, what: str, where: Where, printed: Span, recomputed: Fraction, within: Fraction) -> Check:
    """A figure that others give only approximately: the ratio to 1 is held against a stated tolerance."""
    off = abs(printed.mid / recomputed - 1)
    found = f"{float(recomputed):.4f} (off by {float(off):.1%}, tolerance {float(within):.1%})"
    verdict = Verdict.AGREES if off <= within else Verdict.DIFFERS
    return Check(kind, what, where, f"{float(printed.mid):.4f}", found, verdict, Span.exact(recomputed))
