"""Tables of the audit as text, Markdown, LaTeX, CSV and JSON.

Text, Markdown and LaTeX show rounded figures, CSV and JSON the full ones. With ``beside_paper`` a column that the
paper prints has the printed figures in a column of their own right after it, digit for digit.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from typing import Literal

from paccf.audit.resample import Interval
from paccf.audit.tables.table import Column, Table, Value, written
from paccf.record.foreign import clean

Format = Literal["text", "md", "tex", "csv", "json"]
FORMATS: tuple[Format, ...] = ("text", "md", "tex", "csv", "json")

SIMULATED = "SIMULATED: the model of this run was simulated; its figures say nothing about a real one."
PAGE = 40  # ours: rows of a LaTeX table from which it runs over pages
WIDE = 40  # ours: characters of a cell from which its LaTeX column wraps


def render(table: Table, form: Format = "text", beside_paper: bool = False, fragment: bool = False) -> str:
    """The table in a format. ``fragment`` leaves out the document around a LaTeX table, for ``\\input``."""
    shown = _Shown(table, beside_paper)
    if form == "tex":
        return _tex(shown, fragment)
    makers: dict[str, Callable[[_Shown], str]] = {"text": _text, "md": _markdown, "csv": _csv, "json": _json}
    return makers[form](shown)


def texts(table: Table) -> tuple[list[list[str]], list[bool]]:
    """The cells as text, row by row, units included and foreign text written out; and which columns are words."""
    found = _Shown(table, False)
    return found.text(), found.left()


class _Shown:
    """A table with the paper's columns put in."""

    def __init__(self, table: Table, beside_paper: bool) -> None:
        self.table = table
        printed = {(p.row, p.column): p.text for p in table.printed} if beside_paper else {}
        theirs = {column for _, column in printed}
        self.columns: list[tuple[Column, bool]] = []
        for column in table.columns:
            self.columns.append((column, False))
            if column.key in theirs:
                self.columns.append((Column(f"{column.key}_paper", "paper"), True))
        self.rows: list[list[Value]] = []
        for place, row in enumerate(table.rows):
            cells: list[Value] = []
            for column, value in zip(table.columns, row, strict=True):
                cells.append(value)
                if column.key in theirs:
                    cells.append(printed.get((place, column.key), ""))
            self.rows.append(cells)

    def text(self) -> list[list[str]]:
        """The cells as shown, units included, foreign text written out."""
        return [[_cell(v, column) for (column, _), v in zip(self.columns, row, strict=True)] for row in self.rows]

    def left(self) -> list[bool]:
        """Which columns are words."""
        return [
            not paper and all(isinstance(row[i], str) or row[i] is None for row in self.rows)
            for i, (_, paper) in enumerate(self.columns)
        ]


def _cell(value: Value, column: Column) -> str:
    text = clean(written(value, column))
    number = isinstance(value, (int, float)) and column.unit == "%"
    return f"{text}%" if number else text


def _heading(table: Table) -> str:
    return f"{clean(table.title)} [{table.name}]"


def _text(shown: _Shown) -> str:
    table = shown.table
    heads = [column.head for column, _ in shown.columns]
    cells, left = shown.text(), shown.left()
    widths = [max(len(line[i]) for line in (heads, *cells)) for i in range(len(heads))]

    def line(parts: Sequence[str]) -> str:
        padded = (p.ljust(w) if words else p.rjust(w) for p, w, words in zip(parts, widths, left, strict=True))
        return "  ".join(padded).rstrip()

    rule = "  ".join("-" * w for w in widths)
    lines = [_heading(table), *([SIMULATED] if table.simulated else ()), "", line(heads), rule]
    for place, row in enumerate(cells):
        if place and place in table.breaks:
            lines.append("")
        lines.append(line(row))
    return "\n".join([*lines, "", *_below(table)])


def _below(table: Table) -> list[str]:
    counts = ", ".join(f"{n:,} {what}" for what, n in table.source.counts.items())
    lines = [f"Note: {clean(note)}." for note in (*table.caveats, *table.notes)]
    return [
        *lines,
        f"From: {clean(table.source.query)}.",
        f"Record: {clean(table.of)}" + (f"; {counts}" if counts else ""),
    ]


def _markdown(shown: _Shown) -> str:
    table = shown.table

    def line(parts: Sequence[str]) -> str:
        return "| " + " | ".join(_marked(p) for p in parts) + " |"

    heads = [column.head for column, _ in shown.columns]
    marks = ["---" if words else "---:" for words in shown.left()]
    lines = [f"**{_marked(_heading(table))}**", ""]
    if table.simulated:
        lines += [f"*{SIMULATED}*", ""]
    lines += [line(heads), "| " + " | ".join(marks) + " |", *(line(row) for row in shown.text()), ""]
    return "\n".join([*lines, *(f"- {_marked(text)}" for text in _below(table))])


def _marked(text: str) -> str:
    """Text without a meaning in Markdown or HTML."""
    for sign in "\\`*_{}[]<>|#":
        text = text.replace(sign, "\\" + sign)
    return text.replace("&", "&amp;")


