"""Avg3 by hand, by brute force, and the floors of the real data to the digit; GTA's own figures by hand."""

from __future__ import annotations

from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paccf.domains.gta.calls import Call, Value
from paccf.domains.gta.measures import answered, avg3, f1, metrics, three
from paccf.domains.gta.records import Gold, Output
from paccf.search.tree import Task

Plan = list[Call]


def call(tool: str, **args: Value) -> Call:
    return Call(tool, tuple(args.items()))


GOLD = [call("OCR", image="image/a.jpg"), call("OCR", image="image/b.jpg"), call("Calculator", expression="1+2")]


def floors(gta: tuple[Task, ...], plan_of: object, strict: bool) -> tuple[str, ...]:
    parts = [three(plan_of(t), t.data.gold.calls, strict) for t in gta]  # type: ignore[operator]
    return tuple(f"{fmean(part):.3f}" for part in zip(*parts, strict=True))


@pytest.mark.parametrize("strict", [False, True])
def test_the_floors_of_the_real_data(gta: tuple[Task, ...], strict: bool) -> None:
    def without_last(task: Task) -> Plan:
        return list(task.data.gold.calls[:-1])

    def images_only(task: Task) -> Plan:
        return [Call(c.tool, tuple((k, v) for k, v in c.args if k == "image")) for c in task.data.gold.calls]

    def declared_once(task: Task) -> Plan:
        return [call(name, image=task.data.files[0]) for name in task.data.declared]

    assert floors(gta, without_last, strict) == ("0.673", "0.638", "0.673")
    assert floors(gta, images_only, strict) == ("1.000", "0.679", "0.497")
    assert floors(gta, declared_once, strict) == ("0.954", "0.529", "0.466"), "what declared tools give away"
    assert floors(gta, lambda t: list(t.data.gold.calls), strict) == ("1.000", "1.000", "1.000")
    assert floors(gta, lambda t: [], strict) == ("0.000", "0.000", "0.000")


@pytest.mark.parametrize(
    ("said", "gold", "value"),
    [
        ("", "", 1),
        ("a", "", 0),
        ("", "a", 0),
        ("ab", "ab", 1),
        ("aab", "ab", 4 / 5),
        ("aa", "a", 2 / 3),
        ("xy", "ab", 0),
    ],
)
def test_f1_by_hand(said: str, gold: str, value: float) -> None:
    assert f1(said, gold) == pytest.approx(value)


@given(st.text("abc", max_size=8), st.text("abc", max_size=8))
def test_f1_is_the_harmonic_mean_of_precision_and_recall(said: str, gold: str) -> None:
    left, hits = list(gold), 0
    for token in said:
        if token in left:
            left.remove(token)
            hits += 1
    if said and gold:
        precision, recall = hits / len(said), hits / len(gold)
        assert f1(said, gold) == pytest.approx(2 * precision * recall / (precision + recall) if hits else 0.0)
    assert f1(said, gold) == f1(gold, said)


def test_repeats_count_and_order_does_not() -> None:
    assert three([GOLD[2], GOLD[1], GOLD[0]], GOLD) == (1, 1, 1)
    once = three([GOLD[0], GOLD[2]], GOLD)
    assert once == pytest.approx((0.8, 0.8, 0.8))
    assert three([GOLD[0], GOLD[0], GOLD[2]], GOLD) == pytest.approx((1, 2 / 3, 2 / 3))


def test_canonical_and_strict_differ_where_they_should() -> None:
    gold = [call("GoogleSearch", query="x", k=4), call("OCR", image="image/a.jpg")]
    same = [call("GoogleSearch", k=4.0, query="x"), call("OCR", image="/data/gta_dataset/image/a.jpg")]
    assert three(same, gold) == (1, 1, 1)
    assert three(same, gold, strict=True) == pytest.approx((1, 1 / 3, 0))
    assert avg3(same, gold, strict=True) == pytest.approx(4 / 9)
    assert three([call("TextToBbox", top1=True)], [call("TextToBbox", top1=1)])[1] == 0, "true is not 1"


REQUIRED = Gold(tuple(GOLD), (Output("text", ""),) * 3, "3", (("3", "three"), ("euro",)), (("dollar",),))


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("3 Euro", 1),
        ("three euro.", 1),
        ("33 euro", 0),
        ("3", 0),
        ("3 euro or dollar", 0),
        ("", 0),
        ("euro" * 10**6, 0),
    ],
)
def test_an_objective_answer_is_checked_by_its_names(answer: str, right: float) -> None:
    assert answered(answer, REQUIRED) == right


def test_a_subjective_answer_is_compared_in_words() -> None:
    gold = Gold(tuple(GOLD), (None,) * 3, samples=("A red house", "house by the sea"))
    assert answered("red house, a", gold) == 1
    assert answered("the house", gold) == pytest.approx(2 * 2 / (2 + 4))
    assert answered("nothing", gold) == 0


def test_gtas_own_figures_by_hand() -> None:
    finish = call("finish", answer="3 euro")
    right = metrics([*GOLD, finish], REQUIRED)
    assert {k: v for k, v in right.items() if k.endswith("acc")} == {
        "inst_acc": 1, "tool_acc": 1, "arg_acc": 1, "summ_acc": 1, "ans_acc": 1,
    }  # fmt: skip
    assert (right["p_f1"], right["l_f1"]) == (1, 1)
    assert "c_f1" not in right
    assert right["finished"] == 1
    short = metrics([GOLD[1], GOLD[1], finish], REQUIRED)
    assert short["inst_acc"] == 2 / 4, "the answer comes where a call should"
    assert (short["tool_acc"], short["arg_acc"]) == (2 / 3, 1 / 3)
    assert (short["summ_acc"], short["ans_acc"]) == (0, 1)
    assert (short["p_f1"], short["l_f1"]) == (1, 0)
    other = metrics([call("TextToImage", keywords="x")], REQUIRED)
    assert (other["c_f1"], other["p_f1"], other["finished"], other["inst_acc"]) == (0, 0, 0, 1 / 4)
    image = metrics([*GOLD, call("finish")], Gold(tuple(GOLD), (None,) * 3))
    assert "ans_acc" not in image
    assert image["inst_acc"] == 1


def test_precision_of_a_kind_is_held_at_one() -> None:
    assert metrics([GOLD[0]], REQUIRED)["p_f1"] == 1, "GTA counts both gold calls as hits of the one"


def test_no_plan_at_all_has_figures_too() -> None:
    nothing = metrics([], REQUIRED)
    assert nothing["strict_avg3"] == nothing["tool_f1"] == nothing["inst_acc"] == nothing["finished"] == 0
