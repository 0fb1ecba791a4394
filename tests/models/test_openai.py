from __future__ import annotations

import asyncio
import json
import re
import time
import traceback
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote

import pytest
from tests.models import faults as f

from paccf.models.live import CeilingReached, Ended, Live, Refused, Unavailable, Unusable, Withheld
from paccf.models.openai import ChatModel, chat, paced
from paccf.models.opening import fingerprint, opened
from paccf.models.redaction import redacted
from paccf.models.replies import Again
from paccf.models.spec import Ceilings, MaxTokens, ModelSpec, Patience, Prices, Temperature
from paccf.search.tree import Action, Task
from paccf.search.world import Answer, Request, Subject

CANARY = "canary-5f1c9e/+=77"
QUICK = Patience(attempt=0.3, attempts=3, pause=0.002, longest=0.1)


def asking(draw: int = 0, kind: Any = "evaluate", prompt: str = "How good?", candidates: int = 1) -> Request:
    actions = tuple(Action(str(i), str(i)) for i in range(candidates))
    return Request(kind, prompt, draw, Subject(Task("t", None), None, actions))


def spec_for(server: f.Server, **more: Any) -> ModelSpec:
    return ModelSpec(**{"preset": server.url, "model": "m", "patience": QUICK} | more).checked()


def talk(
    *script: f.Fault,
    run: Callable[[ChatModel, f.Server], Awaitable[Any]] | None = None,
    cap: int = 1 << 16,
    **more: Any,
) -> tuple[Any, f.Server, ChatModel]:
    """What one request (or ``run``) came to: a value or the exception, with the server and the model."""

    async def go() -> tuple[Any, f.Server, ChatModel]:
        async with f.serving(*script) as server, chat(spec_for(server, **more), 42, cap=cap) as model:
            try:
                return await (run(model, server) if run else model.answer(asking())), server, model
            except Exception as error:
                return error, server, model

    return asyncio.run(go())


def test_a_request_says_what_the_spec_says() -> None:
    told = {
        "temperature": Temperature(propose=1.0, evaluate=0.2),
        "max_tokens": MaxTokens(evaluate=77),
        "stop": ("\n\n",),
        "json_schema": True,
        "extra": {"thinking": {"type": "disabled"}},
    }
    answer, server, model = talk(f.ok("[50]"), run=lambda m, s: m.answer(asking(draw=3, candidates=2)), **told)
    body = server.asked[0].body
    schema = body.pop("response_format")["json_schema"]["schema"]["properties"]["scores"]
    assert (schema["minItems"], schema["maxItems"]) == (2, 2)
    assert body == {
        "model": "m",
        "messages": [{"role": "user", "content": "How good?"}],
        "temperature": 0.2,
        "max_tokens": 77,
        "seed": 45,  # the run's 42, and the draw
        "stop": ["\n\n"],
        "thinking": {"type": "disabled"},
    }
    assert (answer.text, answer.prompt_tokens, answer.completion_tokens, answer.finish) == ("[50]", 100, 10, "stop")
    assert answer.attempts == 1
    assert 0 < answer.latency < 1
    assert server.asked[0].head.startswith("POST /v1/chat/completions HTTP/1.1\r\n")
    assert "authorization" not in server.asked[0].head.lower()
    sent = json.loads(model.parameters(asking(draw=3, candidates=2)))
    assert sent["seed"] == 45
    assert sent["thinking"] == {"type": "disabled"}


def test_fields_an_endpoint_refuses_are_left_out() -> None:
    _, server, _ = talk(f.ok(), omit=("temperature", "max_tokens"), seeded=False, extra={"max_completion_tokens": 9})
    assert server.asked[0].body.keys() == {"model", "messages", "max_completion_tokens"}


