"""Shared fixtures; unit tests may not use the network, so a stray call fails at once."""

import logging
import socket

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = [
    "tests.support.elasticsearch_server",
    "tests.support.mariadb_server",
    "tests.support.postgresql_server",
    "tests.support.s3_server",
]

pytest.register_assert_rewrite("tests.conformance", "tests.support")

# No test may fail because the machine is slow; all else as hypothesis has it, here or in CI.
settings.register_profile(
    "any speed", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any speed")

LOOPBACK = ("127.", "localhost", "::1")


@pytest.fixture
def instance(tmp_path):
    """A Dagster instance with a folder of its own."""
    import dagster as dg  # most tests need none of it

    (tmp_path / "dagster").mkdir()
    with dg.DagsterInstance.local_temp(str(tmp_path / "dagster")) as opened:
        yield opened


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
