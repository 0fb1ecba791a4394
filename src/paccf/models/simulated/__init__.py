"""The simulated model: it knows the truth and distorts it by a profile. Whatever used it says SIMULATED.

It is the only model that reaches an oracle. A real search never imports this package.
"""

from __future__ import annotations

from typing import Any

from paccf.models.simulated.model import Simulated
from paccf.models.simulated.profile import Evaluator, Profile, ProfileError, Proposer, digest, load, profiles
from paccf.models.simulated.truth import Truth, truth_of

__all__ = [
    "Evaluator",
    "Profile",
    "ProfileError",
    "Proposer",
    "Simulated",
    "Truth",
    "digest",
    "load",
    "profiles",
    "simulated",
    "truth_of",
]


def simulated(domain: str, profile: str | Profile, seed: int, latency_ms: float = 0, **settings: Any) -> Simulated:
    """A simulated model for worlds of ``domain`` with these ``settings``; ``profile`` is a `Profile`, the name of one
    that comes with the package, or the path of a TOML file. Raises ValueError for an unknown domain, `ProfileError` for
    a bad profile."""
    if isinstance(profile, str):
        profile = load(profile)
    return Simulated(truth_of(domain, **settings), profile, seed, latency_ms=latency_ms)
