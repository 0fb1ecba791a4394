"""Proposals as models write them, to the action meant or to the right count."""

import random
from collections import Counter
from fractions import Fraction

import pytest

from paccf.domains.game24.moves import move_of, moves
from paccf.domains.game24.numbers import text_of
from paccf.domains.game24.reading import read_move, read_moves
from paccf.domains.game24.tasks import hands
from paccf.search.tree import Action

HAND = (4, 7, 8, 8)
THIRDS = (Fraction(8, 3), 3, 8)


@pytest.mark.parametrize(
    "line",
    [
        "8 / 8 = 1 (left: 1 4 7)",
        "8/8=1",
        "8 / 8",
        "1. 8 / 8 = 1 (left: 1 4 7)",
        "12) 8 / 8 = 1",
        "(3) 8 / 8 = 1",
        "[3] 8 / 8 = 1",
        "- 8 / 8 = 1 (left: 4, 7, 1)",
        "-8 / 8 = 1",
        "* 8 / 8 = 1",
        "• 8 ÷ 8 = 1",
        "1. - 8 / 8 = 1",
        "Move 2: 8 / 8 = 1",
        "**8 / 8 = 1** (left: 1 4 7)",
        "`8 / 8 = 1`,",
        "$8 \\div 8 = 1$",
        '"8 / 8 = 1 (left: 1 4 7)",',
        "(8 / 8 = 1)",
        "(8 / 8) = 1",
        "(8) / (8) = (1)",
        "8 / 8 = 1.0",
        "8 / 8 ≈ 1",
        "8 / 8 = 1 -> 1 4 7",
        "8 / 8 -> 1 4 7",
        "8 / 8 (left = 4 7 1)",
        "8 / 8, leaving 1 4 7",
        "8 / 8 = 1 (left: 9 9)",  # what it says is left is not looked at
        "| 8 / 8 = 1 | 1 4 7 |",
    ],
)
def test_the_move_is_read(line):
    assert read_move(HAND, line) == Action("1 4 7", "8 / 8 = 1 (left: 1 4 7)")
    reading = read_moves(HAND, line)
    assert (len(reading.actions), reading.illegal, reading.unparsable) == (1, 0, 0)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("7 × 8 = 56", "8 * 7 = 56 (left: 4 8 56)"),
        ("7 ∗ 8 = 56", "8 * 7 = 56 (left: 4 8 56)"),
        ("7 ⁄ 8", "7 / 8 = 7/8 (left: 7/8 4 8)"),
        ("7x8 = 56", "8 * 7 = 56 (left: 4 8 56)"),
        ("4 − 8 = −4", "4 - 8 = -4 (left: -4 7 8)"),
        ("4 - 8 = (-4)", "4 - 8 = -4 (left: -4 7 8)"),
        ("7 / 8 = 0.875", "7 / 8 = 7/8 (left: 7/8 4 8)"),
        ("7 / 8 = .88", "7 / 8 = 7/8 (left: 7/8 4 8)"),
        ("7 / 8 = 0.87", "7 / 8 = 7/8 (left: 7/8 4 8)"),
        ("7 / 8 = 7/8 (left: 4 8 7/8)", "7 / 8 = 7/8 (left: 7/8 4 8)"),
    ],
)
def test_signs_and_results(line, text):
    assert read_move(HAND, line).text == text


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("3 - 8/3 = 1/3", "1/3 8"),
        ("3 - 2.67 = 0.33 (left: 0.33 8)", "1/3 8"),
        ("3 - 2.66 = 0.34", None),  # cut off is fine, a third is not .34
        ("3 - 2.66 = 0.333", "1/3 8"),
        ("3 - 2.7 = 0.3", "1/3 8"),
        ("3 - 3 = 0", None),  # no point, no rounding
        ("8 / 8/3 = 3", "3 3"),
        ("8 / (8/3) = 3", "3 3"),
        ("8/2.667", "3 3"),
        ("8 / 3 = 2.67 (left: 2.67 2.67)", "8/3 8/3"),
        ("8/3", "8/3 8/3"),
        ("8 * 8/3 = 64/3", "3 64/3"),
    ],
)
def test_rounded_operands(line, key):
    found = read_move(THIRDS, line)
    assert found == "illegal" if key is None else found.key == key


def test_a_rounded_operand_must_fit_one_number():
    state = (Fraction(5, 8), Fraction(19, 30), 2)
    assert read_move(state, "0.63 * 2") == "illegal"  # 0.625 and 0.6333 both print so
    assert read_move(state, "0.625 * 2").key == "19/30 5/4"
    assert read_move(state, "0.633 * 2").key == "5/8 19/15"


@pytest.mark.parametrize(
    "line",
    [
        "8 / 8 = 2",
        "8 / 8 = 1.1",
        "7 / 8 = 0.7",
        "8/8/8/8",
        "3 + 4 = 7",
        "4 + 4 = 8",
        "8 - 0 = 8",
        "8 / 0 = 0",
        "1. 9 * 9 = 81",
        "8 / 4 = 2.01",
    ],
)
def test_illegal(line):
    assert read_move(HAND, line) == "illegal"
    assert (read_moves(HAND, line).illegal, read_moves(HAND, line).unparsable) == (1, 0)


