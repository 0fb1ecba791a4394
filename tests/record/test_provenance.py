"""What is noted about the project around a run holds nothing secret."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from paccf.record.provenance import shareable, versions


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://me:tok3n@host.example/a/b.git", "https://host.example/a/b.git"),
        ("https://tok3n@host.example:8443/a@b", "https://host.example:8443/a@b"),
        ("https://host.example/a?access_token=tok3n#tok3n", "https://host.example/a"),
        ("ssh://git:p@ss@host.example/a", "ssh://host.example/a"),
        ("git@host.example:a/b.git", "git@host.example:a/b.git"),
        ("me:tok3n@host.example:a/b.git", "host.example:a/b.git"),
        ("ssh://git@host.example/home/a", "ssh://host.example/home/a"),
        ("../elsewhere", ""),
        ("/home/alice/secret", ""),
        ("~/secret:x", ""),
        ("file:///home/alice/secret", ""),
        ("FILE://host.example/home/alice/secret", ""),
        ("C:\\Users\\alice\\secret", ""),
        ("ext::sh -c secret", ""),
    ],
)
def test_a_git_origin_is_shown_without_credentials_and_no_place_of_this_machine(url: str, shown: str) -> None:
    assert shareable(url) == shown


def repository(folder: Path, origin: str) -> Path:
    folder.mkdir()
    (folder / "a").write_text("b")
    for command in (["init", "-q"], ["remote", "add", "origin", origin], ["add", "a"]):
        subprocess.run(["git", "-C", str(folder), *command], check=True)
    named = ["-c", "user.name=a", "-c", "user.email=a@host.example"]
    subprocess.run(["git", "-C", str(folder), *named, "commit", "-qm", "c"], check=True)
    return folder


def test_versions_know_the_checkout_that_paccf_runs_from(tmp_path: Path) -> None:
    assert "git commit" not in versions(tmp_path)
    tree = repository(tmp_path / "tree", "https://u:canary-key@host.example/x")
    found = versions(tree)
    assert len(found["git commit"]) == 40
    assert found["git origin"] == "https://host.example/x"
    assert "canary-key" not in str(found)
    assert {"paccf", "python", "sqlite", "numpy"} <= found.keys()


def test_versions_say_nothing_of_another_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither of the one that somebody stands in, nor of one that paccf is installed somewhere below."""
    other = repository(tmp_path / "other", "https://host.example/other")
    here = versions()
    monkeypatch.chdir(other)
    assert versions() == here
    assert "host.example" not in str(here)
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    assert versions() == here
    monkeypatch.delenv("GIT_DIR")
    installed = other / "lib" / "python"
    installed.mkdir(parents=True)
    assert not any(name.startswith("git") for name in versions(installed))
