"""What a test needs of the machine: a browser, a database server, a model's weights. Where it is missing the test skips
with a reason; where everything has to be there, as in CI, `PACCF_ALL` makes it fail."""

from __future__ import annotations

import os

import pytest


def need(present: object, what: str) -> None:
    """Skip the test unless ``present``; ``what`` says what is missing and how it is had."""
    if present:
        return
    if os.environ.get("PACCF_ALL"):
        pytest.fail(f"PACCF_ALL is set, and {what}", pytrace=False)
    pytest.skip(what)
