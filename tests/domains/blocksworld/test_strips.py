"""Reading PDDL, strictly; and plans, accepted only if every step is legal and the goal holds."""

from __future__ import annotations

import random
import re
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paccf.domains.blocksworld.blocks import DOMAIN
from paccf.domains.blocksworld.forms import PddlError, read_form
from paccf.domains.blocksworld.strips import applicable, apply, fault, ground, read_domain, read_problem

PROBLEM = """
; c on b, with a comment (and brackets
(define (problem P1)
  (:domain blocksworld-4ops)
  (:objects a B c)
  (:init (handempty) (ontable a) (ontable b) (ON c b) (clear a) (clear c))
  (:goal (and (on b c))))
"""
PLAN = ["(unstack c b)", "(put-down c)", "(pick-up b)", "(stack b c)"]


def test_a_problem_is_read():
    problem = read_problem(PROBLEM, DOMAIN)
    assert problem.name == "p1"
    assert problem.objects == ("a", "b", "c")
    assert ("on", "c", "b") in problem.init
    assert ("handempty",) in problem.init
    assert problem.goal == {("on", "b", "c")}
    assert fault(DOMAIN, problem, PLAN) is None
    one = PROBLEM.replace("(and (on b c))", "(on b c)")
    assert read_problem(one, DOMAIN) == problem, "a goal of one fact needs no and"


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("(on b c)", "(on b c", r"x\.pddl:3: this bracket is never closed"),
        ("(on b c))))", "(on b c)))))", r"x\.pddl:7: a bracket closes that was never opened"),
        ("(on b c))))", "(on b c))))\n(define)", r"x\.pddl:8: something follows"),
        ("; c on b", "c on b", r"x\.pddl:2: 'c' stands outside"),
        ("(on b c)", "(above b c)", r"x\.pddl:7: \(above \.\.\.\) is no fact; the predicates are .*ontable"),
        ("(on b c)", "(not (on b c))", r"x\.pddl:7: \(not \.\.\.\) is no fact"),
        ("(and (on b c))", "(or (on b c) (on a c))", r"x\.pddl:7: \(or \.\.\.\) is no fact"),
        ("(and (on b c))", "(forall (?x) (clear ?x))", r"x\.pddl:7: \(forall \.\.\.\) is no fact"),
        ("(on b c)", "(on b)", r"x\.pddl:7: on is about 2 objects, not 1"),
        ("(on b c)", "(on b d)", r"x\.pddl:7: 'd' was not declared"),
        ("(on b c)", "(on b (c))", r"x\.pddl:7: \(c \.\.\.\) was not declared"),
        ("(and (on b c))", "(and)", r"x\.pddl:7: the goal is empty"),
        ("(and (on b c))", "()", r"x\.pddl:7: the goal is empty"),
        ("(and (on b c))", "", r"x\.pddl:7: a goal is one fact"),
        ("(:objects a B c)", "(:objects a b B c)", r"x\.pddl:5: the object b is declared twice"),
        ("(:objects a B c)", "(:objects a b c - block)", r"x\.pddl:5: '-' is no name of an object; types are not"),
        ("(:objects a B c)", "(:objects a b c 4)", r"x\.pddl:5: '4' is no name"),
        ("(:objects a B c)", "(:objects a b c \x1b[31m)", r"x\.pddl:5: '\\x1b\[31m' is no name"),
        ("(:objects a B c)", "(:objects a b c " + "z" * 41 + ")", r"x\.pddl:5: 'z{40}' is no name"),
        ("(:objects a B c)", "", r"a problem has a section \(:objects"),
        (
            "blocksworld-4ops",
            "logistics",
            r"x\.pddl:4: this is a problem of another domain; here it is blocksworld-4ops",
        ),
        ("(:goal", "(:goal (on a b)) (:goal", r"x\.pddl:7: a second :goal"),
        ("(:goal", "(:metric", r"x\.pddl:7: \(:metric \.\.\.\) is not known here"),
        ("(problem P1)", "(domain P1)", r"x\.pddl:3: expected \(define \(problem NAME"),
        ("(define (problem P1)", "(" * 50, r"x\.pddl:3: more than 32 brackets are open"),
    ],
)
def test_what_is_wrong_is_named_with_file_and_line(old: str, new: str, why: str):
    assert old in PROBLEM
    with pytest.raises(PddlError, match=why):
        read_problem(PROBLEM.replace(old, new, 1), DOMAIN, "x.pddl")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "there is no PDDL in it"),
        ("; nothing", "there is no PDDL in it"),
        ("(define (domain d) (:requirements :typing))", "':typing' is not supported"),
        ("(define (domain d))", "has a section"),
        ("(define (domain d) (:predicates (p ?x - t)))", "'-' is no parameter"),
        ("(define (domain d) (:predicates (p ?x ?x)))", r"the parameter \?x appears twice"),
        ("(define (domain d) (:predicates (p) (p)))", "p is declared twice"),
        ("(define (domain d) (:predicates (p ?x)) (:action a :parameters (?x) :effect (p ?x)))", "needs :parameters"),
        (
            "(define (domain d) (:predicates (p) (q ?x)) (:action a :parameters (?x) :precondition (p) :effect (q ?x)))",
            "has to name all of its parameters",
        ),
        (
            "(define (domain d) (:predicates (q ?x)) (:action a :parameters (?x) :precondition (q ?x) "
            ":effect (when (q ?x) (not (q ?x)))))",
            r"\(when \.\.\.\) is no fact",
        ),
        ("(define (domain d) (:predicates (q ?x)) (:action))", "an action has a name"),
    ],
)
def test_a_domain_beyond_strips_is_refused(text: str, why: str):
    with pytest.raises(PddlError, match=why):
        read_domain(text)


