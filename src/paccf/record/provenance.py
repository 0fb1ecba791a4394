"""With what a run was made: versions, and the state of paccf's own sources. Nothing secret."""

from __future__ import annotations

import os
import platform
import re
import sqlite3
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_PACKAGES = ("numpy", "msgspec", "scipy", "sqlalchemy", "h11", "xllamacpp")
_ELSEWHERE = ("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE")  # in a git hook: of another checkout
TREE = Path(__file__).parents[3]  # what holds src/paccf, where paccf is run from its sources


def versions(tree: Path = TREE) -> dict[str, str]:
    """Of paccf, Python and the libraries that matter; and the git commit and origin of paccf itself, if it is run from
    a checkout of its own at ``tree``. Of the folder that somebody happens to stand in, nothing."""
    found = {
        "paccf": _version("paccf"),
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "sqlite": sqlite3.sqlite_version,
        **{name: _version(name) for name in _PACKAGES},
    }
    top = _git(tree, "rev-parse", "--show-toplevel")
    if top and Path(top).resolve() == tree.resolve():
        found |= {
            "git commit": _git(tree, "rev-parse", "HEAD"),
            "git changes": "yes" if _git(tree, "status", "--porcelain", "--untracked-files=no") else "",
            "git origin": shareable(_git(tree, "remote", "get-url", "origin")),
        }
    return {name: text for name, text in found.items() if text}


def shareable(url: str) -> str:
    """A git URL that can be shown: no user, password, token, query or fragment; empty for a place on this machine."""
    scheme, mark, rest = url.partition("://")
    if mark:
        rest = re.split(r"[?#]", rest, maxsplit=1)[0]
        host, slash, path = rest.partition("/")
        return "" if scheme.lower() == "file" else f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"
    remote = re.match(r"[^/:\\\s]{2,}:(?!:)", url)  # host:path; anything else is a path, as is C:\path
    return re.sub(r"^[^@/\s]*:[^@/\s]*@", "", url) if remote else ""  # user:password@host:path


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _git(folder: Path, *command: str) -> str:
    own = {name: value for name, value in os.environ.items() if name not in _ELSEWHERE}
    given = ["git", "-C", str(folder), *command]
    try:
        done = subprocess.run(given, capture_output=True, text=True, timeout=10, check=True, env=own)
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return ""
    return done.stdout.strip()
