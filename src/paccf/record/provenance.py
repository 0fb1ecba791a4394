"""With what a run was made: versions, and the state of the project around it. Nothing secret."""

from __future__ import annotations

import platform
import re
import sqlite3
import subprocess
from importlib.metadata import PackageNotFoundError, version

_PACKAGES = ("numpy", "msgspec", "scipy", "sqlalchemy", "h11", "xllamacpp")


def versions(folder: str = ".") -> dict[str, str]:
    """Of paccf, Python, the libraries that matter, and the git commit and origin of ``folder``, if it has them."""
    found = {
        "paccf": _version("paccf"),
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "sqlite": sqlite3.sqlite_version,
        **{name: _version(name) for name in _PACKAGES},
        "git commit": _git(folder, "rev-parse", "HEAD"),
        "git changes": "yes" if _git(folder, "status", "--porcelain", "--untracked-files=no") else "",
        "git origin": without_credentials(_git(folder, "remote", "get-url", "origin")),
    }
    return {name: text for name, text in found.items() if text}


def without_credentials(url: str) -> str:
    """A git URL that can be shown: no user, password, token, query or fragment."""
    scheme, mark, rest = url.partition("://")
    if not mark:
        return re.sub(r"^[^@/\s]*:[^@/\s]*@", "", url)  # user:password@host:path
    rest = re.split(r"[?#]", rest, maxsplit=1)[0]
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _git(folder: str, *command: str) -> str:
    try:
        done = subprocess.run(["git", "-C", folder, *command], capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return ""
    return done.stdout.strip()
