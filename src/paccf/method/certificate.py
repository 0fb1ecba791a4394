"""The certificate: a frozen margin, everything needed to check it again, and what it is matched to.

One JSON file, `schema: paccf.certificate/1`. Exact figures are texts ("0.95", "79/3"), an infinite margin is null,
and the digest covers every field. A certificate holds for the system it was calibrated on: loading it for another
one is an error that names the field, unless the user overrides it, and then the override travels with it.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from typing import IO, TYPE_CHECKING, Literal, Self

import msgspec

from paccf.method.conformal import Margin, confidence, margin
from paccf.method.deficit import TaskDeficits
from paccf.method.scores import exact, plain

if TYPE_CHECKING:
    from paccf.method.scores import Exact

SCHEMA: Literal["paccf.certificate/1"] = "paccf.certificate/1"

# Whose coverage is promised: tasks with protected exposure (the paper's), or all tasks with missing counted as covered
Target = Literal["exposed", "all"]
# How calibration labels were found; each mode promises its own target, see docs/promise.md
Labels = Literal["oracle", "found", "probed", "unstated"]


class BrokenCertificate(ValueError):
    """The file is no certificate or was changed after it was frozen. Remedy: freeze it again."""


class MismatchedCertificate(ValueError):
    """A sound certificate, for something else. Remedy: calibrate for this system, or override aloud."""


class Counts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the calibration log held."""

    tasks: int
    exposed: int
    missing: int
    unresolved: int
    frontiers: int
    exposed_frontiers: int
    lost_at_eligibility: int = 0


