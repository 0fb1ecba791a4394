"""What is read of an answer: what it says outside of its thoughts, and of one that was cut off what stands whole."""

import pytest

from paccf.domains.answers import read_scores
from paccf.domains.game24.world import Game24, hand
from paccf.domains.registry import has, names, world
from paccf.domains.sources import tasks
from paccf.models.simulated.truth import truth_of
from paccf.search.world import Answer


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("[80, 15]", "[80,"),
        ("1: 85\n2: 9", "1: 85\n"),
        ("1: 85\r\n2", "1: 85\r\n"),
        ("85", ""),
        ("", ""),
        ("<think>a,\nb</think>13 - 1", ""),
        ("<think>a,\nb", ""),
    ],
)
def test_an_answer_that_was_cut_off_is_read_up_to_its_last_break(text, whole):
    assert Answer(text, finish="length").said == whole
    assert Answer(text, finish="length").text == text
    for finish in ("stop", None):
        assert Answer(text, finish=finish).said == text.rpartition("</think>")[2].partition("<think>")[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"scores": [8', [None]),
        ("8", [None]),
        ("Score: 8", [None]),
        ("1: 85\n2: 9", [None, None]),
        ("[85, 9", [85, None]),
        ("85\n9", [None, None]),
        ('{"1": 85, "2": 9', [None, None]),
    ],
)
def test_a_score_that_was_cut_off_is_none(text, expected):
    assert read_scores(Answer(text, finish="length").said, len(expected)) in (expected, [None] * len(expected))


def test_a_move_that_was_cut_off_is_none():
    task = hand((1, 2, 11, 13))
    state = Game24().start(task).state
    text = "13 - 2 = 11\n13 - 1"
    assert len(Game24().read_proposals(task, state, Answer(text, finish="stop").said).actions) == 2
    assert len(Game24().read_proposals(task, state, Answer(text, finish="length").said).actions) == 1


@pytest.mark.parametrize("name", [name for name in names() if has(name, "tasks")])
def test_proposals_cut_off_anywhere_are_the_first_ones(name):
    """And never another one, that the beginning of a text happens to say."""
    place, truth = world(name), truth_of(name)
    for task in tasks(name, "", "test", 5, 2):
        state = place.start(task).state
        legal = tuple(truth.legal(task, state))
        texts = [action.text for action in legal]
        quoted = texts if name == "gta" else [f'"{text}"' for text in texts]
        for form in ("\n".join(texts), ", ".join(texts), "[" + ",\n".join(quoted) + "]"):
            for end in range(len(form)):
                found = place.read_proposals(task, state, Answer(form[:end], finish="length").said).actions
                assert found == legal[: len(found)]
