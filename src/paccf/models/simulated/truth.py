"""What a simulated model has to know of a domain, and where it learns it."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Protocol

from paccf.search.tree import Action, Task

TRUTHS = {"game24": "paccf.models.simulated.game24:Game24Truth"}


class Truth(Protocol):
    """The truth about one domain. Equal arguments give equal answers."""

    def key(self, state: Any) -> str:
        """A text that tells ``state`` apart from all others."""
        ...

    def legal(self, task: Task, state: Any) -> Sequence[Action]:
        """All distinct legal actions; their texts are what a proposal says."""
        ...

    def value(self, task: Task, state: Any, action: Action) -> float:
        """What ``action`` leads to, 0 to 1, with the best continuation. Above 0 the action is protected."""
        ...

    def wrong(self, task: Task, state: Any, action: Action) -> str:
        """A proposal that the domain's reader counts as illegal, made from ``action``."""
        ...

    def garbled(self, task: Task, state: Any, action: Action) -> str:
        """A proposal that the domain's reader counts as unparsable, made from ``action``."""
        ...


def truth_of(domain: str) -> Truth:
    """The truth about ``domain``. Raises ValueError that lists the known domains."""
    if domain not in TRUTHS:
        raise ValueError(f"no simulated model for the domain {domain!r}; known are: {', '.join(sorted(TRUTHS))}")
    module, _, attribute = TRUTHS[domain].partition(":")
    made: Truth = getattr(import_module(module), attribute)()
    return made
