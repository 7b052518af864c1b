"""Print what the pages of many tables cost Dagster: loading, the snapshot, and the web server.

Beside each figure stands that of a code location with as many plain specs, which say nothing.

    python -m pneuma_bench.experiments.pipeline.loading --tables 10000 --served
"""

import argparse
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.core.lineage.edges import Edge, EdgeKind
from pneuma_assets.core.service.state import open_store
from pneuma_assets.core.store.edges import Origin
from pneuma_assets.core.store.manifest_write import keep_manifest
from pneuma_assets.core.store.queue import Finished
from pneuma_assets.core.tables import Column, Table, TableRef

COLUMNS = 12
COMMENT = "Orders as the shop took them, a line an order, corrected by hand at the end of the day."

PLAIN = """
import dagster as dg

defs = dg.Definitions(
    assets=[dg.AssetSpec(["nobody", "lake", f"table{n}"]) for n in range(%d)]
)
"""

LOADED = """
import sys, time
began, cpu = time.perf_counter(), time.process_time()
import dagster
from pneuma_assets import definitions
imported, imported_cpu = time.perf_counter(), time.process_time()
if sys.argv[1] == "ours":
    defs = definitions.build_definitions()
else:
    sys.path.insert(0, sys.argv[2])
    from plain import defs
repository = defs.get_repository_def()
repository.asset_graph.get_all_asset_keys()
loaded, loaded_cpu = time.perf_counter(), time.process_time()
from dagster._core.remote_representation.external_data import RepositorySnap
from dagster._serdes import serialize_value
snapshot = serialize_value(RepositorySnap.from_def(repository))
done, done_cpu = time.perf_counter(), time.process_time()
print(imported_cpu - cpu, loaded - imported, loaded_cpu - imported_cpu,
      done_cpu - loaded_cpu, len(snapshot), done_cpu - imported_cpu)
"""

NODES = "{assetNodes {assetKey {path} groupName description owners {__typename} kinds}}"
PAGE = """query P($k: AssetKeyInput!) {assetNodeOrError(assetKey: $k) {... on AssetNode {
 description groupName kinds metadataEntries {__typename label}
 assetMaterializations(limit: 1) {timestamp}}}}"""


def make(folder: Path, count: int, feeding: int) -> None:
    """Write the state as runs over so many tables, each built from some, would have left it."""
    source = {"name": "lake", "type": "folder", "path": str(folder / "lake")}
    (folder / "pneuma.yaml").write_text(json.dumps({"home": "home", "sources": [source]}))
    loaded = load_deployment(config=folder / "pneuma.yaml")
    columns = tuple(Column(f"column_{n}", "VARCHAR") for n in range(COLUMNS))
    refs = [
        TableRef(f"lake/area{n % 50}/table{n}", "lake", f"/lake/area{n % 50}/{n}.csv", "csv", "1")
        for n in range(count)
    ]
    with open_store(loaded, os.environ) as store:
        store.listings.sync("lake", refs)
        store.queue.claim("run", count, 3, ["lake"])
        tables = [Table(ref.table_id, columns, 100, ref.location, COMMENT) for ref in refs]
        store.queue.save_profiles("run", tables)
        store.queue.finish("run", [Finished(ref.table_id, "hash", 2) for ref in refs])
        edges = [
            Edge(above.table_id, ref.table_id, EdgeKind.VIEW)
            for n, ref in enumerate(refs)
            for above in refs[max(0, n - feeding) : n]
        ]
        store.edges.replace([Origin("views", "1", edges=tuple(edges))])
        mark = store.asset_keys.deployment()
        for ref in refs:
            store.asset_keys.record(f"pneuma/{ref.table_id}", ref.table_id, mark)
        cpu = time.process_time()
        keep_manifest(store, loaded.deployment)
        written = time.process_time() - cpu
        cpu = time.process_time()
        keep_manifest(store, loaded.deployment)
        asked = time.process_time() - cpu
    size = (loaded.home / "tables.manifest").stat().st_size
    print(f"manifest: written in {written:.2f} s CPU, {size / 1e6:.2f} MB; ", end="")
    print(f"asked whether it is current in {asked * 1000:.0f} ms CPU")


