from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest

from paccf.domains.game24.world import Game24, task_of
from paccf.models.opening import fingerprint, opened
from paccf.models.presets import PRESETS
from paccf.models.simulated import simulated
from paccf.models.spec import Ceilings, ModelSpec, Prices, SpecError, Temperature, read_spec
from paccf.search.controllers import controller
from paccf.search.driver import run, run_all, search


def written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "spec.toml"
    path.write_text(text)
    return str(path)


def test_a_spec_file_holds_a_model_table_or_is_one(tmp_path: Path) -> None:
    inner = 'preset = "deepseek"\nconcurrency = 32\n'
    table = "[model]\n" + inner + "[model.temperature]\nevaluate = 0.5\n[model.prices]\nprompt = 0.3\ncompletion = 1\n"
    expected = ModelSpec(
        preset="deepseek", concurrency=32, temperature=Temperature(evaluate=0.5), prices=Prices(0.3, 1.0)
    )
    assert read_spec(written(tmp_path, table)) == expected
    assert read_spec(written(tmp_path, inner)) == ModelSpec(preset="deepseek", concurrency=32)
    assert msgspec.convert(msgspec.to_builtins(expected), ModelSpec) == expected


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('presett = "local"', "Did you mean 'preset'"),
        ("[model.ceilings]\nmony = 1", "Did you mean 'money'"),
        ("[model.temperature]\nevaluate = -1", "evaluate"),
        ('preset = "opnai"', "Did you mean 'openai'"),
        ('preset = "openai"', "model: "),
        ('preset = "https://u:hunter2@host/v1"\nmodel = "m"', "user or password"),
        ('preset = "https://host/v1?key=hunter2"\nmodel = "m"', "ends before"),
        ('preset = "ftp://host"', "none of"),
        ('preset = "http://[::1"', "no URL"),
        ('key_env = "sk-hunter2-x"', "not the key"),
        ("[model.extra]\nmessages = []", "extra.messages"),
        ('omit = ["messages"]', "none of"),
        ("[model.ceilings]\nmoney = 5", "unknown without"),
        ('omit = ["max_tokens"]\n[ceilings]\nmoney = 5\n[prices]\nprompt = 1\ncompletion = 1', "can cost anything"),
        ('[model.extra]\nmax_completion_tokens = "9"', "whole number"),
        ('evaluator = "likelihood"', "local"),
        ("preset = ", "no TOML"),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(SpecError, match="spec.toml") as refused:
        read_spec(written(tmp_path, text))
    assert says in str(refused.value)
    assert "hunter2" not in str(refused.value)


def test_a_base_url_may_be_given_whole() -> None:
    for url in ("http://h:1/v1", "http://h:1/v1/", "http://h:1/v1/chat/completions"):
        assert ModelSpec(preset=url, model="m").checked().endpoint.url == "http://h:1/v1"


def test_presets_are_what_they_say() -> None:
    for name, preset in PRESETS.items():
        assert name == preset.name
        assert ModelSpec(preset=name, model="m").checked().endpoint == preset


def test_the_simulated_fingerprint_is_its_figures(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text("[evaluator]\nbias = 3.0\n")
    plain = fingerprint(ModelSpec())
    assert plain.startswith("SIMULATED/paper-like@")
    assert fingerprint(ModelSpec(profile=str(own))) != plain
    assert fingerprint(ModelSpec(concurrency=3, latency_ms=5, ceilings=Ceilings(requests_per_minute=1))) == plain


def test_the_opened_simulated_model_gives_the_synchronous_one_s_trees() -> None:
    def begun(hand: str):  # type: ignore[no-untyped-def]
        return search(task_of(hand), Game24(), controller("lats"), budget=40, seed=3)

    async def concurrently():  # type: ignore[no-untyped-def]
        async with opened(ModelSpec(latency_ms=1), "game24", 3) as model:
            assert model.simulated
            return await run_all([begun("4 7 8 8"), begun("1 2 3 4")], model, 8)

    alone = [run(begun(hand), simulated("game24", "paper-like", 3)) for hand in ("4 7 8 8", "1 2 3 4")]
    assert [(t.path, t.bill, t.frontiers) for t in asyncio.run(concurrently())] == [
        (t.path, t.bill, t.frontiers) for t in alone
    ]
