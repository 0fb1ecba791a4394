"""Fetching a benchmark's file from its public home: hash-checked, all or nothing, from nowhere that was not named."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from http.client import HTTPException, HTTPMessage
from pathlib import Path
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urljoin, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from paccf.domains.data import DataFile

HOME = "https://raw.githubusercontent.com/"
ATTEMPTS = 3  # ours: of what may pass, like a time-out or a 503
PATIENCE = 30.0  # ours: seconds that a server may be silent
AT_ONCE = 8  # ours: parts asked for together

Told = Callable[[int, int], None]  # how many of how many parts are there


class NotFetched(ValueError):
    """A file that could not be had; the message says from where, why, and what to do. Nothing was changed."""


class _SameHost(HTTPRedirectHandler):
    """Follows no redirect to another host: what was not named is not asked."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        here, there = urlsplit(req.full_url), urlsplit(urljoin(req.full_url, newurl))
        if (here.scheme, here.netloc) != (there.scheme, there.netloc):
            fp.close()
            raise NotFetched(
                f"{req.full_url} sends on to another server, {there.scheme}://{there.netloc}; nothing was asked there. "
                "If you trust it, name it with --from"
            )
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def fetch(file: DataFile, folder: Path, base: str = HOME, told: Told = lambda done, of: None) -> Path:
    """Put ``file`` into ``folder``, from ``base``, and return its path. What is there already is replaced only when all
    is well. A file of many parts keeps those it got, so that a second call goes on from there. Raises `NotFetched`."""
    if urlsplit(base).scheme not in ("http", "https") or not urlsplit(base).netloc:
        raise NotFetched(f"{base!r:.80} is no address to fetch from: write it like {HOME}")
    partial = folder / ".partial" / file.sha256[:16]
    try:
        partial.mkdir(parents=True, exist_ok=True)
        content = file.join(_parts(file, base.rstrip("/") + "/", partial, told))
        found = sha256(content).hexdigest()
        if found != file.sha256:
            shutil.rmtree(partial)
            raise NotFetched(
                f"{file.name} from {base} is not the file that is pinned: its SHA-256 is {found}, expected "
                f"{file.sha256}. Nothing was kept"
            )
        path = put(content, folder / file.name)
        shutil.rmtree(partial)
        if not any((folder / ".partial").iterdir()):
            (folder / ".partial").rmdir()
        return path
    except OSError as error:
        raise NotFetched(f"cannot write to {folder}: {error.strerror or error}") from None


def put(content: bytes, path: Path) -> Path:
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return path


def _parts(file: DataFile, base: str, partial: Path, told: Told) -> list[tuple[str, bytes]]:
    """All parts, in order; those that an earlier call got are not asked for again."""
    places = [partial / f"{i:05}" for i in range(len(file.urls))]
    left = [i for i, place in enumerate(places) if not place.is_file()]
    done = len(places) - len(left)
    told(done, len(places))

    def get(i: int) -> None:
        put(_content(base + quote(file.urls[i]), file.size), places[i])

    with ThreadPoolExecutor(AT_ONCE) as pool:
        asked = [pool.submit(get, i) for i in left]
        try:
            for one in asked:
                one.result()
                done += 1
                told(done, len(places))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return [(url, place.read_bytes()) for url, place in zip(file.urls, places, strict=True)]


def _content(url: str, most: int) -> bytes:
    """What is at ``url``, at most ``most`` bytes."""
    opener = build_opener(_SameHost)
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with opener.open(Request(url, headers={"User-Agent": "paccf"}), timeout=PATIENCE) as answer:
                content: bytes = answer.read(most + 1)
                length = answer.headers.get("Content-Length", "")
            if len(content) > most:
                raise NotFetched(f"{url} is larger than the {most:,} bytes it should be; the rest was not read")
            if not length.isdigit() or len(content) >= int(length):
                return content
            why = f"it ended after {len(content):,} of {int(length):,} bytes"
        except HTTPError as error:
            error.close()
            if error.code < 500 and error.code not in (408, 429):
                raise NotFetched(f"{url} answers {error.code} {error.reason}: the file is not there for you") from None
            why = f"it answers {error.code} {error.reason}"
        except (URLError, HTTPException, TimeoutError, ConnectionError) as error:
            why = str(getattr(error, "reason", "") or error or type(error).__name__)
        if attempt < ATTEMPTS:
            time.sleep(0.2 * 4 ** (attempt - 1))
    raise NotFetched(
        f"{url} cannot be fetched: {why} ({ATTEMPTS} attempts). Try again later; or download it by other means, and "
        "`paccf data add` it"
    )
