"""`paccf audit`, `table` and `report` on the miniature record in a database: what they end with, and in how many processes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.audit.conftest import INFO, MARGIN, of_searches, record

from paccf.audit import audit as audits
from paccf.audit.run import Run
from paccf.cli import main
from paccf.record.store import Store
from paccf.record.values import Frontier, Key, Outcome, Search


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
    last = "The record does not contradict itself where it was checked; 1 of 7 kinds of check could not be made, see above."
    assert done.output.rstrip().endswith(last), "there is no tape to count again"
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


def some(keep: Callable[[Key], bool], run: Run, certified: bool = True) -> Run:
    """What of ``run`` these searches are."""
    searches = [s for cell in run.cells for s in run.traces(*cell) if keep(s.outcome.key)]
    whole = {s.outcome.key for s in searches}
    small = [o for o in run.outcomes if keep(o.key) and o.key not in whole]
    certificates = run.certificates if certified else {}
    return of_searches(INFO, searches, small, certificates, run.exclusions, "oracle")


def with_shadow(run: Run) -> Run:
    """Native searches once more, with the margin's opinion noted."""

    def noted(f: Frontier) -> Frontier:
        top = max(c.score or 0.0 for c in f.candidates)
        found = (replace(c, gap=top - (c.score or 0.0) <= MARGIN) for c in f.candidates)
        return replace(f, candidates=tuple(found))

    def shadow(key: Key) -> Key:
        return replace(key, arm="shadow")

    every = [s for cell in run.cells for s in run.traces(*cell)]
    native = [s for s in every if s.outcome.key.phase == "test" and s.outcome.key.arm == "native"]
    whole = {s.outcome.key for s in every}
    small = [o for o in run.outcomes if o.key not in whole]
    every += [
        replace(s, outcome=replace(s.outcome, key=shadow(s.outcome.key)), frontiers=tuple(map(noted, s.frontiers)))
        for s in native
    ]
    small += [replace(o, key=shadow(o.key)) for o in small if o.key.arm == "native"]
    return of_searches(INFO, every, small, run.certificates, run.exclusions, "oracle")


PAIRLESS = "no domain of the record has both a Native and a PAC-CF arm, so there is nothing to compare"
SCORED = "the record holds no test searches, only what was scored"


@pytest.mark.parametrize(
    ("run", "why", "coverage", "answer"),
    [
        (
            lambda: some(lambda k: k.phase == "calibration" and k.task < "cal10", record(), certified=False),
            SCORED,
            "the record holds no certificate whose margin could be audited",
            "This record holds traces, and no certificate to hold against them.",
        ),
        (
            lambda: some(lambda k: k.phase == "calibration", record()),
            SCORED,
            "the record holds no test searches",
            "This record holds 1 certificate, and no labelled Native test traces to hold against them.",
        ),
        (
            lambda: some(lambda k: k.arm == "native", record()),
            PAIRLESS,
            (4, 1, "B40"),
            "The margin covers 1 of 4 exposed tasks.",
        ),
        (
            lambda: some(lambda k: k.arm != "paccf", with_shadow(record())),
            PAIRLESS,
            (4, 1, "B40"),
            "The margin covers 1 of 4 exposed tasks.",
        ),
    ],
    ids=["interrupted", "calibration only", "native only", "native and shadow"],
)
def test_a_run_without_pairs_is_audited_as_far_as_it_goes(
    tmp_path: Path, run: Callable[[], Run], why: str, coverage: Any, answer: str
) -> None:
    place = saved(run(), tmp_path / "run.sqlite")
    done = paccf("audit", place)
    assert done.exit_code == 0, done.output
    assert f"No macro_main: {why}" in done.output
    found = json.loads(paccf("audit", place, "--json").stdout)
    checks = {check["check"]: check for check in found["checks"]}
    assert checks["searches agree with their bills, budgets, rules and prefixes"]["made"] > 0
    assert checks["gross and net views count the same Native nodes and occurrences"]["not_made_because"] == why
    if isinstance(coverage, str):
        assert found["unsupported"]["zero_api_native_coverage"] == coverage
    else:
        (row,) = found["tables"]["zero_api_native_coverage"]["rows"]
        assert (row["exposed"], row["covered"], row["budget"]) == coverage
        assert checks["certificates follow from the calibration traces"]["made"] == 1
    report = paccf("report", place, "-o", str(tmp_path / "r.html"))
    assert report.exit_code == 0, report.output
    page = (tmp_path / "r.html").read_text()
    assert answer in page
    assert re.search(r"; of \d kinds none could be made", page)
    assert why in page


def test_a_search_that_failed_is_not_covered_without_pairs_either() -> None:
    def failed(o: Outcome) -> Outcome:
        return replace(o, end="failure", failure="no answer") if o.key.task == "a" else o

    run = some(lambda k: k.arm == "native", record(changed=failed))
    found = audits.Audit(run).traced["game24", "uct"].coverage
    assert found is not None
    assert found.tasks == 3, "b, c and d"


def test_a_domain_that_has_no_pairs_yet_is_audited_beside_one_that_has() -> None:
    def other(key: Key) -> Key:
        return replace(key, domain="gta")

    run = record()
    native = some(lambda k: k.arm == "native", run)
    searches = [s for part in (run, native) for s in part.traces("game24", "uct")]
    half = len(list(run.traces("game24", "uct")))
    searches[half:] = [replace(s, outcome=replace(s.outcome, key=other(s.outcome.key))) for s in searches[half:]]
    whole = {s.outcome.key for s in searches}
    small = [*run.outcomes, *(replace(o, key=other(o.key)) for o in native.outcomes)]
    small = [o for o in small if o.key not in whole]
    margin = run.certificates["game24", "uct"]
    both = of_searches(INFO, searches, small, {("game24", "uct"): margin, ("gta", "uct"): margin}, (), "oracle")
    audit = audits.Audit(both)
    assert audit.domains == ("game24",)
    assert audit.contradictions.sound
    assert {c.what: c.made for c in audit.contradictions.checks}["no test task was calibrated on"] == 2
    assert audit.traced["gta", "uct"].coverage is not None


def test_test_searches_under_two_seeds_are_refused(tmp_path: Path) -> None:
    def second(key: Key) -> Key:
        return replace(key, seed=8) if key.task == "a" else key

    place = saved(record(seed=second), tmp_path / "run.sqlite")
    for command in (("audit", place), ("report", place, "-o", str(tmp_path / "r.html"))):
        done = paccf(*command)
        assert done.exit_code == 2, done.output
        assert "the test searches have 2 seeds" in done.output


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
