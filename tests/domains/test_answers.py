"""Scores as models write them: recovered exactly, or `None` at the entry that failed."""

import random
import time

import pytest

from paccf.domains.answers import LIMIT, listed_lines, read_scores
from paccf.domains.registry import has, names, world
from paccf.domains.sources import tasks
from paccf.models.simulated.truth import truth_of


@pytest.mark.parametrize(
    "text",
    [
        "[80, 15, 0]",
        "[80,15,0,]",
        "[80.0, 1.5e1, 0]",
        "```json\n[80, 15, 0]\n```",
        "Scores for moves [1, 2, 3]:\n[80, 15, 0]\nGood luck!",
        '{"scores": [80, 15, 0]}',
        '{"scores": [80, 15, 0,],}',
        '["80", "15", "0"]',
        "[80%, 15 %, 0%]",
        "[80/100, 15/100, 0/100]",
        "[eighty, fifteen, zero]",
        '[{"score": 80}, {"score": 15}, {"score": 0}]',
        '[{"move": 1, "score": 80}, {"move": 2, "score": 15}, {"move": 3, "score": "0"}]',
        '{"1": 80, "2": 15, "3": 0}',
        '{"scores": {"3": 0, "1": 80, "2": 15}}',
        "1. 80\n2. 15\n3. 0",
        "1: 80,\n2: 15,\n3: 0",
        "[\n  80,\n  15,\n  0\n]",
        "[80, 15, 0, null]",
        "80, 15, 0",
        "```\n80\n15\n0\n```",
        "[1, 2]\n[80, 15, 0]\n[7]",
    ],
)
def test_three_scores(text):
    assert read_scores(text, 3) == [80, 15, 0]


@pytest.mark.parametrize(
    ("text", "count", "expected"),
    [
        ("[80, 15]", 3, [80, 15, None]),
        ("[80, 15, 0, 3]", 3, [None, None, None]),
        ("[80, none, 0]", 3, [80, None, 0]),
        ("[80, -1, 101]", 3, [80, None, None]),
        ("[NaN, Infinity, 1e400]", 3, [None, None, None]),
        ("[true, 5, 6]", 3, [None, 5, 6]),
        ("[33.3333333, 66.6666667]", 2, [33.333333, 66.666667]),
        ("[ninety-nine, one hundred, twenty ten]", 3, [99, 100, None]),
        ("[[80, 15], [0, 3]]", 2, [None, None]),
        ("[[80], [15]]", 2, [None, None]),
        ('[{"move": 2, "score": 80}, {"move": 1, "score": 15}]', 2, [None, None]),
        ('{"1": 80, "3": 5}', 3, [80, None, 5]),
        ("2. 80\n1. 15", 2, [None, None]),
        ("", 2, [None, None]),
        ("It is hard to say.", 2, [None, None]),
        ("[]", 2, [None, None]),
        ("[80, 15, 0", 3, [80, 15, None]),  # it may have been on its way to 05
        ("[80, 15, ", 3, [80, 15, None]),
        ("[", 1, [None]),
        ("85", 1, [85]),
        ("1. 80\n2. 15", 4, [None] * 4),
        ("1 80\n2 15", 4, [None] * 4),
        ("Score: 85", 1, [85]),
        ("85 or 90", 1, [None]),
        ("[]", 0, []),
        ("[__import__('os').system('true'), 5]", 2, [None, 5]),
        ("[1+1, 5]", 2, [None, 5]),
        ("[" + "9" * 5000 + ", 5]", 2, [None, 5]),
    ],
)
def test_entries_that_fail(text, count, expected):
    assert read_scores(text, count) == expected


def test_the_end_of_a_long_answer_counts():
    assert read_scores("Let me think [1, 2].\n" * LIMIT + "[80, 15]", 2) == [80, 15]


@pytest.mark.parametrize(
    "piece", ["[", "[1,", "{", '{"a": ', "[]", "1. 2\n", "9", " ", "[[", "{a:" + " " * 500, "twenty ", "[1, 2]"]
)
def test_ten_megabytes_are_bounded(piece):
    assert len(read_scores(piece * (10_000_000 // len(piece)), 5)) == 5


def test_mutated_answers_raise_nothing():
    """100,000 of them: each entry is recovered or `None`."""
    chance = random.Random(5)
    good = 'Here: {"scores": [80, 15, 0, "7"]}\n```\n[{"score": 1}, {"1": 5}]\n1. 80\n'
    pieces = ["[", "]", "{", "}", ",", '"', ":", "e9", "-", ".", "9" * 30, "\n", "\x00", "é", "nan", "/100", "%", "٣"]
    for _ in range(100_000):
        text = list(good)
        for _ in range(chance.randint(1, 12)):
            place = chance.randrange(len(text))
            text[place : place + chance.randint(0, 3)] = chance.choice(pieces)
        count = chance.randint(1, 5)
        scores = read_scores("".join(text), count)
        assert len(scores) == count
        assert all(s is None or (type(s) is float and 0 <= s <= 100) for s in scores)


def test_lines():
    assert listed_lines("a\n\n  b \r\nc") == ["a", "b", "c"]
    assert listed_lines('x ["a", {"n": 1, "m": "b"}, " "] y') == ["a", "b"]
    assert listed_lines("[1, 2]") == ["[1, 2]"]
    assert listed_lines('["a' + "[" * 5000) == ["a" + "[" * 5000 + " ?"]
    assert listed_lines("[{" * 20000) == [("[{" * 20000)]


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("['a b', 'c d']", ["a b", "c d"]),
        ("Sure: ['a b', 'c d',]\nDone.", ["a b", "c d"]),
        ('["a b" "c d"]', ["a b", "c d"]),
        ("[\"a b\",, 'c d']", ["a b", "c d"]),
        ('["a b", c d]', ["a b", "c d"]),
        ('["a b", 2]', ["a b", "2"]),
        ('["a b",\n"c d"\n', ["a b", "c d"]),
        ('["a b", "c d', ["a b", "c d ?"]),
        ('["a b", c d', ["a b", "c d ?"]),
        ("['a b',\n'c d\n'e f']", ["['a b',", "'c d", "'e f']"]),
        ("it's [1] 'quoted'", ["it's [1] 'quoted'"]),
    ],
)
def test_lists_that_are_no_json_lose_nothing(text, items):
    """And what was cut off does not pass for a whole entry."""
    assert listed_lines(text) == items


@pytest.mark.parametrize("piece", ['["', "['", '["a",', "['a' ", '[a"b', '["\\', "[{'a':"])
def test_long_lists_that_are_no_json_take_no_time(piece):
    start = time.process_time()
    listed_lines('["' + piece * (10_000_000 // len(piece)))
    assert time.process_time() - start < 5


@pytest.mark.parametrize("name", [name for name in names() if has(name, "tasks")])
def test_a_proposal_loses_nothing_to_the_form_of_its_list(name):
    place, truth = world(name), truth_of(name)
    for task in tasks(name, "", "test", 5, 4):
        state = place.start(task).state
        legal = list(truth.legal(task, state))
        texts = [action.text for action in legal]
        quoted = [f'"{text}"' for text in texts] if name != "gta" else texts
        forms = [
            "[" + ", ".join(quoted) + "]",
            "[" + ",\n ".join(quoted) + ",]",
            "[" + " ".join(quoted),
        ]
        for form in forms:
            assert place.read_proposals(task, state, form).actions == tuple(legal)
        cut = place.read_proposals(task, state, forms[0][: 4 - len(quoted[-1])])
        assert cut.actions[: len(legal) - 1] == tuple(legal[:-1])
        assert len(cut.actions) == len(legal) - 1
