"""A foreign run of which there is a frontier log only: what can be audited is, what cannot says why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from paccf.audit import tables
from paccf.audit.audit import Audit
from paccf.audit.run import Run, Unsupported, of_logs
from paccf.method.certificate import Certificate
from paccf.method.deficit import TaskDeficits
from paccf.record.frontier_log import read_frontiers
from paccf.theory.frontiers import simulate_frontiers

NEEDS_ARMS = {
    "macro_main", "main_ci", "domain_macro_ci", "strong_backbone_ci", "exclude_tooltree_macro", "cohorts", "workload",
    "budget_censor_sensitivity", "per_backbone_main", "gross_subtree_main", "gross_all_budgets", "per_condition_ci",
    "main_budget_efficiency", "per_condition_header", "adaptive_oracle_audit", "qual_case_main", "cases", "bill", "bill_main", "ends", "metrics", "exclusions",
}  # fmt: skip
CARRIED = {
    "q95_l_main", "calibration_rank_audit", "margin_by_q", "margin_steps", "deficits", "exposure", "zero_api_native_coverage",
    "zero_api_threshold_point", "coverage_sweep", "evaluator", "evaluator_curve", "frozen_config", "checks",
}  # fmt: skip


def write(path: Path, first: int, tasks: int, **meta: str) -> str:
    lines = simulate_frontiers(tasks, seed=3, first=first)
    extra = {"meta": meta} if meta else {}
    path.write_text("".join(json.dumps({**line, **extra}) + "\n" for line in lines))
    return str(path)


def frozen(log: str, **matched: str) -> Certificate:
    found = TaskDeficits(4)
    for f in read_frontiers(log):
        found.add(f.task, f.scores, f.protected, f.eligible, f.candidates)
    return Certificate.freeze(found, "0.9", observations=4, labels="found", matched_to=matched)


@pytest.fixture
def logs(tmp_path: Path) -> tuple[str, str]:
    return write(tmp_path / "train.jsonl", 0, 60), write(tmp_path / "test.jsonl", 60, 80)


@pytest.fixture
def run(logs: tuple[str, str]) -> Run:
    train, test = logs
    return of_logs([test], [frozen(train, domain="mine", controller="beam")], [train])


def test_what_a_log_carries(run: Run) -> None:
    audit = Audit(run)
    for name in CARRIED:
        assert tables.build(audit, name).rows, name
        assert not tables.lacks(audit, name)
    found = tables.build(audit, "zero_api_native_coverage").find(domain="mine", controller="beam")
    assert found["exposed"]
    assert found["budget"] == "whole"
    assert audit.contradictions.failures == []
    made = {c.what: c for c in audit.contradictions.checks}
    assert made["certificates follow from the calibration traces"].made == 1
    assert made["searches agree with their bills, budgets, rules and prefixes"].impossible == "no bills in a log"
    assert made["bills equal their tapes"].impossible


def test_what_it_does_not_is_said(run: Run) -> None:
    audit = Audit(run)
    assert set(tables.TABLES) == NEEDS_ARMS | CARRIED | set(tables.NO_RECORD)
    for name in NEEDS_ARMS:
        with pytest.raises(Unsupported) as why:
            tables.build(audit, name)
        assert "no test searches" in str(why.value)
        assert tables.lacks(audit, name)


def test_coverage_is_that_of_the_command(logs: tuple[str, str], run: Run) -> None:
    """`paccf coverage` and the audit see one thing."""
    from paccf.audit.coverage import Coverage

    certificate = next(iter(run.certificates.values()))
    direct = Coverage(certificate)
    for f in read_frontiers(logs[1]):
        direct.add(f.task, f.scores, f.protected, f.eligible, f.candidates)
    through = Audit(run).traced["mine", "beam"].coverage
    assert through is not None
    assert through.covered(through.theta) == direct.covered(direct.theta)
    assert through.sweep() == direct.sweep()
    assert (through.candidates, through.pruned, through.protected) == (
        direct.candidates,
        direct.pruned,
        direct.protected,
    )


def test_a_log_that_was_calibrated_on_is_found(logs: tuple[str, str]) -> None:
    train, _ = logs
    audit = Audit(of_logs([train], [frozen(train)]))
    assert any("were calibrated on" in f for f in audit.contradictions.failures)


def test_a_certificate_of_another_log_is_found(logs: tuple[str, str]) -> None:
    train, test = logs
    audit = Audit(of_logs([test], [frozen(test)], [train]))
    assert any("the calibration traces give" in f for f in audit.contradictions.failures)


def test_two_cells_need_names(tmp_path: Path, logs: tuple[str, str]) -> None:
    train, test = logs
    both = [frozen(train, domain="mine", controller=c) for c in ("a", "b")]
    with pytest.raises(ValueError, match="does not say in meta which domain and controller"):
        of_logs([test], both)
    named = write(tmp_path / "named.jsonl", 200, 30, domain="mine", controller="b")
    audit = Audit(of_logs([named], both))
    assert audit.traced["mine", "b"].labelled
    assert not audit.traced["mine", "a"].labelled
    with pytest.raises(ValueError, match="two certificates are matched to the same"):
        of_logs([test], [both[0], both[0]])


def test_without_a_certificate(logs: tuple[str, str]) -> None:
    audit = Audit(of_logs([logs[1]], []))
    with pytest.raises(Unsupported, match="no certificate"):
        tables.build(audit, "coverage_sweep")
    assert tables.build(audit, "evaluator").rows
    assert tables.build(audit, "deficits").rows
