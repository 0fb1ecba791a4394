"""The world: transitions, the tool environment, and that no prompt tells what only the recorded plan knows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paccf.domains.gta.calls import Call, Value, call_of
from paccf.domains.gta.records import Gold, Output, Problem
from paccf.domains.gta.tasks import draw
from paccf.domains.gta.world import SAMPLE, Gta, NotRecorded, State, task_of
from paccf.search.effects import Channel
from paccf.search.tree import Action, Task

WORLD = Gta()
CHANNELS: tuple[Channel, ...] = ("child", "pre", "post")
TASK = task_of(SAMPLE[0])
FINISH = Call("finish").action
NOTHING = Gold((Call("MathOCR", (("image", "image/none.jpg"),)),), (Output("text", "nothing"),), "none")


def call(tool: str, **args: Value) -> Action:
    return Call(tool, tuple(args.items())).action


def after(task: Task, *actions: Action, world: Gta = WORLD) -> State:
    state: State = world.start(task).state
    for action in actions:
        state = world.execute(task, state, action).state
    return state


def prompts(task: Task, state: State, world: Gta = WORLD) -> list[str]:
    """All there are at a state, with candidates that have nothing to do with the recorded plan."""
    asked = [call("Calculator", expression="6*7"), FINISH]
    outcomes = [world.execute(task, state, action) for action in asked]
    texts = [world.propose(task, state, 8, ("a note",)), world.reflect(task, asked)]
    texts += [world.evaluate(task, state, asked, channel, (), None) for channel in CHANNELS]
    return [*texts, world.evaluate(task, state, asked, "post", (), outcomes)]


def test_recorded_outputs_are_given_for_equal_calls_alone() -> None:
    state = after(TASK, call("OCR", image="/data/gta/image/image_1.jpg"), call("OCR", image="image/image_2.jpg"))
    assert state[0].output == Output("text", "(10, 12, 210, 40) Tea 2.50")
    assert state[1].output == NotRecorded()
    assert "not recorded" in state[1].observation
    prompt = WORLD.propose(TASK, state, 8, ())
    assert "Tea 2.50" in prompt
    assert "not recorded" in prompt
    assert "at most 8 more steps" in prompt


def test_finish_ends_a_plan_and_nobody_says_whether_it_is_good() -> None:
    gold = [c.action for c in TASK.data.gold.calls]
    outcome = WORLD.execute(TASK, after(TASK, *gold), FINISH)
    assert outcome.terminal
    assert outcome.solved is None
    assert outcome.key == (*(a.key for a in gold), "finish")
    assert not WORLD.execute(TASK, (), gold[0]).terminal
    assert WORLD.utility(TASK, [*gold, FINISH]) == WORLD.utility(TASK, gold) == 1
    assert WORLD.utility(TASK, []) == WORLD.utility(TASK, [FINISH]) == 0


def test_the_order_of_steps_tells_states_apart() -> None:
    one, two = call("OCR", image="image/image_1.jpg"), call("ImageDescription", image="image/image_1.jpg")
    first = WORLD.execute(TASK, after(TASK, one), two)
    second = WORLD.execute(TASK, after(TASK, two), one)
    assert first.key != second.key


@pytest.mark.parametrize(
    "action",
    [
        Action("OCR", "OCR"),
        Action("OCR {}", '{"tool": "OCR", "args": {}}'),
        call("OCR", image="a", lang="en"),
        call("Nmap", host="x"),
        Action("finish", '{"tool": "OCR", "args": {"image": "x"}}'),
        call("GoogleSearch", query="x", k=True),
    ],
)
def test_an_illegal_call_is_not_executed(action: Action) -> None:
    with pytest.raises(ValueError, match="call"):
        WORLD.execute(TASK, (), action)


def test_a_call_that_was_made_is_no_new_proposal() -> None:
    text = SAMPLE[1]
    assert [a.key for a in WORLD.read_proposals(TASK, (), text).actions] == [
        'OCR {"image":"image/image_1.jpg"}',
        "finish",
    ]
    state = after(TASK, call("OCR", image="image/image_1.jpg"))
    reading = WORLD.read_proposals(TASK, state, text)
    assert [a.key for a in reading.actions] == ["finish"]
    assert reading.illegal == 1


def test_the_wording_of_the_finish_is_kept_for_the_answer_alone() -> None:
    said = WORLD.read_proposals(TASK, (), 'finish(answer="5")').actions[0]
    assert said.key == "finish"
    gold = [c.action for c in TASK.data.gold.calls]
    assert WORLD.metrics(TASK, [*gold, said])["ans_acc"] == 1
    assert WORLD.metrics(TASK, [*gold, FINISH])["ans_acc"] == 0
    assert WORLD.solution(TASK, [*gold, said]).endswith('-> finish(answer="5")')


def swapped(task: Task) -> Task:
    """The same request with another recorded plan."""
    problem: Problem = task.data
    return Task(task.id, replace(problem, gold=NOTHING, declared=("MathOCR",)))


def test_no_prompt_depends_on_the_recorded_plan() -> None:
    for task in [draw(1, i) for i in range(60)]:
        assert prompts(task, ()) == prompts(swapped(task), ())
        stray = call("TextToImage", keywords="a stray step")
        assert prompts(task, after(task, stray)) == prompts(swapped(task), after(swapped(task), stray))


def test_no_prompt_of_a_real_task_depends_on_the_recorded_plan(gta: tuple[Task, ...]) -> None:
    for task in gta:
        assert prompts(task, ()) == prompts(swapped(task), ())


def test_a_prompt_shows_just_the_outputs_of_the_calls_made() -> None:
    seen = 0
    for task in [draw(2, i) for i in range(60)]:
        gold: Gold = task.data.gold
        for place in range(len(gold.calls)):
            prompt = WORLD.propose(task, after(task, *[c.action for c in gold.calls[:place]]), 8, ())
            for i, output in enumerate(gold.outputs):
                assert output is not None
                if len(output.content) > 25:  # shorter ones may stand in a request by chance
                    assert (" ".join(output.content.split()) in prompt) == (i < place)
                    seen += 1
    assert seen > 50


def test_declared_tools_leak_and_every_result_says_so() -> None:
    leaking = Gta(tools="declared")
    task = draw(0, 0)
    declared = {*task.data.declared, "finish"}
    assert set(leaking.offered(task)) == declared < set(WORLD.offered(task))
    assert len(WORLD.offered(task)) == 15
    gold = [c.action for c in task.data.gold.calls]
    assert leaking.metrics(task, gold)["declared_tools"] == 1
    assert "declared_tools" not in WORLD.metrics(task, gold)
    assert leaking.solution(task, gold).startswith("[LEAK")
    assert "LEAK" not in WORLD.solution(task, gold)
    assert any("leak" in said for said in leaking.caveats)
    assert WORLD.caveats == ()
    assert leaking != WORLD, "a margin of one is not for the other"
    assert prompts(task, (), Gta(tools="all")) != [leaking.propose(task, (), 8, ())]
    others = [name for name in WORLD.offered(task) if name not in declared]
    assert not any(f"- {name}:" in leaking.propose(task, (), 8, ()) for name in others)


@pytest.mark.parametrize(
    "settings", [{"tools": "some"}, {"horizon": 0}, {"horizon": "ten"}, {"rule": "best"}, {"match": "x"}]
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"is (all|prefix|call) or|number of steps"):
        Gta(**settings)  # type: ignore[arg-type]


def test_long_outputs_are_cut_for_the_prompt() -> None:
    record = replace(TASK.data, gold=replace(TASK.data.gold, outputs=(Output("text", "word " * 3000), None)))
    task = Task("long", record)
    state = after(task, call("OCR", image="image/image_1.jpg"))
    assert len(WORLD.propose(task, state, 8, ())) < 8000
    assert WORLD.execute(task, (), call("OCR", image="image/image_1.jpg")).observation == "word " * 3000


def test_an_action_is_read_back_from_its_text() -> None:
    action = call("GoogleSearch", query='a "quoted" \n\x1b line', k=5.0)
    assert call_of(action).args == (("query", 'a "quoted" \n\x1b line'), ("k", 5.0))
    assert action.key.isascii()
    assert "\n" not in action.key
    assert "\x1b" not in action.key + action.text
