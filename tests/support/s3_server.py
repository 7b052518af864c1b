"""A real server of buckets and queues (moto's), over HTTP and empty for each test.

What moto holds belongs to the process, not to a server, so a bucket that one test leaves behind is
there for the next one that starts a server of its own.
"""

from collections.abc import Iterator
from urllib.request import Request, urlopen

import pytest


@pytest.fixture(scope="session")
def _s3_server() -> Iterator[str]:
    from moto.server import ThreadedMotoServer  # most tests need none of it

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def s3_endpoint(_s3_server: str) -> str:
    reset = Request(f"{_s3_server}/moto-api/reset", method="POST")
    urlopen(reset, timeout=60).close()
    return _s3_server
