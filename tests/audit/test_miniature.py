"""Every figure of the miniature record (conftest), as computed on paper."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from paccf.audit import tables
from paccf.audit.audit import Audit
from paccf.audit.bootstrap import paired_interval
from paccf.audit.resample import Interval
from paccf.audit.run import Run, Unsupported
from paccf.audit.views import Gross
from paccf.record.values import Costs, Key, Outcome

CELL = ("game24", "uct")


@pytest.fixture
def audit(miniature: Callable[..., Run]) -> Audit:
    return Audit(miniature(), resamples=4000, condition_resamples=4000)


def row(audit: Audit, name: str, **keys: Any) -> dict[str, Any]:
    return tables.build(audit, name).find(**keys)


def test_who_is_paired(audit: Audit) -> None:
    pairs = audit.pairs["game24"]
    assert pairs.tasks == ("a", "b", "c")
    assert pairs.excluded == {"d": "technical failure in uct, paccf: the endpoint died", "e": "no picture"}
    assert pairs.nbc.tolist() == [[[False, False, True]], [[True, False, True]]]
    shown = tables.build(audit, "exclusions").rows
    assert [r[1] for r in shown] == ["d", "e"]
    assert row(audit, "cohorts", domain="Game24", budget="B20") == {
        "domain": "Game24", "budget": "B20", "n_eff": 1, "pairs": 3, "share": pytest.approx(100 / 3)
    }  # fmt: skip
    assert row(audit, "cohorts", domain="All domains", budget="B40")["n_eff"] == 2


def test_gross_counts(audit: Audit) -> None:
    found = audit.traced[CELL].gross
    assert found[40, "a"] == Gross(nodes=8, suppressed=3, occurrences=8, avoided=1, roots=2, matched=2)
    assert found[20, "a"] == Gross(nodes=7, suppressed=2, occurrences=7, avoided=0, roots=2, matched=2)
    # w is no Native node: unmatched. m is nested below v: its own scoring counts, that of v does not
    assert found[40, "b"] == Gross(nodes=7, suppressed=5, occurrences=8, avoided=4, roots=3, matched=2)
    assert found[20, "b"] == found[40, "b"]
    assert found[40, "c"] == Gross(2, 0, 2, 0, 0, 0)


EXACT = pytest.approx


def test_five_views(audit: Audit) -> None:
    at_40 = row(audit, "workload", budget="B40")
    assert at_40 == {
        "domain": "Game24", "budget": "B40", "controller": "UCT-MCTS", "n_eff": 2, "pairs": 3,
        "requests": EXACT(100 * 8 / 30), "physical_nodes": EXACT(30), "virtual_nodes": EXACT(10),
        "net_graph": EXACT(30), "tokens": EXACT(100 * 80 / 300),
        "matched": 100, "roots": 2,
        "requests_all": EXACT(100 * 18 / 70), "physical_nodes_all": EXACT(100 * 8 / 17),
        "virtual_nodes_all": EXACT(100 * 5 / 18), "net_graph_all": EXACT(100 * 6 / 17), "tokens_all": EXACT(100 * 18 / 70),
    }  # fmt: skip
    at_20 = row(audit, "workload", budget="B20")
    assert [at_20[v] for v in ("requests", "physical_nodes", "virtual_nodes", "net_graph", "tokens")] == [0] * 5
    assert (at_20["matched"], at_20["roots"]) == (None, 0)
    assert at_20["requests_all"] == EXACT(100 * 4 / 46)
    assert at_20["net_graph_all"] == EXACT(100 * 5 / 16)
    assert at_20["physical_nodes_all"] == EXACT(100 * 7 / 16)
    assert at_20["virtual_nodes_all"] == EXACT(100 * 4 / 17)


def test_macros(audit: Audit) -> None:
    main = row(audit, "macro_main", domain="Game24", budget="B40")
    assert main["utility"] == EXACT(100 / 3)
    assert main["requests"] == EXACT(100 * 8 / 30)
    assert main["requests_all"] == EXACT(100 * 18 / 70)
    assert row(audit, "macro_main", domain="macro", budget="B40") == {**main, "domain": "macro"}
    assert row(audit, "macro_main", domain="Game24", budget="B20")["utility"] == EXACT(200 / 3)
    raw = row(audit, "raw_game24", budget="B40", controller="UCT-MCTS")
    assert (raw["native"], raw["paccf"], raw["delta"]) == (1, 2, 1)
    assert (raw["tokens_native"], raw["tokens_paccf"]) == (300, 220)
    gross = row(audit, "gross_subtree_main", controller="UCT-MCTS")
    assert (gross["physical_nodes"], gross["net_graph"], gross["matched"]) == (EXACT(30), EXACT(30), 100)
    assert row(audit, "gross_subtree_main", controller="Macro")["virtual_nodes"] == EXACT(10)
    assert row(audit, "gross_all_budgets", budget="B20")["physical_nodes_all"] == EXACT(43.75)
    sensitivity = row(audit, "budget_censor_sensitivity", budget="B40")
    assert (sensitivity["requests"], sensitivity["requests_all"]) == (main["requests"], main["requests_all"])
    both = row(audit, "per_backbone_main", controller="UCT-MCTS")
    assert (both["b20_n_eff"], both["b40_n_eff"], both["b40_net_graph_all"]) == (1, 2, EXACT(600 / 17))


def test_no_tooltree_is_said(audit: Audit) -> None:
    assert all(r[1] is None for r in tables.build(audit, "strong_backbone_ci").rows)
    assert row(audit, "exclude_tooltree_macro", budget="B40")["requests"] == EXACT(100 * 8 / 30)
    assert len(tables.build(audit, "main_ci").rows) == 2, "no ToolTree row"


def test_conditions(audit: Audit) -> None:
    found = row(audit, "per_condition_ci", budget="B40")
    lo, hi = paired_interval(1, 0, 3)
    assert found["ci"] == Interval(lo, hi)
    assert (found["rgt"], found["n"], found["law"]) == ("1/0/2", 3, "exact")
    assert (round(found["rescue_ci"].lo, 2), round(found["rescue_ci"].hi, 2)) == (0.84, 90.57)
    assert row(audit, "per_condition_ci", budget="B20")["rgt"] == "2/0/1"


def test_intervals_cover_what_resamples_can_be(audit: Audit) -> None:
    """B40: the cohort is a (24 -> 16) and c (6 -> 6); a resample has i of a and j of c, or nothing: (1/3)^3."""
    found = audit.interval("requests", 40)
    assert found is not None
    assert (found.lo, found.hi) == (0.0, pytest.approx(100 / 3, abs=1e-5))
    assert found.undefined == pytest.approx(4000 / 27, abs=5 * (4000 / 27) ** 0.5)
    assert any("nothing in a denominator" in note for note in tables.build(audit, "domain_macro_ci").notes)
    whole = audit.interval("requests", 40, "all")
    assert whole is not None
    assert whole.undefined == 0
    # all three c: 0; all three b: 100 (1 - 30 / 40); all three a: 100 / 3
    assert whole.lo >= 0
    assert whole.hi <= 100 / 3 + 1e-5


def test_coverage(audit: Audit) -> None:
    """a is covered, b has deficit 35, c is open. Gaps beyond 30: 50 40 | 35 75 35; protected of them: v, m."""
    found = row(audit, "zero_api_native_coverage", controller="UCT-MCTS")
    assert {k: found[k] for k in ("margin", "exposed", "resolved", "covered", "budget")} == {
        "margin": 30, "exposed": 3, "resolved": 2, "covered": 1, "budget": "B40"
    }  # fmt: skip
    assert (found["coverage"], found["worst"], found["best"]) == (50, EXACT(100 / 3), EXACT(200 / 3))
    # beta-binomial(3; 19, 1): P(0) + P(1) with C(22, 3) = 1540 in the denominator
    assert found["reference"] == EXACT((1 + 19) / 1540)
    point = row(audit, "zero_api_threshold_point", controller="UCT-MCTS")
    assert (point["candidates"], point["protected"]) == (18, 5)
    assert (point["pruned"], point["protected_pruned"]) == (EXACT(500 / 18), 40)
    sweep = tables.build(audit, "coverage_sweep")
    assert sweep.values("theta") == [0, 5, 20, 30, 35, 40, 50, 75]
    assert sweep.values("covered") == [1, 1, 1, 1, 2, 2, 2, 2]
    assert sweep.find(theta=30.0)["frozen"] == "<-"
    assert sweep.find(theta=35.0)["pruned"] == EXACT(300 / 18)


def test_survival(audit: Audit) -> None:
    """b loses v at the root; c is open."""
    for budget in ("B20", "B40"):
        found = row(audit, "adaptive_oracle_audit", budget=budget, controller="UCT-MCTS")
        assert (found["exposed"], found["survived"], found["survival"]) == (2, 1, 50)
        assert found["worst"] == EXACT(100 / 3)
        assert row(audit, "adaptive_oracle_audit", budget=budget, controller="pooled")["exposed"] == 2


def test_calibration(audit: Audit) -> None:
    found = row(audit, "calibration_rank_audit", controller="UCT-MCTS")
    assert (found["n"], found["k"], found["margin"], found["bound"], found["pool"]) == (19, 19, 30, 5, 19)
    assert any("largest of its 19 scores" in note for note in tables.build(audit, "calibration_rank_audit").notes)
    assert tables.build(audit, "q95_l_main").rows == (("Game24", 30.0),)
    assert row(audit, "exposure", controller="UCT-MCTS") == {
        "domain": "Game24", "controller": "UCT-MCTS", "calibration": 19, "pool": 19, "test": 3, "tests": 3, "p": EXACT(1)
    }  # fmt: skip
    by_q = tables.build(audit, "margin_by_q")
    assert by_q.find(q="0.95")["frozen"] == "<-"
    assert by_q.find(q="0.5")["margin"] == 15  # rank 10 of 19
    assert by_q.find(q="0.98")["margin"] == "infinite"
    listed = tables.build(audit, "deficits")
    assert listed.find(phase="test", task="b")["deficit"] == 35
    assert listed.find(phase="test", task="c")["state"] == "unresolved"
    assert sum(r[2] == "calibration" for r in listed.rows) == 19


def test_evaluator(audit: Audit) -> None:
    """Within frontiers 5 wins of 7; over all, 39 of 5 x 11 (80: 10, 90: 11, 50: 7.5 twice, 25: 3)."""
    found = row(audit, "evaluator", controller="UCT-MCTS")
    assert (found["candidates"], found["protected"]) == (16, 31.25)
    assert (found["within_auc"], found["auc"]) == (EXACT(5 / 7), EXACT(39 / 55))
    scores = [80, 60, 30, 90, 50, 40, 20, 10, 85, 50, 10, 60, 25, 50, 45, 30, 50, 50]
    assert found["within"] == EXACT(2**0.5)
    assert found["between"] == EXACT((statistics.variance(scores) - 1) ** 0.5)
    assert (found["position"], found["position_ci"]) == (None, None)
    curve = tables.build(audit, "evaluator_curve")
    assert sum(n for n in curve.values("candidates") if isinstance(n, int)) == 16
    assert curve.find(low=50.0)["candidates"] == 3  # q 50, v 50, k 50
    assert curve.find(low=50.0)["protected"] == EXACT(200 / 3)


def test_cases(audit: Audit) -> None:
    table = tables.build(audit, "cases")
    assert [(r[0], r[3], r[4]) for r in table.rows] == [("rescue", "B20", "a"), ("rescue", "B20", "c")]
    assert table.source.counts == {"rescues": 2, "regressions": 0}
    best = tables.build(audit, "qual_case_main")
    assert best.title == "Game24 task a (UCT-MCTS, B20)"
    assert best.find(quantity="Physical requests") == {
        "quantity": "Physical requests", "native": 20, "paccf": 16, "reduction": 20
    }  # fmt: skip
    assert best.find(quantity="Outcome")["native"] == "Fail (budget)"


def test_bill_and_ends(audit: Audit) -> None:
    native = row(audit, "bill", budget="B40", arm="Native")
    assert (native["requests"], native["requests_propose"], native["prompt_tokens"]) == (70, 9, 630)
    assert (native["nodes"], native["scored"]) == (17, 18)
    ends = row(audit, "ends", budget="B40", arm="Native")
    assert (ends["end_budget"], ends["end_solved"], ends["end_finished"]) == (1, 1, 1)
    config = tables.build(audit, "frozen_config")
    assert config.find(item="Provider model")["setting"] == "nobody (SIMULATED)"
    assert config.find(item="spec: seed")["setting"] == "7"
    assert config.simulated


def test_it_does_not_contradict_itself(audit: Audit) -> None:
    assert audit.contradictions.failures == []
    made = {c.what: c.made for c in audit.contradictions.checks}
    assert made["searches agree with their bills, budgets, rules and prefixes"] == 8 + 19
    assert made["certificates follow from the calibration traces"] == 1
    assert made["gross and net views count the same Native nodes and occurrences"] == 6
    assert audit.traced[CELL].checked == 3 + 3 + 1 + 1, "every PAC-CF frontier was decided again"


def test_unknown_tokens_are_unknown(miniature: Callable[..., Run]) -> None:
    def forget(o: Outcome) -> Outcome:
        if (o.key.task, o.key.arm) != ("c", "paccf"):
            return o
        return replace(o, costs=replace(o.costs, unknown_tokens=1))

    audit = Audit(miniature(changed=forget), resamples=4000)
    found = row(audit, "macro_main", domain="Game24", budget="B40")
    assert (found["tokens"], found["tokens_all"]) == (None, None)
    assert found["requests"] == EXACT(100 * 8 / 30)
    assert audit.interval("tokens", 40) is None
    assert audit.interval("requests", 40) is not None
    assert any("no E2E tokens figure for Game24 UCT-MCTS B40" in n for n in tables.build(audit, "macro_main").notes)


def test_nothing_in_a_denominator(miniature: Callable[..., Run]) -> None:
    """All searches censored: no cohort, no figure, no error, and the all-task figure still stands."""
    audit = Audit(
        miniature(changed=lambda o: replace(o, end="budget" if o.end != "failure" else o.end)), resamples=4000
    )
    found = row(audit, "macro_main", domain="Game24", budget="B40")
    assert (found["n_eff"], found["requests"], found["net_graph"]) == (0, None, None)
    assert found["requests_all"] == EXACT(100 * 18 / 70)
    assert audit.interval("requests", 40) is None
    assert tables.build(audit, "main_ci").rows


def test_several_seeds_are_not_mixed(miniature: Callable[..., Run]) -> None:
    def other(key: Key) -> Key:
        return replace(key, seed=8) if key.task == "c" else key

    with pytest.raises(Unsupported, match="2 seeds"):
        assert Audit(miniature(seed=other)).pairs


def test_unfinished_tasks_are_no_pairs(miniature: Callable[..., Run]) -> None:
    run = miniature()
    lacking = tuple(o for o in run.outcomes if (o.key.task, o.key.arm, o.key.budget) != ("b", "paccf", 20))
    audit = Audit(replace(run, outcomes=lacking))
    assert audit.pairs["game24"].tasks == ("a", "c")
    assert audit.pairs["game24"].excluded["b"] == "no paccf search of uct at B20 in the record"


@pytest.mark.parametrize(
    ("harm", "says"),
    [
        (lambda c: replace(c, nodes=c.nodes + 1), "graph nodes in the bill"),
        (lambda c: replace(c, scored=c.scored - 1), "scored occurrences in the bill"),
        (lambda c: replace(c, expansions=9), "9 frontiers in the bill"),
        (lambda c: replace(c, unscored=1), "1 unscored candidates in the bill"),
        (lambda c: replace(c, requests={"evaluate": 99}), "over the budget"),
        (lambda c: replace(c, requests={"evaluate": 1}), "do not grow up to the bill's total"),
    ],
)
def test_a_bill_that_lies_is_found(miniature: Callable[..., Run], harm: Callable[[Costs], Costs], says: str) -> None:
    def change(o: Outcome) -> Outcome:
        hit = (o.key.task, o.key.arm, o.key.budget) == ("a", "native", 40)
        return replace(o, costs=harm(o.costs)) if hit else o

    failures = Audit(miniature(changed=change)).contradictions.failures
    assert any(says in f and "task a" in f and "B40" in f for f in failures)


def test_a_budget_that_is_no_prefix_is_found(miniature: Callable[..., Run]) -> None:
    def longer(o: Outcome) -> Outcome:
        if (o.key.task, o.key.arm, o.key.budget) != ("a", "paccf", 20):
            return o
        return replace(o, end="finished", utility=0.0)

    failures = Audit(miniature(changed=longer)).contradictions.failures
    assert any("ended by itself (finished), and otherwise at B40 (solved)" in f for f in failures)


def test_a_decision_that_was_not_the_margins_is_found(miniature: Callable[..., Run]) -> None:
    def drop(search: Any) -> Any:
        if (search.outcome.key.task, search.outcome.key.arm) != ("c", "paccf"):
            return search
        first = search.frontiers[0]
        g, h = first.candidates
        return replace(search, frontiers=[replace(first, candidates=(g, replace(h, gap=False, kept=False)))])

    failures = Audit(miniature(change=drop)).contradictions.failures
    assert any("the certificate's margin decides otherwise on candidate h" in f for f in failures)


def test_a_certificate_of_other_traces_is_found(miniature: Callable[..., Run]) -> None:
    from paccf.method.certificate import Certificate
    from paccf.method.deficit import TaskDeficits

    other = TaskDeficits(2)
    for i in range(19):
        other.add(f"cal{i:02}", [[90, 90], [60, 60]], [False, True])
    frozen = Certificate.freeze(other, "0.95", budget=40, observations=2)
    failures = Audit(miniature(frozen=frozen)).contradictions.failures
    assert any("the deficit of task" in f for f in failures)


def test_a_tape_that_was_billed_otherwise_is_found(miniature: Callable[..., Run]) -> None:
    def counted(key: Key) -> Costs | None:
        costs = {o.key: o.costs for o in run.outcomes}[key]
        if (key.task, key.arm, key.budget) != ("b", "paccf", 40):
            return costs
        return replace(costs, requests={**costs.requests, "evaluate": costs.requests["evaluate"] + 1})

    run = replace(miniature(), recount=counted)
    failures = Audit(run).contradictions.failures
    assert failures == [
        "test game24 uct paccf B40 task b: the bill says 30 requests (evaluate 27 propose 3), 270 + 30 tokens, "
        "the tape 31 requests (evaluate 28 propose 3), 270 + 30 tokens"
    ]