# what is answered every time, and every time with nothing of use, is the request's own fault
ANSWERED = {
    "truncated JSON",
    "HTML",
    "not text",
    "nested without end",
    "a list",
    "empty choices",
    "null content",
    "a list as content",
    "compressed",
}
TRANSIENT = {
    "429": (f.status("429 Too Many Requests"), "HTTP 429: as told"),
    "429 that says when": (f.status("429 Too Many Requests", retry_after="0.01"), "HTTP 429"),
    "500": (f.status("500 Internal Server Error"), "HTTP 500"),
    "502 with a page": (f.status("502 Bad Gateway", b"<html><b>down</b></html>"), "HTTP 502: <html>"),
    "529": (f.status("529 Overloaded"), "HTTP 529"),
    "truncated JSON": (f.says(f.reply(f.completion("[50]")[:-9])), "no JSON"),
    "HTML": (f.says(f.reply(b"<!doctype html><p>hello", content_type="text/html")), "no JSON: <!doctype"),
    "not text": (f.says(f.reply(b"\xff\xfe\x00")), "no JSON"),
    "nested without end": (f.says(f.reply(b"[" * 60_000)), "no JSON"),
    "a list": (f.says(f.reply(b"[]")), "no object"),
    "an error in a 200": (f.says(f.reply(b'{"error": {"message": "overloaded"}}')), "choices: overloaded"),
    "empty choices": (f.says(f.reply(b'{"choices": []}')), "choices"),
    "null content": (f.says(f.reply(f.completion(None))), "without content"),
    "a list as content": (f.says(f.reply(f.completion([{"type": "text", "text": "[50]"}]))), "without content"),
    "cut body": (f.cut(f.reply(f.completion("[50]"))), "closed before the whole answer"),
    "cut head": (f.cut(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n"), "closed before the whole answer"),
    "reset": (f.reset, "closed before the whole answer"),
    "hang": (f.hang, "no whole answer within 0.3 seconds"),
    "drip": (f.drip, "no whole answer within 0.3 seconds"),
    "endless": (f.endless, "more than 65,536 bytes"),
    "not HTTP": (f.says(b"220 mail.example ESMTP\r\n\r\n"), "not HTTP"),
    "a head without end": (f.says(b"HTTP/1.1 200 OK\r\nx: " + b"y" * 70_000), "not HTTP"),
    "interim answers only": (f.many_interims, "only interim"),
    "compressed": (f.says(f.reply(b"\x1f\x8b\x08\x00rest", content_encoding="gzip")), "no JSON"),
}


@pytest.mark.parametrize("name", TRANSIENT)
def test_what_may_pass_is_asked_again(name: str) -> None:
    fault, says = TRANSIENT[name]
    patience = Patience(attempt=0.3, attempts=2, pause=0.002, longest=0.1)
    numbers: list[int] = []

    async def count(n: int) -> None:
        numbers.append(n)

    answer, server, model = talk(fault, f.ok("[7]"), run=lambda m, s: m.answer(asking(), count), patience=patience)
    assert isinstance(answer, Answer), answer
    assert (answer.text, answer.attempts, len(server.asked), numbers) == ("[7]", 2, 2, [1, 2])
    assert server.asked[0].body == server.asked[1].body  # one draw, however often it is sent
    assert (model.pace.spent.sends, model.pace.spent.answers, model.pace.flying) == (2, 1, 0)

    failed, server, model = talk(fault, run=lambda m, s: m.answer(asking(kind="propose")), patience=patience)
    assert type(failed) is (Withheld if name in ANSWERED else Unavailable), failed
    assert re.search(says, str(failed)), str(failed)
    assert ("answered 2 times" if name in ANSWERED else "in 2 attempts") in str(failed)
    assert ("again later" in str(failed)) == (name not in ANSWERED)
    assert (len(server.asked), model.pace.spent.sends, model.pace.flying) == (2, 2, 0)


FINAL = {
    "400": (f.status("400 Bad Request"), Refused, "as told.*omit"),
    "too long": (
        f.status("400 Bad Request", b'{"error": {"code": "context_length_exceeded", "message": "8192"}}'),
        Refused,
        "does not fit.*microbatch",
    ),
    "too long, as llama.cpp says it": (
        f.status("400 Bad Request", b'{"error": {"message": "the request exceeds the available context size"}}'),
        Refused,
        "does not fit",
    ),
    "413": (f.status("413 Payload Too Large"), Refused, "does not fit"),
    "filtered prompt": (f.status("400 Bad Request", b'{"error": {"code": "content_filter"}}'), Withheld, "filter"),
    "filtered answer": (f.says(f.reply(f.completion("", "content_filter"))), Withheld, "filter"),
    "refusal": (f.says(f.reply(f.completion(None, refusal="I cannot"))), Withheld, "refused: I cannot"),
    "all of it was thought": (f.says(f.reply(f.completion(None, "length"))), Refused, "raise max_tokens"),
    "401": (f.status("401 Unauthorized"), Unusable, "key_env"),
    "402": (f.status("402 Payment Required"), Unusable, "no credit"),
    "403": (f.status("403 Forbidden"), Unusable, "forbidden"),
    "404": (f.status("404 Not Found", b'{"detail": "no model m"}'), Unusable, "no model m.*model's name"),
    "no quota": (
        f.status("429 Too Many Requests", b'{"error": {"code": "insufficient_quota"}}'),
        Unusable,
        "no credit",
    ),
    "302": (f.status("302 Found", b"", location="https://u:p@elsewhere.example/x?y"), Unusable, "elsewhere.example;"),
}


@pytest.mark.parametrize("name", FINAL)
def test_what_will_not_pass_ends_with_one_send_and_what_to_do(name: str) -> None:
    fault, kind, says = FINAL[name]
    failed, server, model = talk(fault, run=lambda m, s: m.answer(asking(kind="propose")))
    assert type(failed) is kind, failed
    assert re.search(says, str(failed)), str(failed)
    assert (len(server.asked), model.pace.spent.sends, model.pace.flying) == (1, 1, 0)


@pytest.mark.parametrize("kind", ["evaluate", "appraise"])
@pytest.mark.parametrize(
    "name", [*sorted(ANSWERED), *(name for name, (_, kind, _) in FINAL.items() if kind is Withheld)]
)
def test_what_is_withheld_from_a_scoring_is_a_failed_observation(name: str, kind: str) -> None:
    fault = TRANSIENT[name][0] if name in ANSWERED else FINAL[name][0]
    patience = Patience(attempt=0.3, attempts=2, pause=0.002, longest=0.1)
    answer, server, model = talk(fault, run=lambda m, s: m.answer(asking(kind=kind)), patience=patience)
    sends = 2 if name in ANSWERED else 1
    assert answer == Answer("", finish="withheld", attempts=sends)
    assert (len(server.asked), model.pace.spent.sends, model.pace.flying) == (sends, sends, 0)


def test_nobody_there_is_unavailable_and_sent_nothing_that_could_be_billed() -> None:
    async def go() -> None:
        async with f.serving(f.ok()) as server:
            spec = spec_for(server)
        async with chat(spec, 0) as model:
            with pytest.raises(Unavailable, match="no connection"):
                await model.answer(asking())
            assert (model.pace.spent.sends, model.pace.spent.unknown) == (3, 0)

    asyncio.run(go())


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, (None, None)),
        ({}, (None, None)),
        ({"prompt_tokens": 3}, (3, None)),
        ({"prompt_tokens": "3", "completion_tokens": True}, (None, None)),
        ({"prompt_tokens": -1, "completion_tokens": 1.5}, (None, None)),
        ("lots", (None, None)),
    ],
)
def test_usage_is_the_provider_s_or_unknown(usage: Any, expected: tuple[Any, Any]) -> None:
    answer, _, model = talk(f.says(f.reply(f.completion("[50]", usage=usage))), prices=Prices(1, 1))
    assert (answer.prompt_tokens, answer.completion_tokens) == expected
    assert (model.pace.spent.unknown, model.pace.spent.prompt_tokens, model.pace.spent.cost) == (1, 0, 0.0)


