"""`paccf completion`: the script a shell sources to complete commands and options."""

from __future__ import annotations

import os

import click

from paccf.cli.output import BadInput

SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", required=False, type=click.Choice(SHELLS))
def command(shell: str | None) -> None:
    """Print the completion script for SHELL; the one of $SHELL if it is left out.

    \b
    Examples:
      eval "$(paccf completion bash)"                                         in ~/.bashrc
      eval "$(paccf completion zsh)"                                          in ~/.zshrc
      paccf completion fish > ~/.config/fish/completions/paccf.fish
    """
    from click.shell_completion import get_completion_class

    from paccf.cli import main

    name = shell or os.path.basename(os.environ.get("SHELL", ""))
    if name not in SHELLS:
        raise BadInput(f"there is no completion for {name or 'an unknown shell'}; name one of {', '.join(SHELLS)}")
    kind = get_completion_class(name)
    assert kind is not None
    click.echo(kind(main, {}, "paccf", "_PACCF_COMPLETE").source())
