"""A real Elasticsearch for tests: the one at ELASTICSEARCH_URL, or one started on this machine.

Tests that kill, secure or misconfigure a server start a cluster of their own; see `Cluster`.
"""

import contextlib
import fcntl
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import psutil
import pytest
from elastic_transport import TransportError
from elasticsearch import ApiError, Elasticsearch

from pneuma_assets.core.index.elastic import engine, lifecycle
from tests.support.waiting import LONGEST, wait_until

ESDEV = Path(__file__).resolve().parents[3] / "shared/elasticsearch/esdev"
ADDRESS_VARIABLE = "ELASTICSEARCH_URL"


def client_of(*urls: str, **options: Any) -> Elasticsearch:
    """Return a bare client that waits for an answer as long as a slow machine takes."""
    return Elasticsearch(list(urls), request_timeout=LONGEST, **options)


class NodeEndedError(RuntimeError):
    """A server that was started is no more."""


class Cluster:
    """A cluster on this machine, in a temporary folder that the server's own user can reach.

    Attributes:
        folder: With all that is of it.
        urls: One a node; node n listens at `urls[n]`.
        password: Of the user `elastic`, where security is on; else None.
        ca: The file of the authority that signed the certificate, where security is on.
    """

    def __init__(
        self,
        *,
        nodes: int = 1,
        heap: str = "512m",
        security: bool = False,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        """Start the cluster and wait until every node has joined; skip the test without it.

        Args:
            nodes: How many; security works with one alone.
            heap: Of each node, as Java spells it.
            security: Whether to use TLS, passwords and API keys.
            settings: Further lines of elasticsearch.yml.
        """
        if not ESDEV.exists():
            pytest.skip(f"no Elasticsearch: set {ADDRESS_VARIABLE}, or put a server at {ESDEV}")
        # Not pytest's own folder: that one is closed to the user that the server runs as.
        self.folder = Path(tempfile.mkdtemp(prefix="pneuma-elasticsearch-"))
        self.folder.chmod(0o755)
        options = ["--nodes", str(nodes), "--heap", heap, *(["--security"] if security else [])]
        for key, value in (settings or {}).items():
            options += ["--set", f"{key}={value}"]
        try:
            self._started_twice(options)
        except BaseException:
            self.clean()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.clean()

    @property
    def url(self) -> str:
        return self.urls[0]

    def client(self, **options: Any) -> Elasticsearch:
        """Return a bare client of all nodes, as the user `elastic` where security is on."""
        if self.password is not None and not options.keys() & {"api_key", "basic_auth"}:
            options["basic_auth"] = ("elastic", self.password)
        if self.ca is not None:
            options.setdefault("ca_certs", str(self.ca))
        return client_of(*self.urls, **options)

    def kill(self, node: int = 0) -> None:
        """Kill one node as a power cut would, and wait until it is gone."""
        process = psutil.Process(int((self.folder / f"n{node}" / "pid").read_text()))
        process.send_signal(signal.SIGKILL)
        with contextlib.suppress(psutil.NoSuchProcess):
            process.wait(timeout=LONGEST)

    def restart(self) -> None:
        """Stop what is left of the cluster, start all nodes again, and wait for them."""
        self._started("restart")

    def stop(self) -> None:
        """Stop every node in order; `restart` brings them back."""
        self._run("stop")

    def clean(self) -> None:
        clean(self.folder)

    def _started_twice(self, options: Sequence[str]) -> None:
        """Start the nodes, once more where one ended meanwhile.

        On a machine that makes very many processes, a number that another cluster still remembers
        may be one of this cluster's, which is then stopped with it.
        """
        try:
            self._started("start", *options)
        except NodeEndedError:
            self._run("clean")
            self.folder.mkdir(exist_ok=True)
            self.folder.chmod(0o755)
            self._started("start", *options)

    def _started(self, command: str, *options: str) -> None:
        """Start the nodes; `esdev` gives up waiting for them before a slow machine has them up."""
        try:
            described = self._run(command, *options)
        except RuntimeError:
            described = self._run("status")
            if len(described["pids"]) < len(described["urls"]):
                raise
        self.urls: tuple[str, ...] = tuple(described["urls"])
        self.password: str | None = described.get("password")
        self.ca = Path(described["ca"]) if "ca" in described else None
        with self.client() as client:
            wait_until(lambda: self._is_whole(client), "not all nodes have joined")

    def _is_whole(self, client: Elasticsearch) -> bool:
        try:
            return client.cluster.health()["number_of_nodes"] == len(self.urls)
        except (ApiError, TransportError):
            if len(self._run("status")["pids"]) < len(self.urls):
                raise NodeEndedError("a node has ended before all had joined") from None
            return False

    def _run(self, command: str, *options: str) -> dict[str, Any]:
        return _esdev(command, self.folder, *options)


def _esdev(command: str, folder: Path, *options: str) -> dict[str, Any]:
    # Dagster ignores SIGTERM where SIGINT is ignored, as under `&` in a script; a server that
    # inherits that would not stop.
    plain = ["env", "--default-signal=TERM,INT", sys.executable]
    done = subprocess.run(
        [*plain, str(ESDEV), command, str(folder), *options],
        capture_output=True,
        text=True,
        timeout=LONGEST,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"esdev {command} failed: {done.stderr.strip() or done.stdout}")
    return json.loads(done.stdout) if done.stdout.strip() else {}


def clean(folder: Path) -> None:
    """Stop the cluster of a folder, and remove that."""
    if (folder / "cluster.json").exists():
        _esdev("clean", folder)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def elasticsearch_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of one server that all tests of the session share, whichever process runs them.

    The first process that needs it starts it, and the last one to end stops it.
    """
    if given := os.environ.get(ADDRESS_VARIABLE):
        yield given.rstrip("/")
        return
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    kept = folder / "elasticsearch.json"
    with _alone(folder):
        if kept.exists():
            shared = json.loads(kept.read_text())
        else:
            cluster = Cluster()
            shared = {"url": cluster.url, "folder": str(cluster.folder), "users": 0}
        kept.write_text(json.dumps({**shared, "users": shared["users"] + 1}))
    yield shared["url"]
    with _alone(folder):
        shared = json.loads(kept.read_text())
        kept.write_text(json.dumps({**shared, "users": shared["users"] - 1}))
        if shared["users"] == 1:
            kept.unlink()
            clean(Path(shared["folder"]))


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    with (folder / "elasticsearch.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def elasticsearch_addresses() -> tuple[str, ...]:
    """The network addresses of the server at ELASTICSEARCH_URL; empty where none is named."""
    host = urlsplit(os.environ.get(ADDRESS_VARIABLE, "")).hostname
    if host is None:
        return ()
    return tuple({str(found[4][0]) for found in socket.getaddrinfo(host, None)})


@pytest.fixture(autouse=True)
def _patient_opening(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let opening an index wait for a server as long as all else does, not for five seconds."""
    if {"elasticsearch_url", "cluster", "small_server"} & {*request.fixturenames}:
        for module in (lifecycle, engine):
            monkeypatch.setattr(module, "OPENING", LONGEST)


@pytest.fixture
def index_name(elasticsearch_url: str) -> Iterator[str]:
    """A name that no other test has; its indices are deleted afterwards."""
    name = f"test-{secrets.token_hex(6)}"
    yield name
    with client_of(elasticsearch_url) as client:
        delete_indices(client, name)


def delete_indices(client: Elasticsearch, name: str) -> None:
    """Delete the indices behind an alias, one by one: servers may refuse a pattern."""
    for index in client.indices.get(index=f"{name}-*", expand_wildcards="all"):
        client.indices.delete(index=index)


def documents(url: str, name: str) -> bytes:
    """Return all that the indices behind an alias show, as JSON."""
    with client_of(url) as client:
        client.indices.refresh(index=f"{name}-*")
        found = client.search(index=f"{name}-*", size=5000, query={"match_all": {}})
    return json.dumps(found["hits"]["hits"]).encode()
