"""What a simulated model has to know of a domain, and where it learns it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, cast

from paccf.domains.registry import made
from paccf.search.tree import Action, Task


class Truth(Protocol):
    """The truth about one domain. Equal arguments give equal answers. It may have a ``note``, a text that is said with
    the model's name, like "seeded with gold" where its proposals are made of recorded solutions."""

    def key(self, state: Any) -> str:
        """A text that tells ``state`` apart from all others."""
        ...

    def legal(self, task: Task, state: Any) -> Sequence[Action]:
        """All distinct legal actions; their texts are what a proposal says."""
        ...

    def value(self, task: Task, state: Any, action: Action) -> float:
        """What ``action`` leads to, 0 to 1, with the best continuation. Above 0 the action comes to mind as a good one:
        it is protected, or, where a domain grades its values, near to what is."""
        ...

    def wrong(self, task: Task, state: Any, action: Action) -> str:
        """A proposal that the domain's reader counts as illegal, made from ``action``."""
        ...

    def garbled(self, task: Task, state: Any, action: Action) -> str:
        """A proposal that the domain's reader counts as unparsable, made from ``action``."""
        ...


def truth_of(domain: str, **settings: Any) -> Truth:
    """The truth about ``domain`` for a world of these ``settings``. Raises ValueError for a name that is not known, and
    for a domain that no model can be simulated for."""
    return cast(Truth, made(domain, "truth", settings))
