"""Proposals as models really send them, and answers that are worse than any model's."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paccf.domains.gta.calls import FINISH_CARD, by_name, call_of, problem_with
from paccf.domains.gta.cards import CARDS
from paccf.domains.gta.loose import DEEPEST, read
from paccf.domains.gta.reading import MOST, read_calls
from paccf.search.chance import chance
from paccf.search.world import Reading

OFFERED = by_name((*CARDS, FINISH_CARD))
OCR = 'OCR {"image":"image/a.jpg"}'
ADD = 'Calculator {"expression":"1 + 2"}'
PLOT = "import matplotlib.pyplot as plt\ndef solution():\n    return plt.figure()\n"


def keys(text: str) -> list[str]:
    return [action.key for action in read_calls(text, OFFERED).actions]


@pytest.mark.parametrize(
    "text",
    [
        '[{"tool": "OCR", "args": {"image": "image/a.jpg"}}, {"tool": "Calculator", "args": {"expression": "1 + 2"}}]',
        '```json\n[{"tool": "OCR", "args": {"image": "image/a.jpg"}},\n {"tool": "Calculator", "args": {"expression": "1 + 2"}},\n]\n```\nHope it helps!',
        "Sure, here's the list:\n[{'tool': 'OCR', 'args': {'image': 'image/a.jpg',},}, {'tool': 'Calculator', 'args': {'expression': '1 + 2'}}]",
        '{"tool": "OCR", "args": {"image": "image/a.jpg"}}\n{"tool": "Calculator", "args": {"expression": "1 + 2"}}',
        '1. {"name": "OCR", "arguments": {"image": "image/a.jpg"}}\n2. {"name": "Calculator", "arguments": "{\\"expression\\": \\"1 + 2\\"}"}',
        '{"tool_calls": [{"id": "c1", "type": "function", "function": {"name": "OCR", "arguments": {"image": "image/a.jpg"}}}, {"type": "function", "function": {"name": "Calculator", "arguments": "{\\"expression\\": \\"1 + 2\\"}"}}]}',
        'OCR(image="image/a.jpg")\nCalculator(expression="1 + 2")',
        "- `OCR('image/a.jpg')`\n- `Calculator('1 + 2')`",
        "[OCR(image='image/a.jpg'), Calculator(expression='1 + 2')]",
        '["OCR(image=\'image/a.jpg\')", "Calculator(\'1 + 2\')"]',
        '{"OCR": {"image": "image/a.jpg"}}, {"Calculator": {"expression": "1 + 2"}}',
        '[{"tool": "OCR", "image": "image/a.jpg", "reason": "read it"}, {"tool": "Calculator", "expression": "1 + 2"}]',
        '[{tool: "OCR", args: {image: "image/a.jpg"}} {tool: "Calculator", args: {expression: "1 + 2"}}]',
        '[[{"tool": "OCR", "args": {"image": "image/a.jpg"}}], [{"tool": "Calculator", "args": {"expression": "1 + 2"}}]]',
        '[ // first\n{"tool": "ocr", "args": {"image": "./image/a.jpg"}}, # then\n{"tool": "calculator", "args": {"expression": "1 + 2"}}]',
        '[{"action": "OCR", "action_input": {"image": "image\\\\a.jpg"}}, {"function": "Calculator", "parameters": {"expression": "1 \\u002b 2"}}]',
        '{"plan": [{"step": 1, "tool": "OCR", "args": {"image": "image/a.jpg"}}, {"step": 2, "tool": "Calculator", "args": {"expression": "1 + 2"}}]}',
        '[{"tool": "OCR", "args": {"image": "image/a.jpg"}}, {"tool": "Calculator", "args": "1 + 2"}]',
    ],
)  # fmt: skip
def test_the_shapes_that_models_send(text: str) -> None:
    assert read_calls(text, OFFERED).illegal == 0
    assert read_calls(text, OFFERED).unparsable == 0
    assert keys(text) == [OCR, ADD]


@pytest.mark.parametrize(
    "text",
    ["finish", "`finish`.", '{"tool": "finish"}', '[{"tool": "finish", "args": {"answer": "5"}}]', "finish()", '["finish"]',
     '{"tool": "Final_Answer", "args": {"text": "done"}}', 'finish(answer="it is 5")', '{"tool": "finish", "args": "5"}'],
)  # fmt: skip
def test_the_ends_that_models_send(text: str) -> None:
    assert read_calls(text, OFFERED).actions[0].key == "finish"
    assert read_calls(text, OFFERED).illegal == 0


@pytest.mark.parametrize(
    ("args", "key"),
    [
        ({"query": "x", "k": "4"}, '{"k":4,"query":"x"}'),
        ({"query": "x", "k": 4.0}, '{"k":4,"query":"x"}'),
        ({"k": 4, "query": 7}, '{"k":4,"query":"7"}'),
        ({"query": "x", "k": None}, '{"query":"x"}'),
    ],
)
def test_types_are_mended_where_that_takes_no_guess(args: dict[str, object], key: str) -> None:
    assert keys(json.dumps([{"tool": "GoogleSearch", "args": args}])) == [f"GoogleSearch {key}"]


def test_a_rectangle_may_be_a_list_and_a_truth_a_word() -> None:
    assert keys('DrawBox(image="image/a.jpg", bbox=[1, 2, 3.5, 4])') == [
        'DrawBox {"bbox":"(1, 2, 3.5, 4)","image":"image/a.jpg"}'
    ]
    assert keys('TextToBbox(image="image/a.jpg", text="dog", top1="True")') == [
        'TextToBbox {"image":"image/a.jpg","text":"dog","top1":true}'
    ]


@pytest.mark.parametrize(
    "text",
    [
        '{"tool": "OCR", "args": {}}',
        '{"tool": "OCR", "args": {"image": "image/a.jpg", "lang": "en"}}',
        '{"tool": "OCR", "args": {"image": ["image/a.jpg"]}}',
        '{"tool": "OCR", "args": {"image": 7}}',
        '{"tool": "OCR", "args": {"image": null}}',
        '{"tool": "OCR", "args": {"image": {"tool": "OCR"}}}',
        '{"tool": "Nmap", "args": {"host": "x"}}',
        '{"tool": "GoogleSearch", "args": {"query": "x", "k": 4.5}}',
        '{"tool": "GoogleSearch", "args": {"query": "x", "k": true}}',
        '{"tool": "GoogleSearch", "args": {"query": "x", "k": "many"}}',
        '{"tool": "TextToBbox", "args": {"image": "a", "text": "b", "top1": 1}}',
        '{"tool": "Calculator", "args": [1, 2]}',
        'OCR("a", "b")',
        'Nmap(host="x")',
        json.dumps({"tool": "Plot", "args": {"command": "x" * 9000}}),
    ],
)
def test_a_call_that_fits_no_tool_is_counted_illegal(text: str) -> None:
    assert read_calls(text, OFFERED) == Reading((), illegal=1)


@pytest.mark.parametrize(
    "text",
    ['{"tool": "OCR", "args": {"image": "image/a', '{"tool": "OCR"; "args"}', '{"ref": "#"}', '[{"a": [{"b": 1, "d": []}]}]',
     '{"tool": 5, "args": {}}', "{" * 9],
)  # fmt: skip
def test_what_is_no_call_is_counted_unparsable(text: str) -> None:
    reading = read_calls(text, OFFERED)
    assert not reading.actions
    assert reading.unparsable >= 1
    assert reading.illegal == 0


@pytest.mark.parametrize(
    "text", ["", "I would read the menu first (it's small).", "[1] see [2]", "solution() and f(x)", "\x00\x1b[2J", "5"]
)
def test_prose_is_not_counted(text: str) -> None:
    assert read_calls(text, OFFERED) == Reading(())


def test_what_is_whole_survives_what_is_broken_around_it() -> None:
    text = '[{"tool": "OCR", "args": {"image": "image/a.jpg"}}, {"tool": "Plot", "args": {"command": "im'
    assert read_calls(text, OFFERED) == Reading(read_calls(text, OFFERED).actions, 0, 1)
    assert keys(text) == [OCR]
    lines = '{"tool": "Plot", "args": {"comm\n{"tool": "OCR", "args": {"image": "image/a.jpg"}}\n{"tool": "Calculator", "args": {"expression": \n{"tool": "Calculator", "args": {"expression": "1 + 2"}}\n'
    reading = read_calls(lines, OFFERED)
    assert [action.key for action in reading.actions] == [OCR, ADD]
    assert (reading.illegal, reading.unparsable) == (0, 2)
    assert keys('[{"tool": "OCR", "args": {"image": "image/a.jpg"}}, ...]') == [OCR]


def test_code_may_stand_in_raw_lines() -> None:
    text = '{"tool": "Plot", "args": {"command": "' + PLOT + '"}}'
    assert call_of(read_calls(text, OFFERED).actions[0]).args == (("command", PLOT),)


def test_escapes_that_json_does_not_know_stand_for_themselves() -> None:
    [action] = read_calls(
        '{"tool": "Calculator", "args": {"expression": "\\(1\\) \\ud83d\\ude00 \\ud800 \\\'"}}', OFFERED
    ).actions
    assert dict(call_of(action).args)["expression"] == "\\(1\\) \U0001f600 � '"
    assert action.key.isascii()
    action.text.encode()


def test_equal_calls_are_one_and_calls_of_the_history_are_none() -> None:
    text = 'OCR("image/a.jpg") OCR("./image/a.jpg") OCR("/data/gta/image/a.jpg") Calculator("1 + 2")'
    assert keys(text) == [OCR, ADD]
    reading = read_calls(text, OFFERED, {OCR})
    assert [action.key for action in reading.actions] == [ADD]
    assert reading.illegal == 3


def test_no_frontier_is_blown_up_by_one_answer() -> None:
    text = "\n".join(f'Calculator("{i}")' for i in range(1000))
    reading = read_calls(text, OFFERED)
    assert len(reading.actions) == MOST
    assert reading.illegal == 1000 - MOST


def test_only_offered_tools_count() -> None:
    declared = by_name([*CARDS[:1], FINISH_CARD])
    assert read_calls('OCR("image/a.jpg") Calculator(expression="1 + 2")', declared).illegal == 1


HOSTILE: list[str] = [
    "{" * 10_000_000, "[" * 10_000_000, '"' * 1_000_000, '{"\\"' * 1_000_000, '{"a":"' * 1_000_000, "a" * 10_000_000,
    "a(" * 1_000_000, "{'" * 1_000_000, '{"' + "\n" * 1_000_000, "\\" * 1_000_000, '[{"tool":"OCR","args":{"image":"a' * 100_000,
    "OCR(" * 1_000_000, '{"tool":"OCR","args":' * 100_000, "[" + "{}," * 1_000_000, '{"a":1,' * 1_000_000, "_" * 1_000_000 + "(",
    '["{\\"a\\"' * 100_000, "[" + '"(" ,' * 100_000, '{"tool":"' + "x" * 10_000_000 + '"}', "[" + "1" * 1_000_000, "-" * 1_000_000,
    "[" + "1e999," * 100_000, "{" + " " * 1_000_000, "[//" * 300_000, "Calculator(1" * 100_000, '{"a":' * 20 + "1" + "}" * 20 * 10_000,
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: ascii(text[:12]))
def test_hostile_answers_take_a_moment_and_raise_nothing(text: str) -> None:
    start = time.process_time()
    read_calls(text, OFFERED)
    assert time.process_time() - start < 8, "linear: about one second"


def test_nesting_is_bounded() -> None:
    deep = DEEPEST - 1
    assert read("[" * deep + "{}" + "]" * deep).values
    assert read("[" * 100 + "{}" + "]" * 100).broken == 0
    assert not read("[" * 100_000 + "]" * 100_000).broken


SEEDS = [
    json.dumps([{"tool": "OCR", "args": {"image": "image/a.jpg"}}, {"tool": "GoogleSearch", "args": {"query": "it's", "k": 4}}]),
    "```json\n" + json.dumps([{"name": "Plot", "arguments": {"command": PLOT}}, {"tool": "finish", "args": {}}], indent=1) + "\n```",
    "OCR(image='image/a.jpg')\nDrawBox(image=\"image/b.jpg\", bbox=[1, 2, 3, 4], annotation=None)\nfinish(answer=\"ok\")",
    '{"tool_calls": [{"type": "function", "function": {"name": "Calculator", "arguments": "{\\"expression\\": \\"1/3\\"}"}}]}',
]  # fmt: skip
PIECES = ['"', "'", "{", "}", "[", "]", "(", ")", ",", ":", "=", "\\", "\n", "\x00", "\ud800", "null", "1e999", "-", "9" * 400, "OCR", "…", "```",
          '{"tool":', "</think>", "\\u12", "//", "#", "..."]  # fmt: skip


def mutated(case: int) -> str:
    """One of the answers with pieces cut, doubled, swapped or put in, by hash."""
    text = SEEDS[case % len(SEEDS)]
    for step in range(1 + int(6 * chance(case, "steps"))):
        i, j = sorted(int((len(text) + 1) * chance(case, step, end)) for end in "ij")
        way = int(5 * chance(case, step, "way"))
        piece = PIECES[int(len(PIECES) * chance(case, step, "piece"))]
        span = text[i : min(j, i + 40)]
        changes: list[Callable[[], str]] = [
            lambda: text[:i] + text[i + len(span) :],  # noqa: B023
            lambda: text[:i] + piece + text[i:],  # noqa: B023
            lambda: text[:i] + span * 3 + text[i:],  # noqa: B023
            lambda: text[:i],  # noqa: B023
            lambda: text[:i] + span[::-1] + text[i + len(span) :],  # noqa: B023
        ]
        text = changes[way]()
    return text


@pytest.mark.parametrize("part", range(4))
def test_mutated_answers_give_legal_calls_or_counts(part: int) -> None:
    """100,000 in all."""
    read_any = lost = 0
    for case in range(25_000 * part, 25_000 * (part + 1)):
        reading = read_calls(mutated(case), OFFERED, {OCR})
        for action in reading.actions:
            call = call_of(action)
            assert problem_with(call, OFFERED) is None
            assert action.key != OCR
            action.text.encode()
        assert len({a.key for a in reading.actions}) == len(reading.actions)
        read_any += bool(reading.actions)
        lost += bool(reading.illegal or reading.unparsable)
    assert read_any > 4_000, "mutation leaves something to read"
    assert lost > 8_000, "and breaks something"


@given(st.text(alphabet="{}[]()\"',:=\\ \nabOCR1.#/", max_size=60))
def test_any_text_is_read(text: str) -> None:
    reading = read_calls(text, OFFERED)
    assert all(problem_with(call_of(action), OFFERED) is None for action in reading.actions)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**15), 10**15) | st.floats(-1e6, 1e6) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=40)
@given(st.lists(json_values, max_size=3) | st.dictionaries(st.text(max_size=5), json_values, max_size=3))
def test_json_is_read_as_json(value: object) -> None:
    found = read(json.dumps(value))
    assert found.broken == 0
    assert repr(found.values) == repr([json.loads(json.dumps(value))])


@given(st.text(max_size=30))
def test_no_text_is_changed_on_its_way(text: str) -> None:
    [action] = read_calls(json.dumps([{"tool": "Calculator", "args": {"expression": text}}]), OFFERED).actions
    said = dict(call_of(action).args)["expression"]
    assert said == text
