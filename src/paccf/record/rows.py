"""Values as rows of the tables, and back. A row holds plain numbers and texts, alike in both databases."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from paccf.record.texts import seal
from paccf.record.values import Candidate, Costs, Frontier, Key, Label, Node, Outcome, Path

Row = dict[str, Any]

COSTS = (
    "prompt_tokens",
    "completion_tokens",
    "unknown_tokens",
    "nodes",
    "expansions",
    "scored",
    "illegal",
    "unparsable",
    "malformed",
    "unscored",
    "sent",
)
_SIGNS = {True: "1", False: "0", None: "?"}
_LABELS: dict[str, Label] = {sign: label for label, sign in _SIGNS.items()}


_OBSERVATIONS = msgspec.json.Decoder(tuple[float, ...])  # read for every candidate: five times as fast as json


def number(value: float | None) -> float | None:
    """As the databases give it back: always a float, and never minus zero."""
    return None if value is None else float(value) + 0.0


def bit(value: bool | None) -> int | None:
    return None if value is None else int(value)


def flag(value: int | None) -> bool | None:
    return None if value is None else bool(value)


def json_of(value: object) -> str:
    """ASCII, so that any database holds what any path says."""
    return json.dumps(value, separators=(",", ":"))


def path_of(text: str) -> Path:
    return tuple(json.loads(text))


def outcome_row(outcome: Outcome) -> Row:
    costs = outcome.costs
    return {
        "budget": outcome.key.budget,
        "end": outcome.end,
        "solved": int(outcome.solved),
        "utility": number(outcome.utility),
        "answer": None if outcome.answer is None else json_of(outcome.answer),
        "solution": outcome.solution,
        "failure": outcome.failure,
        "metrics": json_of({name: number(value) for name, value in sorted(outcome.metrics.items())}),
        "frontiers": outcome.frontiers,
        **{name: getattr(costs, name) for name in COSTS},
    }


def bill_rows(costs: Costs) -> list[Row]:
    return [{"kind": kind, "requests": count} for kind, count in sorted(costs.requests.items())]


def outcome_seal(key: Key, row: Mapping[Any, Any], bill: Mapping[str, int]) -> bytes:
    """``row`` may hold more than an outcome's columns."""
    names = ("budget", "end", "solved", "utility", "answer", "solution", "failure", "metrics", "frontiers", *COSTS)
    return seal(_parts(key), [row[name] for name in names], sorted(bill.items()))


def outcome_of(key: Key, row: Mapping[Any, Any], bill: Mapping[str, int]) -> Outcome:
    return Outcome(
        replace(key, budget=row["budget"]),
        row["end"],
        bool(row["solved"]),
        row["utility"],
        None if row["answer"] is None else path_of(row["answer"]),
        row["solution"],
        Costs(dict(bill), **{name: row[name] for name in COSTS}),
        row["frontiers"],
        row["failure"],
        json.loads(row["metrics"]),
    )


def frontier_rows(frontiers: Sequence[Frontier]) -> list[Row]:
    return [
        {"place": place, "path": json_of(f.path), "channel": f.channel, "spent": f.spent, "size": len(f.candidates)}
        for place, f in enumerate(frontiers)
    ]


def candidate_rows(frontiers: Sequence[Frontier]) -> list[Row]:
    return [
        {
            "frontier": frontier,
            "place": place,
            "key": c.key,
            "text": c.text,
            "observations": None if c.observations is None else json_of([number(x) for x in c.observations]),
            "score": number(c.score),
            "eligible": int(c.eligible),
            "native": int(c.native),
            "gap": bit(c.gap),
            "kept": int(c.kept),
        }
        for frontier, f in enumerate(frontiers)
        for place, c in enumerate(f.candidates)
    ]


def candidate_of(row: Any) -> Candidate:
    """From (key, text, observations, score, eligible, native, gap, kept)."""
    key, text, observations, score, eligible, native, gap, kept = row
    seen = None if observations is None else _OBSERVATIONS.decode(observations)
    return Candidate(key, text, seen, score, bool(eligible), bool(native), flag(gap), bool(kept))


def node_rows(nodes: Sequence[Node]) -> list[Row]:
    """Raises ValueError if a node comes before its parent."""
    places = {node.path: place for place, node in enumerate(nodes)}
    rows = []
    for place, node in enumerate(nodes):
        parent = places.get(node.path[:-1], place) if node.path else None
        if parent is not None and parent >= place:
            raise ValueError(f"the node {'/'.join(node.path)} comes without its parent, or before it")
        rows.append(
            {
                "place": place,
                "parent": parent,
                "key": node.path[-1] if node.path else "",
                "score": number(node.score),
                "visits": node.visits,
                "value": number(node.value),
                "executed": int(node.executed),
                "terminal": int(node.terminal),
                "solved": bit(node.solved),
                "dead": int(node.dead),
                "pruned": int(node.pruned),
            }
        )
    return rows


def nodes_of(rows: Sequence[Any]) -> list[Node]:
    """From (place, parent, key, score, visits, value, executed, terminal, solved, dead, pruned), parents first."""
    found: list[Node] = []
    for _, parent, key, score, visits, value, executed, terminal, solved, dead, pruned in rows:
        path = () if parent is None else (*found[parent].path, key)
        found.append(
            Node(
                path,
                score,
                visits,
                value,
                bool(executed),
                bool(terminal),
                flag(solved),
                bool(dead),
                bool(pruned),
            )
        )
    return found


def trace_seal(key: Key, journal: tuple[bytes | None, bytes | None], *tables: Sequence[Sequence[Any]]) -> bytes:
    """Of a whole trace: its key with the largest budget, and the rows of frontiers, candidates and nodes."""
    return seal(_parts(key), key.budget, journal, *[[tuple(row) for row in rows] for rows in tables])


KEY_SIZE = 16  # bytes of a tape key


def asked_of(joined: bytes | None) -> tuple[bytes, ...]:
    """The tape keys of a search."""
    joined = joined or b""
    return tuple([joined[i : i + KEY_SIZE] for i in range(0, len(joined), KEY_SIZE)])


def labels_text(labels: Sequence[Sequence[Label]]) -> str:
    """A character a candidate, a comma after every frontier."""
    return "".join("".join(_SIGNS[label] for label in frontier) + "," for frontier in labels)


def labels_seal(key: Key, mode: str, text: str) -> bytes:
    return seal(_parts(key), mode, text)


def labels_of(text: str) -> list[tuple[Label, ...]]:
    return [tuple([_LABELS[sign] for sign in part]) for part in text.split(",")[:-1]]


def _parts(key: Key) -> tuple[object, ...]:
    """The key without the budget."""
    return (key.phase, key.domain, key.controller, key.arm, key.task, key.seed)
