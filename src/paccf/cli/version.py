"""What `paccf --version` says: everything that belongs into a bug report, and nothing secret."""

from __future__ import annotations

from importlib.util import find_spec

import paccf
from paccf.cli.extras import BROUGHT_BY
from paccf.record.provenance import versions

_OWN = ("paccf", "git commit", "git changes", "git origin")


def version_lines() -> str:
    """The version with the commit if this is a source tree, what it runs on, and which extras are there."""
    found = versions()
    build = ""
    if "git commit" in found:
        build = f", commit {found['git commit'][:12]}{' with changes' if 'git changes' in found else ''}"
    lacking = {extra for module, extra in BROUGHT_BY.items() if find_spec(module) is None}
    there = [extra for extra in dict.fromkeys(BROUGHT_BY.values()) if extra not in lacking]
    lines = [
        f"paccf {paccf.__version__}{build}",
        ", ".join(f"{name} {text}" for name, text in found.items() if name not in _OWN),
        f"extras: {', '.join(there) or 'none'}",
    ]
    return "\n".join(lines)
