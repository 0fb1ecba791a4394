"""The report of a run: one self-contained page, from the record alone."""

from paccf.report.page.writing import html, write

__all__ = ["html", "write"]
