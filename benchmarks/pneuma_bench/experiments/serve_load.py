"""Many askers at one server over HTTP, while the index is replaced underneath.

    python -m pneuma_bench.experiments.serve_load [--askers 50] [--seconds 300] [--blocks 30000]
        [--workers 1] [--pause 0]

Makes an index of random texts and vectors with a state, starts `pneuma-assets serve` on it, and has
each asker ask one question after another on a connection of its own. Meanwhile a process replaces
50 tables every five seconds and once, in the middle, the whole index. Prints what the same
questions take from Python one after the other, requests a second, milliseconds a request (median,
95 %), errors, and the memory of all processes of the server at the start and each minute.
"""

import argparse
import asyncio
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import httpx
import numpy as np
import psutil

from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.core.index.base import IndexFilter, SearchIndex, TableContents
from pneuma_assets.core.index.registry import open_index, reindex
from pneuma_assets.core.models.encoder.encoder import open_encoder
from pneuma_assets.core.store.schema import insert_rows, tables
from pneuma_assets.core.store.store import Store
from pneuma_assets.core.tables import Block, DocumentKind, EmbeddedBlock, TableFacts, TableTerms
from pneuma_assets.workspace import open_workspace

_DIMENSION, _BLOCKS, _WORDS = 384, 3, 20_000
_FILE = "home: home\nweb: {requests_per_minute: 1000000}\n"
_WORD = np.array([f"w{number:x}" for number in range(_WORDS)])


def _id(number: int) -> str:
    return f"w/s{number % 50}/t{number}"


def _contents(number: int, chance: np.random.Generator) -> TableContents:
    def text(length: int) -> str:
        return " ".join(_WORD[np.minimum(chance.zipf(1.3, length), _WORDS) - 1])

    drawn = chance.standard_normal((_BLOCKS, _DIMENSION)).astype(np.float32)
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    name = _id(number)
    blocks = [EmbeddedBlock(Block(name, DocumentKind.CONTEXT, text(80)), one) for one in drawn]
    rows = tuple((text(5), text(5)) for _ in range(10))
    evidence = TableTerms(tuple(name.split("/")), ("name", "remark"), rows=rows)
    return TableContents(blocks, evidence, TableFacts(None))


def _open(file: Path) -> SearchIndex:
    loaded = load_deployment(config=file)
    encoder = open_encoder(loaded.deployment.encoder)
    config, home = loaded.deployment.index, loaded.home
    return open_index(config, home, encoder.name, encoder.dimension, building=True)


def make(folder: Path, number: int) -> Path:
    """Write a deployment of so many tables, and return its file."""
    file, chance = folder / "pneuma.yaml", np.random.default_rng(7)
    file.write_text(_FILE)
    (folder / "home").mkdir()
    index = _open(file)
    for first in range(0, number, 500):
        some = range(first, min(first + 500, number))
        index.replace_tables({_id(one): _contents(one, chance) for one in some})
    index.close()
    rows = [
        {
            **{"table_id": _id(one), "source": "w", "location": _id(one), "format": "csv"},
            **{"version": "1", "context_locations": "[]", "state": "indexed"},
            **{"row_count": 10, "column_count": 2, "updated_at": time.time() - 3600 * one},
        }
        for one in range(number)
    ]
    with Store(folder / "home" / "state.db") as store, store._db.write() as connection:
        insert_rows(connection, tables, rows)
    return file


def replace(file: Path, number: int, seconds: float) -> None:
    """Replace tables every five seconds, and the whole index once, until the time is over."""
    chance, begun, done = np.random.default_rng(8), time.monotonic(), False
    while time.monotonic() - begun < seconds:
        index = _open(file)
        some = chance.integers(0, number, 50)
        index.replace_tables({_id(int(one)): _contents(int(one), chance) for one in some})
        index.close()
        if not done and time.monotonic() - begun > seconds / 2:
            loaded, done = load_deployment(config=file), True
            reindex(loaded.deployment.index, loaded.home)
        time.sleep(5)