def test_deep_and_large_texts_are_refused_in_linear_time():
    start = time.perf_counter()
    for text in ("(" * 10**6, ")" * 10**6, "(" * 20 + "x " * 4 * 10**5, "(a)" * 10**5, ";" * 10**6, "\0" * 10**6):
        with pytest.raises(PddlError):
            read_problem(text, DOMAIN)
    with pytest.raises(PddlError, match="10,000,000 characters; a PDDL text here has at most"):
        read_form("(" * 10**7, "big")
    assert time.perf_counter() - start < 20


@given(st.text(alphabet="()abc:?;- \n\x00é", max_size=200))
def test_any_text_is_read_or_refused(text: str):
    for read in (lambda: read_problem(text, DOMAIN), lambda: read_domain(text)):
        with pytest.raises(PddlError):
            read()


def test_a_step_deletes_before_it_adds():
    swap = read_domain(
        "(define (domain d) (:predicates (p ?x)) (:action keep :parameters (?x) :precondition (p ?x) "
        ":effect (and (not (p ?x)) (p ?x))))"
    )
    step = ground(swap.operators["keep"], ["a"])
    assert apply(step, frozenset({("p", "a")})) == {("p", "a")}


def test_applicable_is_every_ground_step_whose_precondition_holds(any_state):
    rng = random.Random(1)
    for _ in range(60):
        blocks = "abcdef"[: rng.randint(1, 6)]
        state = any_state(rng, blocks)
        every = [
            ground(op, args)
            for op in DOMAIN.operators.values()
            for args in ([(x,) for x in blocks] if op.arity == 1 else [(x, y) for x in blocks for y in blocks])
        ]
        assert applicable(DOMAIN, state) == sorted((s for s in every if s.pre <= state), key=lambda s: (s.name, s.args))


@pytest.mark.parametrize(
    ("plan", "why"),
    [
        ([], r"the plan ends without \(on b c\)"),
        (PLAN[:-1], r"the plan ends without \(on b c\)"),
        (["(unstack c a)", *PLAN[1:]], r"step 1: \(unstack c a\) needs \(on c a\)"),
        ([*PLAN, "(stack b c)"], r"step 5: \(stack b c\) needs \(clear c\) \(holding b\)"),
        (["(unstack c)"], "step 1: unstack takes 2 of the problem's objects"),
        (["(unstack c d)"], "step 1: unstack takes 2 of the problem's objects"),
        (["(fly c b)"], "step 1: .* is no operator of blocksworld-4ops"),
        (["unstack c b"], "step 1:1: 'unstack' stands outside"),
        (["(unstack c b"], "step 1:1: this bracket is never closed"),
        (["(unstack c (b))"], r"step 1:1: \(b \.\.\.\) is no name"),
        (["()"], "is no operator"),
        ([""], "no PDDL"),
    ],
)
def test_plans_are_refused_with_a_reason(plan: list[str], why: str):
    found = fault(DOMAIN, read_problem(PROBLEM, DOMAIN), plan)
    assert found is not None
    assert re.search(why, found), found


def test_the_domain_is_planbenchs(planbench: Path):
    assert read_domain((planbench / "domain.pddl").read_text(), "domain.pddl") == DOMAIN


