"""The page of tables is what the registries say."""

from __future__ import annotations

from docs.tables_page import NEEDS, PAGE, page

from paccf.audit.tables import TABLES
from paccf.report.figures import FIGURES


def test_the_page_is_that_of_the_registries() -> None:
    assert PAGE.read_text() == page(), "write it again: python -m docs.tables_page"


def test_every_table_and_figure_is_on_it() -> None:
    text = PAGE.read_text()
    for name in TABLES:
        assert f"### `{name}`\n" in text
    for name, kind in FIGURES.items():
        assert f"### `{name}` (figure)\n" in text
        assert set(kind.pictures) <= set(TABLES), "a figure pictures tables"
    assert {need for _, _, need in TABLES.values()} <= set(NEEDS)
