"""The sixty conditions (domain, budget, controller) behind every macro, and the macros as their means."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from paccf.published.figure import Printed, Span, mean
from paccf.published.rows import RawBinary, RawGta
from paccf.published.tables import Paper
from paccf.published.text import CONTROLLERS, DOMAINS, TEST_TASKS

RAW = {"Game24": "raw_game24", "Blocksworld": "raw_blocksworld", "GTA": "raw_gta"}

Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Cell:
    """One condition as printed in the raw tables; ``utility`` is in percentage points."""

    domain: str
    n_eff: int
    utility: Span
    delta: Printed  # the printed difference: solved tasks in Game24 and Blocksworld, points in GTA
    preq: Printed
    net_graph: Printed
    token: Printed
    tok_native: Printed
    tok_pac_cf: Printed

    def measure(self, name: str) -> Span:
        """``utility``, ``preq``, ``net_graph`` or ``token``."""
        if name == "utility":
            return self.utility
        figure: Printed = getattr(self, name)
        return figure.span


def conditions(paper: Paper) -> dict[Key, Cell]:
    """All conditions by (domain, budget, controller), in the order of the raw tables."""
    found: dict[Key, Cell] = {}
    for domain in ("Game24", "Blocksworld"):
        for row in paper.raw_game24 if domain == "Game24" else paper.raw_blocksworld:
            found[domain, row.budget, row.controller] = _binary(domain, row)
    for gta in paper.raw_gta:
        found["GTA", gta.budget, gta.controller] = _gta(gta)
    return found


def macro(
    cells: dict[Key, Cell],
    budget: str,
    measure: str,
    domains: Iterable[str] = DOMAINS,
    controllers: Iterable[str] = CONTROLLERS,
) -> Span:
    """The equal-weight mean over controllers, then over domains."""
    chosen = tuple(controllers)
    return mean(mean(cells[d, budget, c].measure(measure) for c in chosen) for d in domains)


def _binary(domain: str, row: RawBinary) -> Cell:
    gain = row.pac_cf_succ.count - row.native_succ.count
    points = Span.exact(Fraction(100 * gain, TEST_TASKS[domain]))
    return _cell(domain, row, row.delta_succ, points)


def _gta(row: RawGta) -> Cell:
    return _cell("GTA", row, row.delta_pp, (row.pac_cf_avg3.span - row.native_avg3.span).times(100))


def _cell(domain: str, row: RawBinary | RawGta, delta: Printed, utility: Span) -> Cell:
    return Cell(
        domain,
        row.n_eff.count,
        utility,
        delta,
        row.preq_pct,
        row.net_graph_pct,
        row.token_pct,
        row.tok_native_m,
        row.tok_pac_cf_m,
    )
