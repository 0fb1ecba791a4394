"""What people install: the wheel, the sdist it can be built from, the small core and the lab, in clean environments."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import venv
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKED = {
    "paccf/py.typed",
    "paccf/experiment/specs/demo.toml",
    "paccf/models/simulated/profiles/paper-like.toml",
    "paccf/published/tables/macro_main.csv",
}


def build(folder: Path, into: Path, kind: str) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(into)]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    (found,) = into.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return found


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("hatchling", reason="needs hatchling, which the dev extra brings")
    return build(ROOT, tmp_path_factory.mktemp("wheel"), "wheel")


def test_the_sdist_builds_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    sdist = build(ROOT, tmp_path / "sdist", "sdist")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    (source,) = (tmp_path / "unpacked").iterdir()
    again = build(source, tmp_path / "again", "wheel")
    assert again.name == wheel.name
    assert again.read_bytes() == wheel.read_bytes()
    for name in ("README.md", "LICENSE", "CHANGELOG.md", "run", "tests/e2e/test_install.py", "examples/puzzle.py"):
        assert (source / name).exists(), name


def test_what_the_wheel_holds_and_asks_for(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (metadata,) = (n for n in names if n.endswith("METADATA"))
        asked = Parser().parsestr(archive.read(metadata).decode()).get_all("Requires-Dist") or []
    assert names >= PACKED
    assert not [n for n in names if n.startswith(("tests/", "docs/", "benchmarks/", "examples/"))]
    core = [line for line in asked if "extra ==" not in line]
    assert sorted(line.split(">=")[0] for line in core) == ["click", "msgspec", "numpy"]


class Clean:
    """An environment of its own. Skips the test where no package index answers."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, with_pip=True)
        self.bin = folder / "bin"
        self.folder = folder

    def install(self, wanted: str) -> None:
        done = self("python", "-m", "pip", "install", "-q", "--disable-pip-version-check", wanted)
        if done.returncode:
            if "No matching distribution" in done.stderr or "Connection" in done.stderr:
                pytest.skip("no package index answers here")
            raise AssertionError(done.stderr)

    def __call__(self, name: str, *args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.bin / name), *args],
            capture_output=True,
            text=True,
            cwd=self.folder,
            env={"PATH": "/usr/bin:/bin"},
        )

    def said(self, name: str, *args: str) -> str:
        done = self(name, *args)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def test_the_core_is_small_and_works_alone_and_the_lab_on_top(wheel: Path, tmp_path: Path) -> None:
    clean = Clean(tmp_path / "venv")
    clean.install(str(wheel))
    listed = {line.split("==")[0].lower() for line in clean.said("python", "-m", "pip", "freeze").splitlines()}
    listed = {name.partition(" @")[0] for name in listed}
    assert listed == {"paccf", "click", "msgspec", "numpy"}

    clean.said("paccf", "theory", "frontiers", "--tasks", "60", "--seed", "1", "-o", "train.jsonl")
    assert "margin" in clean.said("paccf", "calibrate", "train.jsonl", "-o", "margin.json")
    clean.said("paccf", "coverage", "train.jsonl", "margin.json")
    clean.said("paccf", "what-if", "train.jsonl")
    assert "agree" in clean.said("paccf", "published", "check").lower()
    code = "import sys; from paccf import Gate; print(Gate.load('margin.json').keep([90, 10]), 'numpy' in sys.modules)"
    assert clean.said("python", "-c", code) == "[0] False\n"
    for command in (
        ["theory", "samples"],
        ["run", "smoke"],
        ["models", "check", "local"],
        ["coverage", "train.jsonl", "margin.json", "--plot", "x.svg"],
    ):
        lacking = clean("paccf", *command)
        assert lacking.returncode == 2, command
        assert 'pip install "paccf[lab]"' in lacking.stderr, (command, lacking.stderr)
        assert "Traceback" not in lacking.stderr

    clean.install(f"{wheel}[lab]")
    assert "SIMULATED" in clean.said("paccf", "run", "smoke", "-o", "smoke", "--quiet")
    assert "SIMULATED" in clean.said("paccf", "table", "smoke", "macro_main")
    clean.said("paccf", "audit", "smoke")
    clean.said("paccf", "theory", "boundary", "--plot", "check.svg")
    assert "extras: lab" in clean.said("paccf", "--version")
