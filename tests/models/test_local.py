"""A real language model behind a real server in this process. What it says is never judged here, only how the system
takes it: usage, form, seeds, failures, resumption. Skipped where the weights are not installed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tests.parts import need

from paccf.domains.answers import read_scores
from paccf.domains.game24 import likelihood
from paccf.domains.game24.world import Game24, task_of
from paccf.models.live import Refused
from paccf.models.local import LocalModel, Token, answering, likelihood_of, on_scale, served
from paccf.models.opening import fingerprint, parameters
from paccf.models.spec import MaxTokens, ModelSpec, SpecError
from paccf.models.tape import AsyncTaped, DurableTape
from paccf.models.weights import NoWeights, found
from paccf.record.store import Store
from paccf.search.controllers import CONTROLLERS, controller
from paccf.search.driver import run_all, search
from paccf.search.scoring import Scoring
from paccf.search.trace import Trace
from paccf.search.world import Answer, Request, Subject

WORLD, TASK = Game24(), task_of("4 7 8 8")
VERDICT = ModelSpec(preset="local", threads=1, max_tokens=MaxTokens(evaluate=64, reflect=16))
LIKELIHOOD = ModelSpec(preset="local", threads=1, evaluator="likelihood")


@pytest.fixture(scope="module")
def installed() -> None:
    need(find_spec("xllamacpp"), 'the local runtime is not installed: pip install "paccf[local]"')
    try:
        found()
    except NoWeights as missing:
        need(False, str(missing))


@pytest.fixture(scope="module")
def url(installed: None) -> Iterator[str]:
    with asyncio.Runner() as runner:
        serving = served(VERDICT)
        yield runner.run(serving.__aenter__())
        runner.run(serving.__aexit__(None, None, None))


def ask(url: str, spec: ModelSpec, *requests: Request) -> list[Answer]:
    async def go() -> list[Answer]:
        async with answering(spec, url, 7) as answers:
            model = answers("game24", {})
            return [await model.answer(request) for request in requests]

    return asyncio.run(go())


def judging(state: tuple[int, ...], count: int = 2, draw: int = 0) -> Request:
    actions = tuple(WORLD.legal(state)[:count])
    prompt = WORLD.evaluate(TASK, state, actions, "child", (), None)
    return Request("evaluate", prompt, draw, Subject(TASK, state, actions))


def proposing(k: int, draw: int = 0) -> Request:
    return Request("propose", WORLD.propose(TASK, TASK.data, k, ()), draw, Subject(TASK, TASK.data, k=k))


def test_a_verdict_has_its_form_its_usage_and_its_seed(url: str) -> None:
    first, other = ask(url, VERDICT, judging((3, 8)), judging((3, 8), draw=1))
    for answer in (first, other):
        scores = read_scores(answer.text, 2)
        assert None not in scores
        assert (answer.attempts, answer.finish) == (1, "stop")
        assert answer.prompt_tokens is not None
        assert answer.prompt_tokens > 50
        assert answer.completion_tokens is not None
        assert 5 < answer.completion_tokens <= 64


def test_an_answer_that_is_cut_is_malformed_and_one_that_does_not_fit_refused(url: str) -> None:
    short = ask(url, ModelSpec(preset="local", threads=1, max_tokens=MaxTokens(evaluate=4)), judging((3, 8)))[0]
    assert short.finish == "length"
    assert None in read_scores(short.text, 2)
    long = judging((3, 8))
    with pytest.raises(Refused, match="does not fit.*microbatch"):
        ask(url, VERDICT, replace(long, prompt=long.prompt * 100))


def test_a_likelihood_is_many_completions_each_asked_once(url: str) -> None:
    first, again = ask(url, LIKELIHOOD, judging((3, 8), 5), judging((3, 8), 5, draw=1))
    scores = read_scores(first.text, 5)
    assert all(score is not None and 0 <= score <= 100 for score in scores)
    assert first.attempts == 5  # a question each: what two numbers come to is one step
    assert again == replace(first, attempts=0)
    assert first.prompt_tokens is not None
    assert first.prompt_tokens > 5 * 40


@pytest.mark.parametrize("sampled", [False, True])
def test_proposals_are_legal_actions_and_nobody_is_asked(url: str, sampled: bool) -> None:
    legal = {action.text for action in WORLD.legal(TASK.data)}
    requests = [proposing(1, draw) for draw in range(20)] if sampled else [proposing(5), proposing(5)]
    answers = ask(url, VERDICT, *requests)
    assert all(set(a.text.splitlines()) <= legal for a in answers)
    assert {(a.attempts, a.prompt_tokens, a.completion_tokens) for a in answers} == {(0, 0, 0)}
    assert len({a.text for a in answers}) > 5 if sampled else answers[0] == answers[1]


def searches(budget: int) -> list[Any]:
    scoring = Scoring(repeats=1, microbatch=2)
    return [search(TASK, WORLD, controller(name), scoring=scoring, budget=budget, seed=7) for name in CONTROLLERS]


def seen(traces: list[Trace]) -> list[Any]:
    return [(t.reason, t.path, t.bill, t.frontiers) for t in traces]


def test_all_controllers_through_the_tape_resumed_and_replayed(url: str, tmp_path: Path) -> None:
    """At 3 requests, then on to 5 from the same tape, then again with no model at all."""

    async def taped(tape: DurableTape, budget: int, model: LocalModel | None) -> tuple[list[Any], int]:
        source = AsyncTaped(tape, model)
        traces = await run_all(searches(budget), source, 8)
        await source.settled()
        return seen(traces), source.sent

    async def live() -> tuple[Any, ...]:
        async with answering(VERDICT, url, 7) as answers:
            model = answers("game24", {})
            with Store.open(str(tmp_path / "run.sqlite")) as store:
                tape = DurableTape(store, model.fingerprint)
                small = await taped(tape, 3, model)
                large = await taped(tape, 5, model)
                again = await taped(tape, 5, model)
            return small, large, again

    small, large, again = asyncio.run(live())
    assert len(small[0]) == len(large[0]) == 5
    assert all(bill.total == 3 and bill.unknown_tokens == 0 for _, _, bill, _ in small[0])
    assert all(bill.total == 5 and bill.unscored == 0 for _, _, bill, _ in large[0])
    assert small[1] > 0
    assert 0 < large[1] <= 5 * 2  # only what the first three requests of each had not asked
    assert again == (large[0], 0)

    async def replayed() -> tuple[list[Any], int]:
        with Store.open(str(tmp_path / "run.sqlite")) as store:
            tape = DurableTape(store, fingerprint(VERDICT), parameters(VERDICT, "game24", 7))
            return await taped(tape, 5, None)

    assert asyncio.run(replayed()) == (large[0], 0)


def test_likelihoods_become_scores_by_their_decades() -> None:
    assert [on_scale(x) for x in (0.0, -2.302585, -4.60517, -9.21034, -50.0, float("-inf"))] == [100, 75, 50, 0, 0, 0]
    tokens = [Token("2", -1.0), Token("4", -0.5), Token("", -9.0)]
    assert likelihood_of("24", tokens) == -1.5
    assert likelihood_of("24", [Token("25", -1.0)]) is None


def test_code_does_all_but_the_last_step() -> None:
    by_key = {action.key: action for action in WORLD.legal((2, 3, 4))}
    asked = {prompt.splitlines()[-1] for prompt in likelihood.questions(TASK, (2, 3, 4), by_key["4 6"])}
    assert asked == {"6 + 4 = ", "6 - 4 = ", "6 * 4 = "}  # 6 / 4 is not whole
    last = WORLD.legal((4, 6))[0]
    assert [p.splitlines()[-1] for p in likelihood.questions(TASK, (4, 6), last)] == ["6 + 4 = "]


def test_likelihood_is_for_domains_that_have_its_questions() -> None:
    async def go() -> None:
        async with answering(LIKELIHOOD, "http://127.0.0.1:9", 0) as answers:
            answers("blocksworld", {})

    with pytest.raises(SpecError, match="blocksworld has no likelihood questions"):
        asyncio.run(go())


def test_evaluators_are_told_apart() -> None:
    assert len({fingerprint(spec) for spec in (VERDICT, LIKELIHOOD, ModelSpec(preset="local"))}) == 3
    assert fingerprint(ModelSpec(preset="local", threads=3)) == fingerprint(ModelSpec(preset="local"))
    asked = parameters(VERDICT, "game24", 7)
    assert json.loads(asked(proposing(5)))["proposals"] == "legal actions"
    assert json.loads(asked(judging((3, 8), draw=2)))["seed"] == 9


def test_a_server_that_is_let_go_of_at_once_ends(installed: None) -> None:
    """It once waited for ever, now and then: a wish to end that came before its loop ran was lost."""

    async def go() -> None:
        for _ in range(3):
            async with served(VERDICT) as url:
                assert url.startswith("http://127.0.0.1")

    asyncio.run(go())
