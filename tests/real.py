"""Where the files of published benchmarks are, for tests: in `PACCF_DATA`, or in ``shared/data`` beside the project or
above it. None of them is part of the project, so a test that needs one skips where it is not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def found(*files: str) -> Path | None:
    """The folder that holds all of ``files``, if there is one."""
    named = os.environ.get("PACCF_DATA")
    folders = [Path(named)] if named else []
    folders += [parent / "shared" / "data" for parent in Path(__file__).resolve().parents]
    return next((folder for folder in folders if all((folder / file).is_file() for file in files)), None)


def folder(*files: str) -> Path:
    """The folder that holds all of ``files``; skips the test if there is none."""
    place = found(*files)
    if place is None:
        pytest.skip(f"{' and '.join(files)} is neither in PACCF_DATA nor in ../shared/data")
    return place
