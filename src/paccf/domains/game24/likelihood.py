"""Questions whose likeliest answer says how good a move is, for models that calculate better than they judge.

Code does the steps before the last one; the model is asked for the last: how likely is it to go on with "24" after
"8 * 3 ="? The best of all last steps counts. So the model is no more than a calculator, and a noisy one; exact
arithmetic would do better.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from paccf.domains.game24.moves import move_of
from paccf.domains.game24.numbers import State, operations, replace
from paccf.search.tree import Action, Task

ANSWER = "24"
_SHOTS = "12 * 2 = 24\n20 + 4 = 24\n30 - 6 = 24\n5 + 3 = 8\n9 * 7 = 63\n40 / 5 = 8\n"  # ours


def questions(task: Task, state: State, action: Action) -> Sequence[str]:
    """Prompts that go on with `ANSWER` if ``action`` leads to it; none where only fractions or less than 1 would."""
    move = move_of(state, action)
    if len(move.after) == 1:
        return (_prompt(f"{move.left} {move.operator} {move.right}"),)
    return tuple(_prompt(step) for step in _last_steps(move.after))


def _prompt(step: str) -> str:
    return f"{_SHOTS}{step} = "


@lru_cache(4096)
def _last_steps(state: State) -> tuple[str, ...]:
    """The operations on two numbers that ``state`` can come to, through whole numbers above 0, each once."""
    found: dict[str, None] = {}
    for i, a in enumerate(state):
        for b in state[i + 1 :]:
            for left, operator, right, result in operations(a, b):
                whole = result > 0 and result.denominator == 1 and left.denominator == 1 and right.denominator == 1
                if whole and len(state) == 2:
                    found[f"{left} {operator} {right}"] = None
                elif whole:
                    found.update(dict.fromkeys(_last_steps(replace(state, a, b, result))))
    return tuple(found)
