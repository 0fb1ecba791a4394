"""The running example of the paper by hand; exactness; the verifier against every kind of wrong and hostile text."""

from fractions import Fraction
from itertools import permutations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paccf.domains.game24.expression import LONGEST
from paccf.domains.game24.moves import moves
from paccf.domains.game24.numbers import apply, replace
from paccf.domains.game24.world import Game24, task_of
from paccf.search.tree import Action

WORLD = Game24()
HANDS = st.lists(st.integers(1, 13), min_size=4, max_size=4).map(lambda n: task_of(" ".join(map(str, n))))


def follow(task, *keys):
    """The outcomes and the actions along ``keys``."""
    outcome = WORLD.start(task)
    outcomes, actions = [outcome], []
    for key in keys:
        actions.append(next(a for a in WORLD.legal(outcome.state) if a.key == key))
        outcome = WORLD.execute(task, outcome.state, actions[-1])
        outcomes.append(outcome)
    return outcomes, actions


def test_the_running_example():
    task = task_of("8 4 7 8")
    assert (task.id, task.data) == ("4-7-8-8", (4, 7, 8, 8))
    outcomes, actions = follow(task, "1 4 7", "4 6", "24")
    assert [a.text for a in actions] == ["8 / 8 = 1 (left: 1 4 7)", "7 - 1 = 6 (left: 4 6)", "6 * 4 = 24 (left: 24)"]
    assert [o.state for o in outcomes] == [(4, 7, 8, 8), (1, 4, 7), (4, 6), (24,)]
    assert [o.terminal for o in outcomes] == [False, False, False, True]
    assert [o.solved for o in outcomes] == [None, None, None, True]
    assert WORLD.solution(task, actions) == "(7 - 8 / 8) * 4 = 24"
    assert WORLD.utility(task, actions) == 1
    assert WORLD.solution(task, actions[:1]) == "4, 7, 8 / 8 (unfinished)"
    assert WORLD.utility(task, actions[:2]) == WORLD.utility(task, []) == 0
    assert WORLD.horizon == len(actions)


def test_thirds_are_exact():
    task = task_of("3 3 8 8")
    outcomes, actions = follow(task, "8/3 3 8", "1/3 8", "24")
    assert outcomes[1].state == (Fraction(8, 3), 3, 8)
    assert outcomes[-1].solved is True
    assert type(outcomes[-1].state[0]) is int
    assert WORLD.solution(task, actions) == "8 / (3 - 8 / 3) = 24"


def test_a_wrong_end_is_terminal_and_unsolved():
    task = task_of("1 1 1 1")
    outcomes, actions = follow(task, "1 1 2", "1 3", "4")
    assert (outcomes[-1].terminal, outcomes[-1].solved) == (True, False)
    assert WORLD.solution(task, actions) == "1 + 1 + 1 + 1 = 4"
    assert WORLD.utility(task, actions) == 0


def test_two_ways_to_the_same_numbers_are_one_action():
    actions = WORLD.legal((2, 2, 5))
    assert [a.text for a in actions if a.key == "4 5"] == ["2 + 2 = 4 (left: 4 5)"]  # and not also 2 * 2
    assert len({a.key for a in actions}) == len(actions)
    assert [a.key for a in WORLD.legal((0, 7))] == ["7", "-7", "0"]  # 7 / 0 is none, 0 / 7 and 7 * 0 are one


def test_legal_moves_are_those_of_brute_force():
    for state in [(4, 7, 8, 8), (Fraction(-1, 3), 0, 8), (1, 1, 1, 1), (-4, 0, 0)]:
        expected = set()
        for i, j in permutations(range(len(state)), 2):
            for operator in "+-*/":
                if operator == "/" and state[j] == 0:
                    continue
                a, b = Fraction(state[i]), Fraction(state[j])
                result = {"+": a + b, "-": a - b, "*": a * b, "/": a / b if b else None}[operator]
                rest = [x for n, x in enumerate(state) if n not in (i, j)]
                expected.add(tuple(sorted([*rest, result])))
        assert {m.after for m in moves(state).by_key.values()} == expected


def test_an_illegal_action_is_refused():
    with pytest.raises(ValueError, match="no move leads from '4 7 8 8' to '9 9 9'"):
        WORLD.execute(task_of("4 7 8 8"), (4, 7, 8, 8), Action("9 9 9", "magic"))


@pytest.mark.parametrize("text", ["8 7 8 4", "4-7-8-8", " 4, 7, 8, 8 ", "04 7\t8;8"])
def test_ways_to_write_a_hand(text):
    assert (task_of(text).id, task_of(text).data) == ("4-7-8-8", (4, 7, 8, 8))


@pytest.mark.parametrize("text", ["", "4 7 8", "4 7 8 8 8", "0 4 7 8", "14 4 7 8", "4 7 8 x", "4.0 7 8 8", "٤ 7 8 8"])
def test_no_hand(text):
    with pytest.raises(ValueError, match="write four whole numbers from 1 to 13"):
        task_of(text)


