"""What all commands share in how they speak: tables, JSON, clean text, and errors a person can act on."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import Any

import click

# C0/C1 controls, and the bidirectional overrides that can make a line read as another one
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class BadInput(click.ClickException):
    """Something the user gave cannot be used; the message says what, where and what to do. Exit code 2."""

    exit_code = 2

    def format_message(self) -> str:
        return clean(self.message, keep="\n")


def clean(text: str, keep: str = "") -> str:
    """``text`` with control characters written out, so that logged text cannot drive the terminal."""
    return _CONTROL.sub(lambda m: m[0] if m[0] in keep else f"\\x{ord(m[0]):02x}", text)


def say(text: str = "", err: bool = False) -> None:
    """Print for people: whatever stands in logs and files reaches the terminal as visible text only."""
    click.echo(clean(text, keep="\n"), err=err)


def emit_json(value: Any) -> None:
    """One JSON object on stdout. NaN and infinity are a mistake of ours, never output."""
    click.echo(json.dumps(value, indent=2, allow_nan=False))


def table(header: Sequence[str], rows: Iterable[Sequence[object]], left: int = 1) -> str:
    """An aligned text table; the first ``left`` columns are left-aligned, the others right-aligned."""
    cells = [[clean(str(c)) for c in row] for row in (header, *rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    lines = [
        "  ".join(c.ljust(w) if i < left else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True)))
        for row in cells
    ]
    lines.insert(1, "  ".join("-" * w for w in widths))
    return "\n".join(line.rstrip() for line in lines)


def lab(module: str, purpose: str) -> ModuleType:
    """Import a module that stands on the ``lab`` extra, or say in one sentence what to install."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        root = (error.name or "").partition(".")[0]
        if root not in ("scipy", "matplotlib"):
            raise
        raise BadInput(f'{purpose} needs {root}, which is not installed: pip install "paccf[lab]"') from None
