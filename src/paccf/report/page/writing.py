"""The page as bytes: a fixed shell around one JSON document.

All that a run brings with it (texts of tasks, of models, of settings) stands in that document and nowhere else. It is
escaped so that it cannot end its element, it is never parsed as HTML, and the Content-Security-Policy lets nothing run
but the two scripts of this package, and nothing be fetched from anywhere.
"""

from __future__ import annotations

import base64
import hashlib
import os
from importlib.resources import files

import msgspec

from paccf.audit.audit import Audit
from paccf.method.certificate import write_atomically
from paccf.report.page.blocks import Page
from paccf.report.page.content import page

SCRIPTS = ("elements.js", "tables.js", "pictures.js", "trees.js", "page.js")  # in this order, as one script
HIERARCHY = "vendor/d3-hierarchy.min.js"


def write(audit: Audit, path: str | os.PathLike[str]) -> None:
    """Write the report of what ``audit`` reads. The same record gives the same bytes, wherever it lies."""
    write_atomically(path, html(page(audit)))


def html(content: Page) -> bytes:
    """The whole file."""
    own = "(() => {\n" + "\n".join(_asset(name) for name in SCRIPTS) + "\n})();\n"
    parts = {
        "policy": _policy(scripts=(_hierarchy(), own), styles=(_asset("page.css"),)),
        "style": _asset("page.css"),
        "data": island(content),
        "hierarchy": _hierarchy(),
        "script": own,
    }
    shell, made = _asset("page.html"), []
    for name, part in parts.items():
        before, found, shell = shell.partition(f"%{name}%")
        assert found, f"page.html has no place for {name} after what comes before it"
        made += [before, part]
    return "".join([*made, shell]).encode()


def island(content: Page) -> str:
    """The page's values as JSON that can stand inside a script element."""
    text = msgspec.json.encode(content).decode()
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _asset(name: str) -> str:
    return files("paccf.report.page").joinpath("assets", name).read_text(encoding="utf-8")


def _hierarchy() -> str:
    """d3-hierarchy with its licence."""
    licence = _asset("vendor/d3-hierarchy.LICENSE")
    return f"/*\n{licence}*/\n{_asset(HIERARCHY)}"


def _policy(scripts: tuple[str, ...], styles: tuple[str, ...]) -> str:
    def hashes(texts: tuple[str, ...]) -> str:
        return " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(t.encode()).digest()).decode()}'" for t in texts)

    return (
        f"default-src 'none'; script-src {hashes(scripts)}; style-src {hashes(styles)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
