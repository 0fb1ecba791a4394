"""What all commands share in how they speak: tables, JSON, clean text, and errors a person can act on."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import Any

import click

from paccf.cli.extras import lacking
from paccf.cli.loudness import quiet
from paccf.record.foreign import clean as clean


class BadInput(click.ClickException):
    """Something the user gave cannot be used; the message says what, where and what to do, the hint is a line of its
    own. Exit code 2."""

    exit_code = 2

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(clean(message) + (f"\n{hint}" if hint else ""))


def say(text: str = "", err: bool = False) -> None:
    """Print lines for people; their foreign parts went through `clean`, and whatever did not is written out here."""
    click.echo("\n".join(map(clean, text.split("\n"))), err=err)


def remark(text: str) -> None:
    """Say on stderr what is no result and no error, such as how far something is; --quiet leaves it out."""
    if not quiet():
        say(text, err=True)


def unwritable(path: str | os.PathLike[str], error: OSError) -> BadInput:
    """Why nothing could be written to ``path``, and what to do."""
    folder = os.path.dirname(os.fspath(path)) or "."
    if isinstance(error, FileExistsError):
        return BadInput(f"{path} is there already, and is left as it is; name another file, or remove it")
    if not os.path.isdir(folder):
        return BadInput(f"cannot write {path}: there is no folder {folder}; make it, or name another file")
    return BadInput(f"cannot write {path}: {error.strerror or error}; name another file")


def picture_format(path: str | None) -> None:
    """Refuse a picture file of a format that is not drawn, before any work is done."""
    if path is not None and not path.lower().endswith((".svg", ".pdf", ".png")):
        raise BadInput(f"cannot draw {path}: name a file that ends in .svg, .pdf or .png")


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
    """Import a module that stands on an extra, or say in one sentence what to install for ``purpose``."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        sentence = lacking(error, purpose)
        if sentence is None:
            raise
        raise BadInput(sentence) from None
