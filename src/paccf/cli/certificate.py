"""`paccf certificate`: read what a margin promises, and check that the file still says what was frozen."""

from __future__ import annotations

import click

from paccf.cli.calibrate import summary
from paccf.cli.deployment import read_certificate
from paccf.cli.output import BadInput, clean, emit_json, say
from paccf.cli.promise import notes, promise
from paccf.method.certificate import BrokenCertificate, Certificate


@click.group()
def command() -> None:
    """Show or verify a certificate, the JSON file that `paccf calibrate` writes; the schemas of it and of the log.

    \b
    Examples:
      paccf certificate show margin.json
      paccf certificate verify margin.json && deploy
      paccf certificate schema log > frontier.schema.json
    """


@command.command()
@click.argument("file", type=click.Path())
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def show(file: str, as_json: bool) -> None:
    """Say in words what the margin in FILE promises, to whom, and what it is matched to.

    \b
    Example:
      paccf certificate show margin.json
    """
    certificate = read_certificate(file)
    if as_json:
        emit_json(summary(certificate) | {"digest": certificate.digest, "notes": notes(certificate)})
        return
    counts = certificate.counts
    say(
        f"{clean(file)}: {counts.tasks:,} tasks, {counts.exposed:,} exposed, {counts.missing:,} missing, "
        f"{counts.unresolved:,} unresolved; labels: {certificate.labels}; frozen by {clean(certificate.made_by)}\n"
    )
    say(promise(certificate))
    for note in notes(certificate):
        say(f"Note: {note}")


@command.command()
@click.argument("file", type=click.Path())
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def verify(file: str, as_json: bool) -> None:
    """Check the digest of FILE and recompute rank, bound and margin from its deficits. Exit code 1 if it fails.

    \b
    Example:
      paccf certificate verify margin.json && deploy
    """
    try:
        with open(file, "rb") as data:
            certificate = Certificate.parse(data.read(), file)
    except OSError as error:
        raise BadInput(f"cannot read {file}: {error.strerror or error}") from None
    except BrokenCertificate as error:
        if as_json:
            emit_json({"sound": False, "problem": str(error)})
        else:
            say(f"Broken: {error!s}", err=True)
        raise SystemExit(1) from None
    if as_json:
        emit_json({"sound": True, "digest": certificate.digest, "n": certificate.n, "k": certificate.k})
    else:
        say(
            f"Sound: the digest fits, and {certificate.n} deficits give rank {certificate.k} and the margin "
            f"{'infinite' if certificate.margin is None else format(certificate.margin, 'g')}."
        )


@command.command()
@click.argument("what", type=click.Choice(["certificate", "log"]), default="certificate")
@click.option("--json", "as_json", is_flag=True, help="Nothing changes: the output always is one JSON object.")
def schema(what: str, as_json: bool) -> None:
    """JSON Schema of a certificate, or of a line of the frontier log, for tools in other languages.

    \b
    Example:
      paccf certificate schema log > frontier.schema.json
    """
    import msgspec

    from paccf.record.frontier_log import Frontier

    emit_json(msgspec.json.schema(Frontier if what == "log" else Certificate))
