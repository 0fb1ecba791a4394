"""`kill -9` at random instants: the same command goes on, and leaves what an uninterrupted run leaves."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.processes import ROOT, body_name, endpoint, sends
from tests.models import interrupted

from paccf.record.store import Store
from paccf.record.tape import read_rows

KILLS = 200 if os.environ.get("PACCF_THOROUGH") else 40


def left_behind(folder: Path) -> dict[str, Any]:
    """Outcomes, bills, trees, journals and the tape, without what depends on time."""
    with Store.open(folder / "run.sqlite", readonly=True) as store, store.database.read() as connection:
        rows = list(read_rows(connection))
        begun: Counter[str] = Counter()
        for row in rows:
            begun[body_name(row.question)] += row.begun
        return {
            "searches": list(store.searches("batch")),
            "tape": {row.question: row.reply and row.reply._replace(latency=None, attempts=0) for row in rows},
            "billed": [store.billed("batch", outcome.key) for outcome in store.outcomes("batch")],
            "begun": begun,
        }


@pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked")
def test_killed_at_random_instants(tmp_path: Path) -> None:
    ledger, whole = tmp_path / "ledger", tmp_path / "whole"
    whole.mkdir()
    with endpoint(ledger, "--latency", "10") as (url, _):
        base = url.removesuffix("/v1")
        with Store.open(whole / "run.sqlite") as store:
            asyncio.run(interrupted.batch(store, f"{base}/whole/v1"))
        script = [sys.executable, "-m", "tests.models.interrupted", str(tmp_path), base, str(KILLS), "7"]
        ran = subprocess.run(script, capture_output=True, text=True, timeout=600, cwd=ROOT)
    assert ran.returncode == 0, ran.stderr
    rounds = json.loads(ran.stdout)
    in_flight = [count for kills in rounds for count in kills]
    assert len(in_flight) >= KILLS
    assert 0 < max(in_flight) <= interrupted.IN_FLIGHT, "more was begun and lost than was in flight, or nothing ever"
    expected = left_behind(whole)
    once = expected.pop("begun")
    assert once == sends(ledger, "/whole/")
    repeated = 0
    for number, kills in enumerate(rounds):
        found = left_behind(tmp_path / f"round{number}")
        begun = found.pop("begun")
        assert found == expected
        asked = sends(ledger, f"/round{number}/")
        assert asked.keys() == once.keys(), "nothing is missing, and nothing else was asked"
        assert all(asked[name] <= begun[name] for name in asked), "a send that the tape does not know of"
        assert begun.total() - once.total() == sum(kills), "what is begun twice was in flight at a kill"
        repeated += asked.total() - once.total()
    assert 0 < repeated <= sum(in_flight)
    print(f"{len(in_flight)} kills, {sum(in_flight)} requests in flight, {repeated} sent again")
