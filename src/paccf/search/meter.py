"""The hard budget and the bill.

A request is charged before it is sent, so the cap holds in the middle of a scoring round too. What an answer from a
tape costs nobody is still one physical-equivalent request here: otherwise arms would be charged by cache luck.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from paccf.search.world import Answer, Kind, Request


@dataclass(slots=True)
class Bill:
    """What a search has used."""

    requests: dict[Kind, int] = field(default_factory=dict)
    prompt_tokens: int = 0
    completion_tokens: int = 0
    unknown_tokens: int = 0  # requests without usage, or lost in a failure; their tokens are in no sum
    nodes: int = 0  # graph nodes, the root apart: created on admission
    expansions: int = 0  # frontiers admitted
    scored: int = 0  # candidate occurrences in them
    illegal: int = 0  # proposals that are no legal action
    unparsable: int = 0  # proposals that nothing could be read from
    malformed: int = 0  # scoring answers with missing entries, each asked again while the limit lasts
    unscored: int = 0  # candidates that stayed without a score

    @property
    def total(self) -> int:
        """Physical-equivalent requests."""
        return sum(self.requests.values())

    @property
    def tokens(self) -> int | None:
        """Prompt and completion tokens; `None` if any answer came without usage."""
        return None if self.unknown_tokens else self.prompt_tokens + self.completion_tokens


class Meter:
    """Counts against a hard cap of ``budget`` requests."""

    def __init__(self, budget: int) -> None:
        if budget < 0:
            raise ValueError(f"a budget is a number of requests, 0 or more, not {budget}")
        self.budget = budget
        self.bill = Bill()
        self._used = 0

    def grant(self, requests: list[Request]) -> list[Request]:
        """Charge as many of ``requests``, in order, as the budget still holds; these may be sent."""
        granted = requests[: self.budget - self._used]
        self._used += len(granted)
        counts = self.bill.requests
        for request in granted:
            counts[request.kind] = counts.get(request.kind, 0) + 1
        return granted

    def lose(self, requests: list[Request]) -> None:
        """Book requests whose answers never came, though some may have been written: nobody knows their tokens."""
        self.bill.unknown_tokens += len(requests)

    def take(self, answers: list[Answer]) -> None:
        """Book the tokens of answers."""
        bill = self.bill
        for answer in answers:
            if answer.prompt_tokens is None or answer.completion_tokens is None:
                bill.unknown_tokens += 1
            else:
                bill.prompt_tokens += answer.prompt_tokens
                bill.completion_tokens += answer.completion_tokens
