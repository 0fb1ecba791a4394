"""The endpoint of these tests as a process, and what its ledger says."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any

from paccf.record.tape import Question

ROOT = Path(__file__).parents[2]


@contextmanager
def endpoint(ledger: Path, *options: str, port: int = 0) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Its base URL and its process."""
    command = [sys.executable, "-m", "tests.e2e.endpoint", str(ledger), "--port", str(port), *options]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1", process
    finally:
        process.kill()
        process.communicate()


def sends(ledger: Path, place: str = "", what: str = "asked") -> Counter[str]:
    """How often each body was asked for, or answered, at paths that begin so."""
    lines = [line.split() for line in ledger.read_text().splitlines()] if ledger.exists() else []
    return Counter(name for path, name, said in lines if said == what and path.startswith(place))


def name_of(body: dict[str, Any]) -> str:
    return blake2b(repr(sorted(body.items())).encode(), digest_size=8).hexdigest()


def body_name(question: Question, model: str = "m") -> str:
    """The name of the body that a row of a tape was asked with."""
    messages = [{"role": "user", "content": question.prompt}]
    return name_of({**json.loads(question.parameters), "model": model, "messages": messages})