def load(folder: Path, whose: str, repeats: int) -> None:
    """Print what one code location costs in a process of its own, the median of some."""
    runs = []
    for _ in range(repeats):
        done = subprocess.run(
            [sys.executable, "-c", LOADED, whose, str(folder)],
            env={**os.environ, "PNEUMA_CONFIG": str(folder / "pneuma.yaml")},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        runs.append([float(one) for one in done.stdout.split()])
    imports, wall, cpu, snap, size, both = (
        statistics.median(one) for one in zip(*runs, strict=True)
    )
    print(
        f"{whose}: loaded in {wall:.2f} s ({cpu:.2f} s CPU, imports {imports:.2f} s before), "
        f"snapshot {size / 1e6:.1f} MB in {snap:.2f} s CPU, together {both:.2f} s CPU"
    )


def serve(folder: Path, whose: str, count: int) -> None:
    """Print how long a real web server takes for the catalogue and for the page of a table."""
    module = ["-m", "pneuma_assets.definitions"]
    key = ["pneuma", "lake", f"area{(count // 2) % 50}", f"table{count // 2}"]
    if whose != "ours":
        module = ["-f", str(folder / "plain.py")]
        key = ["nobody", "lake", f"table{count // 2}"]
    with served(folder, module) as (url, started):
        nodes = [ask(url, NODES) for _ in range(3)]
        pages = [ask(url, PAGE, {"k": {"path": key}}) for _ in range(5)]
    first, *later = [seconds for seconds, _ in nodes]
    size = len(nodes[0][1]) / 1e6
    print(
        f"{whose}: web server up in {started:.1f} s; catalogue {first:.2f} s, then "
        f"{min(later):.2f} s ({size:.1f} MB); a table's page "
        f"{statistics.median(seconds for seconds, _ in pages) * 1000:.0f} ms"
    )


@contextmanager
def served(folder: Path, module: list[str]) -> Iterator[tuple[str, float]]:
    """Run a web server; yield its address, and the seconds until it answered."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home = folder / "dagster"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    environ = {
        **os.environ,
        "PNEUMA_CONFIG": str(folder / "pneuma.yaml"),
        "DAGSTER_HOME": str(home),
        "DAGSTER_DISABLE_TELEMETRY": "1",
    }
    command = [sys.executable, "-m", "dagster_webserver", *module, "-p", str(port)]
    began = time.perf_counter()
    log = (folder / "webserver.log").open("wb")
    with log, subprocess.Popen(command, env=environ, stdout=log, stderr=log) as server:
        try:
            url = f"http://127.0.0.1:{port}/graphql"
            while True:
                try:
                    ask(url, "{version}")
                    break
                except OSError:
                    if server.poll() is not None:
                        raise SystemExit((folder / "webserver.log").read_text()) from None
                    time.sleep(0.2)
            yield url, time.perf_counter() - began
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(60)


def ask(url: str, query: str, variables: object = None) -> tuple[float, bytes]:
    """Return the seconds an answer took, and the answer."""
    body = json.dumps({"query": query, "variables": variables}).encode()
    request = urllib.request.Request(url, body, {"content-type": "application/json"})
    began = time.perf_counter()
    with urllib.request.urlopen(request, timeout=300) as reply:
        answer = reply.read()
    if b'"errors"' in answer[:200]:
        raise SystemExit(answer[:2000].decode())
    return time.perf_counter() - began, answer


def main() -> None:
    """Make a deployment, and print what it costs beside plain specs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=10_000)
    parser.add_argument("--feeding", type=int, default=2, help="tables each is built from")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--served", action="store_true", help="start real web servers, too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "plain.py").write_text(PLAIN % options.tables)
        make(folder, options.tables, options.feeding)
        for whose in ("ours", "plain"):
            load(folder, whose, options.repeats)
        for whose in ("ours", "plain") if options.served else ():
            serve(folder, whose, options.tables)


if __name__ == "__main__":
    main()
