"""`kill -9` at random instants: the same command goes on, and leaves what an uninterrupted run leaves."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from paccf.record.store import Store
from paccf.record.tape import read_rows

SCRIPT = Path(__file__).with_name("interrupted.py")
KILLS = 200 if os.environ.get("PACCF_THOROUGH") else 40


@pytest.fixture(scope="module")
def batch() -> ModuleType:
    spec = importlib.util.spec_from_file_location("interrupted", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def left_behind(folder: Path) -> dict[str, Any]:
    """Outcomes, bills, trees, journals and the tape, without what depends on time."""
    with Store.open(folder / "run.sqlite", readonly=True) as store, store.database.read() as connection:
        rows = list(read_rows(connection))
        return {
            "searches": list(store.searches("batch")),
            "tape": {row.question: row.reply and row.reply._replace(latency=None, attempts=0) for row in rows},
            "billed": [store.billed("batch", outcome.key) for outcome in store.outcomes("batch")],
            "begun": {row.question.key.hex(): row.begun for row in rows},
        }


@pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked")
def test_killed_at_random_instants(batch: ModuleType, tmp_path: Path) -> None:
    script = [sys.executable, str(SCRIPT), str(tmp_path), str(KILLS), "7"]
    ran = subprocess.run(script, capture_output=True, text=True, timeout=600, env=os.environ)
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout)
    assert told["kills"] >= KILLS
    assert max(told["in_flight"]) > 0, "no kill struck while requests were in flight"
    for number, kills in enumerate(told["rounds"]):
        whole = tmp_path / f"whole{number}"
        whole.mkdir()
        with Store.open(whole / "run.sqlite") as store:
            asyncio.run(batch.batch(store, whole / "sends", 7 + number))
        expected, found = left_behind(whole), left_behind(tmp_path / f"round{number}")
        begun, once = found.pop("begun"), expected.pop("begun")
        assert found == expected
        assert set(once.values()) == {1}
        sends = Counter((tmp_path / f"round{number}" / "sends").read_text().split())
        repeated = sends.total() - len(sends)
        assert len(sends) == len(once), "nothing is missing"
        assert repeated <= kills * batch.IN_FLIGHT, "more was sent again than was in flight"
        assert all(sends[name] <= begun[name] for name in sends), "a send that the tape does not know of"
        assert sum(begun.values()) - len(begun) <= kills * batch.IN_FLIGHT
    assert max(told["in_flight"]) <= batch.IN_FLIGHT