@given(HANDS, st.lists(st.integers(0, 35), min_size=3, max_size=3))
@settings(max_examples=300, deadline=None)
def test_any_play_is_exact_and_verified_iff_solved(task, choices):
    state, actions = WORLD.start(task).state, []
    for choice in choices:
        legal = WORLD.legal(state)
        actions.append(legal[choice % len(legal)])
        move = moves(state).by_key[actions[-1].key]
        outcome = WORLD.execute(task, state, actions[-1])
        assert outcome.state == replace(state, move.left, move.right, apply(move.left, move.operator, move.right))
        assert " ".join(map(str, outcome.state)) == outcome.key == actions[-1].key
        assert all(type(x) is int or x.denominator > 1 for x in outcome.state)
        state = outcome.state
    solution = WORLD.solution(task, actions)
    expression, _, value = solution.partition(" = ")
    assert WORLD.verify(task, solution) == WORLD.verify(task, expression) == outcome.solved == (value == "24")
    assert WORLD.utility(task, actions) == outcome.solved


def test_every_solved_path_of_some_hands_is_verified():
    paths = 0
    for text in ["4 7 8 8", "3 3 8 8", "1 3 4 6", "1 5 5 5", "2 2 11 13"]:
        task = task_of(text)
        stack = [(task.data, [])]
        while stack:
            state, path = stack.pop()
            if len(state) == 1:
                assert WORLD.verify(task, WORLD.solution(task, path)) == (state == (24,))
                paths += state == (24,)
            else:
                stack += [(m.after, [*path, m.action]) for m in moves(state).by_text.values()]
    assert paths > 50


@pytest.mark.parametrize(
    "text", ["(7 - 8 / 8) * 4", "(7-8/8)*4 = 24", "4*(7 - (8/8))", "((((7-8÷8))))×4", " ( 7 − 8/8 ) · 4 "]
)
def test_right_answers(text):
    assert WORLD.verify(task_of("4 7 8 8"), text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "=",
        "= 24",
        "24",
        "(7 - 8 / 8) * 4 = 25",
        "(7 - 8 / 8) * 4 = 24 = 24",
        "7 - 8 / 8 * 4",
        "(7 - 8 / 8) * 4 + 8 - 8",
        "4 * 7 - 8 / 2",
        "(7 - 8 / 8 * 4",
        "7 - 8 / 8) * 4",
        "(7 - 8 / 8) 4 *",
        "(7 - 8 / 8)(4)",
        "7 8 8 4",
        "() (7 - 8 / 8) * 4",
        "(7 - 8 / 8) ** 4",
        "(7 - 8 // 8) * 4",
        "-(8 / 8 - 7) * 4",
        "+7 - 8 / 8 * 4",
        "4 * 7 - 8 + 8 / 0",
        "(7 - 8 / 8) * 4; import os",
        "__import__('os').system('true')",
        "(7.0 - 8 / 8) * 4",
        "(٧ - 8 / 8) * 4",
        "(" * 100_000 + "7 - 8 / 8" + ")" * 100_000 + " * 4",
        "9" * 1_000_000,
        "8 / (8 - 8) + 4 * 7",
    ],
)
def test_wrong_and_hostile_answers(text):
    assert WORLD.verify(task_of("4 7 8 8"), text) is False


def test_the_longest_answer_is_bounded_not_deep():
    brackets = (LONGEST - 13) // 2
    assert WORLD.verify(task_of("4 7 8 8"), "(" * brackets + "(7-8/8)*4" + ")" * brackets)


@given(st.text("0123456789+-*/() =.", max_size=60))
def test_the_verifier_raises_nothing(text):
    assert WORLD.verify(task_of("4 7 8 8"), text) in (True, False)


def test_the_verifier_agrees_with_python():
    task = task_of("1 5 5 5")
    shapes = [
        "{}{}{}{}{}{}{}",
        "({}{}{}){}{}{}{}",
        "{}{}({}{}{}{}{})",
        "({}{}{}){}({}{}{})",
        "{}{}({}{}({}{}{}))",
        "({}{}({}{}{})){}{}",
    ]
    right = 0
    for numbers in set(permutations(task.data)):
        for signs in product("+-*/", repeat=3):
            a, b, c, d = (f"F({n})" for n in numbers)
            for shape in shapes:
                text = shape.format(a, signs[0], b, signs[1], c, signs[2], d)
                try:
                    expected = eval(text, {"F": Fraction}) == 24
                except ZeroDivisionError:
                    expected = False
                plain = shape.format(numbers[0], signs[0], numbers[1], signs[1], numbers[2], signs[2], numbers[3])
                assert WORLD.verify(task, plain) == expected, plain
                right += expected
    assert right > 0


def test_prompts_say_what_they_must_and_depend_on_nothing_else():
    task = task_of("4 7 8 8")
    legal = WORLD.legal((1, 4, 7))[:3]
    asked = WORLD.propose(task, (1, 4, 7), 8, ["begin\nelsewhere"])
    assert "4 7 8 8" in asked
    assert "Numbers left: 1 4 7\n" in asked
    assert "up to 8" in asked
    assert "- begin elsewhere\n" in asked
    texts = set()
    for channel in ("child", "pre", "post"):
        for order in (legal, legal[::-1]):
            text = WORLD.evaluate(task, (1, 4, 7), order, channel, [], None)
            lines = [f"{i}. {a.text}" for i, a in enumerate(order, 1)]
            assert "\n".join(lines) in text
            assert "JSON list of 3 whole numbers" in text
            assert ("was made" in text) == (channel == "post")
            assert text == WORLD.evaluate(task_of("8 8 7 4"), (1, 4, 7), tuple(order), channel, (), ())
            texts.add(text)
    assert len(texts) == 6
    assert all(a.text in WORLD.reflect(task, legal) for a in legal)
