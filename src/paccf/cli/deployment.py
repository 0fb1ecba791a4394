"""What a command is told about where a margin is used, compared with what its certificate is matched to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from paccf.cli.output import BadInput, clean
from paccf.method.certificate import BrokenCertificate, Certificate, MismatchedCertificate


def deployment(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options --match, --budget and --override."""
    for option in (
        click.option("--override", metavar="REASON", help="Use the margin in spite of a mismatch, and show it."),
        click.option("--budget", type=click.IntRange(min=1), help="The request cap in use; must not be larger."),
        click.option("--match", multiple=True, metavar="KEY=VALUE", help="What it is used on; must fit. Repeatable."),
    ):
        command = option(command)
    return command


def read_certificate(
    path: str, match: tuple[str, ...] = (), budget: int | None = None, override: str | None = None
) -> Certificate:
    """The certificate in ``path`` for this deployment, or `BadInput`. Without --match nothing is compared."""
    try:
        return Certificate.load(path, matched_to=pairs(match) if match else None, budget=budget, override=override)
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror or error}") from None
    except (BrokenCertificate, MismatchedCertificate) as error:
        raise BadInput(str(error)) from None


def not_compared(certificate: Certificate, match: tuple[str, ...], budget: int | None) -> list[str]:
    """A note on what the certificate is matched to and the options leave unsaid, if there is anything."""
    unsaid = certificate.not_compared(pairs(match) if match else None, budget)
    return [f"not compared, since --match or --budget do not say it: {clean(', '.join(unsaid))}"] if unsaid else []


def pairs(given: tuple[str, ...]) -> dict[str, str]:
    """``KEY=VALUE`` options as a map; refuses a missing =, an empty key, a key given twice, and what is not text."""
    found: dict[str, str] = {}
    for pair in given:
        key, equals, value = pair.partition("=")
        if not key or not equals:
            raise BadInput(f"--match {pair!r}: write it as KEY=VALUE, for example --match domain=game24")
        try:
            pair.encode()
        except UnicodeEncodeError:
            raise BadInput(f"--match {pair!r} is not UTF-8") from None
        if found.setdefault(key, value) != value:
            raise BadInput(f"--match {key} is given twice, as {found[key]!r} and {value!r}")
    return found
