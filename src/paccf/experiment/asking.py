"""In which order the candidates of a frontier were put to the evaluator: it follows from the spec and the search."""

from __future__ import annotations

import json
from collections.abc import Sequence

from paccf.audit.run import Asked
from paccf.record.values import Key
from paccf.search.scoring import Scoring, rounds


def asked(spec: str) -> Asked | None:
    """The order under the run's specification; `None` if it does not say how scores were asked for."""
    try:
        evaluator = json.loads(spec)["evaluator"]
        scoring = Scoring(int(evaluator["repeats"]), int(evaluator["microbatch"]))
    except (ValueError, KeyError, TypeError):
        return None

    def order(key: Key, path: Sequence[str], count: int) -> list[tuple[int, tuple[int, ...]]]:
        return rounds(count, scoring, key.seed, key.task, *path)

    return order
