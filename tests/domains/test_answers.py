"""Scores as models write them: recovered exactly, or `None` at the entry that failed."""

import random
import re
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
        ("85.", 1, [85]),
        ('**"85/100"**', 1, [85]),
        ("**Score:** 85/100", 1, [85]),
        ("My final score is **85**.", 1, [85]),
        ("The move leaves 6.\nScore (0-100): 85", 1, [85]),
        ("Score: 85\nScore: 20", 1, [None]),
        ("Score: 85\n20", 1, [None]),
        ("The maximum score is 100.", 1, [None]),
        ("I cannot score move 3.", 1, [None]),
        ("Refused: see policy 12", 1, [None]),
        ('{"scores": [8', 1, [None]),
        ('{"score": 8', 1, [None]),
        ("[1]\n85", 1, [None]),
        ("Candidate [1]: 85", 1, [85]),
        ("[1] 85\n[2] 90", 2, [85, 90]),
        ("- **Move 1:** 85\n- **Move 2:** 90/100", 2, [85, 90]),
        ("[1] 85\n[2] 90\n", 1, [None]),
        ("1.5\n2.5", 2, [1.5, 2.5]),
        ("Using scale [0,100]:\n1. 85\n2. 20", 2, [85, 20]),
        ("[0, 100]\n1. 85\n2. 20", 2, [None, None]),
        ("[0, 100]\n85\n20", 2, [None, None]),
        ("[0, 100] is the scale.\nScores: [85, 20]", 2, [85, 20]),
        ("[85, 90, 70]\n(order of candidates: [1, 2, 3])", 3, [85, 90, 70]),
        ("Moves [1, 2] rated: 85 and 20.", 2, [None, None]),
        ("Scores for moves [1, 2]: 85 and 20.", 2, [None, None]),
        ("Here are my scores: [85, 20]. Good luck!", 2, [85, 20]),
        ("[85, 20]\nOn reflection:\n[80, 20]", 2, [None, None]),
        ("[85, 20]\nSo:\n[85, 20]", 2, [85, 20]),
        ("[1, 2]\n[85, 2", 2, [None, None]),
        ('{"moves": [1, 2], "scores": [85, 20]}', 2, [85, 20]),
        ('{"moves": [1, 2]}', 2, [None, None]),
        ('{"1": 85, "2": 20}\n{"1": 80, "2": 20}', 2, [None, None]),
        ('{"0": 85, "1": 20}', 2, [None, None]),
        ('{"1": 85, "2": 20, "3": 5}', 2, [None, None]),
        ('{"reason": "good, score: 3", "score": 80}', 1, [None]),
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


@pytest.mark.parametrize("start", ["1", "1: a", "Score", "Score: 5", "my", "[1", "scores are", "1."])
@pytest.mark.parametrize("filler", [" ", "9", "*", "\t,", "\n", "]", "a "])
def test_no_line_takes_more_than_its_length(start, filler):
    began = time.process_time()
    for count in (1, 3):
        read_scores((start + filler * LIMIT)[: LIMIT - 1] + "x", count)
    assert time.process_time() - began < 2


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


FORMS = (
    lambda said: f"[{', '.join(said)}]",
    lambda said: f"Scores: [{', '.join(said)}]",
    lambda said: '{"scores": [' + ", ".join(said) + "]}",
    lambda said: "[" + ", ".join(f'{{"score": {s}}}' for s in said) + "]",
    lambda said: "{" + ", ".join(f'"{i}": {s}' for i, s in enumerate(said, 1)) + "}",
    lambda said: "\n".join(f"{i}. {s}" for i, s in enumerate(said, 1)),
    lambda said: "\n".join(f"[{i}] {s}" for i, s in enumerate(said, 1)),
    lambda said: "\n".join(f"**Candidate {i}:** {s}/100" for i, s in enumerate(said, 1)),
    lambda said: f"Score: {said[0]}" if len(said) == 1 else "\n".join(said),
)
AROUND = (
    "Using scale [0, 100]:",
    "Moves [1, 2, 3] are rated as follows.",
    "(order of candidates: [1, 2, 3])",
    "The maximum score is 100.",
    "I cannot score move 3.",
    "As policy 12 says, 10 - 4 = 6 [4, 6].",
    "Let me think about [1] and [2, 3, 4, 5].",
    "Scores for [1, 2]:",
    "```",
    "It leaves 4 4 6 (see [1]).",
    "Good luck!",
)
BREAKS = ("", "", "\n", " ", "*", '"', ",", "x", "[", "]", "}", ":")


def test_planted_scores_come_back_or_none():
    """However they are said, between whatever, and wherever it breaks: the planted score, or `None`. No other number
    around is one that is planted, so a reading that takes one of them shows."""
    chance = random.Random(6)
    whole = 0
    for _ in range(20_000):
        planted = [float(chance.randint(50, 99)) for _ in range(chance.randint(1, 4))]
        parts = [chance.choice(AROUND) for _ in range(chance.randint(0, 2))]
        form = chance.choice(FORMS)([f"{score:.0f}" for score in planted])
        parts.insert(chance.randint(0, len(parts)), form)
        text = "\n".join(parts)
        for _ in range(chance.choice((0, 0, 1, 2))):
            place = chance.randrange(len(text))
            if not text[place].isdigit() and not re.match(r"\d\. \d", text[max(place - 2, 0) :]):  # 1.85 is a number
                text = text[:place] + chance.choice(BREAKS) + text[place + 1 :]
        scores = read_scores(text, len(planted))
        assert all(s in (None, true) for s, true in zip(scores, planted, strict=True)), (text, planted, scores)
        whole += None not in scores
    assert whole > 10_000


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
