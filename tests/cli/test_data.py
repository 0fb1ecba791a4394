"""`paccf data`, against a server of our own on the loopback."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.real import folder

from paccf.cli import data as command
from paccf.cli import main
from paccf.domains import data, download
from paccf.domains.data import DataFile, Files, NoData, digest, folders, known, user_folder
from paccf.domains.game24.tasks import FILES, ranked

Answer = tuple[int, bytes, dict[str, str]]


class Server:
    """Answers by path; counts what it is asked."""

    def __init__(self) -> None:
        self.answers: dict[str, Callable[[], Answer]] = {}
        self.asked: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.append(self.path)
                status, body, headers = outer.answers.get(self.path, lambda: (404, b"no", {}))()
                self.send_response(status)
                for name, value in ({"Content-Length": str(len(body))} | headers).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def at(self, path: str, body: bytes, status: int = 200, **headers: str) -> None:
        self.answers[path] = lambda: (status, body, headers)


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.server.shutdown()
    made.server.server_close()


GOOD = b"Rank,Puzzles\n1,1 1 4 6\n2,1 1 1 1\n"
PARTS = [f"part {i}\n".encode() for i in range(30)]


def file(name: str, content: bytes, *urls: str, **more: Any) -> DataFile:
    return DataFile(
        name, "made up", "MIT", "https://x", sha256(content).hexdigest(), len(content), urls, *more.values()
    )


def odd(path: Path) -> list[str]:
    return [f"rank {rank}" for rank, task in ranked(path).items() if task.id == "1-1-1-1"]


@pytest.fixture(autouse=True)
def _ours(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PACCF_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(download.time, "sleep", lambda seconds: None)
    monkeypatch.setattr(download, "PATIENCE", 2.0)
    files = {
        "toys/one.csv": file("toys/one.csv", GOOD, "a/b c.csv", check=odd),
        "toys/many.txt": file(
            "toys/many.txt",
            b"".join(PARTS),
            *[f"m/{i}" for i in range(len(PARTS))],
            check=lambda path: [],
            join=lambda parts: b"".join(content for _, content in parts),
        ),
    }
    for module in (data, command):
        monkeypatch.setattr(module, "known", lambda: files)


def run(*args: str) -> Result:
    return CliRunner().invoke(main, ["data", *args])


def test_get_puts_the_pinned_file_where_it_is_found(server: Server, tmp_path: Path) -> None:
    server.at("/a/b%20c.csv", GOOD)
    result = run("get", "toys/one.csv", "--from", server.url)
    assert result.exit_code == 0, result.output
    path = tmp_path / "data" / "toys" / "one.csv"
    assert path.read_bytes() == GOOD
    assert Files().path("toys/one.csv") == path
    assert "irregular: rank 2" in result.output
    assert "MIT, https://x" in result.output
    assert sorted(p.name for p in path.parent.iterdir()) == ["one.csv"], "nothing else is left"
    listed = json.loads(run("list", "--json").stdout)["files"]
    assert [(f["name"], f["state"]) for f in listed] == [("toys/one.csv", "as pinned"), ("toys/many.txt", "not there")]
    assert "as pinned" in run("list").output


def test_many_parts_go_on_from_where_they_broke_off(server: Server, tmp_path: Path) -> None:
    for i, part in enumerate(PARTS):
        if i != 17:
            server.at(f"/m/{i}", part)
    broken = run("get", "toys/many.txt", "--from", server.url)
    assert broken.exit_code == 2
    assert "/m/17 answers 404" in broken.output
    assert not (tmp_path / "data" / "toys").exists()
    before = set(server.asked)
    server.asked.clear()
    server.at("/m/17", PARTS[17])
    result = run("get", "toys", "--from", server.url)
    assert result.exit_code == 2, "one.csv is not there"
    server.at("/a/b%20c.csv", GOOD)
    assert run("get", "toys", "--from", server.url).exit_code == 0
    assert (tmp_path / "data" / "toys" / "many.txt").read_bytes() == b"".join(PARTS)
    assert not [p for p in server.asked if p.startswith("/m/") and p in before - {"/m/17"}], "no part twice"
    assert not (tmp_path / "data" / ".partial").exists()


def flaky(answers: list[Answer]) -> Callable[[], Answer]:
    return lambda: answers.pop(0) if len(answers) > 1 else answers[0]


def test_what_passes_is_tried_again(server: Server) -> None:
    server.answers["/a/b%20c.csv"] = flaky(
        [(503, b"busy", {}), (200, GOOD[:9], {"Content-Length": "33"}), (200, GOOD, {})]
    )
    assert run("get", "toys/one.csv", "--from", server.url).exit_code == 0
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((200, b"Rank,Puzzles\n1,1 1 4 7\n", {}), "is not the file that is pinned: its SHA-256 is"),
        ((200, GOOD + b"x", {}), "is larger than the 33 bytes it should be"),
        ((200, GOOD[:-3], {"Content-Length": "33"}), "it ended after 30 of 33 bytes"),
        ((404, b"", {}), "answers 404 Not Found"),
        ((500, b"", {}), "it answers 500"),
        ((302, b"", {"Location": "http://127.0.0.2:1/x"}), "sends on to another server, http://127.0.0.2:1;"),
        ((302, b"", {"Location": "file:///etc/passwd"}), "answers 302"),
    ],
)
def test_what_goes_wrong_is_said_and_changes_nothing(answer: Answer, said: str, server: Server, tmp_path: Path) -> None:
    path = tmp_path / "data" / "toys" / "one.csv"
    path.parent.mkdir(parents=True)
    path.write_text("mine")
    server.answers["/a/b%20c.csv"] = lambda: answer
    result = run("get", "toys/one.csv", "--from", server.url)
    assert result.exit_code == 2
    assert said in result.output
    assert path.read_text() == "mine"
    assert [p.name for p in path.parent.iterdir()] == ["one.csv"]


def test_a_redirect_on_the_same_server_is_followed(server: Server) -> None:
    server.at("/a/b%20c.csv", b"", 302, Location="/elsewhere")
    server.at("/elsewhere", GOOD)
    assert run("get", "toys/one.csv", "--from", server.url).exit_code == 0


def test_nobody_there_and_bad_addresses() -> None:
    refused = run("get", "toys/one.csv", "--from", "http://127.0.0.1:1/")
    assert refused.exit_code == 2
    assert "cannot be fetched" in refused.output
    assert "`paccf data add` it" in refused.output
    for base in ("file:///etc", "nowhere", "ftp://x/"):
        assert "is no address to fetch from" in run("get", "toys/one.csv", "--from", base).output
    assert "there is no data file 'toys/on.csv'. Did you mean 'toys/one.csv'?" in run("get", "toys/on.csv").output


def test_add_checks_hash_and_schema(tmp_path: Path) -> None:
    mine = tmp_path / "mine.csv"
    mine.write_bytes(GOOD)
    added = json.loads(run("add", "toys/one.csv", str(mine), "--json").stdout)["added"]
    assert added == [
        {
            "name": "toys/one.csv",
            "path": str(tmp_path / "data" / "toys" / "one.csv"),
            "licence": "MIT",
            "pinned": True,
            "irregular": ["rank 2"],
        }
    ]
    other = tmp_path / "other" / "one.csv"
    other.parent.mkdir()
    other.write_bytes(b"Rank,Puzzles\n1,1 1 4 7\n")
    refused = run("add", "toys/one.csv", str(other))
    assert refused.exit_code == 1
    assert "expected" in refused.output
    assert Files().path("toys/one.csv").read_bytes() == GOOD
    forced = run("add", "toys/one.csv", str(other.parent), "--force")
    assert "NOT the pinned content" in forced.output
    assert json.loads(run("list", "--json").stdout)["files"][0]["state"] == "another content"
    (tmp_path / "home").mkdir()
    other.write_bytes(b"Rank,Puzzles\n1,one\n")
    broken = run("add", "toys/one.csv", str(other), "--force")
    assert broken.exit_code == 2
    assert f"{other}, line 2: 'one' is no hand" in broken.output
    assert "there is no toys/one.csv in the folder" in run("add", "toys/one.csv", str(tmp_path / "home")).output
    assert run("add", "toys/one.csv", str(tmp_path / "none")).exit_code == 2


def test_add_waits_for_nothing_and_says_where_it_cannot_write(tmp_path: Path) -> None:
    endless, mine = tmp_path / "endless", tmp_path / "mine.csv"
    os.mkfifo(endless)
    for path in (endless, Path("/dev/zero")):
        result = run("add", "toys/one.csv", str(path))
        assert result.exit_code == 2
        assert "is no file: name the file itself" in result.output
    mine.write_bytes(GOOD)
    (tmp_path / "in-the-way").write_text("")
    result = run("add", "toys/one.csv", str(mine), "--data", str(tmp_path / "in-the-way" / "below"))
    assert result.exit_code == 2
    assert f"cannot write to {tmp_path / 'in-the-way' / 'below'}" in result.output


def test_where_says_who_named_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = json.loads(run("where", "--json").stdout)
    assert [f["named_by"] for f in found["folders"]] == ["PACCF_DATA", "yours"]
    assert found["puts"] == str(tmp_path / "data")
    monkeypatch.delenv("PACCF_DATA")
    assert folders() == [(tmp_path / "home" / "paccf", "yours")]
    assert str(tmp_path / "home" / "paccf") in run("where").output
    assert user_folder({}).name == "paccf"
    with pytest.raises(NoData, match=r"`paccf data get toys/one.csv` downloads it \(MIT, https://x\)"):
        Files().path("toys/one.csv")


def test_the_files_of_the_domains_are_pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    files = known()
    assert FILES[0].name in files
    for name, one in files.items():
        assert name == one.name
        assert len(one.sha256) == 64
        assert one.licence
        assert one.urls
        assert all(len(url.split("/")[2]) == 40 for url in one.urls), "at a pinned commit"


@pytest.mark.parametrize("name", ["blocksworld/pddl.jsonl", "game24/24.csv", "gta/dataset.json", "gta/toolmeta.json"])
def test_the_published_files_are_the_pinned_ones(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.undo()
    place, one = folder(name), known()[name]
    assert digest(place / name) == one.sha256
    assert (place / name).stat().st_size == one.size
    added = CliRunner().invoke(main, ["data", "add", name, str(place / name), "--data", str(tmp_path), "--json"])
    assert added.exit_code == 0, added.output
    [said] = json.loads(added.stdout)["added"]
    assert said["pinned"]
    assert said["irregular"] == one.check(place / name)
    assert (tmp_path / name).read_bytes() == (place / name).read_bytes()
