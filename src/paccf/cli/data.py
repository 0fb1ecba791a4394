"""`paccf data`: the files of published benchmarks, where they are and how to get them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from paccf.cli.output import BadInput, clean, emit_json, remark, say, table
from paccf.domains.data import VARIABLE, DataFile, NoData, digest, file_of, folders, known
from paccf.domains.data import Files as Folders
from paccf.domains.download import HOME, NotFetched, fetch, put

MOST = 64 << 20  # ours: bytes of a file that `add` looks at
json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object.")
data_option = click.option(
    "--data", type=click.Path(file_okay=False), metavar="DIR", help=f"The folder.  [default: {VARIABLE}, else yours]"
)


@click.group()
def command() -> None:
    """Files of published benchmarks. None comes with the package, and none is needed: every domain generates tasks.

    \b
    Examples:
      paccf data list                                what there is, and which of it you have
      paccf data get game24/24.csv                   download it from its public home, hash-checked
      paccf data add game24/24.csv ~/Downloads/24.csv
      paccf data where                               the folders that are looked at

    NAME is a file as `list` shows it, or a domain for all of its files.
    """


@command.command("list")
@data_option
@json_option
def list_(data: str | None, as_json: bool) -> None:
    """Which files there are, under which licence, and which of them you have.

    \b
    Example:
      paccf data list
    """
    rows = []
    for file in known().values():
        path = _there(file, data)
        state = "" if path is None else "as pinned" if digest(path) == file.sha256 else "another content"
        rows.append(
            {
                "name": file.name,
                "about": file.about,
                "licence": file.licence,
                "home": file.home,
                "sha256": file.sha256,
                "bytes": file.size,
                "path": None if path is None else str(path),
                "state": state or "not there",
            }
        )
    if as_json:
        emit_json({"files": rows})
        return
    columns = ("name", "state", "licence", "about")
    say(table(columns, [[row[c] for c in columns] for row in rows], left=4))
    say("\n`paccf data get NAME` downloads one, `paccf data add NAME PATH` takes a copy you have.")


def _there(file: DataFile, data: str | None) -> Path | None:
    try:
        return Folders(data).path(file.name)
    except NoData:
        return None


@command.command()
@data_option
@json_option
def where(data: str | None, as_json: bool) -> None:
    """The folders that are looked at, in order, and where `get` and `add` put files.

    \b
    Example:
      paccf data where
    """
    found = [(str(folder), whose, folder.is_dir()) for folder, whose in folders(data)]
    if as_json:
        emit_json({"folders": [{"path": p, "named_by": w, "there": t} for p, w, t in found], "puts": found[0][0]})
        return
    say(table(("folder", "named by", "there"), [(p, w, "yes" if t else "not yet") for p, w, t in found], left=3))
    say(f"\nFiles are put into {clean(found[0][0])}.")


@command.command()
@click.argument("name")
@click.argument("path", type=click.Path(exists=True))
@click.option("--force", is_flag=True, help="Take a content that is not the pinned one; results say so by its tasks.")
@data_option
@json_option
def add(name: str, path: str, force: bool, data: str | None, as_json: bool) -> None:
    """Copy a file that you have to where it is found, after checking it.

    PATH is the file, or a folder that holds it. Says which of its tasks are irregular.
    Exit codes: 0 added; 1 not the pinned content, and not added; 2 a file that cannot be used.

    \b
    Example:
      paccf data add game24/24.csv ~/Downloads/24.csv
    """
    target = folders(data)[0][0]
    added: list[dict[str, Any]] = []
    for file in _files(name):
        place = _source(Path(path), file)
        if place.stat().st_size > MOST:
            raise BadInput(f"{place} has {place.stat().st_size:,} bytes; {file.name} has {file.size:,}")
        found = digest(place)
        odd = _checked(file, place)
        pinned = found == file.sha256
        if not pinned and not force:
            say(
                f"{clean(str(place))} is not {file.name} as it is pinned: its SHA-256 is {found}, expected "
                f"{file.sha256}. Nothing was added; --force takes it as it is.",
                err=True,
            )
            sys.exit(1)
        try:
            put(place.read_bytes(), target / file.name)
        except OSError as error:
            raise BadInput(f"cannot write to {target}: {error.strerror or error}") from None
        added.append(_report(file, target / file.name, pinned, odd))
    _say(added, as_json, "added")


@command.command()
@click.argument("name")
@click.option("--from", "base", default=HOME, show_default=True, metavar="URL", help="A server with the same paths.")
@data_option
@json_option
def get(name: str, base: str, data: str | None, as_json: bool) -> None:
    """Download a file from its public home, pinned by its SHA-256.

    All or nothing; what a broken download got of many parts is kept, and the same command goes on from there.

    \b
    Examples:
      paccf data get game24/24.csv
      paccf data get gta                             all of a domain
    """
    target = folders(data)[0][0]
    fetched = []
    for file in _files(name):
        remark(f"{file.name}: {file.licence}, {file.home}")
        try:
            path = fetch(file, target, base, _progress(file))
        except NotFetched as error:
            raise BadInput(str(error)) from None
        fetched.append(_report(file, path, True, _checked(file, path)))
    _say(fetched, as_json, "fetched")


def _files(name: str) -> list[DataFile]:
    """The file of that name, or all of a domain's."""
    of_domain = [file for file in known().values() if file.name.startswith(f"{name}/")]
    try:
        return of_domain or [file_of(name)]
    except ValueError as error:
        raise BadInput(str(error)) from None


def _source(path: Path, file: DataFile) -> Path:
    if path.is_file():
        return path
    if not path.is_dir():
        raise BadInput(f"{path} is no file: name the file itself, or the folder it is in")
    for inside in (path / file.name, path / Path(file.name).name):
        if inside.is_file():
            return inside
    raise BadInput(f"there is no {file.name} in the folder {path}: name the file itself")


def _checked(file: DataFile, path: Path) -> list[str]:
    try:
        return file.check(path)
    except ValueError as error:
        raise BadInput(f"{file.name} cannot be used: {error}") from None


def _progress(file: DataFile) -> Callable[[int, int], None]:
    def told(done: int, of: int) -> None:
        if of > 1 and (done == of or done % 100 == 0):
            remark(f"  {done:,} of {of:,} parts")

    return told


def _report(file: DataFile, path: Path, pinned: bool, odd: list[str]) -> dict[str, Any]:
    return {"name": file.name, "path": str(path), "licence": file.licence, "pinned": pinned, "irregular": odd}


def _say(done: list[dict[str, Any]], as_json: bool, verb: str) -> None:
    if as_json:
        emit_json({verb: done})
        return
    for one in done:
        state = "" if one["pinned"] else ", which is NOT the pinned content"
        say(f"{verb} {clean(one['path'])}{state}; {one['licence']}")
        for odd in one["irregular"]:
            say(f"  irregular: {clean(odd)}")
