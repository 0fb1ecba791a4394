"""The ``[model]`` table of a spec file: who answers, how it is asked, and what it may cost.

A spec never holds a key: it names the environment variable that does.
"""

from __future__ import annotations

import re
import tomllib
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import msgspec

from paccf.models.presets import PRESETS, Preset
from paccf.search.world import Kind

MILLION = 1_000_000

Count = Annotated[int, msgspec.Meta(ge=1)]
Positive = Annotated[float, msgspec.Meta(gt=0)]
NotNegative = Annotated[float, msgspec.Meta(ge=0)]
Warmth = Annotated[float, msgspec.Meta(ge=0, le=2)]

# body fields that a request is made of, so that `extra` cannot change what the record says was asked
_OURS = frozenset({"messages", "model", "n", "stream", "temperature", "seed", "stop", "response_format", "max_tokens"})
_OMITTABLE = ("temperature", "seed", "stop", "max_tokens")
LIMITS = ("max_completion_tokens", "max_tokens")  # body fields that bound an answer's tokens
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class SpecError(ValueError):
    """A model spec that cannot be used; says which field and what to write instead."""


class Temperature(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    propose: Warmth = 0.7  # ours; the paper does not print it
    evaluate: Warmth = 0.2  # paper, "four matched evaluator observations per candidate at temperature 0.2"
    reflect: Warmth = 0.7

    def of(self, kind: Kind) -> float:
        return self.evaluate if kind == "appraise" else getattr(self, kind)


class MaxTokens(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The longest answer of each kind. A model that thinks aloud needs far more."""

    propose: Count = 1024
    evaluate: Count = 512
    reflect: Count = 512

    def of(self, kind: Kind) -> int:
        return self.evaluate if kind == "appraise" else getattr(self, kind)


class Ceilings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a process may use; `None` is no ceiling. ``money`` needs prices, in whatever currency they are in, and for a
    run counts what the tape in its folder has paid for, or may have."""

    requests_per_minute: Positive | None = None
    tokens_per_minute: Positive | None = None
    money: Positive | None = None


class Prices(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Per million tokens."""

    prompt: NotNegative
    completion: NotNegative

    def cost(self, prompt: float, completion: float) -> float:
        """What so many tokens cost."""
        return (prompt * self.prompt + completion * self.completion) / MILLION


class Patience(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``attempt``: seconds until the whole answer must be there; ``attempts``: sends a request may take; ``pause``:
    seconds of the first backoff, doubled each time; ``longest``: the longest wait, Retry-After included."""

    attempt: Positive = 120.0
    attempts: Count = 6
    pause: Positive = 1.0
    longest: Positive = 60.0


class ModelSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Defaults are the simulated model. ``preset`` is one of `PRESETS`, or the base URL of an endpoint that speaks
    ``/chat/completions``.

    - ``seeded``: send the run's seed plus the draw index as ``seed``. ``omit``: body fields that the endpoint refuses.
    - ``json_schema``: ask for scores in a `response_format` that admits nothing else.
    - ``concurrency``: the most requests in flight; it adapts below that. `None`: 16, for `local` 2.
    - ``profile``, ``latency_ms``: of the simulated model. ``evaluator``, ``weights``, ``threads``: of the local one.
    """

    preset: str = "simulated"
    model: str = ""
    profile: str = "paper-like"
    latency_ms: NotNegative = 0.0
    evaluator: Literal["verdict", "likelihood"] = "verdict"
    weights: str = ""
    threads: Count | None = None
    temperature: Temperature = Temperature()
    max_tokens: MaxTokens = MaxTokens()
    seeded: bool = True
    stop: tuple[str, ...] = ()
    json_schema: bool = False
    extra: dict[str, Any] = {}
    omit: tuple[str, ...] = ()
    key_env: str = ""
    concurrency: Count | None = None
    ceilings: Ceilings = Ceilings()
    prices: Prices | None = None
    patience: Patience = Patience()

    @property
    def simulated(self) -> bool:
        return self.preset == "simulated"

    @property
    def endpoint(self) -> Preset:
        """The preset, or one made of a URL. Raises `SpecError` for what is neither."""
        return PRESETS.get(self.preset) or _endpoint(self.preset)

    def checked(self) -> ModelSpec:
        """This spec, if it can be used. Raises `SpecError`: types are msgspec's matter, this is about sense."""
        endpoint = self.endpoint
        if endpoint.url and not (self.model or endpoint.model):
            raise SpecError(f'model: {self.preset} does not say which model; write model = "its name", or --model-name')
        if self.key_env and not _VARIABLE.fullmatch(self.key_env):
            raise SpecError("key_env: write the name of an environment variable, such as DEEPSEEK_API_KEY, not the key")
        for field in self.extra:
            if field in _OURS:
                raise SpecError(f"extra.{field}: this body field is ours; the spec has a key for what may be changed")
        for field in self.omit:
            if field not in _OMITTABLE:
                raise SpecError(f"omit: {field!r:.40} is none of {', '.join(_OMITTABLE)}")
        if self.ceilings.money is not None and self.prices is None:
            raise SpecError("ceilings.money: what an answer costs is unknown without [model.prices]")
        if self.ceilings.money is not None and "max_tokens" in self.omit and LIMITS[0] not in self.extra:
            raise SpecError(f"ceilings.money: an answer without max_tokens can cost anything; set extra.{LIMITS[0]}")
        for field in LIMITS:
            if field in self.extra and (type(self.extra[field]) is not int or self.extra[field] < 1):
                raise SpecError(f"extra.{field}: a whole number, 1 or more")
        if self.evaluator == "likelihood" and self.preset != "local":
            raise SpecError("evaluator: likelihood is for preset = 'local'; other endpoints give verdicts")
        return self


@lru_cache(64)  # it is asked for with every request
def _endpoint(url: str) -> Preset:
    try:
        parts = urlsplit(url)
        named, _ = parts.hostname, parts.port
    except ValueError as error:
        raise SpecError(f"preset: no URL: {error}") from None
    if parts.scheme not in ("http", "https") or not named:
        near = get_close_matches(url.lower(), PRESETS, n=1, cutoff=0.7)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        shown = url if "@" not in url else "what was given"
        raise SpecError(
            f"preset: {shown:.80} is none of {', '.join(PRESETS)}, nor a base URL like https://host/v1.{hint}"
        )
    if parts.username or parts.password:
        raise SpecError("preset: a URL that holds a user or password; put the key into a variable, name it in key_env")
    if parts.query or parts.fragment:
        raise SpecError("preset: the base URL ends before ? and #; body fields go into [model.extra]")
    return Preset(url, "an endpoint by URL", url.rstrip("/").removesuffix("/chat/completions"))


def read_spec(path: str) -> ModelSpec:
    """The ``[model]`` table of a TOML file, or the whole file if it has none. Raises `SpecError`, `OSError`."""
    try:
        found = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SpecError(f"{path}: no TOML: {error}") from None
    try:
        return msgspec.convert(found["model"] if isinstance(found.get("model"), dict) else found, ModelSpec).checked()
    except msgspec.ValidationError as error:
        raise SpecError(f"{path}: {error}{_nearest(str(error))}") from None
    except SpecError as error:
        raise SpecError(f"{path}: {error}") from None


def _nearest(message: str) -> str:
    """For a key that msgspec does not know, the one that may have been meant."""
    unknown = re.search(r"unknown field `([^`]*)`", message)
    near = unknown and get_close_matches(unknown[1], _KEYS, n=1, cutoff=0.5)
    return f". Did you mean '{near[0]}'?" if near else ""


_KEYS = [
    key
    for struct in (ModelSpec, Temperature, MaxTokens, Ceilings, Prices, Patience)
    for key in struct.__struct_fields__
]
