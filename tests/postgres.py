"""A real PostgreSQL server for tests: Debian's, in a folder of its own, reachable through a socket in it alone."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

USER = "postgres"  # it refuses to run as root


def binaries() -> Path | None:
    """The folder with the server's programs, or `None` if it is not installed."""
    found = shutil.which("initdb")
    if found:
        return Path(found).parent
    return max(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda p: int(p.parent.name), default=None)


@contextlib.contextmanager
def server() -> Iterator[str]:
    """Start one, and yield what comes after the database's name in its URLs."""
    programs = binaries()
    assert programs is not None
    root = os.geteuid() == 0
    user = USER if root else pwd.getpwuid(os.geteuid()).pw_name
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    how: dict[str, str] = {}
    if root:
        how = {"user": USER, "group": USER}
        shutil.chown(folder, USER, USER)
    data = folder / "data"
    command = [str(programs / "initdb"), "-D", str(data), "-U", user, "-A", "trust", "-E", "UTF8", "--no-sync"]
    subprocess.run(command, check=True, capture_output=True, cwd=folder, **how)  # type: ignore[call-overload]
    settings = {
        "listen_addresses": "",
        "unix_socket_directories": str(folder),
        "fsync": "off",
        "shared_buffers": "32MB",
    }
    command = [str(programs / "postgres"), "-D", str(data), *[f"--{name}={value}" for name, value in settings.items()]]
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, **how)  # type: ignore[call-overload]
    try:
        for _ in range(300):
            if (folder / ".s.PGSQL.5432").exists() and _answers(folder, user):
                break
            if process.poll() is not None:
                raise RuntimeError((folder / "log").read_text())
            time.sleep(0.1)
        yield f"?host={folder}&user={user}"
    finally:
        process.send_signal(signal.SIGINT)  # PostgreSQL's fast shutdown
        process.wait(30)
        shutil.rmtree(folder, ignore_errors=True)


def _answers(folder: Path, user: str) -> bool:
    import psycopg

    with contextlib.suppress(psycopg.OperationalError), psycopg.connect(host=str(folder), user=user, dbname="postgres"):
        return True
    return False


def create(rest: str, name: str) -> str:
    """An empty database on the server; its URL."""
    import psycopg

    with psycopg.connect(f"postgresql:///postgres{rest}", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return f"postgresql:///{name}{rest}"
