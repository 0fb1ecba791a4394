"""One line about what a search waits for, on stderr, written over and over; nothing where there is no terminal."""

from __future__ import annotations

import sys
from collections.abc import Generator
from types import TracebackType

import click

from paccf.cli.fitting import fit, width
from paccf.cli.loudness import quiet
from paccf.search.driver import Search
from paccf.search.trace import Trace
from paccf.search.world import Answer, ModelFailure, Request


class Waiting:
    """The line. Whoever prints something else clears it first; leaving the context does so too."""

    def __init__(self, of: int, budget: int) -> None:
        self.shown = sys.stderr.isatty() and sys.stdout.isatty() and not quiet()  # a pipe may end on the same screen
        self.searches, self.budget = of, budget
        self.spent = self.ended = 0

    def __enter__(self) -> Waiting:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.clear()

    def asked(self, requests: list[Request]) -> None:
        """``requests`` are about to be sent."""
        self.spent += len(requests)
        if self.searches == 1:
            what = f"{len(requests)} x {requests[0].kind}" if len(requests) > 1 else requests[0].kind
            self._say(f"request {self.spent:,} of {self.budget:,}: {what} ...")
        else:
            self._say(f"{self.ended:,} of {self.searches:,} searched, {self.spent:,} requests ...")

    def _say(self, text: str) -> None:
        if self.shown:
            click.echo("\r\x1b[2K" + click.style(fit(text, width() - 1, "..."), dim=True), err=True, nl=False)

    def clear(self) -> None:
        if self.shown:
            click.echo("\r\x1b[2K", err=True, nl=False)

    def over(self, search: Search) -> Generator[list[Request], list[Answer], Trace]:
        """``search``, with `asked` called on everything that it asks."""
        try:
            requests = next(search)
            while True:
                self.asked(requests)
                try:
                    answers = yield requests
                except ModelFailure as failure:
                    requests = search.throw(failure)
                else:
                    requests = search.send(answers)
        except StopIteration as stop:
            trace: Trace = stop.value
            self.ended += 1
            return trace
