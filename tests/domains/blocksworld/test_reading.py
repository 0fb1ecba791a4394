"""Proposals as models write them, to the action meant or to the right count."""

from __future__ import annotations

import random
import time
from collections import Counter

import pytest

from paccf.domains.blocksworld.blocks import task_of
from paccf.domains.blocksworld.moves import after, moves
from paccf.domains.blocksworld.reading import read_actions, read_line
from paccf.search.tree import Action
from paccf.search.world import Reading

FREE = task_of("a-cb-d--bc").data.init  # b on c; a and d on the table
HOLDING = after(FREE, Action("(unstack b c)", ""))
FUZZ = 50_000  # answers, twice


def read(atoms, line):
    reading = read_actions(atoms, line)
    assert len(reading.actions) + reading.illegal + reading.unparsable == 1, reading
    return reading.actions[0].key if reading.actions else "illegal" if reading.illegal else "unparsable"


@pytest.mark.parametrize(
    "line",
    [
        "(unstack b c)",
        "unstack block b from block c",
        "(UNSTACK B C)",
        "( unstack  b  c )",
        "(unstack b, c)",
        "unstack b c",
        "unstack(b, c)",
        "unstack (b, c)",
        "1. (unstack b c)",
        "2) unstack b from c",
        "[3] unstack b c",
        "- unstack b from c",
        "* **unstack b from c**",
        "Action 1: unstack b from c",
        "Next action: (unstack b c)",
        "Action: `unstack(b, c)`",
        '"(unstack b c)",',
        "Unstack the block b from the block c.",
        "unstack b from on top of c",
        "Unstack b from the top of c, since c has to move",
        "take b off c",
        "take block b off of block c (frees c)",
        "remove b from c to free c",
        "lift b off c - c is then clear",
        "pick up b from c",
        "pick b up from on top of block c",
        "(unstack block b from block c)",
        "I would choose (unstack b c) because c has to be free.",
        "unstack b from c: it frees c",
        "unstack b from c → frees c",
    ],
)
def test_unstacking_is_read(line):
    assert read(FREE, line) == "(unstack b c)"


@pytest.mark.parametrize(
    "line",
    [
        "(pick-up a)",
        "pick up block a",
        "pick-up a",
        "pick_up(a)",
        "pickup a",
        "Pick up the block a from the table",
        "pick a up",
        "Pick up a off the table.",
        "take a from the table",
        "(pick up a)",
        "PICK-UP A",
    ],
)
def test_picking_up_is_read(line):
    assert read(FREE, line) == "(pick-up a)"


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("(put-down b)", "(put-down b)"),
        ("put down block b", "(put-down b)"),
        ("put block b down", "(put-down b)"),
        ("put b down on the table", "(put-down b)"),
        ("put down b on the table", "(put-down b)"),
        ("place b on the table", "(put-down b)"),
        ("putdown(b)", "(put-down b)"),
        ("(stack b c)", "(stack b c)"),
        ("stack block b on block c", "(stack b c)"),
        ("stack b on top of c", "(stack b c)"),
        ("put b onto c", "(stack b c)"),
        ("place b on to the top of block d", "(stack b d)"),
        ("put down b on a", "(stack b a)"),
        ("stack(b, a)", "(stack b a)"),
    ],
)
def test_with_a_block_in_the_hand(line, key):
    assert read(HOLDING, line) == key
    assert read(FREE, line) == "illegal", "the hand is empty"


@pytest.mark.parametrize(
    "line",
    [
        "(unstack b a)",  # it is on c
        "(unstack c b)",
        "(pick-up b)",  # it is on c, not on the table
        "(pick-up c)",  # b is on it
        "(pick-up e)",
        "unstack b from z",
        "(pick-up a d)",
        "(unstack b)",
        "put down block a",
        "stack block a on block a",
        "pick up block table",
    ],
)
def test_what_is_not_possible_is_illegal(line):
    assert read(FREE, line) == "illegal"


