"""Servers on a port of this machine: an app in a thread, as `serve` runs it."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from fastapi import FastAPI

from pneuma_assets.web.policy import SERVER
from tests.support.waiting import LONGEST


@contextmanager
def listening(app: FastAPI) -> Iterator[int]:
    """The port on which an app listens until the end of the block."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app, **SERVER))
        thread = threading.Thread(target=server.run, args=([bound],), daemon=True)
        thread.start()
        until = time.monotonic() + LONGEST
        while not server.started:
            assert time.monotonic() < until
            time.sleep(0.01)
        try:
            yield bound.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(10)


@contextmanager
def serving(app: FastAPI) -> Iterator[str]:
    with listening(app) as port:
        yield f"http://127.0.0.1:{port}"
