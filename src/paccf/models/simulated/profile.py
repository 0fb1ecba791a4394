"""Profiles of the simulated model: how good it is, in figures. A profile is a TOML file; unknown keys are refused."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec

from paccf.search.effects import Channel

T = TypeVar("T")

CHANNELS: tuple[Channel, ...] = ("child", "pre", "post")

Rate = Annotated[float, msgspec.Meta(ge=0, le=1)]
Points = Annotated[float, msgspec.Meta(ge=0, le=100)]


class ProfileError(ValueError):
    """A profile that cannot be used; says where and why."""


class Proposer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How actions come to mind. What does is fixed by (seed, task, state), so that asking again does not help.

    - ``count``: how many actions come to mind in a state, at most; as many as are asked for are said. A list names
      them in an order that says nothing.
    - ``favour``: the odds of a protected action against another one: the weight with which it is drawn, both into what
      comes to mind (without replacement) and out of it when one action only is asked for (a sample, anew each draw).
    - ``recall``: the probability that a protected action can come to mind at all.
    - ``illegal``, ``unparsable``: the probability that an action, when said, is spoilt so that it cannot be executed,
      or not be read. It is then lost to that proposal.
    """

    count: Annotated[int, msgspec.Meta(ge=1)] = 8
    favour: Annotated[float, msgspec.Meta(gt=0, le=1e6)] = 1.0
    recall: Rate = 1.0
    illegal: Rate = 0.0
    unparsable: Rate = 0.0


class Evaluator(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a candidate is scored: 50 + ``signal`` (100 value - 50) + bias + position + noise, clipped to 0..100 and
    rounded.

    - ``signal``: how much of the truth shows; 1 centres the scores at 100 value, 0 at 50 whatever the value.
    - ``bias``: the paper's L. Every (task, state, action, channel) has a bias of its own, uniform in [-L, L]; it is
      the same in every draw, order and arm.
    - ``noise``: standard deviation of the Gaussian noise, anew in every draw.
    - ``position``: points that the first candidate of a request gains and the last one loses, even in between.
    - ``malformed``: the probability that an answer is no full list of scores. Asking in another draw may help.
    - ``lattice``: scores are multiples of this; it has to divide 100.
    """

    signal: Rate = 1.0
    bias: Points = 0.0
    noise: Points = 0.0
    position: Annotated[float, msgspec.Meta(ge=-100, le=100)] = 0.0
    malformed: Rate = 0.0
    lattice: Annotated[float, msgspec.Meta(ge=0.001, le=100)] = 1.0


class Profile(msgspec.Struct, frozen=True):
    """All of a profile. Of its file, ``[evaluator]`` holds for every channel, and ``[evaluator.child]``,
    ``[evaluator.pre]`` and ``[evaluator.post]`` replace single fields of it in theirs."""

    name: str
    about: str = ""
    proposer: Proposer = Proposer()
    child: Evaluator = Evaluator()
    pre: Evaluator = Evaluator()
    post: Evaluator = Evaluator()

    def evaluator(self, channel: Channel) -> Evaluator:
        """What holds in ``channel``."""
        return self.child if channel == "child" else self.pre if channel == "pre" else self.post


def profiles() -> list[str]:
    """The names of the profiles that come with the package."""
    return sorted(p.name[:-5] for p in files(__package__).joinpath("profiles").iterdir() if p.name.endswith(".toml"))


def load(name: str) -> Profile:
    """The profile called ``name``, or the one in the file of that path if it ends in ``.toml``."""
    if name.endswith(".toml"):
        path = Path(name)
        try:
            return parse(path.stem, path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise ProfileError(f"profile {name}: cannot be read: {error}") from None
    if name not in profiles():
        raise ProfileError(f"no profile {name!r}; known are: {', '.join(profiles())}, or the path of a .toml file")
    return parse(name, files(__package__).joinpath("profiles", name + ".toml").read_text(encoding="utf-8"))


def parse(name: str, text: str) -> Profile:
    """The profile in ``text``. Raises `ProfileError` that names the field and, for an unknown one, the known ones."""
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ProfileError(f"profile {name}: no TOML: {error}") from None
    _known(name, "", found, ("about", "proposer", "evaluator"))
    shared = _table(name, "evaluator", found.get("evaluator", {}))
    fields = Evaluator.__struct_fields__
    _known(name, "evaluator", shared, (*fields, *CHANNELS))
    common = {key: value for key, value in shared.items() if key in fields}
    made: dict[str, Evaluator] = {}
    _convert(name, "evaluator", common, Evaluator)
    for channel in CHANNELS:
        place = f"evaluator.{channel}"
        own = _table(name, place, shared.get(channel, {}))
        _known(name, place, own, fields)
        made[channel] = _convert(name, place, common | own, Evaluator)
        steps = 100 / made[channel].lattice
        if not math.isclose(steps, round(steps), rel_tol=1e-9):
            raise ProfileError(f"profile {name}: {place}.lattice: {made[channel].lattice:g} does not divide 100")
    proposer = _table(name, "proposer", found.get("proposer", {}))
    _known(name, "proposer", proposer, Proposer.__struct_fields__)
    said = _convert(name, "proposer", proposer, Proposer)
    if said.illegal + said.unparsable > 1:
        raise ProfileError(f"profile {name}: proposer: illegal and unparsable together are over 1")
    about = found.get("about", "")
    if not isinstance(about, str):
        raise ProfileError(f"profile {name}: about: expected a text")
    return Profile(name, about, said, **made)


def digest(profile: Profile) -> str:
    """Eight characters that change with the figures of a profile, not with its name."""
    figures = msgspec.json.encode(msgspec.structs.replace(profile, name="", about=""))
    return blake2b(figures, digest_size=4).hexdigest()


def _known(name: str, place: str, table: dict[str, Any], keys: Iterable[str]) -> None:
    """Refuse keys of ``table`` that are not among ``keys``."""
    keys = tuple(keys)
    for key in table:
        if key not in keys:
            where = f"{place}.{key}" if place else key
            raise ProfileError(f"profile {name}: {where} is unknown; known here are: {', '.join(keys)}")


def _table(name: str, place: str, table: object) -> dict[str, Any]:
    if not isinstance(table, dict):
        raise ProfileError(f"profile {name}: {place} has to be a table, [{place}]")
    return table


def _convert(name: str, place: str, table: dict[str, Any], kind: type[T]) -> T:
    for key, number in table.items():
        if isinstance(number, float) and not math.isfinite(number):
            raise ProfileError(f"profile {name}: {place}.{key}: {number} is not finite")
    try:
        return msgspec.convert(table, kind)
    except msgspec.ValidationError as error:
        raise ProfileError(f"profile {name}: {place}: {error}") from None