def test_retry_after_is_waited_for_and_capped() -> None:
    def seconds(after: str) -> float:
        start = time.monotonic()
        answer, _, _ = talk(f.status("429 Slow Down", retry_after=after), f.ok())
        assert isinstance(answer, Answer)
        return time.monotonic() - start

    assert seconds("0.08") >= 0.08
    assert 0.1 <= seconds("86400") < 5
    assert 0.1 <= seconds("Fri, 31 Dec 2100 23:59:59 GMT") < 5
    assert seconds("soon") < 5


def test_backoff_is_a_hash_within_its_bounds() -> None:
    async def go() -> None:
        async with f.serving(f.ok()) as server:
            spec = spec_for(server, patience=Patience(pause=1, longest=60))
            async with chat(spec, 1) as one, chat(spec, 1) as other:
                again = Again("x")
                pauses = [
                    [m._pause(asking(d), n, again) for d in range(50) for n in (1, 2, 3, 9)] for m in (one, other)
                ]
                assert pauses[0] == pauses[1]
                for n, low, high in ((0, 0.5, 1), (1, 1, 2), (2, 2, 4), (3, 60, 60)):
                    found = pauses[0][n::4]
                    assert low <= min(found) <= max(found) <= high
                assert len(set(pauses[0][::4])) == 50

    asyncio.run(go())


