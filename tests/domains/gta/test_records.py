"""The real file with all its irregularities, and files that are worse."""

from __future__ import annotations

import copy
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from paccf.domains.gta.calls import by_name
from paccf.domains.gta.cards import CARDS
from paccf.domains.gta.records import DataError, Problem, irregular, read_dataset, read_tools
from paccf.domains.gta.tasks import check, read_files, unplayable
from paccf.domains.gta.world import SAMPLE, task_of
from paccf.domains.sources import excluded, tasks
from paccf.search.tree import Task

RECORD: dict[str, Any] = json.loads(SAMPLE[0])


def problems(gta: tuple[Task, ...]) -> dict[int, Problem]:
    return {int(task.id.removeprefix("gta-")): task.data for task in gta}


def test_all_229_tasks_load(gta: tuple[Task, ...]) -> None:
    assert [task.id for task in gta] == [f"gta-{i}" for i in range(229)]
    calls = [len(task.data.gold.calls) for task in gta]
    assert Counter(calls) == {1: 15, 2: 144, 3: 36, 4: 28, 5: 3, 6: 2, 7: 1}
    assert sum(calls) == 557
    assert sum(len(call.args) for task in gta for call in task.data.gold.calls) == 803
    repeated = [t for t in gta if len({c.tool for c in t.data.gold.calls}) < len(t.data.gold.calls)]
    assert len(repeated) == 39
    assert all(len({c.key for c in t.data.gold.calls}) == len(t.data.gold.calls) for t in gta), "no call twice"
    criteria = Counter((t.data.gold.required is not None, t.data.gold.samples is not None) for t in gta)
    assert criteria == {(True, False): 156, (False, True): 16, (False, False): 57}


def test_what_is_irregular_is_found_and_lived_with(gta: tuple[Task, ...], folder: Path) -> None:
    found = {i: " / ".join(irregular(problem)) for i, problem in problems(gta).items()}
    assert [i for i, odd in found.items() if "no closing answer" in odd] == [
        12, 14, 15, 34, 35, 44, 45, 46, 47, 48, 49, 115, 157, 166, 175, 176,
    ]  # fmt: skip
    assert [i for i, odd in found.items() if "never called" in odd] == [21, 31, 41, 47, 67, 87, 88, 173]
    assert [i for i, odd in found.items() if "no recorded output" in odd] == [34, 35]
    assert [i for i, odd in found.items() if "does not have" in odd] == [50, 108, 135, 225, 226]
    assert len(check(folder / "dataset.json")) == sum(len(irregular(t.data)) for t in gta)


def test_excluded_are_just_the_tasks_that_no_legal_plan_can_equal(gta: tuple[Task, ...]) -> None:
    reasons = {t.id: reason for t in gta if (reason := unplayable(t.data))}
    said = "no legal plan can equal the recorded one, whose call 2 is none: DrawBox needs image"
    assert reasons == {"gta-34": said, "gta-35": said}


def test_a_task_whose_gold_has_the_wrong_type_is_left_out_with_the_reason(folder: Path, tmp_path: Path) -> None:
    """In another file than the pinned one: the rule is the same."""
    records = json.loads((folder / "dataset.json").read_text())
    records["7"]["dialogs"][1]["tool_calls"][0]["function"]["arguments"] = {"image": 5}
    (tmp_path / "gta").mkdir()
    (tmp_path / "gta" / "dataset.json").write_text(json.dumps(records))
    (tmp_path / "gta" / "toolmeta.json").write_bytes((folder / "toolmeta.json").read_bytes())
    reasons = excluded("gta", "gta", tmp_path)
    assert sorted(reasons) == ["gta-34", "gta-35", "gta-7"]
    assert reasons["gta-7"].endswith("whose call 1 is none: ImageDescription: image has to be of the type image")
    assert "gta-7" not in {task.id for task in tasks("gta", "gta", "all", 0, data=tmp_path)}


def test_every_task_is_shown_the_same_fourteen_tools(gta: tuple[Task, ...]) -> None:
    assert len({task.data.cards for task in gta}) == 1
    assert {card.name for card in gta[0].data.cards} == {card.name for card in CARDS}
    count = by_name(gta[0].data.cards)["CountGivenObject"].slot("bbox")
    assert count is not None
    assert count.optional, "an input that 23 tasks declare is shown to all, so that it says nothing"


def test_our_cards_have_the_schema_of_the_real_ones(gta: tuple[Task, ...]) -> None:
    ours = by_name(CARDS)
    for card in gta[0].data.cards:
        shape = [(s.name, s.type, s.optional, s.default) for s in card.inputs]
        assert shape == [(s.name, s.type, s.optional, s.default) for s in ours[card.name].inputs]
        assert card.output == ours[card.name].output
        assert card.description != ours[card.name].description


def test_a_record_may_name_a_gold_image_with_another_root(gta: tuple[Task, ...]) -> None:
    slip = problems(gta)[226].gold.calls[1]
    assert dict(slip.args)["image"] == "/image/image_447.png"
    assert dict(slip.canonical)["image"] == "image/image_447.png"


