"""What a search asked and was told, effect by effect: so that a replay that goes another way is caught where it turns.

A journal stands between the controller and the driver, changes nothing, and may be told what was recorded before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any

from paccf.record.rows import json_of
from paccf.search.driver import Requests
from paccf.search.effects import (
    Admit,
    Appraise,
    BudgetExhausted,
    Controller,
    Effect,
    Execute,
    Propose,
    Reflect,
    Setting,
)
from paccf.search.tree import Outcome
from paccf.search.world import Answer, ModelFailure, Request


class Diverged(Exception):
    """A replay does not do what was recorded; the message names the place and both."""


class Journal:
    """The journal of one search. ``lines`` grow with its effects, ``asked`` with the tape keys of its requests; what
    stands in ``recorded`` is compared, place by place, and a difference raises `Diverged`."""

    def __init__(self, recorded: Sequence[str] = (), asked: Sequence[bytes] = ()) -> None:
        self.lines: list[str] = []
        self.asked: list[bytes] = []
        self._recorded, self._recorded_asked = recorded, asked

    def over(self, make: Callable[[Setting], Controller]) -> Callable[[Setting], Controller]:
        """``make`` with this journal over its shoulder."""
        return lambda setting: self._through(make(setting))

    def _through(self, algorithm: Controller) -> Controller:
        try:
            effect = next(algorithm)
            while True:
                try:
                    answer = yield effect
                except BudgetExhausted as end:
                    effect = algorithm.throw(end)
                else:
                    self._add(effect, answer)
                    effect = algorithm.send(answer)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
        finally:
            algorithm.close()

    def asking(self, search: Requests, key: Callable[[Request], bytes]) -> Requests:
        """``search`` with its requests noted by their tape keys."""
        try:
            requests = next(search)
            while True:
                for request in requests:
                    self._add_request(request, key(request))
                try:
                    answers: list[Answer] = yield requests
                except ModelFailure as failure:
                    requests = search.throw(failure)
                else:
                    requests = search.send(answers)
        except StopIteration as stop:
            return stop.value
        finally:
            search.close()

    def _add(self, effect: Effect, answer: Any) -> None:
        line, place = shown(effect, answer), len(self.lines)
        if place < len(self._recorded) and self._recorded[place] != line:
            raise Diverged(f"effect {place + 1}: recorded is {self._recorded[place]:.500}, replayed is {line:.500}")
        self.lines.append(line)

    def _add_request(self, request: Request, name: bytes) -> None:
        place = len(self.asked)
        if place < len(self._recorded_asked) and self._recorded_asked[place] != name:
            raise Diverged(
                f"request {place + 1}: recorded is {self._recorded_asked[place].hex()}, replayed is {name.hex()} "
                f"({request.kind}, draw {request.draw}: {request.prompt:.300})"
            )
        self.asked.append(name)


def shown(effect: Effect, answer: Any) -> str:
    """An effect and its answer as a line of JSON: what it is, where, and what came of it."""
    match effect:
        case Propose(node, k, notes):
            said = [node.path, k, _short(*notes), [action.key for action in answer.actions], answer.votes]
        case Admit(node, actions):
            keys = [action.key for action in actions]
            said = [node.path, effect.channel, effect.tau, keys, answer.scores, answer.kept]
        case Execute(node, action):
            said = [node.path, action.key, *_outcome(answer)]
        case Appraise(node):
            said = [node.path, answer]
        case Reflect(node):
            said = [node.path, _short(answer)]
    return json_of([type(effect).__name__.lower(), *said])


def _outcome(outcome: Outcome) -> list[Any]:
    return [_short(stable(outcome.key)), outcome.terminal, outcome.solved, _short(outcome.observation)]


def stable(value: Any) -> str:
    """A text that is the same in every process: sets have no order of their own."""
    if isinstance(value, frozenset | set):
        return "{" + ",".join(sorted(map(stable, value))) + "}"
    if isinstance(value, tuple | list):
        return "(" + ",".join(map(stable, value)) + ")"
    return repr(value)


def _short(*texts: str) -> str:
    """A digest of texts, or nothing for none."""
    said = "\x1f".join(texts)
    return blake2b(said.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest() if said else ""
