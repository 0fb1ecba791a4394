"""How much a command says beside its result: --quiet and --verbose, the same on every command."""

from __future__ import annotations

import sys
from typing import Any

import click

_QUIET, _VERBOSE = "paccf.quiet", "paccf.verbose"


def with_loudness(command: click.Command) -> click.Command:
    """``command``, or every command of a group, with both options; given twice they are there once."""
    if isinstance(command, click.Group):
        for each in command.commands.values():
            with_loudness(each)
    if not isinstance(command, click.Group) or command.invoke_without_command:
        there = {option for parameter in command.params for option in parameter.opts}
        command.params += [option for option in loudness_options() if not there.intersection(option.opts)]
    return command


def loudness_options() -> list[click.Option]:
    """--quiet and --verbose."""
    said = {
        "--quiet": (_QUIET, "No progress and no remarks on stderr; errors stay."),
        "--verbose": (_VERBOSE, "With an error its traceback; at the end, the time and memory it took."),
    }
    return [
        click.Option([name], is_flag=True, is_eager=True, expose_value=False, callback=_note(key), help=line)
        for name, (key, line) in said.items()
    ]


def _note(key: str) -> Any:
    def noted(ctx: click.Context, _: click.Parameter, value: bool) -> None:
        if value:
            ctx.meta[key] = True  # shared by all contexts of one call

    return noted


def _asked(key: str) -> bool:
    ctx = click.get_current_context(silent=True)
    return ctx is not None and bool(ctx.meta.get(key))


def quiet() -> bool:
    """Whether this call was asked to print its result and errors only. For the main thread."""
    return _asked(_QUIET)


def verbose() -> bool:
    """Whether this call was asked to say more about itself."""
    return _asked(_VERBOSE)


def show_traceback() -> None:
    """Where the current exception came from, on stderr, with foreign text written out."""
    import traceback

    from paccf.record.foreign import clean

    click.echo("\n".join(map(clean, traceback.format_exc().rstrip().split("\n"))), err=True)


def show_costs(seconds: float) -> None:
    """What this call took, on stderr."""
    memory = ""
    if sys.platform != "win32":
        import resource

        unit = 1 if sys.platform == "darwin" else 1024
        memory = f", {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6:,.0f} MB at most"
    click.echo(f"{seconds:.2f} s{memory}", err=True)
