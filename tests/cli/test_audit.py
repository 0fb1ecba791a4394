"""`paccf audit`, `table` and `report` on the miniature record in a database: what they end with, and in how many processes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.audit.conftest import INFO, record

from paccf.audit import audit as audits
from paccf.audit.run import Run
from paccf.cli import main
from paccf.record.store import Store
from paccf.record.values import Search


def paccf(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def saved(run: Run, path: Path) -> str:
    with Store.open(path) as store:
        store.begin(INFO)
        for domain, controller in run.cells:
            for search in run.traces(domain, controller):
                labels = [f.protected or () for f in search.frontiers]
                store.save(INFO, replace(search, frontiers=tuple(replace(f, protected=None) for f in search.frontiers)))
                if labels:
                    store.put_labels(INFO, search.outcome.key, "oracle", labels)
        whole = {s.outcome.key for cell in run.cells for s in run.traces(*cell)}
        for outcome in run.outcomes:
            if outcome.key not in whole:
                store.save_outcome(INFO, outcome)
        for (domain, controller), certificate in run.certificates.items():
            certificate.save(path.with_suffix(".json"))
            store.put_certificate(INFO, domain, controller, path.with_suffix(".json").read_text())
        for exclusion in run.exclusions:
            store.exclude(INFO, exclusion)
    return str(path)


def test_a_sound_record(tmp_path: Path) -> None:
    place = saved(record(), tmp_path / "run.sqlite")
    done = paccf("audit", place)
    assert done.exit_code == 0, done.output
    assert "The record does not contradict itself." in done.output
    assert "SIMULATED" in done.output
    found = json.loads(paccf("audit", place, "--json").stdout)
    assert found["sound"] is True
    (row,) = [r for r in found["tables"]["macro_main"]["rows"] if (r["domain"], r["budget"]) == ("Game24", "B40")]
    assert row["requests"] == pytest.approx(100 * 8 / 30), "as in memory"


def test_a_contradiction_ends_with_1(tmp_path: Path) -> None:
    def dropped(search: Search) -> Search:
        """The PAC-CF search of task c drops a candidate that its margin keeps."""
        if (search.outcome.key.task, search.outcome.key.arm) != ("c", "paccf"):
            return search
        first = search.frontiers[0]
        kept, other = first.candidates
        costs = replace(search.outcome.costs, nodes=1)
        changed = replace(first, candidates=(kept, replace(other, gap=False, kept=False)))
        return replace(search, frontiers=(changed,), outcome=replace(search.outcome, costs=costs))

    done = paccf("audit", saved(record(dropped), tmp_path / "run.sqlite"))
    assert done.exit_code == 1
    assert "the certificate's margin decides otherwise on candidate h" in done.output
    assert "The record contradicts itself in" in done.output
    report = paccf("report", str(tmp_path / "run.sqlite"), "-o", str(tmp_path / "r.html"))
    assert report.exit_code == 0, "a report of it is written all the same"
    assert "The record contradicts itself in" in (tmp_path / "r.html").read_text(), "and says so"


def test_the_paper_contradicts_itself() -> None:
    done = paccf("audit", "paper")
    assert done.exit_code == 1
    assert "contradicts itself in 12 places" in done.output
    assert "No cases: the paper prints conditions, not tasks" in done.output


def test_processes_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.audit import conftest

    def second(run: Run) -> Run:
        """The same searches under a second controller, so that there are two cells to share out."""
        searches = [s for cell in run.cells for s in run.traces(*cell)]
        twice = [*searches, *(_under(s, "lats") for s in searches)]
        whole = {s.outcome.key for s in searches}
        small = [o for o in run.outcomes if o.key not in whole]
        small += [replace(o, key=replace(o.key, controller="lats")) for o in small]
        certificates = {("game24", name): conftest.certificate() for name in ("uct", "lats")}
        return conftest.of_searches(INFO, twice, small, certificates, run.exclusions, "oracle")

    place = saved(second(record()), tmp_path / "run.sqlite")
    serial = _audited(place, 1)
    monkeypatch.setattr(audits, "MANY", 1)
    assert _audited(place, 2) == serial


def _under(search: Search, controller: str) -> Search:
    return replace(search, outcome=replace(search.outcome, key=replace(search.outcome.key, controller=controller)))


def _audited(place: str, threads: int) -> Any:
    done = paccf("audit", place, "--json", "--threads", str(threads))
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)
