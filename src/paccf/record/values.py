"""What a search leaves behind, as plain values: what the store keeps, and all that an audit ever reads.

Nothing here knows a model, a domain or a database. A search at a smaller budget is a prefix of the same search at the
largest one, so it shares that one's trace: ``frontiers`` says how much of it it reached.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Path = tuple[str, ...]
Phase = Literal["calibration", "test", "single"]
ArmName = Literal["native", "paccf", "shadow"]
LabelMode = Literal["oracle", "found", "probed"]
Label = bool | None


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """Which search this is, within its run."""

    phase: str
    domain: str
    controller: str
    arm: str
    budget: int
    task: str
    seed: int


@dataclass(frozen=True, slots=True)
class Costs:
    """The bill: what the search used, by the budget's own count, and what really went over the wire for it."""

    requests: Mapping[str, int] = field(default_factory=dict)  # physical-equivalent, by kind
    prompt_tokens: int = 0
    completion_tokens: int = 0
    unknown_tokens: int = 0  # answers without usage; their tokens are in no sum
    nodes: int = 0  # graph nodes, the root apart
    expansions: int = 0
    scored: int = 0
    illegal: int = 0
    unparsable: int = 0
    malformed: int = 0
    unscored: int = 0
    # attempts on the wire of the process that ended the search, in vain or not; answers from the tape cost none
    sent: int = 0

    @property
    def total(self) -> int:
        """Physical-equivalent requests."""
        return sum(self.requests.values())

    @property
    def tokens(self) -> int | None:
        """Prompt and completion tokens; `None` if any answer came without usage."""
        return None if self.unknown_tokens else self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True, slots=True)
class Candidate:
    """One candidate occurrence of a frontier. ``score`` is the mean of its observations, `None` if unscored."""

    key: str
    text: str
    observations: tuple[float, ...] | None
    score: float | None
    eligible: bool
    native: bool  # kept by the controller's own rule
    gap: bool | None  # kept by the margin; `None` where none was there to decide
    kept: bool  # admitted: a graph node


@dataclass(frozen=True, slots=True)
class Frontier:
    """One admitted frontier, in order of admission. ``protected`` are its labels in the mode that was asked for, one a
    candidate; `None` if it was not labelled."""

    path: Path
    channel: str
    candidates: tuple[Candidate, ...]
    spent: int  # requests charged when it was admitted
    protected: tuple[Label, ...] | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the final tree, by its path; the root has the empty path."""

    path: Path
    score: float | None
    visits: int
    value: float
    executed: bool
    terminal: bool
    solved: bool | None
    dead: bool
    pruned: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """One search without its trace. ``end`` is solved, finished, exhausted, early stop, budget or failure;
    ``metrics`` are the domain's further utilities by name."""

    key: Key
    end: str
    solved: bool
    utility: float
    answer: Path | None
    solution: str
    costs: Costs
    frontiers: int  # admitted; of the shared trace, the first so many
    failure: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)

    @property
    def censored(self) -> bool:
        """Whether the hard budget ended the search."""
        return self.end == "budget"


@dataclass(frozen=True, slots=True)
class Search:
    """One search, whole. ``nodes`` is the final tree of the largest budget, parents first; a smaller budget shares the
    frontiers and has none of its own. ``effects`` is the journal of what the controller asked and was told, a line
    each, and ``asked`` the tape's keys of its requests in their order; empty if none were kept. The requests of a
    smaller budget are the first `Costs.total` of them."""

    outcome: Outcome
    frontiers: Sequence[Frontier]
    nodes: Sequence[Node] = ()
    effects: Sequence[str] = ()
    asked: Sequence[bytes] = ()


@dataclass(frozen=True, slots=True)
class Exclusion:
    """A task that is left out of both arms and all controllers of its domain, and why."""

    domain: str
    task: str
    reason: str


@dataclass(frozen=True, slots=True)
class RunInfo:
    """What was run: the whole spec as JSON, the model's fingerprint, versions. ``simulated`` and the ``caveats``, a
    sentence each, show in every output."""

    name: str
    spec: str
    model: str
    simulated: bool
    versions: Mapping[str, str]
    caveats: tuple[str, ...] = ()
