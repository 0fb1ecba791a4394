"""Generated tasks: the schema of the real ones, their variety, and that they can be served."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from paccf.domains.gta.calls import by_name, canonical, problem_with
from paccf.domains.gta.cards import CARDS
from paccf.domains.gta.records import irregular
from paccf.domains.gta.scenes import SCENES, Draw
from paccf.domains.gta.tasks import draw, generated
from paccf.domains.gta.world import task_of
from paccf.domains.sources import excluded, tasks
from paccf.search.tree import Task

MADE = [draw(0, i) for i in range(400)]


def test_the_draw_is_a_function_of_seed_and_number() -> None:
    assert [draw(0, i) for i in range(20)] == MADE[:20]
    again = {draw(1, i).id for i in range(200)} & {task.id for task in MADE}
    assert len(again) < 5, "another seed, other tasks; the smallest scenes may meet by chance"


def test_a_generated_record_has_the_schema_of_a_real_one() -> None:
    for i in range(50):
        record = json.dumps(generated(0, i))
        assert task_of(record).id == MADE[i].id, "equal content, equal name, by whatever way it comes"
        assert task_of(record).data.gold == MADE[i].data.gold


def test_gold_plans_are_legal_and_their_arguments_at_hand() -> None:
    cards = by_name(CARDS)
    for task in MADE:
        assert irregular(task.data) == []
        shown = set(task.data.files)
        for call, output in zip(task.data.gold.calls, task.data.gold.outputs, strict=True):
            assert problem_with(call, cards) is None
            images = {canonical(v) for k, v in call.args if k == "image"}
            assert images <= shown, "a file, or made by an earlier call"
            assert output is not None
            shown |= {output.content} if output.type == "image" else set()


def test_there_is_variety_like_that_of_the_real_tasks() -> None:
    calls = Counter(len(task.data.gold.calls) for task in MADE)
    assert set(calls) >= {1, 2, 3, 4, 5}
    assert set(Counter(len(draw(3, i).data.gold.calls) for i in range(1500))) == set(range(1, 8))
    assert 0.55 < calls[2] / len(MADE) < 0.75, "GTA: 63 %"
    assert {call.tool for task in MADE for call in task.data.gold.calls} == {card.name for card in CARDS}
    repeated = [t for t in MADE if len({c.tool for c in t.data.gold.calls}) < len(t.data.gold.calls)]
    assert 0.08 < len(repeated) / len(MADE) < 0.25, "GTA: 17 %"
    assert len({task.id for task in MADE}) == len(MADE)
    assert len({(t.data.query, *(c.tool for c in t.data.gold.calls)) for t in MADE}) > 200
    chained = [t for t in MADE if any("generated_" in str(v) for c in t.data.gold.calls for _, v in c.args)]
    assert len(chained) > 10


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
def test_every_scene_ends_in_an_answer_or_an_image(scene: object) -> None:
    for i in range(20):
        made = scene(Draw((i, "scene")))  # type: ignore[operator]
        assert bool(made.answer) != (made.calls[-1][2] == "image")
        assert bool(made.answer) == bool(made.required)
        for name in made.required:
            assert name.lower() in made.answer.lower() or name in made.answer.rstrip("0") or float(name) >= 0
        assert made.query.strip()


def test_calibration_and_test_are_disjoint_and_numerous() -> None:
    one = tasks("gta", "", "calibration", 5, 80)
    two = tasks("gta", "", "test", 5, 100)
    assert not {t.id for t in one} & {t.id for t in two}
    assert len({t.data.query for t in one}) > 50


def test_the_real_tasks_are_a_source(gta: tuple[Task, ...], folder: object) -> None:
    data = str(folder).removesuffix("gta")
    assert len(tasks("gta", "gta", "all", 0, data=data)) == 227
    assert set(excluded("gta", "gta", data)) == {"gta-34", "gta-35"}
    assert len(tasks("gta", "gta", "calibration", 1, 50, data=data)) == 50
    assert len(tasks("gta", "gta", "test", 1, 99, data=data)) == 99
