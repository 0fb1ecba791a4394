"""Versions of prompts: a digest of what they say. Another text is another system than the one a margin belongs to."""

from __future__ import annotations

from hashlib import blake2b

from paccf.domains.registry import sample, task_of
from paccf.search.effects import Channel
from paccf.search.tree import Task
from paccf.search.world import World

CHANNELS: tuple[Channel, ...] = ("child", "pre", "post")


def prompts_of(world: World) -> str:
    """The version of a world's prompts: a digest of all of them, rendered for its domain's sample."""
    text, answer = sample(world.name)
    return version(world, task_of(world.name, text), answer)


def version(world: World, task: Task, answer: str) -> str:
    """As `prompts_of`, for ``task`` and the actions that ``answer`` proposes at its start."""
    start = world.start(task)
    actions = world.read_proposals(task, start.state, answer).actions
    if not actions:
        raise ValueError(f"{world.name}: the sample answer proposes no legal action in the sample task {task.id}")
    outcomes = [world.execute(task, start.state, action) for action in actions]
    notes = ("a note",)
    texts = [world.propose(task, start.state, k, n) for k in (1, 5) for n in ((), notes)]
    texts += [world.propose(task, outcomes[0].state, 5, ())]
    for channel in CHANNELS:
        after = outcomes if channel == "post" else None
        texts += [world.evaluate(task, start.state, actions, channel, n, after) for n in ((), notes)]
        texts += [world.evaluate(task, start.state, actions[:1], channel, (), after and after[:1])]
    texts += [world.reflect(task, actions[:1])]
    return blake2b("\x1f".join(texts).encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