async def _asker(
    port: int, questions: list[str], until: float, pause: float, spent: list[float], bad: Counter
) -> None:
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
        while time.monotonic() < until:
            before = time.perf_counter()
            try:
                asked = {"q": random.choice(questions)}
                answer = await client.get("/api/v1/search", params=asked)
                if answer.status_code != 200 or not answer.json()["hits"]:
                    bad[str(answer.status_code)] += 1
            except httpx.HTTPError as error:
                bad[type(error).__name__] += 1
            spent.append(time.perf_counter() - before)
            await asyncio.sleep(pause)


async def _watched(process: psutil.Process, until: float) -> None:
    """Print the memory each minute."""
    while time.monotonic() < until:
        print(f"memory: {_memory(process):.0f} MB", flush=True)
        await asyncio.sleep(min(60, max(0, until - time.monotonic())))
    print(f"memory: {_memory(process):.0f} MB", flush=True)


async def _load(
    port: int, questions: list[str], options: argparse.Namespace, process: psutil.Process
) -> None:
    spent: list[float] = []
    bad: Counter = Counter()
    until = time.monotonic() + options.seconds
    every = (
        _asker(port, questions, until, options.pause, spent, bad) for _ in range(options.askers)
    )
    await asyncio.gather(*every, _watched(process, until))
    median, most = (1000 * np.percentile(spent, at) for at in (50, 95))
    print(
        f"HTTP, {options.askers} askers, {options.workers} workers: {len(spent)} requests, "
        f"{len(spent) / options.seconds:.1f}/s, median {median:.0f} ms, 95 % {most:.0f} ms, "
        f"errors {dict(bad) or 0}",
        flush=True,
    )


def _memory(process: psutil.Process) -> float:
    every = [process, *process.children(recursive=True)]
    return sum(one.memory_info().rss for one in every) / 1e6


def _from_python(file: Path, questions: list[str]) -> float:
    """Return the seconds that a question takes from Python, one after the other."""
    with open_workspace(config=file) as workspace:
        workspace.search(questions[0], where=IndexFilter())
        before = time.perf_counter()
        for question in questions:
            workspace.search(question)
        return (time.perf_counter() - before) / len(questions)


def _start(file: Path, workers: int) -> tuple[subprocess.Popen, int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "pneuma_assets.cli", "--config", str(file), "serve"]
    command += ["--port", str(port), "--workers", str(workers)]
    server = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 120
    while True:
        try:
            if httpx.get(f"http://127.0.0.1:{port}/readyz", timeout=60).status_code == 200:
                return server, port
        except httpx.HTTPError:
            pass
        if time.monotonic() > until or server.poll() is not None:
            raise SystemExit("the server does not start")
        time.sleep(0.2)


def main() -> None:
    """Make, serve and ask."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("askers", 50), ("seconds", 300), ("blocks", 30_000), ("workers", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--pause", type=float, default=0.0, help="seconds between two questions")
    parser.add_argument("--replace", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    number = options.blocks // _BLOCKS
    if options.replace:
        replace(options.replace, number, options.seconds)
        return
    random.seed(7)
    questions = [" ".join(random.choices(_WORD[20:3000], k=6)) for _ in range(200)]
    with tempfile.TemporaryDirectory() as folder:
        file = make(Path(folder), number)
        alone = _from_python(file, questions)
        print(f"Python, one after the other: {1 / alone:.1f}/s, {1000 * alone:.0f} ms", flush=True)
        server, port = _start(file, options.workers)
        again = [sys.executable, "-m", "pneuma_bench.experiments.serve_load", "--replace", file]
        given = ["--seconds", options.seconds, "--blocks", options.blocks]
        try:
            for question in questions[:20]:
                asked = {"q": question}
                httpx.get(f"http://127.0.0.1:{port}/api/v1/search", params=asked, timeout=120)
            writer = subprocess.Popen(list(map(str, [*again, *given])), env=os.environ)
            asyncio.run(_load(port, questions, options, psutil.Process(server.pid)))
            assert writer.wait(120) == 0, "the index was not replaced"
        finally:
            server.terminate()
            server.wait(30)


if __name__ == "__main__":
    main()
