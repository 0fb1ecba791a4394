"""`paccf what-if`: what a margin would save and lose, on searches that were recorded without one."""

from __future__ import annotations

import math
from collections.abc import Sequence

import click
import msgspec

from paccf.audit.whatif import Line, WhatIf
from paccf.cli.frontiers import Found, follow, skip_bad
from paccf.cli.output import BadInput, clean, emit_json, say, table
from paccf.method.deficit import TaskDeficits
from paccf.method.scores import exact, plain
from paccf.record.frontier_log import Frontier

LEVELS = ("0.5", "0.7", "0.8", "0.9", "0.95", "0.98", "0.99")


class Meta(msgspec.Struct):
    """What a recorder writes under ``meta``; anything else there is not looked at."""

    path: list[str] | None = None
    paths: list[list[str]] | None = None
    requests: int | None = None
    kept: list[int] | None = None


@click.command()
@click.argument("logs", nargs=-1, required=True, metavar="LOG...")
@click.option(
    "-q",
    "--coverage",
    "levels",
    multiple=True,
    metavar="Q",
    help=f"A coverage to weigh. Repeatable. [{', '.join(LEVELS)}]",
)
@click.option("--confidence", metavar="C", help="Weigh PAC margins of this confidence instead of marginal ones.")
@click.option("--epsilon", default="0", show_default=True, help="Slack on top of the margin.")
@click.option("--observations", type=click.IntRange(min=1), help="Draws behind a bare mean, if the log has means only.")
@skip_bad
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def command(
    logs: tuple[str, ...],
    levels: tuple[str, ...],
    confidence: str | None,
    epsilon: str,
    observations: int | None,
    skip: bool,
    as_json: bool,
) -> None:
    """Weigh margins on recorded, labelled LOGs before turning anything on.

    For every Q: the margin that these logs give, how many tasks' solutions it would put at risk, what share of the
    candidates it would drop, and, where the log has parent paths (`paccf.Recorder` writes them), the frontiers and
    requests below dropped candidates that would never have been paid for. All on the fixed traces, and on the tasks
    that calibrate: what is promised for new tasks is Q itself.

    \b
    Examples:
      paccf what-if train.jsonl
      paccf what-if train.jsonl -q 0.9 -q 0.95 --confidence 0.9
    """
    found = Found(TaskDeficits(observations or 1))
    weighed = WhatIf(found.deficits)
    for frontier in follow(logs, found, skip):
        _add(weighed, frontier)
    if not found.deficits.exposed:
        raise BadInput(
            f"no task of {', '.join(logs)} exposes a protected candidate, so there is nothing to calibrate on"
        )
    try:
        found.deficits.repeats(observations)
        delta = None if confidence is None else plain(1 - exact(confidence))
        lines = [(q, weighed.line(q, delta, epsilon)) for q in levels or LEVELS]
    except ValueError as error:
        raise BadInput(str(error)) from None
    if as_json:
        emit_json(_data(weighed, lines) | {"skipped": found.skipped.count, "notes": found.notes()})
        return
    spent = f"; {weighed.requests:,} requests" if weighed.requests else ""
    say(f"{clean(', '.join(logs))}: {found.line()}{spent}\n")
    say(_table(weighed, lines))
    for note in [*_notes(weighed, lines), *found.notes()]:
        say(f"Note: {note}")


def _add(weighed: WhatIf, f: Frontier) -> None:
    meta = Meta()
    if f.meta is not None:
        known = {name: f.meta[name] for name in ("path", "paths", "requests", "kept") if name in f.meta}
        try:
            meta = msgspec.convert({k: msgspec.json.decode(v) for k, v in known.items()}, Meta)
        except msgspec.ValidationError as error:
            raise BadInput(
                f"task {f.task!r}, frontier {f.frontier!r}, meta: {error}. paccf.Recorder writes meta.path as a list "
                "of ids, meta.requests as a number and meta.kept as a list of indices; name yours otherwise"
            ) from None
    if meta.paths is not None and len(meta.paths) != len(f.scores):
        raise BadInput(
            f"task {f.task!r}, frontier {f.frontier!r}, meta.paths: {len(meta.paths)} paths of {len(f.scores)} "
            "candidates; give the whole path of each"
        )
    weighed.add(
        f.task,
        f.scores,
        f.protected,
        f.eligible,
        f.candidates,
        path=meta.path,
        paths=meta.paths,
        requests=meta.requests,
        kept=meta.kept,
    )


