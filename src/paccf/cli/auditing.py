"""Opening what `paccf audit` and `paccf table` read: a run folder, a record database, frontier logs, or the paper."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from paccf.cli.deployment import read_certificate
from paccf.cli.output import BadInput, lab
from paccf.cli.recorded import RECORD, chosen
from paccf.record.frontier_log import BadLine

if TYPE_CHECKING:
    from paccf.audit.audit import Audit
    from paccf.audit.run import Run
    from paccf.record.values import Outcome

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy: for small products our own threads do better

PAPER = "paper"
SELDOM = 500_000  # ours: a record is many small values without cycles, and looking for some took a sixth of an audit

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--run", "run_name", metavar="NAME", help="Which run, if the database holds several."),
    click.option(
        "--certificate",
        "certificates",
        multiple=True,
        type=click.Path(dir_okay=False),
        help="For frontier logs: the certificate to audit. Repeatable, one a domain and controller.",
    ),
    click.option(
        "--calibration",
        multiple=True,
        type=click.Path(dir_okay=False),
        help="For frontier logs: a log the certificate was calibrated on, to be held against it. Repeatable.",
    ),
    click.option("--seed", default=0, show_default=True, help="Of the bootstrap; figures depend on nothing else."),
    click.option(
        "--threads",
        type=click.IntRange(min=1),
        default=2,
        show_default=True,
        help="For the bootstrap, and for reading long records.",
    ),
)


def source(command: Command) -> Command:
    """The options that say what is audited."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@contextmanager
def opened(
    place: str,
    run_name: str | None,
    certificates: Sequence[str],
    calibration: Sequence[str],
    seed: int,
    threads: int,
) -> Iterator[Audit]:
    """The audit of what ``place`` names; it reads while the context lasts. Raises `BadInput`."""
    from paccf.audit.audit import Audit

    if place == PAPER and not Path(place).exists():
        from paccf.audit.paper import Paper

        yield Paper()
        return
    if place.endswith((".jsonl", ".jsonl.gz")):
        yield Audit(_logs(place, certificates, calibration), seed, threads)
        return
    if certificates or calibration:
        raise BadInput(f"--certificate and --calibration go with frontier logs (.jsonl); {place} has its own")
    gc.set_threshold(SELDOM)
    store = lab("paccf.record.store", "reading a record")
    errors = lab("paccf.record.errors", "reading a record")
    database = str(Path(place) / RECORD) if Path(place).is_dir() else place
    if "://" not in database and not Path(database).is_file():
        raise BadInput(
            f"there is no run at {place}",
            "Name a run folder, a record database, a frontier log (.jsonl) or `paper`.",
        )
    try:
        with store.Store.open(database, readonly=True) as record:
            info = chosen(record.runs(), run_name, place)
            from paccf.audit.run import of_store
            from paccf.experiment.asking import asked

            run = of_store(record, info.name, f"run {info.name} of {place}")
            elsewhere = partial(_reopened, database, info.name, info.spec)
            yield Audit(replace(run, asked=asked(info.spec), elsewhere=elsewhere), seed, threads)
    except errors.StoreError as error:
        raise BadInput(str(error)) from None


@contextmanager
def _reopened(database: str, name: str, spec: str, outcomes: tuple[Outcome, ...]) -> Iterator[Run]:
    """The same record, in another process."""
    from paccf.audit.run import of_store
    from paccf.experiment.asking import asked
    from paccf.record.store import Store

    gc.set_threshold(SELDOM)
    with Store.open(database, readonly=True) as record:
        yield replace(of_store(record, name, known=outcomes), asked=asked(spec))


def _logs(place: str, certificates: Sequence[str], calibration: Sequence[str]) -> Run:
    from paccf.audit.run import of_logs

    try:
        return of_logs([place], [read_certificate(path, (), None, None) for path in certificates], calibration)
    except BadLine as bad:
        raise BadInput(str(bad)) from None
    except OSError as error:
        raise BadInput(f"cannot read {error.filename}: {error.strerror or error}") from None
    except ValueError as error:
        raise BadInput(str(error)) from None
