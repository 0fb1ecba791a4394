"""The page on testing counts the tests; here the tests count for the page."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "testing.md").read_text()
ROW = re.compile(r"^\| `(\w+)` \| ([\d,]+) \| (\d+) \|", re.M)


def counted() -> tuple[Counter[str], Counter[str]]:
    """Test functions by folder; those of them that are Hypothesis properties."""
    functions: Counter[str] = Counter()
    laws: Counter[str] = Counter()
    for file in (ROOT / "tests").glob("*/**/test_*.py"):
        room = file.relative_to(ROOT / "tests").parts[0]
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test_"):
                functions[room] += 1
                called = [d.func for d in node.decorator_list if isinstance(d, ast.Call)]
                laws[room] += any(isinstance(f, ast.Name) and f.id == "given" for f in called)
    return functions, laws


def test_the_page_counts_no_more_than_there_are_and_not_much_less() -> None:
    functions, laws = counted()
    rows = {room: (int(count.replace(",", "")), int(properties)) for room, count, properties in ROW.findall(PAGE)}
    assert rows.keys() == functions.keys(), "a room is missing from the page, or has no tests"
    for room, (count, properties) in rows.items():
        assert count <= functions[room] <= 2 * count, f"{room}: the page says {count}, there are {functions[room]}"
        assert properties <= laws[room] <= 2 * properties + 4, f"{room}: {laws[room]} laws, the page says {properties}"


def test_the_page_counts_the_cases(request: pytest.FixtureRequest) -> None:
    said = re.search(r"More than ([\d,]+) cases", PAGE)
    assert said is not None
    claimed = int(said[1].replace(",", ""))
    files = {item.path for item in request.session.items}
    if files < set((ROOT / "tests").rglob("test_*.py")):
        pytest.skip("only some of the tests were collected")
    assert claimed < len(request.session.items) < 2 * claimed


def test_there_are_as_many_golden_trees_as_the_page_says() -> None:
    golden = [g.stem for g in (ROOT / "tests" / "search" / "golden").glob("*.json")]
    assert len([g for g in golden if g.endswith(("-native", "-paccf"))]) == 10
    assert "Ten golden trees" in PAGE
