"""A model made of the truth and a profile. It answers with text, so that the readers have their work to do."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

from paccf.models.simulated.chance import Chance
from paccf.models.simulated.profile import Evaluator, Profile
from paccf.models.simulated.truth import Truth
from paccf.search.tree import Action
from paccf.search.world import Answer, Request, Subject


class Simulated:
    """Implements `paccf.search.world.Model`.

    An answer depends on (seed, request) alone, and of the prompt only its length counts. One candidate has one bias
    whatever stands beside it, and one noise per draw. Notes and reflections do not make it better. Tokens are a rule,
    not a count: a quarter of the characters, rounded up. With ``latency_ms`` every answer takes that long; an
    asynchronous driver may make it 0 and wait ``latency_ms`` by itself.
    """

    def __init__(self, truth: Truth, profile: Profile, seed: int, latency_ms: float = 0) -> None:
        self.truth = truth
        self.profile = profile
        self.seed = seed
        self.latency_ms = latency_ms
        self._chance = Chance(seed)

    @property
    def name(self) -> str:
        return f"SIMULATED/{self.profile.name}{f' ({self.note})' if self.note else ''}"

    @property
    def note(self) -> str:
        """What has to be said wherever it is said that the model is simulated; empty for most domains."""
        return str(getattr(self.truth, "note", ""))

    def answer(self, request: Request) -> Answer:
        if request.kind == "propose":
            text = self._propose(request.subject, request.draw)
        elif request.kind == "reflect":
            text = "Those steps led nowhere; begin with another one."
        else:
            text = self._score(request.subject, request.draw)
        if self.latency_ms > 0:
            time.sleep(self.latency_ms / 1000)
        return Answer(text, tokens(request.prompt), tokens(text))

    def _propose(self, subject: Subject, draw: int) -> str:
        chance = self._chance.at(subject.task.id, self.truth.key(subject.state))
        said = self._in_mind(subject, chance)
        if subject.k == 1:
            said = self._sample(subject, chance, said, draw)
        elif subject.k:
            said = said[: subject.k]
        said.sort(key=lambda entry: entry[1])
        return "\n".join(self._line(subject, chance, action, draw) for _, _, action in said)

    def _in_mind(self, subject: Subject, chance: Chance) -> list[tuple[float, float, Action]]:
        """What the model would ever say here: the rank of an action, its place in a list, and the action. The lowest
        exponentials of rates ``favour`` and 1 are a weighted sample without replacement."""
        quality = self.profile.proposer
        ranked = []
        for action in self.truth.legal(subject.task, subject.state):
            number, place = chance.two(f"mind\x1f{action.key}")
            rank = -math.log(1 - number)
            if self.truth.value(subject.task, subject.state, action) > 0:
                rank /= quality.favour
                if quality.recall < 1 and chance.uniform(f"recall\x1f{action.key}") >= quality.recall:
                    continue
            ranked.append((rank, place, action))
        ranked.sort(key=lambda entry: entry[0])
        return ranked[: quality.count]

    def _sample(
        self, subject: Subject, chance: Chance, said: Sequence[tuple[float, float, Action]], draw: int
    ) -> list[tuple[float, float, Action]]:
        """One of ``said``, anew in every draw."""
        favour = self.profile.proposer.favour
        weights = [favour if self.truth.value(subject.task, subject.state, a) > 0 else 1.0 for _, _, a in said]
        left = chance.uniform(f"sample\x1f{draw}") * sum(weights)
        for entry, weight in zip(said, weights, strict=True):
            left -= weight
            if left < 0:
                return [entry]
        return list(said[-1:])

    def _line(self, subject: Subject, chance: Chance, action: Action, draw: int) -> str:
        quality = self.profile.proposer
        if quality.illegal or quality.unparsable:
            slip = chance.uniform(f"slip\x1f{draw}\x1f{action.key}")
            if slip < quality.illegal:
                return self.truth.wrong(subject.task, subject.state, action)
            if slip < quality.illegal + quality.unparsable:
                return self.truth.garbled(subject.task, subject.state, action)
        return action.text

    def _score(self, subject: Subject, draw: int) -> str:
        quality = self.profile.evaluator(subject.channel)
        chance = self._chance.at(subject.task.id, self.truth.key(subject.state), subject.channel)
        last = len(subject.actions) - 1
        shown = []
        for place, action in enumerate(subject.actions):
            score = self._mean(subject, chance, quality, action)
            if last and quality.position:
                score += quality.position * (1 - 2 * place / last)
            if quality.noise:
                score += quality.noise * chance.normal(f"noise\x1f{draw}\x1f{action.key}")
            shown.append(on_lattice(score, quality.lattice))
        if quality.malformed:
            asked = "\x1f".join(action.key for action in subject.actions)
            broken, how = chance.two(f"malformed\x1f{draw}\x1f{asked}")
            if broken < quality.malformed:
                return "It is hard to say." if how < 0.5 else "[" + ", ".join(shown[:-1])
        return "[" + ", ".join(shown) + "]"

    def _mean(self, subject: Subject, chance: Chance, quality: Evaluator, action: Action) -> float:
        """The expected score before clipping, position aside: what repetition converges to."""
        value = self.truth.value(subject.task, subject.state, action)
        mean = 50 + quality.signal * (100 * value - 50)
        if quality.bias:
            mean += quality.bias * (2 * chance.uniform(f"bias\x1f{action.key}") - 1)
        return mean


def tokens(text: str) -> int:
    """The rule for the tokens of a text: a quarter of its characters, rounded up."""
    return -(-len(text) // 4)


def on_lattice(score: float, lattice: float) -> str:
    """``score`` clipped to 0..100, at the nearest multiple of ``lattice``, as it is printed."""
    return f"{lattice * math.floor(min(max(score, 0.0), 100.0) / lattice + 0.5):.10g}"
