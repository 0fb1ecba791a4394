"""What is noted about the project around a run holds nothing secret."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from paccf.record.provenance import versions, without_credentials


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://me:tok3n@host.example/a/b.git", "https://host.example/a/b.git"),
        ("https://tok3n@host.example:8443/a@b", "https://host.example:8443/a@b"),
        ("https://host.example/a?access_token=tok3n#tok3n", "https://host.example/a"),
        ("ssh://git:p@ss@host.example/a", "ssh://host.example/a"),
        ("git@host.example:a/b.git", "git@host.example:a/b.git"),
        ("me:tok3n@host.example:a/b.git", "host.example:a/b.git"),
        ("../elsewhere", "../elsewhere"),
    ],
)
def test_a_git_origin_is_shown_without_credentials(url: str, shown: str) -> None:
    assert without_credentials(url) == shown


def test_versions_know_the_project(tmp_path: Path) -> None:
    assert "git commit" not in versions(str(tmp_path))
    for command in (["init", "-q"], ["remote", "add", "origin", "https://u:canary-key@host.example/x"]):
        subprocess.run(["git", "-C", str(tmp_path), *command], check=True)
    found = versions(str(tmp_path))
    assert found["git origin"] == "https://host.example/x"
    assert "canary-key" not in str(found)
    assert {"paccf", "python", "sqlite", "numpy"} <= found.keys()