def test_an_answer_belongs_to_the_request_before_it() -> None:
    """A second answer in the same packet, and one that comes while nobody asks, reach nobody."""
    first = f.reply(f.completion("first"))

    async def late(asked: f.Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(first)
        await writer.drain()
        await asyncio.sleep(0.02)
        writer.write(f.reply(f.completion("late")))

    async def both(model: ChatModel, server: f.Server) -> list[str]:
        texts = []
        for draw in range(3):
            texts.append((await model.answer(asking(draw))).text)
            await asyncio.sleep(0.05)
        return texts

    for fault in (f.says(first + f.reply(f.completion("doubled"))), f.says(first + b"HT"), late):
        texts, server, _ = talk(fault, f.ok("second"), f.ok("third"), run=both)
        assert texts == ["first", "second", "third"]
        assert server.connections == 2  # the first was given up, the next one kept


def test_a_connection_is_used_again_and_one_that_was_closed_is_not() -> None:
    async def three(model: ChatModel, server: f.Server) -> int:
        for draw in range(3):
            assert (await model.answer(asking(draw))).attempts == 1
            await asyncio.sleep(0.01)
        return server.connections

    assert talk(f.ok(), run=three)[0] == 1
    assert talk(f.says(f.reply(f.completion("[1]"), connection="close")), run=three)[0] == 3


def test_cancelled_between_send_and_receive_nothing_leaks() -> None:
    async def cancelled(model: ChatModel, server: f.Server) -> str:
        asked = asyncio.create_task(model.answer(asking(0)))
        while not server.asked:
            await asyncio.sleep(0.001)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        assert (model.pace.flying, model.pace.spent.sends, model.pace.spent.unknown) == (0, 1, 1)
        return (await model.answer(asking(1))).text

    assert talk(f.ok("old", wait=0.1), f.ok("new"), run=cancelled, concurrency=1)[0] == "new"


def test_the_hook_is_awaited_before_the_send() -> None:
    async def hooked(model: ChatModel, server: f.Server) -> list[tuple[int, int]]:
        seen = []

        async def hook(n: int) -> None:
            await asyncio.sleep(0.01)
            seen.append((n, len(server.asked)))

        await model.answer(asking(), hook)
        return seen

    assert talk(f.status("500 Oops"), f.reset, f.ok(), run=hooked)[0] == [(1, 0), (2, 1), (3, 2)]


def test_a_hook_that_fails_sends_nothing() -> None:
    async def hook(n: int) -> None:
        raise OSError("the disk is full")

    failed, server, model = talk(f.ok(), run=lambda m, s: m.answer(asking(), hook))
    assert isinstance(failed, OSError)
    assert (len(server.asked), model.pace.flying, model.pace.spent.sends) == (0, 0, 0)


def test_proxies_of_the_environment_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert talk(f.ok("[3]"))[0].text == "[3]"


@pytest.mark.parametrize("echo", ["plain", "bearer", "escaped", "url", "in the answer", "twice cut"])
def test_a_key_that_comes_back_is_seen_by_nobody(echo: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PACCF_TEST_KEY", CANARY + "\n")
    escaped = "".join(f"\\u{ord(c):04x}" for c in CANARY).encode()
    body = {
        "plain": CANARY.encode(),
        "bearer": json.dumps({"error": {"message": f"bad header: Bearer {CANARY}"}}).encode(),
        "escaped": b'{"error": {"message": "' + escaped + b'"}}',
        "url": b"see http://key:" + CANARY.encode() + b"@host/ and " + quote(CANARY, "").encode(),
        "in the answer": f.completion(f"[50] {CANARY}", finish=CANARY),
        "twice cut": b"x" * 290 + CANARY.encode(),
    }[echo]
    line = "200 OK" if echo == "in the answer" else "400 Bad Request"
    got, server, model = talk(f.status(line, body), key_env="PACCF_TEST_KEY")
    assert f"Authorization: Bearer {CANARY}" in server.asked[0].head
    shown = [str(got), repr(got), fingerprint(model.spec), repr(model.spec), repr(model), repr(vars(model))]
    shown.append("".join(traceback.format_exception(got)) if isinstance(got, Exception) else "")
    shown.append(model.parameters(asking()))
    for text in shown:
        for part in (CANARY, CANARY[:8], quote(CANARY, "")):
            assert part not in text


@pytest.mark.parametrize("blanks", [65_526, 65_536, 200_000])
def test_a_key_behind_many_blanks_is_not_shown_in_part(blanks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PACCF_TEST_KEY", CANARY)
    fault = f.status("400 Bad Request", b" " * blanks + CANARY.encode())
    got, _, _ = talk(fault, key_env="PACCF_TEST_KEY", cap=1 << 20)
    assert isinstance(got, Refused)
    assert "HTTP 400: [redacted]" in str(got)
    assert CANARY[:4] not in str(got)


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("https://{}.example/v1", "another place"),
        ("https://a.example/{}", "redirects to a.example;"),
        ("https://" + "x." * 36 + "{}.example/", "another place"),
        ("https://[::1", "another place"),
        ("https://user:secret@a.example/v1", "redirects to a.example;"),
    ],
)
def test_a_key_in_another_case_is_seen_by_nobody(place: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A redirect's host is in small letters, whatever the server wrote."""
    key = "Canary-8F2D-Mixed-Case"
    monkeypatch.setenv("PACCF_TEST_KEY", key)
    got, _, _ = talk(f.status("302 Found", location=place.format(key)), key_env="PACCF_TEST_KEY")
    assert isinstance(got, Unusable)
    assert says in str(got)
    assert key[:5].lower() not in str(got).lower()
    for text in (key.lower(), key.upper()):
        got, _, _ = talk(f.ok(f"[50] {text}"), key_env="PACCF_TEST_KEY")
        assert got.text == "[50] [redacted]"


def test_a_key_that_a_redirect_s_host_ends_in_is_not_shown_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PACCF_TEST_KEY", CANARY)
    got, _, _ = talk(f.status("302 Found", location=f"https://{CANARY}"), key_env="PACCF_TEST_KEY")
    assert isinstance(got, Unusable)
    assert "canary" not in str(got)


@pytest.mark.parametrize("words", ["a", "://", "a://x:", "bearer ", "sk-"])
def test_taking_secrets_out_of_a_long_text_takes_no_time(words: str) -> None:
    text = words * (400_000 // len(words))
    began = time.process_time()
    redacted(text)
    assert time.process_time() - began < 3


@pytest.mark.parametrize(
    ("value", "says"), [(None, "no key"), ("", "no key"), ("two words", "holds no key"), ("schlüssel", "holds no key")]
)
def test_a_key_that_is_none_is_said_without_it(value: str | None, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PACCF_TEST_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("PACCF_TEST_KEY", value)
    with pytest.raises(Unusable, match=says) as failed:
        talk(f.ok(), key_env="PACCF_TEST_KEY")
    assert "PACCF_TEST_KEY" in str(failed.value)
    assert not value or value not in str(failed.value)


def test_a_busy_endpoint_is_asked_less_at_once_then_more() -> None:
    """It takes 4 at once. All 60 are answered, and the first that were too many cut the concurrency once together."""

    async def limited(asked: f.Asked, writer: asyncio.StreamWriter) -> None:
        if server_of[0].flying > 4:
            await f.status("429 Too Many Requests")(asked, writer)
        else:
            await f.ok(wait=0.005)(asked, writer)

    server_of: list[f.Server] = []

    async def many(model: ChatModel, server: f.Server) -> list[float]:
        server_of.append(server)
        limits = []

        async def one(draw: int) -> None:
            await model.answer(asking(draw))
            limits.append(model.pace.limit)

        await asyncio.gather(*[one(draw) for draw in range(60)])
        return limits

    patience = Patience(attempt=5, attempts=30, pause=0.002, longest=0.05)
    limits, server, model = talk(limited, run=many, concurrency=16, patience=patience)
    assert isinstance(limits, list), limits
    assert server.most <= 16
    assert min(limits) <= 8
    assert model.pace.spent.answers == 60
    refused = model.pace.spent.sends - 60
    assert 0 < refused < 60  # without adapting, 12 of 16 would be refused again and again
    assert model.pace.spent.unknown == 0


def test_requests_and_tokens_are_spaced_to_their_rates() -> None:
    async def ten(model: ChatModel, server: f.Server) -> float:
        start = time.monotonic()
        await asyncio.gather(*[model.answer(asking(draw)) for draw in range(10)])
        return time.monotonic() - start

    assert talk(f.ok(), run=ten)[0] < 0.3
    assert talk(f.ok(), run=ten, ceilings=Ceilings(requests_per_minute=3000))[0] >= 9 * 0.02
    # 110 tokens an answer, at 33,000 a minute: 0.2 seconds each, less what each reserved beyond its use
    tight = {"ceilings": Ceilings(tokens_per_minute=33_000), "max_tokens": MaxTokens(evaluate=10), "concurrency": 1}
    assert talk(f.ok(), run=ten, **tight)[0] >= 9 * 0.2 * 0.9


def test_what_an_answer_did_not_take_of_the_token_rate_is_given_to_the_next_at_once() -> None:
    """A prompt of some 5,000 bytes is let through as 5,000 tokens, and was 100."""

    async def ten(model: ChatModel, server: f.Server) -> float:
        start = time.monotonic()
        await asyncio.gather(*[model.answer(asking(draw, prompt="x" * 5000)) for draw in range(10)])
        return time.monotonic() - start

    tight = {"ceilings": Ceilings(tokens_per_minute=600_000), "max_tokens": MaxTokens(evaluate=10)}
    took, server, _ = talk(f.ok(), run=ten, concurrency=1, **tight)
    assert len(server.asked) == 10
    assert 9 * 0.011 * 0.9 <= took < 9 * 0.5


def test_after_the_end_nothing_is_sent_and_nobody_waits() -> None:
    """One in flight is finished; one in its backoff, one in the queue and a new one are not sent."""

    async def slow(asked: f.Asked, writer: asyncio.StreamWriter) -> None:
        if asked.body["messages"][0]["content"] == "busy":
            await f.status("500 Oops")(asked, writer)
        else:
            await f.ok("[8]", wait=0.2)(asked, writer)

    async def ended(model: ChatModel, server: f.Server) -> list[Any]:
        backing = asyncio.create_task(model.answer(asking(prompt="busy")))
        while not model.pace.spent.sends:
            await asyncio.sleep(0.001)
        flying = [asyncio.create_task(model.answer(asking(draw))) for draw in range(2)]
        while len(server.asked) < 2:
            await asyncio.sleep(0.001)
        model.pace.end()
        start = time.monotonic()
        found = await asyncio.gather(backing, *flying, model.answer(asking(9)), return_exceptions=True)
        assert time.monotonic() - start < 5
        return found

    patience = Patience(attempt=20, attempts=3, pause=60, longest=60)
    found, server, model = talk(slow, run=ended, concurrency=1, patience=patience)
    assert [type(x) for x in found] == [Ended, Answer, Ended, Ended]
    assert (len(server.asked), model.pace.flying) == (2, 0)


def test_what_was_paid_before_counts_against_the_money_ceiling() -> None:
    async def go(before: tuple[int, int]) -> Answer:
        async with f.serving(f.ok()) as server:
            spec = spec_for(server, prices=Prices(1e6, 1e6), ceilings=Ceilings(money=5000))
            async with chat(spec, 0, pace=paced(spec, before)) as model:
                return await model.answer(asking())

    assert asyncio.run(go((1000, 1000))).text == "[50]"
    with pytest.raises(CeilingReached, match="4900 are spent"):
        asyncio.run(go((4000, 900)))


def test_the_money_ceiling_is_never_passed() -> None:
    """An answer costs 100 + 10 tokens; up to 900 would be paid for. What is under way is waited for."""

    async def spend(model: ChatModel, server: f.Server) -> list[Any]:
        return await asyncio.gather(*[model.answer(asking(draw)) for draw in range(40)], return_exceptions=True)

    found, server, model = talk(
        f.ok(),
        run=spend,
        prices=Prices(1e6, 1e6),
        max_tokens=MaxTokens(evaluate=500),
        ceilings=Ceilings(money=2000),
    )
    paid = [a for a in found if isinstance(a, Answer)]
    refused = [a for a in found if isinstance(a, CeilingReached)]
    assert len(paid) + len(refused) == 40
    assert len(paid) == len(server.asked) > 5
    assert model.pace.spent.cost == 110 * len(paid) <= 2000
    assert "raise ceilings.money" in str(refused[0])


def test_all_that_changes_answers_changes_the_fingerprint() -> None:
    plain = ModelSpec(preset="https://host/v1", model="m")
    changed = [
        ModelSpec(preset="https://host/v2", model="m"),
        ModelSpec(preset="https://host:8443/v1", model="m"),
        ModelSpec(preset="https://host/v1", model="n"),
        ModelSpec(preset="https://host/v1", model="m", temperature=Temperature(evaluate=0.3)),
        ModelSpec(preset="https://host/v1", model="m", max_tokens=MaxTokens(evaluate=3)),
        ModelSpec(preset="https://host/v1", model="m", seeded=False),
        ModelSpec(preset="https://host/v1", model="m", stop=("x",)),
        ModelSpec(preset="https://host/v1", model="m", json_schema=True),
        ModelSpec(preset="https://host/v1", model="m", extra={"top_k": 3}),
        ModelSpec(preset="https://host/v1", model="m", omit=("seed",)),
    ]
    same = ModelSpec(
        preset="https://host/v1/", model="m", concurrency=3, key_env="X", prices=Prices(1, 1), patience=QUICK
    )
    assert len({fingerprint(spec) for spec in [plain, *changed]}) == len(changed) + 1
    assert fingerprint(same) == fingerprint(plain)
    assert fingerprint(plain).startswith("m at host/v1@")


def test_opened_is_the_client() -> None:
    async def go() -> Answer:
        async with f.serving(f.ok("[9]")) as server, opened(spec_for(server), "game24", 0) as model:
            live: Live = model
            assert not live.simulated
            return await live.answer(asking())

    assert asyncio.run(go()).text == "[9]"
