"""`pneuma-assets serve` as people start it: real processes, workers, and an index that changes."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import httpx
import psutil
import pytest

from tests.support.waiting import LONGEST

pytestmark = [pytest.mark.integration, pytest.mark.slow]

SOON = 5.0
"""Seconds within which a server sees a new index, and refuses a key that was revoked."""


def command(home, *args):
    return [sys.executable, "-m", "pneuma_assets.cli", "--home", str(home), *map(str, args)]


def run(home, *args) -> str:
    done = subprocess.run(
        command(home, *args), capture_output=True, text=True, timeout=LONGEST, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def home(tmp_path):
    (tmp_path / "lake").mkdir()
    (tmp_path / "lake" / "penguins.csv").write_text("species,island\nAdelie,Dream\n")
    run(tmp_path / "home", "index", tmp_path / "lake")
    with (tmp_path / "home" / "pneuma.yaml").open("a") as file:
        file.write("web: {requests_per_minute: 1000000}\n")
    return tmp_path / "home"


@contextmanager
def serving(home, *options):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = home / "serve.log"
    with log.open("wb") as written:
        server = subprocess.Popen(
            command(home, "serve", "--port", port, *options), stdout=written, stderr=written
        )
    base = f"http://127.0.0.1:{port}"
    try:
        until = time.monotonic() + LONGEST
        while True:
            try:
                if httpx.get(f"{base}/readyz", timeout=LONGEST).status_code == 200:
                    break
            except httpx.TransportError:
                pass
            assert server.poll() is None, log.read_text()
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.1)
        yield base
        children = psutil.Process(server.pid).children(recursive=True)
        server.send_signal(signal.SIGINT)
        server.wait(30)
        assert not psutil.wait_procs(children, 30)[1]
        assert "Traceback" not in log.read_text()
        assert "penguin" not in log.read_text()
    finally:
        server.kill()
        server.wait(30)


def test_workers_answer_while_a_run_writes_and_soon_see_what_it_wrote(home):
    failed, slowest, ended = [], [0.0], threading.Event()

    def found(client) -> set[str]:
        before = time.monotonic()
        answer = client.get("/api/v1/search", params={"q": "rainfall at stations"})
        slowest[0] = max(slowest[0], time.monotonic() - before)
        if answer.status_code != 200:
            failed.append(answer.text)
        return {one["card"]["table_id"] for one in answer.json().get("hits", ())}

    def ask(base):
        with httpx.Client(base_url=base, timeout=60) as client:
            while not ended.is_set():
                found(client)

    with serving(home, "--workers", 2) as base:
        askers = [threading.Thread(target=ask, args=(base,)) for _ in range(4)]
        for one in askers:
            one.start()
        rain = home.parent / "lake" / "rainfall.csv"
        rain.write_text("station,rainfall\nKing,1.5\nMoss,2.5\n")
        run(home, "index")
        time.sleep(SOON - 0.5)
        seen = []
        for _ in range(8):  # a connection each, so that all workers are asked
            with httpx.Client(base_url=base, timeout=60) as client:
                seen.append("lake/rainfall" in found(client))
        ended.set()
        for one in askers:
            one.join()
        assert all(seen)
        assert failed == []
        assert slowest[0] < 25  # and so for no writer, which the state waits for up to 30 s
        figures = httpx.get(f"{base}/metrics").text
        assert 'route="/api/v1/search",status="200"' in figures


def test_a_key_that_was_revoked_is_refused_soon(home):
    key = run(home, "keys", "create", "ana", "--reader", "finance")
    mine = {"Authorization": f"Bearer {key}"}
    with serving(home) as base, httpx.Client(base_url=base, timeout=60) as client:
        path = "/api/v1/search?q=species"
        assert client.get(path).status_code == 401
        assert client.get(path, headers=mine).status_code == 200
        run(home, "keys", "revoke", "ana")
        time.sleep(SOON)
        assert client.get(path, headers=mine).status_code == 401


def test_nobody_is_served_beyond_this_machine_without_proof(home):
    refused = command(home, "serve", "--host", "0.0.0.0", "--port", 1)
    done = subprocess.run(refused, capture_output=True, text=True, timeout=LONGEST, check=False)
    assert done.returncode == 1
    assert "keys create" in done.stderr
    assert os.linesep not in done.stderr.strip()


@pytest.mark.parametrize("lost", ["state.db", "state.db*", "s*"])
def test_nobody_is_served_without_proof_whose_state_is_gone(home, lost):
    run(home, "keys", "create", "ana")
    run(home, "index")  # which backs the state up
    for one in home.glob(lost):
        one.unlink()
    (home / "serve.log").unlink(missing_ok=True)
    refused = command(home, "serve", "--port", 1)
    done = subprocess.run(refused, capture_output=True, text=True, timeout=LONGEST, check=False)
    assert done.returncode == 1
    assert "restore" in done.stderr or "There is no state in" in done.stderr


PASSED_ON = (
    *("X-Forwarded-For: 10.0.0.7", "X-Forwarded-Host: data.example.com", "X-Real-IP: 10.0.0.7"),
    *("Via: 1.1 proxy", "Forwarded: for=10.0.0.7", "CF-Connecting-IP: 10.0.0.7"),
    *("True-Client-IP: 10.0.0.7", "HTTP/1.0"),
)


def test_a_proxy_that_rewrites_host_is_not_who_started_the_server(home):
    call = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'

    def asked(base, header, method, path, body=b"") -> int:
        """The status of the answer to a request as nginx passes it on."""
        protocol, more = (header, "") if header.startswith("HTTP/") else ("HTTP/1.1", header)
        lines = [f"{method} {path} {protocol}", f"Host: {base.partition('//')[2]}", more]
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
        lines += ["Accept: application/json, text/event-stream", "Connection: close"]
        head = "\r\n".join(filter(None, lines)).encode()
        port = int(base.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=LONGEST) as connection:
            connection.sendall(head + b"\r\n\r\n" + body)
            return int(connection.makefile("rb").readline().split()[1])

    with serving(home) as base:
        for request in (
            *(("GET", "/"), ("GET", "/answer?q=species"), ("GET", "/api/v1/search?q=species")),
            ("POST", "/mcp", call),
        ):
            assert asked(base, "", *request) == 200
            assert {asked(base, one, *request) for one in PASSED_ON} == {421}
