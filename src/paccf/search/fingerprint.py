"""What a margin is matched to: the system whose frontiers it was calibrated on, as a few named texts."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from paccf.search.scoring import Scoring
from paccf.search.world import World


def fingerprint(
    world: World, controller: str, config: Any, scoring: Scoring, model: str, prompts: str
) -> dict[str, str]:
    """``matched_to`` of a certificate: equal texts mean frontiers of one law, so the margin may be used.

    ``config`` is the controller's frozen dataclass, ``model`` a name that changes whenever the answers may (weights,
    profile, sampling), ``prompts`` the version of what it is asked. Seeds, the arm and the budget are not part of it:
    the budget has a field of its own, because a smaller one is no mismatch.
    """
    return {
        "domain": world.name,
        "world": settings(world) or "default",
        "prompts": prompts,
        "controller": controller,
        "config": settings(config),
        "scoring": settings(scoring),
        "aggregation": "mean",  # of the R observations, the only one there is
        "model": model,
    }


def settings(config: Any) -> str:
    """All fields of a dataclass in order, like ``n=5,w=1.0``."""
    return ",".join(f"{field.name}={getattr(config, field.name)}" for field in fields(config))
