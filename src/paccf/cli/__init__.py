"""The command line: one file per command, each imported only when it is called."""

from __future__ import annotations

import contextlib
import importlib
import sys
from typing import Any

import click

from paccf._version import __version__

# name -> (module under paccf.cli, the line that `paccf --help` prints)
COMMANDS: dict[str, tuple[str, str]] = {
    "calibrate": ("calibrate", "Turn a frontier log into a frozen margin: a certificate."),
    "what-if": ("what_if", "Weigh margins on a recorded log before turning anything on."),
    "coverage": ("coverage", "Check a certificate on held-out frontier logs."),
    "gate": ("gate", "Decide frontiers from stdin with a certificate, line by line."),
    "certificate": ("certificate", "Show or verify a certificate."),
    "tasks": ("tasks", "Where tasks come from, and which of them a draw takes."),
    "solve": ("solve", "What the oracle knows of a task: protected first actions, a solution."),
    "search": ("search", "Run a search: what it drops and why, what it finds, what it costs."),
    "audit": ("audit", "Compute every figure of a run from its record, and check the record against itself."),
    "table": ("table", "One table of a run's audit, as text, Markdown, LaTeX, CSV or JSON."),
