"""`paccf spec`: the file that says what an experiment runs: a new one, a check, its schema."""

from __future__ import annotations

import json
import os
import re

import click
import msgspec

from paccf.cli.experiment import DATA, SETS, read_spec
from paccf.cli.output import BadInput, clean, emit_json, say, table, unwritable
from paccf.experiment.design import Design
from paccf.experiment.reading import shipped, text_of, toml
from paccf.experiment.spec import Spec, SpecError


@click.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="The list as one JSON object.")
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """The file that says what an experiment runs.

    \b
    Examples:
      paccf spec                              the specs that come along
      paccf spec new demo -o mine.toml        a copy of one, to change
      paccf spec check mine.toml              what it would run, or what is wrong with it
      paccf spec schema                       every key, as JSON Schema
    """
    if context.invoked_subcommand is None:
        rows = [(name, msgspec.toml.decode(text_of(name))["about"]) for name in shipped()]
        if as_json:
            emit_json({"specs": [{"name": name, "about": about} for name, about in rows]})
            return
        say(table(("spec", "what it runs"), rows, left=2))


@command.command()
@click.argument("base", default="demo")
@click.option("-o", "--output", metavar="FILE", help="Where to write it; stdout if left out.")
@click.option("--name", help="Its name; the file's if left out.")
def new(base: str, output: str | None, name: str | None) -> None:
    """A new spec file: a copy of the shipped spec BASE with its comments.

    \b
    Example:
      paccf spec new paper -o mine.toml
    """
    try:
        text = text_of(base)
    except SpecError as error:
        raise BadInput(str(error)) from None
    if name is None and output is not None:
        name = (
            re.sub(r"[^a-z0-9._-]+", "-", os.path.basename(output).removesuffix(".toml").lower()).strip("-._") or base
        )
    if name is not None:
        text = re.sub(r"(?m)^name = .*$", lambda _: f"name = {json.dumps(name)}", text, count=1)
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        with open(output, "x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise unwritable(output, error) from None
    say(f"Wrote {clean(output)}. Next: paccf spec check {clean(output)}")


@command.command()
@click.argument("spec")
@SETS
@DATA
@click.option("--json", "as_json", is_flag=True, help="The whole spec as JSON, every key stated.")
@click.option("--toml", "as_toml", is_flag=True, help="The whole spec as TOML, every key stated.")
def check(spec: str, sets: tuple[str, ...], data: str | None, as_json: bool, as_toml: bool) -> None:
    """Check SPEC: a shipped spec, a file, or a run folder. Its domains are made and its tasks drawn; no model is asked.

    \b
    Example:
      paccf spec check paper --set 'certificate.q=0.9' --set 'budgets=[100, 200]'
    """
    found = read_spec(spec, sets)
    try:
        design = Design(found, data).drawn()
    except ValueError as error:
        raise BadInput(f"{spec}: {error}") from None
    if as_json:
        emit_json(msgspec.to_builtins(found))
        return
    if as_toml:
        click.echo(toml(found), nl=False)
        return
    say("\n".join(described(found)))
    for caveat in design.caveats():
        say(f"Note: {clean(caveat)}")


def described(spec: Spec) -> list[str]:
    """What a spec runs, a labelled line each, and what to know before running it."""
    c, cal = spec.certificate, spec.calibration
    rule = "marginal" if c.delta is None else f"PAC, delta {c.delta}"
    need = spec.need_n()
    lines = [
        f"name         {spec.name}{': ' if spec.about else ''}{spec.about}",
        f"model        {'SIMULATED, profile ' + spec.model.profile if spec.model.simulated else spec.model.preset}",
        f"controllers  {', '.join(spec.controllers)}",
        f"arms         {', '.join(spec.arms)} at budgets {', '.join(map(str, spec.budgets))}, seed {spec.seed}",
        f"margin       Q {c.q}, {rule}, epsilon {c.epsilon}; it takes {need} exposed tasks to be finite",
        f"calibration  budget {cal.budget}, {cal.labels} labels",
    ]
    for name, domain in spec.domains.items():
        first, limit, exposed = spec.pool(name)
        on = f"; on to {exposed} exposed ones, {limit} tasks at most" if exposed and limit > first else ""
        source = f" from {domain.source}" if domain.source else ""
        lines.append(f"  {name:<12} {domain.test} test tasks, {first} calibration tasks{source}{on}")
        if spec.needs_margin and limit < need:
            lines.append(f"  Note: {limit} calibration tasks cannot give a finite margin; nothing would be pruned")
    return [clean(text) for text in lines]


@command.command()
def schema() -> None:
    """Every key of a spec with its kind and bounds, as JSON Schema.

    \b
    Example:
      paccf spec schema > spec.schema.json
    """
    emit_json(msgspec.json.schema(Spec))
