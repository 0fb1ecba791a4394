"""The legal actions of a state of blocks, and how they and the state are said in words."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from paccf.domains.blocksworld.blocks import DOMAIN, HAND, TABLE, places, towers
from paccf.domains.blocksworld.strips import Atoms, Step, applicable, apply
from paccf.search.tree import Action


class State(NamedTuple):
    """Where the blocks are, and how many steps are left."""

    atoms: Atoms
    left: int


class Move(NamedTuple):
    """A legal action, as a grounded step."""

    action: Action
    step: Step


_WORDS = {
    "pick-up": "pick up block {0}",
    "put-down": "put down block {0}",
    "stack": "stack block {0} on block {1}",
    "unstack": "unstack block {0} from block {1}",
}


def action_of(step: Step) -> Action:
    """The key is the step in PDDL, the text is English."""
    return Action(step.text, _WORDS[step.name].format(*step.args))


@lru_cache(maxsize=2048)  # ours: five blocks have 866 states, some 4 KB each; one of 50 blocks takes 50 KB
def moves(atoms: Atoms) -> dict[str, Move]:
    """All legal moves by key, in order of operator and blocks."""
    made = [Move(action_of(step), step) for step in applicable(DOMAIN, atoms)]
    return {move.action.key: move for move in made}


def after(atoms: Atoms, action: Action) -> Atoms:
    """The facts after ``action``. Raises ValueError if it is not legal."""
    move = moves(atoms).get(action.key)
    if move is None:
        raise ValueError(f"{action.key!r:.80} is not legal where {described(atoms)}")
    return apply(move.step, atoms)


@lru_cache(maxsize=2048)
def described(atoms: Atoms) -> str:
    """A state in words: ``towers from bottom to top are [a] [c b] [d], and the hand is empty``."""
    place = places(atoms)
    held = next((block for block, below in place.items() if below == HAND), None)
    standing = " ".join(f"[{' '.join(tower)}]" for tower in towers(place))
    return f"the towers are {standing or 'none'}, and the hand {f'holds {held}' if held else 'is empty'}"


def wished(goal: Atoms) -> str:
    """A goal in words."""
    place = places(goal)
    said = [
        f"block {block} is {'in' if below == HAND else 'on'} {below if below in (TABLE, HAND) else f'block {below}'}"
        for block, below in sorted(place.items())
    ]
    said += [f"nothing is on block {atom[1]}" for atom in sorted(goal) if atom[0] == "clear"]
    said += ["the hand is empty"] * (("handempty",) in goal)
    return ", and ".join(said)
