"""`./run` on a machine whose Python cannot make whole environments, tried with a stub for the interpreter."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOLS = ["sh", "cat", "chmod", "cksum", "cp", "dirname", "grep", "mkdir", "rm"]  # and neither uv nor apt-get

# As Debian's python3 without python3-venv: the environment has a python when the installer fails
STUB = """#!/bin/sh
case "$*" in
*"-m venv"*)
    echo venv >> calls
    mkdir -p .venv/bin && cp inner .venv/bin/python && chmod +x .venv/bin/python
    [ -e whole ] && : > .venv/pip ;;
esac
"""
INNER = """#!/bin/sh
[ -e .venv/pip ] || { echo "No module named pip" >&2; exit 1; }
echo "$*" >> calls
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in ("run", "pyproject.toml", "constraints.txt", "constraints-lab.txt"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "bin").mkdir()
    for tool in TOOLS:
        found = shutil.which(tool)
        assert found is not None, tool
        os.symlink(found, tmp_path / "bin" / tool)
    (tmp_path / "stub").write_text(STUB)
    (tmp_path / "stub").chmod(0o755)
    (tmp_path / "inner").write_text(INNER)
    return tmp_path


def set_up(place: Path) -> subprocess.CompletedProcess[str]:
    env = {"PATH": str(place / "bin"), "PYTHON": "./stub"}
    return subprocess.run(["./run", "set-up"], cwd=place, env=env, capture_output=True, text=True)


def test_an_environment_that_could_not_be_made_is_made_at_the_next_try(place: Path) -> None:
    for _ in range(2):
        done = set_up(place)
        assert done.returncode == 1
        assert "install python3-venv (Debian, Ubuntu) or uv, then try again" in done.stderr
        assert "No module named pip" not in done.stderr
        assert not (place / ".venv").exists()
    (place / "whole").touch()  # python3-venv was installed
    done = set_up(place)
    assert done.returncode == 0, done.stderr
    assert (place / "calls").read_text().count("install") == 2
    assert set_up(place).returncode == 0
    assert (place / "calls").read_text().count("venv\n") == 3, "an environment that is whole stays"


def test_an_environment_without_an_installer_is_made_anew(place: Path) -> None:
    """Such as one that was left by a run that was killed."""
    (place / ".venv" / "bin").mkdir(parents=True)
    shutil.copy(place / "inner", place / ".venv" / "bin" / "python")
    (place / ".venv" / "bin" / "python").chmod(0o755)
    (place / "whole").touch()
    done = set_up(place)
    assert done.returncode == 0, done.stderr
    assert (place / ".venv" / ".stamp").exists()
