"""The code of the documentation runs, and prints what the pages say it prints."""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from paccf.search.controllers import CONTROLLERS

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
CHECKER = doctest.OutputChecker()


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks run from top to bottom in one folder; a `text` block is what the Python block before it printed."""
    monkeypatch.chdir(tmp_path)
    if page.name == "README.md":  # it speaks to somebody who has these files
        for name, first in (("train", 0), ("test", 400)):
            shell(f"paccf theory frontiers --tasks 400 --first {first} --seed 7 -o {name}.jsonl")
        shell("paccf calibrate train.jsonl --match evaluator=my-model -o margin.json")
    if page.name == "add-a-domain.md":  # it speaks to somebody who has installed its example
        monkeypatch.setenv("PYTHONPATH", installed(ROOT / "examples" / "domain", tmp_path / "site"))
    names: dict[str, object] = {}
    printed = ""
    for kind, code in BLOCK.findall(page.read_text()):
        if kind == "python":
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(code, str(page), "exec"), names)
            printed = out.getvalue()
        elif kind == "text":
            compare(code, printed)
        elif kind == "sh" and "paccf " in code:
            assert "Error" not in shell(code)
        elif kind == "console":
            for command, expected in re.findall(r"^\$ (.*\n)((?:(?!\$ ).*\n)*)", code, re.M):
                compare(expected, shell(command))


def installed(package: Path, site: Path) -> str:
    """The path on which Python finds ``package`` and its entry points, as after ``pip install``."""
    project = tomllib.loads((package / "pyproject.toml").read_text())["project"]
    info = site / f"{project['name']}-{project['version']}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    groups = [
        "\n".join([f"[{group}]", *[f"{name} = {value}" for name, value in entries.items()]])
        for group, entries in project["entry-points"].items()
    ]
    (info / "entry_points.txt").write_text("\n".join(groups))
    return os.pathsep.join([str(site), str(package), os.environ.get("PYTHONPATH", "")])


def shell(command: str) -> str:
    path = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]
    environment = {**os.environ, "PATH": path, "COLUMNS": "200"}
    out = subprocess.run(["sh", "-c", command], capture_output=True, text=True, env=environment)
    return out.stdout + out.stderr


def compare(expected: str, got: str) -> None:
    """`...` stands for whatever is there; otherwise to the letter."""
    if not CHECKER.check_output(expected, got, doctest.ELLIPSIS):
        raise AssertionError(f"expected:\n{expected}\ngot:\n{got}")


def test_links_lead_somewhere() -> None:
    for page in [*PAGES, ROOT / "benchmarks" / "README.md", ROOT / "CONTRIBUTING.md"]:
        prose = BLOCK.sub("", page.read_text())
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", prose) + re.findall(r'\bsrc(?:set)?="([^"]+)"', prose):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_glossary_names_what_exists() -> None:
    named = re.findall(
        r"`((?:search|record|method|models|audit|theory|domains)\.[\w.]+)`", (ROOT / "docs" / "glossary.md").read_text()
    )
    assert len(named) >= 15
    for name in named:
        parts = name.split(".")
        for n in range(len(parts), 0, -1):
            with contextlib.suppress(ModuleNotFoundError):
                found: object = importlib.import_module(".".join(["paccf", *parts[:n]]))
                for part in parts[n:]:
                    found = getattr(found, part)
                break
        else:
            raise AssertionError(f"there is no paccf.{name}")


def test_the_readme_names_every_controller_and_domain_and_counts_right() -> None:
    text = (ROOT / "README.md").read_text()
    rows = re.findall(r"^\| \[?`(\w+)`(?:\]\(docs/\w+\.md\))? \|", text, re.M)
    shipped = [
        path.name for path in sorted((ROOT / "src" / "paccf" / "domains").iterdir()) if (path / "world.py").exists()
    ]
    assert sorted(rows) == sorted([*CONTROLLERS, *shipped])
    total = json.loads(shell("paccf published check --json"))["total"]
    assert f"{total['checks']:,} recomputed figures" in text
    assert total["differs"] == 12
    assert "but for twelve" in text
    assert "343 of 354 exposed tasks" in text
    assert "343/354 = 96.89 %" in (ROOT / "docs" / "calibrate.md").read_text()  # which runs


def test_no_page_has_the_name_of_one_that_the_site_makes_itself() -> None:
    made = {"search", "genindex", "modindex", "py-modindex"}
    assert not made & {page.stem for page in PAGES}, "the site would show its own page in its place"