def test_the_package_pddl_reads_the_same(instances: list[tuple[dict[str, Any], dict[str, Any]]]):
    """An independent reader: objects, first state and goal are the same sets."""
    from pddl.logic.base import And
    from pddl.parser.problem import ProblemParser

    parse = ProblemParser()
    for row, _ in instances:
        ours, other = read_problem(row["pddl"], DOMAIN), parse(row["pddl"])
        parts = other.goal.operands if isinstance(other.goal, And) else [other.goal]
        assert set(ours.objects) == {o.name for o in other.objects}
        assert ours.init == {(a.name, *[t.name for t in a.terms]) for a in other.init}
        assert ours.goal == {(a.name, *[t.name for t in a.terms]) for a in parts}


def test_the_package_pddl_reads_the_same_domain(planbench: Path):
    from pddl.logic.base import And, Not
    from pddl.parser.domain import DomainParser

    def split(formula: Any) -> list[Any]:
        return list(formula.operands) if isinstance(formula, And) else [formula]

    other = DomainParser()((planbench / "domain.pddl").read_text())
    assert {p.name: p.arity for p in other.predicates} == DOMAIN.predicates
    assert {a.name for a in other.actions} == set(DOMAIN.operators)
    for action in other.actions:
        ours, names = DOMAIN.operators[action.name], {p.name: f"?{i}" for i, p in enumerate(action.parameters)}

        def atoms(parts: list[Any], names: dict[str, str] = names) -> set[tuple[str, ...]]:
            return {(a.name, *[names[t.name] for t in a.terms]) for a in parts}

        effects = split(action.effect)
        assert ours.pre == atoms(split(action.precondition))
        assert ours.add == atoms([e for e in effects if not isinstance(e, Not)])
        assert ours.delete == atoms([e.argument for e in effects if isinstance(e, Not)])


def test_optimal_plans_validate_and_corrupted_ones_do_not(instances: list[tuple[dict[str, Any], dict[str, Any]]]):
    """Every corruption of an optimal plan that changes what it does is no plan: a step left out, doubled, swapped with
    its neighbour, given another operator, given another block. A plan of optimal length less one never is; where a
    change of blocks or order makes another plan by luck, a second executor, in five lines, has to say so too."""
    refused = lucky = 0
    for row, solved in instances:
        problem, plan = read_problem(row["pddl"], DOMAIN), solved["optimal_plan"]
        assert fault(DOMAIN, problem, plan) is None
        assert len(plan) == solved["optimal_length"]
        for bad in corrupted(plan, problem.objects):
            found = fault(DOMAIN, problem, bad)
            assert (found is None) == simple(problem.init, problem.goal, bad)
            if len(bad) < len(plan):
                assert found is not None
            refused, lucky = refused + (found is not None), lucky + (found is None)
    assert refused > 45_000
    assert lucky < refused / 100


def corrupted(plan: list[str], objects: tuple[str, ...]) -> list[list[str]]:
    made = []
    for i, step in enumerate(plan):
        name, *args = step.strip("()").split()
        made.append(plan[:i] + plan[i + 1 :])
        made.append(plan[: i + 1] + plan[i:])
        if i + 1 < len(plan):
            made.append([*plan[:i], plan[i + 1], step, *plan[i + 2 :]])
        steps = [f"({other} {' '.join(args)})" for other in DOMAIN.operators if other != name]
        steps += [f"({' '.join([name, *args[:j], o, *args[j + 1 :]])})" for j in range(len(args)) for o in objects]
        made += [[*plan[:i], other, *plan[i + 1 :]] for other in steps if other != step]
    return made


def simple(init: frozenset[Any], goal: frozenset[Any], plan: list[str]) -> bool:
    """Blocksworld once more, by what is on what."""
    on = {a[1]: a[2] for a in init if a[0] == "on"} | {a[1]: "" for a in init if a[0] == "ontable"}
    held = None
    for step in plan:
        name, *args = step.strip("()").split()
        if len(args) != (1 if name in ("pick-up", "put-down") else 2):
            return False
        x, below = args[0], args[1] if len(args) == 2 else ""
        if name in ("pick-up", "unstack"):
            if held or x in on.values() or on.get(x) != below:
                return False
            held = x
            del on[x]
        else:
            if held != x or (below and (below not in on or below in on.values())):
                return False
            on[x], held = below, None
    return all(on.get(a[1]) == a[2] for a in goal)
