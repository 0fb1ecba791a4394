"""`paccf merge`: parts of one run, made on several machines, as one folder."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from paccf.cli.experiment import DATA, folder_path, in_words
from paccf.cli.output import clean, emit_json, say


@click.command()
@click.argument("parts", nargs=-1, required=True, metavar="PART...")
@click.option(
    "-o", "--output", required=True, metavar="WHOLE", help="The folder to bring them into; may be one of them."
)
@DATA
@click.option("--json", "as_json", is_flag=True, help="What was brought together, for machines.")
def command(parts: tuple[str, ...], output: str, data: str | None, as_json: bool) -> None:
    """Bring the folders PART of `paccf run --shard` into WHOLE, with their tapes.

    Parts of one experiment have the same spec; they come in any order, and what is there already is compared and not
    written twice, so a merge may be repeated. `paccf run WHOLE` then does whatever is left.

    Margins need all calibration runs, so a sharded run has two rounds: calibrate in shards and merge; then either run
    WHOLE on one machine, or give a copy of it to every machine, run the copies with --shard, and merge those.

    \b
    Example:
      paccf run paper -o one --shard 1/2        # and on another machine: -o two --shard 2/2
      paccf merge one two -o whole
      paccf run whole
    """
    folders = [folder_path(part) for part in parts]
    whole = Path(output)
    with in_words():
        from paccf.experiment.folder import Folder
        from paccf.experiment.merging import merge
        from paccf.experiment.state import state

        copied = merge(folders, whole)
        opened = Folder.look(whole, data)
        try:
            found, simulated = state(opened), opened.design.spec.model.simulated
        finally:
            opened.close()
    if as_json:
        emit_json(asdict(copied) | {"complete": found.complete, "simulated": simulated})
        return
    say(
        f"Brought together {copied.searches:,} searches, {copied.labels:,} labellings, {copied.certificates} "
        f"certificates, {copied.exclusions} exclusions and {copied.answers:,} answers in {clean(output)}."
    )
    if found.complete:
        say("The run is complete.")
    else:
        say(f"What is left: paccf status {clean(output)}. To go on: paccf run {clean(output)}")
