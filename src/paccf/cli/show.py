"""`paccf show`: both arms' trees of one task side by side: what did pruning remove, what did it cost."""

from __future__ import annotations

from typing import Any

import click

from paccf.cli.experiment import DATA, folder_path, in_words
from paccf.cli.output import BadInput, clean, emit_json, say, table

WIDTH = 60  # ours: characters of the tree


@click.command()
@click.argument("folder")
@click.argument("task")
@click.option("--controller", help="Whose search, like uct; needed if the run has several.")
@click.option("--domain", help="Needed if the run has several.")
@click.option("--all", "everything", is_flag=True, help="Also what both arms dropped or never came back to.")
@DATA
@click.option("--json", "as_json", is_flag=True, help="The joined tree for machines.")
def command(
    folder: str,
    task: str,
    controller: str | None,
    domain: str | None,
    everything: bool,
    data: str | None,
    as_json: bool,
) -> None:
    """Both arms' trees of TASK side by side: one line a candidate, with what each arm made of it.

    A number is the score; `n=` the visits of a node that was searched; `dropped` what the arm did not admit; `-` what
    it never came to. A star marks candidates from which a solution can still be reached: known afterwards only.

    \b
    Example:
      paccf show runs/demo 4-7-8-8 --controller uct --domain game24
    """
    path = folder_path(folder)
    with in_words():
        from paccf.audit.trees import joined, removal
        from paccf.experiment.folder import Folder

        opened = Folder.look(path, data)
        try:
            native, paccf = _arms(opened, task, controller, domain)
            certificates = opened.certificates()
            simulated, caveats = opened.design.spec.model.simulated, opened.design.caveats()
        finally:
            opened.close()
    lines = list(joined(native, paccf))
    gone = removal(native, lines)
    key = native.outcome.key
    margin = next((c.margin for cell, c in certificates.items() if cell == (key.domain, key.controller)), None)
    if as_json:
        emit_json(
            {
                "simulated": simulated,
                "caveats": caveats,
                "task": key.task,
                "margin": margin,
                "lines": [_data(line) for line in lines],
                "native": _figures(native.outcome),
                "paccf": _figures(paccf.outcome),
                "removed": {name: getattr(gone, name) for name in gone.__dataclass_fields__},
            }
        )
        return
    said = "SIMULATED " if simulated else ""
    kept = "keeps everything" if margin is None else f"margin {margin:g}"
    say(f"{said}{clean(key.domain)} {clean(key.task)}, {clean(key.controller)}, budget {key.budget}, {kept}")
    for caveat in caveats:
        say(f"Note: {clean(caveat)}")
    say("")
    shown = lines if everything else [line for line in lines if _matters(line)]
    rows = [(_label(line), _side(line.native), _side(line.paccf)) for line in shown]
    say(table(("candidate", "Native", "PAC-CF"), rows, left=3))
    if len(shown) < len(lines):
        say(f"\n{len(lines) - len(shown):,} more candidates, alike in both arms and never searched: --all shows them")
    say("")
    say(table(("", "Native", "PAC-CF"), _summary(native.outcome, paccf.outcome)))
    say(
        f"\nPruning removed {gone.roots:,} candidates; {gone.matched:,} of them are nodes of Native, with "
        f"{gone.nodes:,} nodes below\nthem and {gone.scored:,} candidates scored there. From {gone.protected:,} of "
        "those removed a solution could be reached."
    )


def _arms(opened: Any, task: str, controller: str | None, domain: str | None) -> Any:
    spec = opened.design.spec
    if controller is None and len(spec.controllers) == 1:
        (controller,) = spec.controllers
    if controller not in spec.controllers:
        lacking = "say whose search" if controller is None else f"the run has no controller {controller!r}"
        raise BadInput(f"{lacking}: --controller {', '.join(spec.controllers)}")
    domains = [d for d in spec.domains if domain in (None, d)]
    where: dict[str, Any] = {"phase": "test", "controller": controller, "budget": spec.largest, "domain": domains}
    found = {
        s.outcome.key.arm: s
        for s in opened.store.searches(opened.run, labels=spec.calibration.labels, task=task, **where)
    }
    if "native" not in found or "paccf" not in found:
        there = sorted({o.key.task for o in opened.store.outcomes(opened.run, arm="paccf", **where)})
        known = f"; there are {len(there)}: {', '.join(there[:8])}{' ...' if len(there) > 8 else ''}" if there else ""
        raise BadInput(f"no pair of searches of {controller} on the task {task!r}{known}")
    return found["native"], found["paccf"]


def _matters(line: Any) -> bool:
    """Searched in an arm, or treated differently by the two."""
    sides = [line.native, line.paccf]
    if any(side is not None and side.node is not None and side.node.executed for side in sides):
        return True
    return (line.native is None) != (line.paccf is None) or line.native.kept != line.paccf.kept


def _label(line: Any) -> str:
    text = clean(line.text.replace("\n", " "))
    indent = "  " * (len(line.path) - 1)
    star = "* " if line.protected else "  "
    whole = f"{star}{indent}{text}"
    return whole if len(whole) <= WIDTH else whole[: WIDTH - 3] + "..."


def _side(side: Any) -> str:
    if side is None:
        return "-"
    score = "unscored" if side.score is None else f"{side.score:g}"
    if not side.kept:
        return f"{score}  {'dropped' if side.eligible else 'ineligible'}"
    node = side.node
    if node is None or not node.executed:
        return f"{score}  kept"
    visits = f"n={node.visits}" if node.visits else "searched"
    return f"{score}  {visits}{' solved' if node.solved else ' ended' if node.terminal else ''}"


def _figures(o: Any) -> dict[str, Any]:
    return {
        "end": o.end,
        "utility": o.utility,
        "solution": o.solution,
        "requests": o.costs.total,
        "nodes": o.costs.nodes,
        "scored": o.costs.scored,
        "tokens": o.costs.tokens,
    }


def _summary(native: Any, paccf: Any) -> list[tuple[str, ...]]:
    a, b = _figures(native), _figures(paccf)
    return [(name, _shown(a[name]), _shown(b[name])) for name in a]


def _shown(value: Any) -> str:
    if value is None:
        return "?"
    if isinstance(value, float):
        return f"{value:g}"
    return f"{value:,}" if isinstance(value, int) else clean(value)[:WIDTH] or "none"


def _data(line: Any) -> dict[str, Any]:
    def side(found: Any) -> dict[str, Any] | None:
        if found is None:
            return None
        node = found.node
        return {
            "score": found.score,
            "kept": found.kept,
            "eligible": found.eligible,
            "visits": None if node is None else node.visits,
        }

    return {
        "path": list(line.path),
        "text": line.text,
        "protected": line.protected,
        "native": side(line.native),
        "paccf": side(line.paccf),
    }