def _table(w: WhatIf, lines: Sequence[tuple[str, Line]]) -> str:
    exposed = len(w.deficits.exposed)
    header = ["Q", "margin", "rank", "tasks at risk", "candidates dropped"]
    if w.placed:
        header += ["frontiers cut off", "candidates below"]
    if w.placed and w.requests:
        header.append("requests below")
    rows: list[list[object]] = []
    for q, line in lines:
        m = line.margin
        row: list[object] = [
            q,
            "keep all" if math.isinf(m.value) else f"{float(m.value):g}",
            f"{m.k}/{m.n}" if m.feasible else f"needs {m.need_n}",
            f"{line.at_risk}/{exposed}",
            _share(line.dropped, w.candidates),
        ]
        cut = (line.cut_frontiers, line.cut_candidates, line.cut_requests)
        row += [_share(c, n) for c, n in zip(cut, _below(w), strict=False)]
        rows.append(row)
    if w.own_dropped is not None:
        own: list[object] = ["your rule", "-", "-", f"{len(w.own_lost)}/{exposed}", _share(w.own_dropped, w.candidates)]
        rows.append(own + ["-"] * (len(header) - len(own)))
    return table(header, rows)


def _below(w: WhatIf) -> list[int]:
    """The denominators of what stands below dropped candidates: frontiers, candidates, requests."""
    if not w.placed:
        return []
    return [len(w.seen), w.candidates, *([w.requests] if w.requests else [])]


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def _notes(w: WhatIf, lines: Sequence[tuple[str, Line]]) -> list[str]:
    said = [
        f"of {w.candidates:,} scored candidates at {len(w.seen):,} frontiers. A task is at risk where some frontier "
        "would lose every protected candidate; these tasks set the margin, for new ones the promise is Q"
    ]
    if not w.placed:
        said.append(
            "the log has no parent paths (meta.path, or meta.paths of a beam), so what stands below a dropped "
            "candidate is not known"
        )
    else:
        said.append(
            "what stands below is gross: a search that prunes spends some of it elsewhere. It takes a paired run to "
            "know the net saving"
        )
        if w.placed < len(w.seen):
            said.append(
                f"{len(w.seen) - w.placed:,} frontiers have no path back to the root; they count as never cut off"
            )
    if w.placed and w.unpriced and w.requests:
        said.append(f"{w.unpriced:,} frontiers do not say what they cost in requests")
    if w.own_dropped is not None:
        said.append(
            "'your rule' is what the recorded decisions dropped, and the tasks where they dropped every protected one "
            "(none, if the labels are of solutions that this very search found)"
        )
    return said


def _data(w: WhatIf, lines: Sequence[tuple[str, Line]]) -> dict[str, object]:
    return {
        "tasks": w.deficits.tasks,
        "exposed": len(w.deficits.exposed),
        "frontiers": len(w.seen),
        "placed": w.placed,
        "candidates": w.candidates,
        "requests": w.requests,
        "unpriced": w.unpriced,
        "own_rule": None if w.own_dropped is None else {"dropped": w.own_dropped, "tasks_at_risk": len(w.own_lost)},
        "levels": [
            {
                "q": float(exact(q)),
                "margin": None if math.isinf(line.margin.value) else float(line.margin.value),
                "feasible": line.margin.feasible,
                "need_n": line.margin.need_n,
                "n": line.margin.n,
                "k": line.margin.k,
                "tasks_at_risk": line.at_risk,
                "candidates_dropped": line.dropped,
                "frontiers_cut_off": line.cut_frontiers,
                "candidates_below": line.cut_candidates,
                "requests_below": line.cut_requests,
            }
            for q, line in lines
        ],
    }
