"""A run folder: the frozen spec, the record and tape, the certificates. One process writes it at a time.

spec.toml            the spec, every field and controller setting stated; a folder goes on with no other
run.sqlite           the record: searches, labels, certificates, exclusions, and the tape of answers
certificates/        DOMAIN-CONTROLLER.json, the frozen margins, as in the record
report.html          what came out
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from paccf.experiment.design import Cell, Design
from paccf.experiment.reading import parse, toml
from paccf.experiment.spec import Spec, SpecError, checked, identity
from paccf.experiment.work import Done
from paccf.method.certificate import Certificate, write_atomically
from paccf.record.provenance import versions
from paccf.record.store import Store
from paccf.record.values import Exclusion, RunInfo, Search
from paccf.record.writing import Labels

RECORD = "run.sqlite"
_REMEDY = "Name another folder with -o, or run the folder itself to go on with its own spec"


class OtherSpec(Exception):
    """The folder belongs to another experiment."""


def spec_in(path: Path) -> Spec | None:
    """The spec that the folder at ``path`` was begun with, or `None` if it holds none."""
    file = path / "spec.toml"
    return parse(file.read_text(encoding="utf-8"), str(file)) if file.exists() else None


def spec_of(run: RunInfo) -> Spec:
    """The spec that a recorded run was made from. Raises `SpecError`."""
    try:
        return checked(msgspec.convert(json.loads(run.spec), Spec))
    except (msgspec.ValidationError, json.JSONDecodeError) as error:
        raise SpecError(f"run {run.name} was not made from a spec that this version knows ({error})") from None


def info(design: Design) -> RunInfo:
    """What is run, for the record."""
    spec = design.spec
    text = json.dumps(identity(spec), ensure_ascii=True, sort_keys=True)
    return RunInfo(spec.name, text, design.model, spec.model.simulated, versions(), tuple(design.caveats()))


def as_recorded(store: Store, given: RunInfo) -> RunInfo:
    """``given`` with the text of the spec that the record has, if both mean the same: an older version stated less."""
    for run in store.runs(skip=lambda _: None):
        if run.name == given.name and identity(spec_of(run)) == identity(spec_of(given)):
            return replace(given, spec=run.spec)
    return given


class Folder:
    """An open run folder. Raises `OtherSpec`, and `StoreError` where the record cannot be used."""

    def __init__(self, path: Path, design: Design, store: Store) -> None:
        self.path, self.design, self.store, self.run = path, design, store, design.spec.name

    @classmethod
    def begin(cls, path: Path, design: Design) -> Folder:
        """Open the folder at ``path`` for writing; make it if it is not there."""
        found = spec_in(path)
        if found is not None:
            compare(identity(found), identity(design.spec), f"{path} was begun with another spec", _REMEDY)
        path.mkdir(parents=True, exist_ok=True)
        store = Store.open(path / RECORD)
        try:
            for left in (*path.glob("spec.toml.*.part"), *path.glob("certificates/*.part")):
                left.unlink()  # of a process that was killed while it wrote; this one has the folder to itself
            if found is None:
                write_atomically(path / "spec.toml", toml(design.spec).encode())
            store.begin(as_recorded(store, info(design)))
        except BaseException:
            store.close()
            raise
        return cls(path, design, store)

    @classmethod
    def look(cls, path: Path, data: str | None = None) -> Folder:
        """Open the folder at ``path`` for reading, also while another process writes it."""
        found = spec_in(path)
        if found is None:
            raise SpecError(f"{path} is no run folder: there is no spec.toml in it")
        return cls(path, Design(found, data), Store.open(path / RECORD, readonly=True))

    def close(self) -> None:
        self.store.close()

    def keep(self, done: Done) -> None:
        """Write a job in one transaction. Returns when it is durable."""
        mode = self.design.spec.calibration.labels
        labels = [Labels(s.outcome.key, mode, found) for s, found in zip(done.searches, done.labels, strict=False)]
        self.store.save_many(self.run, [*done.searches, *done.outcomes, *labels])

    def keep_labels(self, search: Search, found: Iterable[Any]) -> None:
        self.store.put_labels(self.run, search.outcome.key, self.design.spec.calibration.labels, list(found))

    def exclude(self, exclusion: Exclusion) -> None:
        self.store.exclude(self.run, exclusion)

    def freeze(self, cell: Cell, certificate: Certificate) -> None:
        """Write a certificate to the record. It is never changed again."""
        text = msgspec.json.format(msgspec.json.encode(certificate), indent=1).decode() + "\n"
        self.store.put_certificate(self.run, cell.domain, cell.controller, text)

    def write_certificates(self) -> None:
        """The files of all frozen margins, as they are in the record: also of those that an earlier process froze and
        was killed before it could write."""
        for cell, text in self.store.certificates(self.run).items():
            write_certificate(self.path, *cell, text)

    def certificates(self) -> dict[Cell, Certificate]:
        """The frozen margins, verified."""
        found = self.store.certificates(self.run)
        return {Cell(*key): Certificate.parse(text.encode(), f"certificate of {key}") for key, text in found.items()}


def write_certificate(path: Path, domain: str, controller: str, text: str) -> None:
    """The file of a frozen margin in the folder at ``path``, if it is not there as it is."""
    folder = path / "certificates"
    folder.mkdir(exist_ok=True)
    file = folder / f"{domain}-{controller}.json"
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        write_atomically(file, text.encode())


def compare(old: Any, new: Any, said: str, remedy: str = "") -> None:
    """Refuse a spec that differs from the folder's, and say where."""
    if differing := list(_differing(old, new, "")):
        raise OtherSpec(f"{said}: {'; '.join(differing[:5])}{'. ' if remedy else ''}{remedy}")


def _differing(old: Any, new: Any, place: str) -> Iterable[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            yield from _differing(old.get(key), new.get(key), f"{place}.{key}" if place else key)
    elif old != new:
        yield f"{place} is {json.dumps(old):.60} there, {json.dumps(new):.60} here"
