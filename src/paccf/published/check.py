"""All checks of the printed paper, and the report on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from paccf.published import audits, calibration, gross, intervals, macros, raw
from paccf.published.figure import Verdict
from paccf.published.finding import Check, Where, stated
from paccf.published.known import KNOWN
from paccf.published.tables import Paper, load

Topic = Callable[[Paper], Iterator[Check]]

TOPICS: tuple[Topic, ...] = (
    calibration.ranks,
    calibration.pools,
    calibration.exposure,
    raw.utilities,
    raw.cohorts,
    raw.tokens,
    raw.per_backbone,
    raw.per_condition,
    macros.domains,
    macros.three_domains,
    macros.tooltree,
    macros.without_tooltree,
    macros.all_task_reading,
    macros.cohort,
    macros.running_text,
    gross.rows,
    gross.macros,
    gross.cohorts,
    intervals.points,
    intervals.binary,
    intervals.half_widths,
    intervals.resolved,
    audits.native_coverage,
    audits.thresholds,
    audits.adaptive,
    audits.case,
    audits.controlled,
    audits.header,
    audits.configuration,
    audits.sensitivity,
)


@dataclass(frozen=True, slots=True)
class Report:
    """Every check, in the order of ``TOPICS``; known discrepancies carry their explanation."""

    checks: tuple[Check, ...]

    def having(self, verdict: Verdict) -> list[Check]:
        return [c for c in self.checks if c.verdict is verdict]

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """kind -> verdict -> how many."""
        tally = Counter((c.kind, c.verdict) for c in self.checks)
        kinds = dict.fromkeys(c.kind for c in self.checks)
        return {kind: {v.value: tally[kind, v] for v in Verdict} for kind in kinds}

    @property
    def unexpected(self) -> list[Check]:
        """Discrepancies that are not the paper's known ones."""
        return [c for c in self.having(Verdict.DIFFERS) if not _known(c)]

    @property
    def vanished(self) -> list[tuple[str, str, str, str]]:
        """Known discrepancies that no longer appear as they were."""
        seen = {c.key for c in self.having(Verdict.DIFFERS) if _known(c)}
        return [key for key in KNOWN if key not in seen]

    @property
    def ok(self) -> bool:
        """Exactly the known discrepancies, no more and no fewer."""
        return not self.unexpected and not self.vanished


def check(paper: Paper | None = None) -> Report:
    """Recompute every figure that other printed figures determine. LookupError if a row is missing."""
    found = [c for topic in TOPICS for c in run(topic, paper or load())]
    return Report(tuple(_explained(c) for c in found))


def run(topic: Topic, paper: Paper) -> Iterator[Check]:
    """The checks of one topic. Figures that make no sense (0 exposed tasks, half a task) end it with a ``differs``."""
    try:
        yield from topic(paper)
    except (ValueError, ZeroDivisionError) as e:
        name = f"{topic.__module__.rpartition('.')[2]}.{topic.__name__}"
        at = Where("all", name, "figures")
        yield stated("possible", "figures that can be computed with", at, "as printed", str(e), False)


def _known(found: Check) -> bool:
    known = KNOWN.get(found.key)
    return known is not None and known.printed == found.printed


def _explained(found: Check) -> Check:
    if found.verdict is not Verdict.DIFFERS or not _known(found):
        return found
    return replace(found, explanation=KNOWN[found.key].explanation)
