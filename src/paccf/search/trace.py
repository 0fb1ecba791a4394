"""What a search leaves behind, in memory: its frontiers with every observation, its tree, its bill, its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from paccf.method.admission import Rule, ScoreGap
from paccf.search.effects import Channel, Reason
from paccf.search.meter import Bill
from paccf.search.tree import Action, Node, Path, Task

ArmName = Literal["native", "paccf", "shadow"]


@dataclass(frozen=True, slots=True)
class Arm:
    """Which rule answers `Admit`: the controller's own (native), the calibrated gap, or the controller's own with
    the gap's decision recorded beside it (shadow)."""

    name: ArmName = "native"
    gap: ScoreGap | None = None

    def __post_init__(self) -> None:
        if (self.gap is None) != (self.name == "native"):
            raise ValueError(f"the arm {self.name} goes {'without' if self.name == 'native' else 'with'} a margin")


@dataclass(frozen=True, slots=True)
class Frontier:
    """One admitted frontier p_t. Masks and observations are in the order of ``actions``; a candidate without all of
    its observations has `None`."""

    path: Path
    channel: Channel
    actions: tuple[Action, ...]
    observations: tuple[tuple[float, ...] | None, ...]
    scores: tuple[float | None, ...]
    eligible: tuple[int, ...]  # indices; both rules decide over these
    native: tuple[int, ...]
    gap: tuple[int, ...] | None  # what the margin keeps; `None` in the native arm
    kept: tuple[int, ...]
    spent: int = 0  # requests charged so far, this frontier's own scoring included


@dataclass(frozen=True, slots=True)
class Trace:
    """A finished search."""

    task: Task
    arm: Arm
    seed: int
    budget: int
    reason: Reason
    answer: Node | None
    solved: bool
    utility: float
    bill: Bill
    frontiers: Sequence[Frontier]
    root: Node
    failure: str = ""

    @property
    def censored(self) -> bool:
        """Whether the hard budget ended the search."""
        return self.reason == "budget"

    @property
    def path(self) -> Path:
        return () if self.answer is None else self.answer.path


def decide(totals: list[int | None], repeats: int, eligible: tuple[int, ...], rule: Rule) -> tuple[int, ...]:
    """The indices that ``rule`` keeps of the eligible candidates of an aligned frontier."""
    among = totals if len(eligible) == len(totals) else [totals[i] for i in eligible]
    kept = rule.decide(among, repeats)
    return eligible if len(kept) == len(eligible) else tuple([eligible[j] for j in kept])
