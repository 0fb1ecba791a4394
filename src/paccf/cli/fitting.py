"""Text that fits a terminal: widths in columns, shortening, wrapping, and which characters it can show."""

from __future__ import annotations

import os
import shutil
import sys
import unicodedata
from collections.abc import Iterable

from paccf.cli.output import clean

WIDE = 100  # ours: columns where there is no terminal to ask
NARROW = 24  # ours: nothing readable fits into fewer


def width() -> int:
    """Columns of the terminal, or of COLUMNS."""
    return max(NARROW, shutil.get_terminal_size((WIDE, 24)).columns)


def coloured() -> bool | None:
    """For `click.echo`: no colour where NO_COLOR says so, else as it finds out by itself."""
    return False if os.environ.get("NO_COLOR") else None


def rich_text() -> bool:
    """Whether the output can show more than ASCII."""
    try:
        "│█…★".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def foreign(text: str, rich: bool) -> str:
    """``text`` of others for a terminal: controls written out, and everything beyond ASCII where it shows no more."""
    text = clean(text)
    return text if rich else text.encode("ascii", "backslashreplace").decode()


def cells(text: str) -> int:
    """Columns that ``text`` takes: two for a wide character, none for one that combines."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def fit(text: str, room: int, ellipsis: str = "…") -> str:
    """``text``, or as much of its beginning as goes into ``room`` columns with an ellipsis behind it."""
    if cells(text) <= room:
        return text
    kept, used = "", cells(ellipsis)
    for c in text:
        used += cells(c)
        if used > room:
            break
        kept += c
    return kept.rstrip() + ellipsis if room >= cells(ellipsis) else ""


def fit_end(text: str, room: int, ellipsis: str = "…") -> str:
    """The same with the end of ``text``."""
    return fit(text[::-1], room, ellipsis[::-1])[::-1]


def fit_both(text: str, room: int, ellipsis: str = "…") -> str:
    """The same with both ends of ``text``, three fifths of the room for its beginning: calls differ in their last words
    as often as in their first."""
    if cells(text) <= room:
        return text
    tail = fit_end(text, 2 * room // 5, "")
    return fit(text, room - cells(tail), ellipsis) + tail


def padded(text: str, room: int) -> str:
    """``text`` with blanks up to ``room`` columns."""
    return text + " " * (room - cells(text))


def flowed(pieces: Iterable[str], room: int, between: str = " ", indent: str = "") -> list[str]:
    """``pieces`` in lines of at most ``room`` columns, all but the first with ``indent``. A piece is broken only if it
    is longer than a line."""
    lines: list[str] = []
    line = ""
    for piece in pieces:
        grown = f"{line}{between}{piece}" if line.strip() else line + piece
        if cells(grown) > room and line.strip():
            lines.append(line)
            grown = indent + piece
        while cells(grown) > room and len(grown) > len(indent) + 1:
            part = fit(grown, room, "")
            part = part if len(part) > len(indent) else grown[: len(indent) + 1]
            lines.append(part)
            grown = indent + grown[len(part) :].lstrip()
        line = grown
    return [*lines, line] if line.strip() else lines