class Certificate(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """See the module. Make one with `freeze`, read one with `load`, check one with `verify`."""

    schema: Literal["paccf.certificate/1"] = SCHEMA
    target: Target
    q: str
    rule: Literal["marginal", "pac"]
    delta: str | None  # PAC rule only: the promise holds with confidence 1 - delta
    n: int
    k: int
    feasible: bool
    need_n: int
    bound: str  # 1 - k/(n+1)
    margin: float | None  # nearest double, for readers; null keeps everything
    margin_exact: str | None  # what the gate uses
    epsilon: str
    observations: int | None  # R behind a score; null if it varied or none counted
    labels: Labels
    budget: int | None  # the request cap of the calibration runs
    counts: Counts
    deficits: list[tuple[str, str]]  # (task, C_task) in rank order; "inf" is unresolved
    matched_to: dict[str, str]
    overrides: list[str] = []
    made_by: str
    digest: str

    @classmethod
    def freeze(
        cls,
        deficits: TaskDeficits,
        q: Exact,
        *,
        delta: Exact | None = None,
        epsilon: Exact = 0,
        target: Target = "exposed",
        labels: Labels = "unstated",
        budget: int | None = None,
        observations: int | None = None,
        matched_to: Mapping[str, str] | None = None,
    ) -> Self:
        """Select the margin of these task scores and bind it to what it is matched to. ``observations`` says how many
        draws a bare mean is of, where ``deficits`` was not told; see `TaskDeficits.repeats`. Raises ValueError for
        settings that cannot be."""
        from paccf._version import __version__

        for name, number in (("budget", budget), ("observations", observations)):
            if number is not None and number < 1:
                raise ValueError(f"{name} is {number}; give 1 or more, or nothing where it is not known")

        scores = exposed = deficits.exposed
        if target == "all":
            scores = {task: Fraction(0) if c is None else c for task, c in deficits.scores.items()}
        found = margin(list(scores.values()), q, delta)
        finite = not math.isinf(found.value)
        if exact(epsilon) < 0:
            raise ValueError(f"epsilon must not be negative, got {epsilon}")
        fields = {
            "schema": SCHEMA,
            "target": target,
            "q": plain(found.q),
            "rule": found.rule,
            "delta": None if found.delta is None else plain(found.delta),
            "n": found.n,
            "k": found.k,
            "feasible": found.feasible,
            "need_n": found.need_n,
            "bound": plain(found.bound),
            "margin": float(found.value) if finite else None,
            "margin_exact": plain(Fraction(found.value)) if finite else None,
            "epsilon": plain(exact(epsilon)),
            "observations": deficits.repeats(observations),
            "labels": labels,
            "budget": budget,
            "counts": msgspec.to_builtins(
                Counts(
                    deficits.tasks,
                    len(exposed),
                    deficits.missing,
                    deficits.unresolved,
                    deficits.frontiers,
                    deficits.exposed_frontiers,
                    deficits.lost_at_eligibility,
                )
            ),
            "deficits": [[task, _text(c)] for c, task in sorted((c, task) for task, c in scores.items())],
            "matched_to": _texts(matched_to or {}),
            "overrides": [],
            "made_by": f"paccf {__version__}",
        }
        return msgspec.convert({**fields, "digest": digest(fields)}, cls)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        matched_to: Mapping[str, str] | None = None,
        budget: int | None = None,
        override: str | None = None,
    ) -> Self:
        """Read and verify a certificate, for a deployment described by ``matched_to`` and a request ``budget``.

        With ``matched_to``, every field that either side names must agree. ``override``, a reason in words, turns a
        mismatch into an entry of `overrides`. Raises OSError, `BrokenCertificate`, `MismatchedCertificate`, and
        ValueError for a description that cannot be one.
        """
        if isinstance(matched_to, str):
            raise ValueError(f"matched_to names fields: {{'evaluator': {matched_to!r:.80}}}, not a text")
        with open(path, "rb") as file:
            found = cls.parse(file.read(), str(path))
        problems = found.mismatches(matched_to, budget)
        if not problems:
            return found
        if override is None or not override.strip():
            raise MismatchedCertificate(
                f"{path}: {'; '.join(problems)}. Calibrate for this deployment, or override with a reason if you "
                "accept that the promise does not cover it" + ("" if override is None else "; this one is empty")
            )
        notes = [f"{problem} (overridden: {override})" for problem in problems]
        return msgspec.structs.replace(found, overrides=[*found.overrides, *notes])

    @classmethod
    def parse(cls, data: bytes, name: str = "certificate") -> Self:
        """The verified certificate in ``data``; ``name`` is what errors call it."""
        try:
            raw = json.loads(data.decode(), parse_constant=_no_constant, object_pairs_hook=_distinct)
            json.dumps(raw, ensure_ascii=False).encode()  # a lone surrogate is no text
            claimed = raw.get("schema") if isinstance(raw, dict) else None
            if claimed is None:
                raise ValueError("it has no schema")
            if claimed != SCHEMA:
                raise BrokenCertificate(f"{name}: schema is {claimed!r}, this version reads {SCHEMA!r}")
            if raw.get("digest") != digest(raw):
                raise BrokenCertificate(
                    f"{name}: the digest does not fit the content, so the file was changed after it was frozen; "
                    "calibrate again"
                )
            found = msgspec.convert(raw, cls)
            problems = found.verify()
        except (msgspec.ValidationError, json.JSONDecodeError, UnicodeDecodeError, RecursionError, ValueError) as e:
            if isinstance(e, BrokenCertificate):
                raise
            raise BrokenCertificate(
                f"{name}: not a certificate: {e}. `paccf calibrate LOG -o margin.json` writes one"
            ) from None
        if problems:
            raise BrokenCertificate(f"{name}: {'; '.join(problems)}")
        return found

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write atomically: after a crash the path holds the old file or the new one, never a part."""
        fields = msgspec.to_builtins(self)
        fields["digest"] = digest(fields)
        text = json.dumps(fields, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        write_atomically(path, text.encode())

    def mismatches(self, matched_to: Mapping[str, str] | None, budget: int | None) -> list[str]:
        """Where this deployment differs from what was calibrated, one sentence a field."""
        problems = []
        if budget is not None and budget < 1:
            raise ValueError(f"budget is {budget}; give the request cap of a search, 1 or more")
        if matched_to is not None:
            matched_to = _texts(matched_to)
            for field in sorted({*self.matched_to, *matched_to}):
                here, there = self.matched_to.get(field), matched_to.get(field)
                if here != there:
                    problems.append(f"{field}: calibrated for {_said(here)}, deployed on {_said(there)}")
        if budget is not None and self.budget is None:
            problems.append(f"budget: calibrated without saying, deployed with {budget}")
        elif budget is not None and self.budget is not None and budget > self.budget:
            problems.append(
                f"budget: calibrated with at most {self.budget} requests a task, deployed with {budget}; a longer "
                "search can only have larger deficits"
            )
        return problems

    def not_compared(self, matched_to: Mapping[str, str] | None, budget: int | None) -> list[str]:
        """What this margin is matched to and such a description of a deployment leaves unsaid."""
        unsaid = [f"{field}={value}" for field, value in self.matched_to.items()] if matched_to is None else []
        if self.budget is not None and budget is None:
            unsaid.append(f"budget <= {self.budget}")
        return unsaid

    def verify(self) -> list[str]:
        """Recompute rank, bound and margin from the deficits; what does not come out, one sentence each."""
        again = self._again()
        finite = not math.isinf(again.value)
        expected: dict[str, object] = {
            "n": again.n,
            "k": again.k,
            "rule": again.rule,
            "feasible": again.feasible,
            "need_n": again.need_n,
            "bound": plain(again.bound),
            "margin": float(again.value) if finite else None,
            "margin_exact": plain(Fraction(again.value)) if finite else None,
        }
        problems = [
            f"{field} is {getattr(self, field)!r} but the deficits give {value!r}"
            for field, value in expected.items()
            if getattr(self, field) != value
        ]
        order = [(_number(c), task) for task, c in self.deficits]
        if order != sorted(order):
            problems.append("deficits are not in rank order")
        if len({task for task, _ in self.deficits}) != len(self.deficits):
            problems.append("a task stands twice among the deficits")
        if self.n != (self.counts.exposed if self.target == "exposed" else self.counts.tasks):
            problems.append(f"n is {self.n}, but the counts say {self.counts}")
        if self.counts.tasks != self.counts.exposed + self.counts.missing:
            problems.append("exposed and missing tasks do not add up to the tasks")
        counts = msgspec.structs.astuple(self.counts)
        if min(counts) < 0 or (self.budget is not None and self.budget < 1):
            problems.append("a count or the budget is negative")
        if self.observations is not None and self.observations < 1:
            problems.append(f"observations is {self.observations}")
        if self.counts.unresolved != sum(c == "inf" for _, c in self.deficits):
            problems.append("the unresolved tasks are not those with an infinite deficit")
        if exact(self.epsilon) < 0:
            problems.append(f"epsilon is {self.epsilon}")
        return problems

    def _again(self) -> Margin:
        return margin([_number(c) for _, c in self.deficits], self.q, self.delta)

    @property
    def limit(self) -> Fraction | float:
        """The exact margin; `math.inf` keeps everything."""
        return math.inf if self.margin_exact is None else exact(self.margin_exact)

    @property
    def at_maximum(self) -> bool:
        """Whether the margin is the largest calibration score."""
        return self.k == self.n

    @property
    def confidence(self) -> float:
        """P(coverage >= Q) over calibration samples that this rank really gives."""
        return confidence(self.n, self.k, self.q)


def digest(fields: Mapping[str, object]) -> str:
    """SHA-256 over the canonical form: all fields but the digest, sorted keys, no spaces, ASCII."""
    import hashlib

    body = {key: value for key, value in fields.items() if key != "digest"}
    text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Replace ``path`` by ``data``, through a synced temporary file beside it."""
    with whole_file(path) as file:
        file.write(data)


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write to that takes the place of ``path`` when the block ends well; else ``path`` is as it was."""
    import tempfile

    if os.path.exists(path) and not os.path.isfile(path):  # a device or a pipe is written to, never replaced
        with open(path, "wb") as file:
            yield file
        return
    asked, path = os.fspath(path), os.path.realpath(path)
    folder = os.path.dirname(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=os.path.basename(path) + ".", suffix=".part")
    except OSError as error:  # about a name that nobody gave
        raise OSError(error.errno, error.strerror, asked) from None
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    where = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(where)
    finally:
        os.close(where)


def _text(c: Fraction | float) -> str:
    return "inf" if c == math.inf else plain(Fraction(c))


def _number(text: str) -> Fraction | float:
    return math.inf if text == "inf" else exact(text)


def _texts(fields: Mapping[str, str]) -> dict[str, str]:
    """A copy of what a margin is matched to; refuses what is not text, which would be another value in the file."""
    for name, value in fields.items():
        if not isinstance(name, str) or not isinstance(value, str):
            raise ValueError(f"matched_to: {name!r} is {value!r}; write both as texts, for example {str(value)!r}")
    return dict(fields)


def _said(value: str | None) -> str:
    return "nothing stated" if value is None else repr(value)


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("a field stands twice")
    return dict(pairs)


def _no_constant(token: str) -> None:
    raise ValueError(f"{token} is not JSON")
