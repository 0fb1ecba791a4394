"""The command line: one file per command, each imported only when it is called."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import time
from typing import TYPE_CHECKING, Any

import click

from paccf.cli.loudness import loudness_options, show_costs, show_traceback, verbose, with_loudness

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# name -> (module under paccf.cli, the line that `paccf --help` prints)
COMMANDS: dict[str, tuple[str, str]] = {
    "calibrate": ("calibrate", "Turn a frontier log into a frozen margin: a certificate."),
    "what-if": ("what_if", "Weigh margins on a recorded log before turning anything on."),
    "coverage": ("coverage", "Check a certificate on held-out frontier logs."),
    "gate": ("gate", "Decide frontiers from stdin with a certificate, line by line."),
    "certificate": ("certificate", "Show or verify a certificate; the schemas of it and of the log."),
    "tasks": ("tasks", "Where tasks come from, and which of them a draw takes."),
    "data": ("data", "Files of published benchmarks: list, add, get, where."),
    "solve": ("solve", "What the oracle knows of a task: protected first actions, a solution."),
    "search": ("search", "Run a search: what it drops and why, what it finds, what it costs."),
    "models": ("models", "Who answers: presets, what works at an endpoint, the local model."),
    "spec": ("spec", "The file that says what an experiment runs: a new one, a check, its schema."),
    "run": ("run", "Run a whole experiment: calibrate, freeze, deploy both arms, at every budget."),
    "audit": ("audit", "Compute every figure of a run from its record, and check the record against itself."),
    "table": ("table", "One table of a run's audit, as text, Markdown, LaTeX, CSV or JSON."),
    "figure": ("figure", "One figure of a run's audit, or all of them, as SVG, PDF or PNG."),
    "report": ("report", "The report of a run: one page with every figure, that opens anywhere."),
    "status": ("status", "How far a run folder is."),
    "merge": ("merge", "Bring the parts of a run from several machines together."),
    "replay": ("replay", "What another budget or margin would have done, from the tape; no model is asked."),
    "runs": ("runs", "List runs and how large they are, without reading them."),
    "export": ("export", "Write a record as JSON lines, CSV or Parquet, or as a frontier log."),
    "import": ("import_", "Bring a run or a tape from another machine, or out of a damaged file."),
    "doctor": ("doctor", "Whether a record is whole, and what to do where it is not."),
    "show": ("show", "Both arms' trees of one task side by side."),
    "theory": ("theory", "What the paper proves about one frontier: radii, regimes, bounds, the check."),
    "published": ("published", "The paper's printed tables, and what they imply about each other."),
    "completion": ("completion", "The script that lets your shell complete paccf's commands and options."),
}

# as `paccf --help` groups them; what is in no group comes last
SECTIONS = {
    "In your own search": ("calibrate", "what-if", "coverage", "gate", "certificate"),
    "One search": ("tasks", "data", "solve", "search", "models"),
    "An experiment": ("spec", "run", "status", "merge", "replay"),
    "Its evidence": ("audit", "table", "figure", "report", "show"),
    "Its record": ("runs", "export", "import", "doctor"),
}

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class Lazy(click.Group):
    """A group whose commands are imported when they run, so that ``--help`` is instant."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """What the machine refuses or lacks, such as room on the disk or an extra, is a sentence too."""
        try:
            return super().main(*args, **kwargs)
        except OSError as error:
            name = f" ({error.filename})" if error.filename else ""
            message = f"{error.strerror or error}{name}"
        except ModuleNotFoundError as error:
            from paccf.cli.extras import lacking

            sentence = lacking(error)
            if sentence is None:
                raise
            message = sentence
        except MemoryError:
            message = "this takes more memory than there is; ask for less at once"
        with contextlib.suppress(OSError):
            click.echo(f"Error: {message}", err=True)
        sys.exit(2)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(f"paccf.cli.{COMMANDS[cmd_name][0]}").command
        assert isinstance(command, click.Command)
        return with_loudness(command)

    def invoke(self, ctx: click.Context) -> Any:
        """With --verbose, an error comes with its traceback, and the end with what it took."""
        began = time.perf_counter()
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            if not _reader_left():
                raise
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is flushed at the end
            ctx.exit(141)  # 128 + SIGPIPE, as other programs end there; 1 would say that a check failed
        except KeyboardInterrupt:
            click.echo("Interrupted.", err=True)
            ctx.exit(130)
        except Exception as error:
            if verbose() and not isinstance(error, click.exceptions.Exit):
                show_traceback()
            raise
        finally:
            if verbose():
                show_costs(time.perf_counter() - began)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Command names without importing the commands."""
        from click.shell_completion import CompletionItem

        named = [CompletionItem(name, help=line) for name, (_, line) in COMMANDS.items() if name.startswith(incomplete)]
        return named + click.Command.shell_complete(self, ctx, incomplete)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Did you mean '{near[0]}'?" if near else " `paccf --help` lists the commands."
            raise click.UsageError(f"there is no command '{args[0]}'.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        grouped = {name for names in SECTIONS.values() for name in names}
        for title, names in [*SECTIONS.items(), ("And", tuple(n for n in COMMANDS if n not in grouped))]:
            with formatter.section(title):
                formatter.write_dl([(name, COMMANDS[name][1]) for name in names])


def _reader_left() -> bool:
    """Whether stdout is a pipe that nobody reads any more, like that of ``| head``."""
    import select

    if not hasattr(select, "poll"):  # Windows
        return False
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))


def _version(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked:
        from paccf.cli.version import version_lines

        click.echo(version_lines())
        ctx.exit()


@click.group(cls=Lazy, context_settings=CONTEXT)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_version,
    help="Say the version, what it runs on, and which extras are there.",
)
def main() -> None:
    """Calibrated pruning for LLM-guided search.

    Search throws branches away; paccf keeps everything within a margin of the best, and the margin is
    calibrated on tasks you held out: it is the score deficit that a solution-bearing branch had to survive.

    \b
    Three steps, on frontiers logged by any search system:
      paccf calibrate train.jsonl -q 0.95 -o margin.json     earn a margin
      paccf coverage  test.jsonl margin.json                 see that the promise holds
      paccf gate      margin.json < frontiers.jsonl          use it (or paccf.Gate in Python)

    A frontier log is one JSON line per scored frontier:

    \b
      {"task": "t-17", "frontier": "root", "scores": [81, 20.5, null], "protected": [true, false, null]}

    Every command has --help with an example, --quiet and --verbose, and --json where there is something to read.
    Exit codes: 0 done, 1 a check failed, 2 bad input or usage, 130 interrupted.
    """


main.params += loudness_options()
