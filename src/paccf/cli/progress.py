"""Progress for people, on stderr: a live table on a terminal, a line every few seconds elsewhere."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from paccf.cli.output import clean, say
from paccf.experiment.progress import Progress
from paccf.experiment.spec import Spec

EVERY = 5.0  # ours: seconds between lines


@contextmanager
def shown(spec: Spec, quiet: bool, planned: float | None = None) -> Iterator[Progress]:
    """A `Progress` that is shown while it is open."""
    progress = Progress(planned)
    if quiet:
        yield progress
    elif sys.stderr.isatty():
        from rich.console import Console
        from rich.live import Live

        console = Console(stderr=True)
        with Live(get_renderable=lambda: _view(progress, spec), console=console, refresh_per_second=4):
            yield progress
    else:
        ended = threading.Event()
        thread = threading.Thread(target=_lines, args=(progress, ended), daemon=True)
        thread.start()
        try:
            yield progress
        finally:
            ended.set()
            thread.join()


def _lines(progress: Progress, ended: threading.Event) -> None:
    told = 0
    while True:
        over = ended.wait(EVERY)
        while told < len(progress.messages):
            say(clean(progress.messages[told]), err=True)
            told += 1
        if progress.total:
            say(progress.line(), err=True)
        if over:
            return


def _view(progress: Progress, spec: Spec) -> Any:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    head = "SIMULATED  " if spec.model.simulated else ""
    view = Table(title=f"{head}{spec.name}: {progress.name}", title_justify="left", box=None, pad_edge=False)
    view.add_column("cell")
    for name in ("done", "of", ""):
        view.add_column(name, justify="right")
    for cell, total in progress.total.items():
        done = progress.ready[cell]
        bar = Text("━" * (20 * done // total), style="green") + Text("━" * (20 - 20 * done // total), style="dim")
        view.add_row(str(cell), str(done), str(total), bar)
    notes = [Text(clean(text), style="yellow") for text in progress.messages[-3:]]
    return Group(view, Text(progress.line()), *notes)
