"""The gate: a calibrated margin in somebody's own search loop.

    gate = Gate.load("margin.json")
    for i in gate.keep(scores): ...

Importing this file needs only the standard library and takes a few milliseconds.
"""

from __future__ import annotations

import math

from paccf.method.admission import ScoreGap, places_of
from paccf.method.scores import UNIT, ScoreError, align

TYPE_CHECKING = False  # `typing` would be half of the import time
if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from paccf.method.certificate import Certificate
    from paccf.method.scores import Score


class Verdict:
    """What was decided about one candidate: ``deficit`` is s* - s, exact for printing; None if unscored."""

    __slots__ = ("deficit", "index", "kept", "reason", "score")

    def __init__(self, index: int, score: float | None, deficit: float | None, kept: bool, reason: str) -> None:
        self.index, self.score, self.deficit, self.kept, self.reason = index, score, deficit, kept, reason

    def __repr__(self) -> str:
        return f"Verdict({self.index}, score={self.score}, deficit={self.deficit}, kept={self.kept}, {self.reason!r})"


class Decision:
    """One frontier decided. ``kept`` and ``dropped`` hold indices in input order; ``would_drop`` is what a shadow
    decision kept although the margin would have dropped it. ``overrides`` are the certificate's."""

    __slots__ = ("dropped", "kept", "margin", "overrides", "top", "verdicts", "would_drop")

    def __init__(
        self, verdicts: list[Verdict], top: float | None, margin: float, overrides: list[str], shadow: bool
    ) -> None:
        out = [v.index for v in verdicts if not v.kept]
        self.verdicts, self.top, self.margin, self.overrides = verdicts, top, margin, overrides
        self.kept = [v.index for v in verdicts if v.kept or shadow]
        self.dropped = [] if shadow else out
        self.would_drop = out if shadow else []

    def __str__(self) -> str:
        lines = [f"{'#':>3} {'score':>10} {'deficit':>10}  decision"]
        for v in self.verdicts:
            score, deficit = ("-" if x is None else f"{x:g}" for x in (v.score, v.deficit))
            shown = "keep" if v.kept else "would drop" if v.index in self.would_drop else "drop"
            lines.append(f"{v.index:>3} {score:>10} {deficit:>10}  {shown}: {v.reason}")
        return "\n".join([*lines, *(f"override: {note}" for note in self.overrides)])


class _SameDraws(ScoreGap):
    """`ScoreGap` on means of as many draws as the margin was calibrated with. Fewer are noisier: another law."""

    __slots__ = ()

    def totals(self, scores: Sequence[Score]) -> tuple[list[int | None], int]:
        for index, score in enumerate(scores):
            if isinstance(score, list):
                if len(score) != self.observations:
                    self._same(index, len(score))
            elif score is not None and not isinstance(score, (int, float, str)) and hasattr(score, "__len__"):
                self._same(index, len(score))
        return align(scores, self.observations)

    def keep_many(self, scores: NDArray[np.generic], present: NDArray[np.bool_] | None = None) -> NDArray[np.bool_]:
        if scores.ndim == 3:
            self._same(0, scores.shape[2])
        return super().keep_many(scores, present)

    def _same(self, index: int, drawn: int) -> None:
        if drawn not in (0, self.observations):
            raise ScoreError(
                index,
                f"{drawn} observations, but the margin was calibrated with {self.observations}; ask as often, give "
                "None for a candidate whose scoring failed, or calibrate with as many as you deploy",
            )


class Gate:
    """`ScoreGap` with the margin of a certificate. Lists of observations are as long as those of the calibration."""

    __slots__ = ("certificate", "keep", "not_compared", "rule")

    def __init__(self, certificate: Certificate) -> None:
        self.certificate = certificate
        #: What `load` was not told of the deployment although the certificate is matched to it.
        self.not_compared: list[str] = []
        kind = ScoreGap if certificate.observations is None else _SameDraws  # None: no one number to hold draws to
        self.rule = kind(certificate.limit, certificate.epsilon, certificate.observations or 1)
        #: The indices to keep, in input order; see `Rule.keep`.
        self.keep = self.rule.keep

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        matched_to: Mapping[str, str] | None = None,
        budget: int | None = None,
        override: str | None = None,
    ) -> Gate:
        """The gate of a certificate file. Say what you deploy on and it is compared, see `Certificate.load`; what is
        left unsaid is in ``not_compared``."""
        from paccf.method.certificate import Certificate

        gate = cls(Certificate.load(path, matched_to=matched_to, budget=budget, override=override))
        gate.not_compared = gate.certificate.not_compared(matched_to, budget)
        return gate

    def explain(self, scores: Sequence[Score], eligible: Sequence[bool] | None = None) -> Decision:
        """The decision of `keep` with the reason for every candidate."""
        return self._decide(scores, eligible, shadow=False)

    def shadow(self, scores: Sequence[Score], eligible: Sequence[bool] | None = None) -> Decision:
        """Keep all (eligible) candidates, and say in ``would_drop`` what the margin would have dropped."""
        return self._decide(scores, eligible, shadow=True)

    def _decide(self, scores: Sequence[Score], eligible: Sequence[bool] | None, shadow: bool) -> Decision:
        places = range(len(scores)) if eligible is None else places_of(scores, eligible)
        totals, repeats = self.rule.totals([scores[i] for i in places])
        kept = set(self.rule.keep(scores, eligible))
        scale = repeats * UNIT
        top = max((t for t in totals if t is not None), default=None)
        reach = "no limit" if math.isinf(self.rule.reach) else f"{self.rule.reach:g}"
        verdicts = []
        for i, total in zip(places, totals, strict=True):
            if total is None or top is None:
                verdicts.append(Verdict(i, None, None, True, "unscored, so it is kept"))
                continue
            if i in kept:
                reason = "the best score" if total == top else f"within the margin ({reach})"
            else:
                reason = f"beyond the margin ({reach})"
            verdicts.append(Verdict(i, total / scale, (top - total) / scale, i in kept, reason))
        best = None if top is None else top / scale
        return Decision(verdicts, best, self.rule.reach, list(self.certificate.overrides), shadow)