def edited(path: str, value: Any) -> str:
    """The sample record with the value at ``path`` replaced, or taken out if it is `...`."""
    record = copy.deepcopy(RECORD)
    *way, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    place: Any = record
    for step in way:
        place = place[step]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return json.dumps(record)


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ("tools", ..., "task: 'tools' is missing"),
        ("tools", {}, "task.tools: a list was expected, not an object"),
        ("tools", [{"name": "OCR"}], "task.tools[0]: 'inputs' is missing"),
        ("files", "image/image_1.jpg", "task.files: a list was expected, not a text"),
        ("files", [{"type": "image"}], "task.files[0]: 'path' is missing"),
        ("dialogs", ..., "task: 'dialogs' is missing"),
        ("dialogs", [], "task.dialogs: the first message has to be the user's"),
        ("dialogs", [{"role": "user", "content": "x"}], "task.dialogs: there is no tool call"),
        ("dialogs.0.content", 5, "task.dialogs[0].content: a text was expected, not a number"),
        ("dialogs.1.tool_calls", [], "task.dialogs[1].tool_calls: one call a message was expected, not 0"),
        ("dialogs.1.tool_calls.0.function", ..., "task.dialogs[1].tool_calls[0]: 'function' is missing"),
        (
            "dialogs.1.tool_calls.0.function.name",
            "Nmap",
            "task.dialogs[1].tool_calls[0].function.name: 'Nmap' is none of",
        ),
        ("dialogs.1.tool_calls.0.function.arguments", ["a"], "function.arguments: an object was expected, not a list"),
        (
            "dialogs.1.tool_calls.0.function.arguments.image",
            ["a"],
            "arguments.image: a text, a number, true or false was",
        ),
        (
            "dialogs.1.tool_calls.0.function.arguments.image",
            None,
            "arguments.image: a text, a number, true or false was",
        ),
        ("dialogs.1", {"role": "tool", "name": "OCR"}, "task.dialogs[1]: a tool's message without a call before it"),
        ("dialogs.2.name", "Plot", "task.dialogs[2].name: the call before it was of OCR"),
        ("dialogs.2.content", "text", "task.dialogs[2].content: an object was expected, not a text"),
        ("dialogs.2.content.type", "sound", "task.dialogs[2].content.type: 'sound' is none of text, image"),
        ("dialogs.3.role", "system", "task.dialogs[3].role: 'system' is none of assistant, tool"),
        ("gt_answer", 7, "task.gt_answer: an object was expected, not a number"),
        ("gt_answer.whitelist", [["a"], "b"], "task.gt_answer.whitelist[1]: a list was expected, not a text"),
    ],
)
def test_errors_name_the_place(path: str, value: Any, says: str) -> None:
    with pytest.raises(DataError) as error:
        task_of(edited(path, value))
    assert says in str(error.value)


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "null", "[]", '"x"', "7", '{"a":' * 50_000, "\x00", "{}"])
def test_what_is_no_record_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(DataError, match=r"^(task|[^\n]{1,300}$)"):
        task_of(text)


def test_errors_name_the_file(tmp_path: Path) -> None:
    tools, dataset = tmp_path / "toolmeta.json", tmp_path / "dataset.json"
    with pytest.raises(DataError, match=r"dataset\.json: cannot be read"):
        read_files(dataset, tools)
    dataset.write_text(json.dumps({"0": RECORD, "17": json.loads(edited("dialogs.0.content", None))}))
    with pytest.raises(DataError, match=r"toolmeta\.json: cannot be read"):
        read_files(dataset, tools)
    tools.write_text('{"OCR": {"name": "OCR"}}')
    with pytest.raises(DataError, match=r"toolmeta\.json\.OCR: 'inputs' is missing"):
        read_files(dataset, tools)
    inputs = '[{"name": "image", "type": "image", "optional": false}]'
    tools.write_text(
        f'{{"OCR": {{"name": "OCR", "inputs": {inputs}, "outputs": []}},'
        '"Calculator": {"name": "Calculator", "inputs": [], "outputs": []}}'
    )
    with pytest.raises(
        DataError, match=r"dataset\.json: task 17\.dialogs\[0\]\.content: a text was expected, not null"
    ):
        read_files(dataset, tools)
    dataset.write_bytes(b"\xff\xfe{}")
    with pytest.raises(DataError, match=r"dataset\.json: cannot be read"):
        read_files(dataset, tools)


def test_a_tool_cannot_be_called_finish() -> None:
    with pytest.raises(DataError, match="is not called 'finish'"):
        read_tools('{"finish": {"name": "finish", "inputs": [], "outputs": []}}', "tools")


def test_ids_are_made_of_the_content() -> None:
    one, same = task_of(SAMPLE[0]), task_of(json.dumps(RECORD, indent=2))
    assert one.id == same.id
    others = [
        edited("dialogs.0.content", "x"),
        edited("files.0.path", "image/b.jpg"),
        edited("dialogs.2.content.content", ""),
    ]
    assert len({one.id, *(task_of(text).id for text in others)}) == 4


def test_a_dataset_has_tasks() -> None:
    with pytest.raises(DataError, match="there is no task in it"):
        read_dataset("{}", "dataset.json", CARDS)
