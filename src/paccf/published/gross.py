"""Checks of the gross subtree tables: cohorts, macros, and the columns they share with other tables."""

from __future__ import annotations

from collections.abc import Iterator

from paccf.published.cells import conditions
from paccf.published.figure import Printed, mean
from paccf.published.finding import Check, Where, counted, determined, repeated
from paccf.published.tables import Paper
from paccf.published.text import CONTROLLERS

COLUMNS = ("physical_nodes_pct", "net_graph_pct", "matched_roots_pct")


def rows(paper: Paper) -> Iterator[Check]:
    """Cohort and net graph reduction of a controller at B500, as in the raw tables."""
    cells = conditions(paper)
    for row in paper.gross_subtree_main:
        if row.controller == "Macro" or row.n_eff is None:
            continue
        cell = cells[row.domain, "B500", row.controller]
        name = f"{row.domain} {row.controller}"
        at = Where("gross_subtree_main", name, "n_eff")
        yield counted("gross row", "N_eff as in the raw table", at, row.n_eff, cell.n_eff)
        at = Where("gross_subtree_main", name, "net_graph_pct")
        yield repeated("gross row", "as in the raw table", at, row.net_graph_pct, cell.net_graph)


def macros(paper: Paper) -> Iterator[Check]:
    """The B500 macro rows are means of their five controllers and agree with the other tables."""
    for domain in ("Game24", "Blocksworld"):
        total = paper.gross_subtree_main.find(domain=domain, controller="Macro")
        parts = [paper.gross_subtree_main.find(domain=domain, controller=c) for c in CONTROLLERS]
        for column in COLUMNS:
            figures: list[Printed] = [getattr(part, column) for part in parts]
            at = Where("gross_subtree_main", f"{domain} Macro", column)
            got = mean(figure.span for figure in figures)
            yield determined("gross macro", "mean of the five controllers", at, getattr(total, column), got)
        every = paper.gross_all_budgets.find(domain=domain, budget="B500").gross_physical_nodes_pct
        at = Where("gross_all_budgets", f"{domain} B500", "gross_physical_nodes_pct")
        got = mean(part.physical_nodes_pct.span for part in parts)
        yield determined("gross macro", "mean of the five controllers", at, every, got)
        yield repeated("gross reprint", "as in the B500 table", at, every, total.physical_nodes_pct)
        main = paper.macro_main.find(domain=domain, budget="B500").net_graph_reduction_pct
        at = Where("gross_subtree_main", f"{domain} Macro", "net_graph_pct")
        yield repeated("gross reprint", "as in the main table", at, total.net_graph_pct, main)


def cohorts(paper: Paper) -> Iterator[Check]:
    """N_eff of a domain and budget is the sum over controllers."""
    cells = conditions(paper)
    for row in paper.gross_all_budgets:
        kept = sum(cells[row.domain, row.budget, c].n_eff for c in CONTROLLERS)
        at = Where("gross_all_budgets", f"{row.domain} {row.budget}", "n_eff")
        yield counted("gross cohort", "sum of N_eff over the controllers", at, row.n_eff, kept)
