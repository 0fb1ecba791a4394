"""How a frontier is scored: R observations a candidate, position-balanced, in microbatches.

For every pair of observations the candidates are shuffled once, cut into microbatches of b, and each microbatch is
asked forward and reversed. One microbatch is one request.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from paccf.search.chance import shuffled


@dataclass(frozen=True, slots=True)
class Scoring:
    """How candidates are proposed and observed; part of what a margin is matched to."""

    repeats: int = 4  # R, the paper's frozen configuration
    microbatch: int = 8  # b: candidates a request; ours, the paper does not print it
    # ours: how often scores are asked again of which one is missing, and proposals of which none is legal; counted
    retries: int = 2
    proposer: Literal["list", "sample"] = "list"  # one request that lists k actions, or k requests for one each

    def __post_init__(self) -> None:
        if self.repeats < 1 or self.microbatch < 1 or self.retries < 0:
            raise ValueError(f"repeats and microbatch are 1 or more, retries 0 or more: {self}")
        if self.proposer not in ("list", "sample"):
            raise ValueError(f"proposer: list or sample, not {self.proposer!r:.40}")


def rounds(count: int, scoring: Scoring, *parts: object) -> list[tuple[int, tuple[int, ...]]]:
    """The requests that observe ``count`` candidates: (draw, candidates in the order asked), in sending order.

    ``parts`` name the frontier; the shuffles are their hash, so both arms ask alike.
    """
    asked = []
    for draw in range(scoring.repeats):
        if draw % 2 == 0:
            order = shuffled(count, *parts, "order", draw // 2)
        for start in range(0, count, scoring.microbatch):
            batch = order[start : start + scoring.microbatch]
            asked.append((draw, tuple(batch if draw % 2 == 0 else reversed(batch))))
    return asked