@pytest.mark.parametrize(
    "line",
    [
        "unstack block b from block ?",
        "pick up block ?",
        "(unstack b c",
        "pick up a and stack it on d",
        "unstack a block from another",
        "pick up the red block",
        "pick up a block",
        "unstack b from c " * 20,
        "the unstack of b \x1b[31m c",
        "(pick-up)",
    ],
)
def test_what_cannot_be_read_is_unparsable(line):
    assert read(FREE, line) == "unparsable"


@pytest.mark.parametrize(
    "text",
    ["", "```pddl", "```", "Here is what I suggest:", "The blocks b and c first.", "move b", "(b c)", "\x00\x01"],
)
def test_prose_is_no_proposal(text):
    assert read_actions(FREE, text) == Reading(())


def test_a_list_is_read_in_order():
    text = (
        "Sure!\n```\n1. (unstack b c)\n2. pick up block d\n3. (pick-up c)\n4. (stack ? a)\n5. unstack b from c\n```\n"
    )
    reading = read_actions(FREE, text)
    assert [a.key for a in reading.actions] == ["(unstack b c)", "(pick-up d)", "(unstack b c)"]
    assert (reading.illegal, reading.unparsable) == (1, 1)
    assert [a.key for a in read_actions(FREE, '["(pick-up a)", "pick up d",]').actions] == [
        "(pick-up a)",
        "(pick-up d)",
    ]
    objects = (
        '[{"action": "Unstack", "args": ["b", "c"]}, {"name": "pick-up", "blocks": ["a"],}, {"op": "fly", "x": []}]'
    )
    assert [a.key for a in read_actions(FREE, objects).actions] == ["(unstack b c)", "(pick-up a)"]
    assert [a.key for a in read_actions(FREE, "(pick-up a), (pick-up d) (pick-up b)").actions] == [
        "(pick-up a)",
        "(pick-up d)",
    ]


def test_every_legal_action_is_read_from_its_own_texts(any_state):
    rng = random.Random(2)
    for _ in range(80):
        state = any_state(rng, "abcde"[: rng.randint(1, 5)])
        for move in moves(state).values():
            assert read_line(state, move.action.key) == [move.action]
            assert read_line(state, move.action.text) == [move.action]


@pytest.mark.parametrize("part", range(2))
def test_whatever_is_read_is_legal_and_nothing_raises(any_state, part):
    """Mutated answers: characters dropped, doubled, swapped in, lines joined, pieces of other answers."""
    rng = random.Random(3 + part)
    pieces = [*"abcde()[]{},.:;-_`*\"'\n\t 1?\x00\x1b\u2028\ud800é→", "unstack", "stack", "pick-up", "put down", "from", "on",
              "the table", "block", "because", "and", "```", '["', '"]', "1. ", "(unstack b c)", "\\"]  # fmt: skip
    tally: Counter[str] = Counter()
    states = [any_state(rng, "abcde"[: rng.randint(2, 5)]) for _ in range(40)]
    for turn in range(FUZZ):
        state = states[turn % len(states)]
        known = list(moves(state).values())
        said = [rng.choice([m.action.key, m.action.text, f"{i}. {m.action.text}"]) for i, m in enumerate(known, 1)]
        text = list(rng.choice(["\n", ", ", " "]).join(said))
        for _ in range(rng.randint(1, 8)):
            place = rng.randrange(len(text) + 1)
            text[place : place + rng.choice([0, 0, 1, 1, 5])] = rng.choice(["", rng.choice(pieces)])
        reading = read_actions(state, "".join(text))
        assert all(moves(state)[action.key].action == action for action in reading.actions)
        tally += Counter(read=len(reading.actions), illegal=reading.illegal, unparsable=reading.unparsable)
    assert min(tally.values()) > FUZZ / 50, tally


@pytest.mark.parametrize(
    "unit",
    ["(", "(unstack ", "unstack b ", "(unstack b c)\n", "[", '["', "a-", "pick up the the ", "1. ", "\\", "(pick-up a ",
     "unstack\t\t\t", "stack a on ", "\n", "put ", '{"a": "stack", "b": ["a", ', "((a", "unstack(b,"],
)  # fmt: skip
def test_huge_answers_take_no_time(unit):
    text = unit * (10**7 // len(unit))
    start = time.perf_counter()
    read_actions(FREE, text)
    assert time.perf_counter() - start < 20
