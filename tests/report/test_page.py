"""The report as a file: what it says, and that nothing of the record can get out of its place."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.audit.conftest import miniature as miniature

from paccf.audit.audit import Audit
from paccf.audit.run import Run
from paccf.record.values import Search
from paccf.report.page import html, write
from paccf.report.page.blocks import Picture, TableBlock
from paccf.report.page.content import page
from paccf.report.page.writing import island

FEW = 2000  # resamples: enough for a page


def audit_of(run: Run) -> Audit:
    return Audit(run, 0, 1, FEW, FEW)


def parts(file: bytes) -> tuple[str, list[str], list[str], Any]:
    """The policy, the scripts, the styles and the document of a page."""
    text = file.decode()
    policy = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    scripts = re.findall(r"<script>(.*?)</script>", text, re.S)
    styles = re.findall(r"<style>(.*?)</style>", text, re.S)
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    assert len(policy) == 1
    return policy[0], scripts, styles, json.loads(data)


def test_the_same_record_gives_the_same_bytes(miniature: Callable[..., Run], tmp_path: Path) -> None:
    for name in ("a.html", "b.html"):
        write(audit_of(replace(miniature(), where=f"wherever {name} lies")), tmp_path / name)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_the_policy_names_the_scripts_that_are_there(miniature: Callable[..., Run]) -> None:
    policy, scripts, styles, _ = parts(html(page(audit_of(miniature()))))
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert len(scripts) == 2
    for text in (*scripts, *styles):
        assert f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" in policy


@pytest.mark.parametrize(
    "hostile", ["</script><script>alert(1)</script>", "<!--<script>", "a\u2028b\u2029c", "&lt;", "%script%"]
)
def test_no_text_leaves_the_island(miniature: Callable[..., Run], hostile: str) -> None:
    def named(s: Search) -> Search:
        fs = [replace(f, candidates=tuple(replace(c, text=hostile) for c in f.candidates)) for f in s.frontiers]
        return replace(s, frontiers=fs)

    run = miniature(named)
    run = replace(run, info=replace(run.info, name=hostile, model=hostile))
    found = page(audit_of(run))
    text = island(found)
    assert not set(text) & set("<>&\u2028\u2029")
    assert json.loads(text) == json.loads(msgspec.json.encode(found))
    *_, data = parts(html(found))
    assert data["name"].startswith(hostile.replace("\u2028", "\\u{2028}").replace("\u2029", "\\u{2029}"))


def test_every_table_is_in_it_once_or_is_said_to_be_lacking(miniature: Callable[..., Run]) -> None:
    from paccf.audit import tables

    audit = audit_of(miniature())
    found = page(audit)
    shown = [b.name for s in found.sections for b in s.blocks if type(b).__name__ == "TableBlock"]
    assert len(shown) == len(set(shown))
    lacking = {item[0] for s in found.sections if s.id == "lacking" for b in s.blocks for item in b.items}  # type: ignore[union-attr]
    assert {*shown, *lacking} >= set(tables.names(audit)) - set(tables.NO_RECORD)
    assert not lacking & set(shown)


def test_figures_are_in_it_or_are_said_to_be_lacking(
    miniature: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    from paccf.report import figures

    def drawn(run: Run) -> set[str]:
        return {b.name for s in page(audit_of(run)).sections for b in s.blocks if isinstance(b, Picture)}

    assert drawn(miniature()) == set(figures.names())
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for name in [n for n in sys.modules if n.startswith("paccf.report.figures")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("paccf.report.figures")
    assert drawn(miniature()) == set()
    (lacking,) = (s for s in page(audit_of(miniature())).sections if s.id == "lacking")
    assert "pip install 'paccf[lab]'" in str(lacking)


def test_the_paper_as_far_as_it_goes() -> None:
    from paccf.audit.paper import Paper

    found = page(Paper())
    assert found.answer.startswith(
        "At 500 requests a task, pruning by a calibrated margin saved 9.8\u00a0% of the requests"
    )
    assert any("contradicts itself in 12 places" in warning for warning in found.warnings)
    shown = {b.name for s in found.sections for b in s.blocks if isinstance(b, (TableBlock, Picture))}
    assert {"macro_main", "per_condition_ci", "checks", "main_budget_efficiency"} <= shown
    assert any(s.id == "lacking" for s in found.sections)
