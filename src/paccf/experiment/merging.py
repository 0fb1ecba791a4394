"""Parts of one run, made on several machines, brought together into one folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from paccf.experiment.folder import RECORD, as_recorded, compare, spec_in, spec_of, write_certificate
from paccf.experiment.reading import toml
from paccf.experiment.spec import Spec, SpecError, identity
from paccf.method.certificate import write_atomically
from paccf.record.copying import Copied, copy_run, copy_tape
from paccf.record.store import Store


def merge(parts: Sequence[Path], whole: Path) -> Copied:
    """Bring everything of ``parts`` into the folder ``whole``, which is made if it is not there and may be one of them.

    What is there already is compared, not written again, so parts come in any order, and a merge that was killed is
    repeated. Raises `SpecError` for what is no run folder, `OtherSpec` where the specs differ, and `StoreError` where
    two parts recorded different things in one place.
    """
    spec = _common(parts, whole)
    whole.mkdir(parents=True, exist_ok=True)
    copied = Copied()
    with Store.open(whole / RECORD) as target:
        if not (whole / "spec.toml").exists():
            write_atomically(whole / "spec.toml", toml(spec).encode())
        for part in parts:
            if part.resolve() == whole.resolve():
                continue
            with Store.open(part / RECORD, readonly=True) as source:
                entry = source.entry(spec.name)
                begun = entry._replace(run=as_recorded(target, entry.run))
                one = copy_run(source, target, spec.name, begun=begun)
                copy_tape(source, target, into=one)
            copied.add(one)
        for (domain, controller), text in target.certificates(spec.name).items():
            write_certificate(whole, domain, controller, text)
    return copied


def folder_of(store: Store, run: str, path: Path) -> None:
    """Make the folder at ``path`` one of the recorded ``run``, with its spec; what is not part of the record (speed,
    the key's variable, prices) is as if it were left out. Raises `OtherSpec` for a folder of another run."""
    spec = spec_of(store.run(run))
    found = spec_in(path)
    if found is not None:
        compare(identity(found), identity(spec), f"{path} is the folder of another run")
        return
    path.mkdir(parents=True, exist_ok=True)
    write_atomically(path / "spec.toml", toml(spec).encode())


def certificate_files(path: Path) -> None:
    """Write the certificates in the record of the folder at ``path`` beside it."""
    spec = spec_in(path)
    assert spec is not None
    with Store.open(path / RECORD, readonly=True) as store:
        if spec.name in [run.name for run in store.runs()]:
            for (domain, controller), text in store.certificates(spec.name).items():
                write_certificate(path, domain, controller, text)


def _common(parts: Sequence[Path], whole: Path) -> Spec:
    """The spec that all of these folders share."""
    found = {path: spec_in(path) for path in parts}
    for path, spec in found.items():
        if spec is None:
            raise SpecError(f"{path} is no run folder: there is no spec.toml in it")
    there = spec_in(whole)
    first, spec = (whole, there) if there is not None else next(iter(found.items()))
    assert spec is not None
    for path, other in found.items():
        assert other is not None
        compare(identity(spec), identity(other), f"{path} is a part of another experiment than {first}")
    return spec
