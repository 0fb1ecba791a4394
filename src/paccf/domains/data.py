"""Files of published benchmarks: which there are, where they may lie, and whether they are what they should be.

None of them comes with the package. A domain names those it can use in ``FILES`` of its ``tasks`` module.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from paccf.domains.registry import has, names, part, unknown

VARIABLE = "PACCF_DATA"


class NoData(ValueError):
    """A file of a benchmark that is not there; the message says where it was looked for and how to get it."""


def alone(parts: Sequence[tuple[str, bytes]]) -> bytes:
    """A file that is published as one."""
    [(_, content)] = parts
    return content


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file of a benchmark.

    - ``name``: where it lies in a data folder, like ``game24/24.csv``.
    - ``sha256``: of its content; another content is another benchmark.
    - ``urls``: what it is made of, below https://raw.githubusercontent.com/, at a pinned commit; ``join`` makes one
      content of the parts (address and content each, in this order).
    - ``check``: given the path, returns what is irregular in the file but can be lived with, a sentence each; raises
      ValueError, which names line or key, for what cannot be used.
    """

    name: str
    about: str
    licence: str
    home: str
    sha256: str
    size: int  # bytes
    urls: tuple[str, ...]
    check: Callable[[Path], list[str]]
    join: Callable[[Sequence[tuple[str, bytes]]], bytes] = alone


def known() -> dict[str, DataFile]:
    """All files that the domains can use, by name."""
    found: dict[str, DataFile] = {}
    for name in names():
        if has(name, "tasks"):
            found |= {file.name: file for file in getattr(part(name, "tasks"), "FILES", ())}
    return found


def file_of(name: str) -> DataFile:
    """The file called ``name``. Raises ValueError that lists the known ones."""
    files = known()
    if name not in files:
        raise unknown("data file", name, files)
    return files[name]


def user_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Where `paccf data get` and `add` put files: the user's data directory, by the custom of the system."""
    if sys.platform == "win32":
        base = Path(environment.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(environment.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "paccf"


def folders(data: str | Path | None = None) -> list[tuple[Path, str]]:
    """Where a file is looked for, in order, and on whose word: ``data`` alone if it is given, else the folder that
    ``PACCF_DATA`` names, then the user's own."""
    if data is not None:
        return [(Path(data), "--data")]
    named = os.environ.get(VARIABLE)
    return ([(Path(named), VARIABLE)] if named else []) + [(user_folder(), "yours")]


@dataclass(frozen=True, slots=True)
class Files:
    """Looks for files; ``data`` is the folder that the user named, if one."""

    data: str | Path | None = None

    def path(self, name: str) -> Path:
        """The file called ``name``. Raises `NoData`."""
        tried = []
        for folder, whose in folders(self.data):
            path = folder / name
            if path.is_file():
                return path
            tried.append(f"{path} ({whose})")
        file = known().get(name)
        get = f"`paccf data get {name}` downloads it ({file.licence}, {file.home}); " if file else ""
        raise NoData(
            f"the file {name} is not there: no {' and no '.join(tried)}. {get}"
            f"`paccf data add {name} PATH` takes a copy that you have; --data DIR or {VARIABLE} names a folder with it"
        )


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    found = sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            found.update(chunk)
    return found.hexdigest()
