"""The documentation site: `sphinx-build -W docs build/site`. It reads the package, and needs no network."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "src"))

from paccf import __version__  # noqa: E402

project = "paccf"
author = "the paccf developers"
copyright = "the paccf developers, Apache-2.0"
version = release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.intersphinx"]
intersphinx_mapping: dict[str, tuple[str, str | None]] = {}  # the site is built without a network
source_suffix = {".md": "markdown"}
exclude_patterns = ["build"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "undoc-members": False}
default_role = "code"
suppress_warnings = ["ref.python"]  # one name in several rooms, such as Frontier
html_theme = "furo"
html_title = f"paccf {__version__}"
html_copy_source = False
html_show_sphinx = False


def plain(app: Any, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Our docstrings are plain text: symbols stand for themselves, what is indented is shown as it is."""
    out: list[str] = []
    shown = False  # inside an indented block
    for line in lines:
        item = line.startswith("- ")
        indented = line.startswith(("  ", "\t")) and not (out and out[-1].startswith("- "))
        if indented and not shown and not (out and out[-1].startswith("  ")):
            out += ["", "::", ""]
            shown = True
        elif shown and line and not indented:
            out.append("")
            shown = False
        elif item != bool(out and out[-1].startswith("- ")) and out and out[-1] and not indented:
            out.append("")
        out.append(line if shown else re.sub(r"(?<!`)([|*]|_(?=[^\w]|$))(?!`)", r"\\\1", line))
    lines[:] = out


def setup(app: Any) -> None:
    app.connect("autodoc-process-docstring", plain)