_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "Δ": r"$\Delta$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
}


def _latex(text: str) -> str:
    """Text without a meaning in LaTeX; characters that a plain font lacks are written as their code."""
    return "".join(_LATEX.get(c) or (c if c.isascii() else f"[U+{ord(c):04X}]") for c in text)


_DOCUMENT = r"""\documentclass{article}
\usepackage[a4paper,landscape,margin=15mm]{geometry}
\usepackage[T1]{fontenc}
\usepackage{booktabs,graphicx,longtable}
\begin{document}
%s
\end{document}
"""


def _tex(shown: _Shown, fragment: bool) -> str:
    table = shown.table
    cells = shown.text()
    kinds = []
    for i, words in enumerate(shown.left()):
        long = max((len(row[i]) for row in cells), default=0) > WIDE
        kinds.append("p{0.35\\linewidth}" if long else "l" if words else "r")
    head = " & ".join(_latex(column.head) for column, _ in shown.columns) + r" \\"
    body = []
    for place, row in enumerate(cells):
        if place and place in table.breaks:
            body.append(r"\midrule")
        body.append(" & ".join(map(_latex, row)) + r" \\")
    caption = _latex(clean(table.title)) + "." + (" " + _latex(SIMULATED) if table.simulated else "")
    notes = " ".join(_latex(line) for line in _below(table))
    many = len(cells) > PAGE
    parts = (_long if many else _short)("".join(kinds), head, body, caption, table.name, notes)
    text = "\n".join(parts)
    return f"% needs booktabs, {'longtable' if many else 'graphicx'}\n{text}\n" if fragment else _DOCUMENT % text


def _short(kinds: str, head: str, body: list[str], caption: str, name: str, notes: str) -> list[str]:
    """One that fits a page, shrunk to the line if it is wider."""
    return [
        r"\begin{table}[ht]",
        r"\centering\small",
        rf"\caption{{{caption}}}\label{{tab:{name}}}",
        r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
        rf"\begin{{tabular}}{{{kinds}}}",
        r"\toprule",
        head,
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}}",
        rf"\par\smallskip\parbox{{0.95\linewidth}}{{\scriptsize {notes}}}",
        r"\end{table}",
    ]


def _long(kinds: str, head: str, body: list[str], caption: str, name: str, notes: str) -> list[str]:
    """One that runs over pages."""
    return [
        r"{\scriptsize\setlength{\tabcolsep}{3pt}",
        rf"\begin{{longtable}}{{{kinds}}}",
        rf"\caption{{{caption}}}\label{{tab:{name}}}\\",
        r"\toprule",
        head,
        r"\midrule",
        r"\endfirsthead",
        r"\toprule",
        head,
        r"\midrule",
        r"\endhead",
        r"\bottomrule",
        r"\endfoot",
        *body,
        r"\end{longtable}",
        rf"\noindent\parbox{{0.95\linewidth}}{{{notes}}}}}",
    ]


def _csv(shown: _Shown) -> str:
    """Full figures, one row a row; an interval is two columns. Text that a spreadsheet would run is quoted."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    wide = [any(isinstance(row[i], Interval) for row in shown.rows) for i in range(len(shown.columns))]
    heads: list[str] = []
    for (column, _), two in zip(shown.columns, wide, strict=True):
        heads += [f"{column.key}_lo", f"{column.key}_hi"] if two else [column.key]
    said = {"simulated": "SIMULATED"} if shown.table.simulated else {}
    if shown.table.caveats:
        said["caveats"] = _quoted("; ".join(shown.table.caveats))
    writer.writerow([*heads, *said])
    for row in shown.rows:
        cells: list[object] = []
        for value, two in zip(row, wide, strict=True):
            if isinstance(value, Interval):
                cells += [value.lo, value.hi]
            elif two:
                cells += ["", ""]
            else:
                cells.append(_quoted(value) if isinstance(value, str) else "" if value is None else value)
        writer.writerow([*cells, *said.values()])
    return out.getvalue()


def _quoted(text: str) -> str:
    return "'" + clean(text) if text[:1] in ("=", "@", "\t", "\r") else clean(text)


def _json(shown: _Shown) -> str:
    table = shown.table
    return json.dumps(document(table, shown), indent=1, allow_nan=False) + "\n"


def document(table: Table, shown: _Shown | None = None) -> dict[str, object]:
    """The table as one JSON object; an interval is a list of its two ends."""
    shown = shown or _Shown(table, False)
    keys = [column.key for column, _ in shown.columns]
    rows = [{key: _plain(v) for key, v in zip(keys, row, strict=True)} for row in shown.rows]
    return {
        "name": table.name,
        "title": table.title,
        "simulated": table.simulated,
        "caveats": list(table.caveats),
        "record": table.of,
        "source": {"query": table.source.query, "counts": dict(table.source.counts)},
        "columns": [{"key": c.key, "head": c.head, "unit": c.unit, "decimals": c.decimals} for c, _ in shown.columns],
        "rows": rows,
        "notes": list(table.notes),
    }


def _plain(value: Value) -> object:
    return [value.lo, value.hi] if isinstance(value, Interval) else value