def test_a_division_by_zero_is_illegal():
    assert read_move((0, 5, 7), "5 / 0 = 0") == "illegal"


@pytest.mark.parametrize(
    "line",
    [
        "8 / ? = 1",
        "x = 3",
        "8 + 8 + 8 = 24",
        "8 ^ 8 = 1",
        "1 / 0/0",
        "7 * 8 = lots",
        "8 / 8 = 1" + "0" * 300,
    ],
)
def test_unparsable(line):
    assert read_move(HAND, line) == "unparsable"
    assert (read_moves(HAND, line).illegal, read_moves(HAND, line).unparsable) == (0, 1)


@pytest.mark.parametrize(
    "line",
    [
        "```",
        "```text",
        "a + b",
        "Here are the moves.",
        "Numbers left: 4 7 8 8",
        "I hope this helps!",
        "---",
        "***",
        "24",
        "1.",
    ],
)
def test_prose_is_not_counted(line):
    assert read_move(HAND, line) == "prose"
    assert read_moves(HAND, line).unparsable == 0


def test_a_whole_answer():
    reading = read_moves(
        HAND,
        "Sure! Some moves:\n\n```\n1. 8 / 8 = 1 (left: 1 4 7)\n2. 8 + 8 = 16\n3. 8 / 8 = 1\n4. 8 / 3 = 2.67\n5. 8 * ? = 64\n```\nGood luck.",
    )
    assert [a.key for a in reading.actions] == ["1 4 7", "4 7 16", "1 4 7"]
    assert (reading.illegal, reading.unparsable) == (1, 1)


@pytest.mark.parametrize(
    "text",
    [
        '["8 / 8 = 1 (left: 1 4 7)", "8 + 8 = 16"]',
        'Moves:\n```json\n["8 / 8 = 1",\n "8 + 8 = 16",\n]\n```',
        '{"moves": ["8 / 8 = 1", "8 + 8 = 16"]}',
        '[{"move": "8 / 8 = 1", "left": [1, 4, 7]}, {"move": "8 + 8 = 16"}]',
        '["8 / 8 = 1"\n"8 + 8 = 16"',
    ],
)
def test_json_lists(text):
    assert [a.key for a in read_moves(HAND, text).actions] == ["1 4 7", "4 7 16"]


def test_every_operation_of_many_states_is_read_back():
    for task in hands()[::40]:
        for state in [task.data, *[m.after for m in moves(task.data).by_key.values()][::5]]:
            known = moves(state).by_text
            assert [a.text for a in read_moves(state, "\n".join(known)).actions] == list(known)
            for text, move in known.items():
                loose = text.split(" (")[0]
                assert read_move(state, "- " + loose) == move.action
                assert read_move(state, loose.replace(" ", "")).key == move.action.key
                tight = read_move(
                    state,
                    "7) "
                    + f"{float(move.left):.3f} {move.operator} {float(move.right):.3f} = {float(move.result):.2f}",
                )
                assert tight == "illegal" or tight.key == move.action.key  # two numbers may round to one text


@pytest.mark.parametrize("part", range(4))
def test_mutated_answers_raise_nothing(part):
    """100,000 in all: each gives legal moves or is counted."""
    chance = random.Random(part)
    tally = Counter()
    good = '1. 8 / 8 = 1 (left: 1 4 7)\n- 7 × 8 = 56\n["8 + 8 = 16", {"a": "4 - 8 = -4"},]\n8 / 3 = 2.67'
    pieces = [
        "=",
        "/",
        "(",
        ")",
        "[",
        "]",
        "{",
        '"',
        "-",
        "9" * 40,
        ".",
        "\n",
        "é",
        "\x00",
        "×",
        "1/0",
        ",",
        "\\",
        "NaN",
    ]
    for turn in range(25_000):
        text = list(good)
        for _ in range(chance.randint(1, 12)):
            place = chance.randrange(len(text))
            text[place : place + chance.randint(0, 3)] = chance.choice(pieces)
        state = THIRDS if turn % 5 == 0 else HAND
        reading = read_moves(state, "".join(text))
        assert all(move_of(state, a).action.key == a.key for a in reading.actions)
        tally += Counter(read=len(reading.actions), illegal=reading.illegal, unparsable=reading.unparsable)
    assert min(tally.values()) > 1_000, tally


@pytest.mark.parametrize(
    "piece", ["[", '["', "[{", "8 / 8 = 1\n", "9", "- ", "(8", "\\times", "a: ", "= ", "1/", ",\n"]
)
def test_ten_megabytes_are_bounded(piece):
    reading = read_moves(HAND, piece * (10_000_000 // len(piece)))
    assert len(reading.actions) <= 8000


def test_texts_name_states():
    assert text_of(THIRDS) == "8/3 3 8"
