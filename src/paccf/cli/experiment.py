"""What the commands about experiments share: reading a spec, opening a folder, errors in words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from paccf.cli.output import BadInput, clean, lab
from paccf.experiment.spec import Spec, SpecError

SETS = click.option(
    "--set", "sets", multiple=True, metavar="KEY=VALUE", help="Change the spec, like budgets=[50]. Repeatable."
)
DATA = click.option("--data", metavar="DIR", help="Where data files lie; PACCF_DATA if left out.")


def read_spec(name: str, sets: tuple[str, ...] = ()) -> Spec:
    """The spec, or `BadInput`."""
    from paccf.experiment.reading import read

    try:
        return read(name, sets)
    except SpecError as error:
        raise BadInput(str(error)) from None


@contextmanager
def in_words() -> Iterator[None]:
    """What can go wrong with a folder, a record or a certificate, as `BadInput`."""
    lab("sqlalchemy", "an experiment's record")
    from paccf.experiment.executor import Halt
    from paccf.experiment.folder import OtherSpec
    from paccf.method.certificate import BrokenCertificate, MismatchedCertificate
    from paccf.models.spec import SpecError as ModelSpecError
    from paccf.record.errors import StoreError
    from paccf.record.journal import Diverged
    from paccf.search.world import ModelFailure

    try:
        yield
    except (SpecError, ModelSpecError, OtherSpec, StoreError, BrokenCertificate, MismatchedCertificate) as error:
        raise BadInput(str(error)) from None
    except Diverged as error:
        hint = "The code, the world's settings or the tape are not those of the run; paccf doctor looks at the record."
        raise click.ClickException(f"a replay does not do what is recorded: {clean(str(error))}\n{hint}") from None
    except (Halt, ModelFailure) as error:
        raise BadInput(f"the run stopped: {error}", "Nothing is lost: the same command goes on from here.") from None


def folder_path(path: str) -> Path:
    """An existing run folder, or `BadInput`."""
    found = Path(path)
    if not (found / "spec.toml").exists():
        raise BadInput(f"{path} is no run folder: there is no spec.toml in it; `paccf run SPEC -o {path}` makes one")
    return found
