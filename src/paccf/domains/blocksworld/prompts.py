"""What a model is asked, in words. A prompt depends on its arguments alone."""

from __future__ import annotations

from collections.abc import Sequence

from paccf.domains.blocksworld.blocks import DOMAIN
from paccf.domains.blocksworld.moves import State, after, described, wished
from paccf.domains.blocksworld.strips import Atoms, Problem
from paccf.search.effects import Channel
from paccf.search.tree import Action

_WORLD = (
    "Blocks stand on a table or on each other, and one hand moves them, one block at a time. "
    "A tower is written from bottom to top, like [c b]: b is on c."
)
_RULES = (
    "The hand, when empty, can pick up a block from the table or unstack one from another block, if nothing is on it. "
    "The block in the hand can be put down on the table or stacked on a block that has nothing on it."
)

_ASK: dict[Channel, str] = {
    "child": "For each of these actions: how likely does it lead on to the goal within the steps that are left?",
    "pre": "None of these actions has been taken yet. For each: how promising is it as the next one?",
    "post": "Each of these actions was taken in the state above. For each: how likely can the goal still be reached?",
}
_SCALE = "0 means that the goal is out of reach after it, 100 that it is on the shortest way to the goal."


def propose(problem: Problem, state: State, k: int, notes: Sequence[str]) -> str:
    return "\n".join(
        [
            *_situation(problem.goal, state, notes),
            "",
            f"Name up to {k} different actions that are possible now, the most promising first.",
            "One action a line and nothing else, in one of these forms:",
            *_forms(problem),
        ]
    )


def evaluate(problem: Problem, state: State, actions: Sequence[Action], channel: Channel, notes: Sequence[str]) -> str:
    count = len(actions)
    return "\n".join(
        [
            *_situation(problem.goal, state, notes),
            "",
            f"{_ASK[channel]} {_SCALE}",
            *[f"{i}. {_shown(state, action, channel)}" for i, action in enumerate(actions, 1)],
            "",
            f"Answer with a JSON list of {count} whole number{'s' * (count != 1)} from 0 to 100, "
            "in the order of the actions, and nothing else.",
        ]
    )


def reflect(problem: Problem, state: State, actions: Sequence[Action]) -> str:
    return "\n".join(
        [
            *_situation(problem.goal, state, ()),
            "",
            "These actions were taken from there and did not reach the goal in time:",
            *[f"{i}. {action.text}" for i, action in enumerate(actions, 1)],
            "",
            "In one or two sentences: where did this go wrong, and what should the next attempt do differently?",
        ]
    )


def _situation(goal: Atoms, state: State, notes: Sequence[str]) -> list[str]:
    lessons = ["Lessons from earlier attempts:", *[f"- {' '.join(note.split())}" for note in notes]] if notes else []
    return [
        _WORLD,
        _RULES,
        *lessons,
        f"Goal: {wished(goal)}.",
        f"Now: {described(state.atoms)}.",
        f"Steps left: {state.left}",
    ]


def _shown(state: State, action: Action, channel: Channel) -> str:
    """An action; what it leads to is said where it is judged by that, and not before a step is taken."""
    if channel == "pre":
        return action.text
    return f"{action.text}: then {described(after(state.atoms, action))}"


def _forms(problem: Problem) -> list[str]:
    """One form of every operator, with two of the problem's blocks."""
    one, other = problem.objects[0], problem.objects[-1]
    pairs = {"pick-up": one, "put-down": one, "stack": f"{one} {other}", "unstack": f"{one} {other}"}
    return [f"({name} {pairs[name]})" for name in DOMAIN.operators]
