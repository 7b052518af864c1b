"""Shared fixtures; unit tests may not use the network, so a stray call fails at once."""

import logging
import os
import shutil
import socket
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = [
    "tests.support.elasticsearch_server",
    "tests.support.mariadb_server",
    "tests.support.postgresql_server",
    "tests.support.recording_endpoint",
    "tests.support.s3_server",
]

pytest.register_assert_rewrite("tests.conformance", "tests.support")


MEMORY = Path("/dev/shm")
MUCH_ROOM = 4 << 30


def pytest_configure(config: pytest.Config) -> None:
    """Let no test fail because the machine is slow; without the slow ones, try fewer examples.

    Folders of tests lie in memory where there is room: a run of Dagster's waits for its disk some
    thousand times, and longer than it computes.
    """
    if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > MUCH_ROOM:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))
    settings.register_profile(
        "any speed",
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
        max_examples=30 if "not slow" in config.option.markexpr else 100,
    )
    settings.load_profile("any speed")


LOOPBACK = ("127.", "localhost", "::1")


@pytest.fixture
def instance():
    import dagster as dg  # most tests need none of it

    with dg.DagsterInstance.ephemeral() as opened:
        yield opened


@pytest.fixture(scope="session")
def _new_instance(tmp_path_factory):
    """The folder of a Dagster instance in which nothing has happened yet: to make it takes long."""
    import dagster as dg

    folder = tmp_path_factory.mktemp("dagster")
    with dg.DagsterInstance.local_temp(str(folder)) as opened:
        opened.schedule_storage.all_instigator_state()  # else not all of it is made
    return folder


@pytest.fixture
def kept_instance(tmp_path, _new_instance):
    """A Dagster instance with a folder of its own, which other processes and ticks can open."""
    import dagster as dg

    shutil.copytree(_new_instance, tmp_path / "dagster")
    with dg.DagsterInstance.local_temp(str(tmp_path / "dagster")) as opened:
        yield opened


@pytest.fixture
def threads_run_out():
    """Let the system refuse every new thread of this process."""
    usual = threading.stack_size(1 << 46)
    yield
    threading.stack_size(usual)


@pytest.fixture(scope="module")
def small_encoder():
    """Let a `WordEncoder` stand for the encoder of every deployment of this module; returns it."""
    from tests.support.word_encoder import using_words

    with using_words() as encoder:
        yield encoder


@pytest.fixture(scope="module")
def read_here():
    from tests.support.reading import reading_here

    with reading_here():
        yield


@pytest.fixture(autouse=True)
def _loud():
    """Let each test hear warnings: the command line quietens the process that it runs in."""
    root = logging.getLogger()
    before = root.level
    yield
    root.setLevel(before)


@pytest.fixture(autouse=True)
def _no_width(monkeypatch):
    """Print as into a pipe: a worker of pytest-xdist is told the width of a terminal."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture(autouse=True)
def _no_network(request, monkeypatch):
    """Refuse every connection to another machine; integration tests talk to this one only.

    The exception is the Elasticsearch server that the tester names, for tests that use it.
    """
    connect = socket.socket.connect
    permitted = LOOPBACK
    if "elasticsearch_url" in request.fixturenames:
        permitted += request.getfixturevalue("elasticsearch_addresses")

    def guarded(self, address):
        if isinstance(address, tuple) and not str(address[0]).startswith(permitted):
            pytest.fail(f"{request.node.nodeid} tried to reach {address}")
        return connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)
