"""`paccf solve`: what the oracle knows of a task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from paccf.cli.drawing import data_option, named, place, settings, source_option, stated, world_option
from paccf.cli.output import BadInput, clean, emit_json, say, table
from paccf.domains.oracles import oracle_of
from paccf.models.simulated.truth import truth_of


@click.command()
@click.argument("domain")
@click.argument("task")
@source_option
@data_option
@world_option
@click.option("--seed", default=0, show_default=True, help="Of a generated task that is named by its id.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(
    domain: str, task: str, source: str, data: str | None, world_pairs: tuple[str, ...], seed: int, as_json: bool
) -> None:
    """Show what the domain's oracle knows: which first actions are protected, a solution, and what else it says.

    TASK is written as the domain writes tasks, or is an id that `paccf tasks` shows. An action is protected if a
    solution can still be reached after it. No search ever sees this.

    \b
    Examples:
      paccf solve game24 "4 7 8 8"
      paccf solve game24 4-7-8-8 --json
      paccf solve gta gta-17 --source gta --data DIR

    Exit codes: 0 shown, whether or not there is a solution; 2 bad input.
    """
    given = settings(domain, world_pairs)
    world = place(domain, given)
    (found,) = named(domain, (task,), source, data, seed, "TASK")
    oracle = stated(lambda: oracle_of(domain, **given))
    start = world.start(found)
    actions = list(stated(lambda: truth_of(domain, **given)).legal(found, start.state))
    labels: list[bool] = stated(lambda: oracle.protected(found, start.state, actions))
    value: float = stated(lambda: oracle.value(found, start.state, 0))
    path = stated(lambda: oracle.solution(found)) if hasattr(oracle, "solution") else None
    facts: Mapping[str, Any] = stated(lambda: oracle.facts(found)) if hasattr(oracle, "facts") else {}
    answer = None if path is None else world.solution(found, path)
    if path is not None and world.utility(found, path) < 1 and world.verified:
        raise BadInput(f"{domain}: the oracle's solution of {found.id} does not pass the verifier: {answer}")
    if as_json:
        emit_json(
            {
                "domain": domain,
                "world": given,
                "task": found.id,
                "value": value,
                "solution": answer,
                "steps": None if path is None else [action.text for action in path],
                "actions": [
                    {"key": a.key, "text": a.text, "protected": bool(p)} for a, p in zip(actions, labels, strict=True)
                ],
                "facts": dict(facts),
                "caveats": list(getattr(world, "caveats", ())),
            }
        )
        return
    for caveat in getattr(world, "caveats", ()):
        say(f"Note: {clean(caveat)}")
    lines = {"task": found.id, "solution": answer or "none", "value": f"{value:g}", **facts}
    lines["protected"] = f"{sum(labels)} of {len(labels)} first actions"
    width = max(map(len, lines))
    for name, fact in lines.items():
        rows = fact if isinstance(fact, list) else [fact]
        for i, row in enumerate(rows or ["-"]):
            say(clean(f"{'' if i else name:<{width}}  {row}"))
    say("")
    order = sorted(range(len(actions)), key=lambda i: not labels[i])
    say(table(("first action", "protected"), [(actions[i].text, "yes" if labels[i] else "-") for i in order], left=2))
