"""Sending what changed of lineage to whoever reads OpenLineage, at the end of a run.

Where it goes, and how often it is tried, is openlineage-python's own configuration: a file, an HTTP
endpoint, Kafka. What was sent of each table is kept, so that a run sends what changed, and after a
failure what was not sent.
"""

import logging
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pneuma_assets.core.errors import ConfigError, PneumaError, SourceError
from pneuma_assets.core.extras import extra_for
from pneuma_assets.core.progress import report
from pneuma_assets.core.service.emit_secrets import masked
from pneuma_assets.core.service.openlineage import (
    dataset_of,
    edges_by_table,
    event_of,
)
from pneuma_assets.core.tables import Problem, content_hash
from pneuma_assets.core.text.safe import one_line

if TYPE_CHECKING:
    from openlineage.client import OpenLineageClient

    from pneuma_assets.core.config.deployment import Deployment
    from pneuma_assets.core.config.sources import TableAddress
    from pneuma_assets.core.lineage.edges import Edge
    from pneuma_assets.core.store import Store

logger = logging.getLogger(__name__)

SECONDS = 60.0
"""What one run takes for sending; what is left is sent by the next."""

MOST_BYTES = 1_000_000
"""Of the configuration's file."""

STAGE = "lineage sent"
_SUBJECT = "lineage.emit"


def send_lineage(store: "Store", deployment: "Deployment") -> int:
    """Send the lineage of each table of which it is another than was sent; returns of how many.

    Whatever goes wrong is a warning and a problem, and raises nothing: tables are indexed by then.

    Args:
        store: Where edges are kept, and what was sent of them.
        deployment: Says where to; nothing is sent where it does not.
    """
    file = deployment.lineage.emit
    if file is None:
        if any(problem.stage == STAGE for problem in store.problems.all()):
            store.problems.record(_SUBJECT, STAGE, [])
        return 0
    sent: dict[str, str] = {}
    configuration: dict[str, Any] = {}
    causes: list[str] = []
    try:
        _send(store, deployment, file, configuration, sent)
    except PneumaError as error:
        causes.append(str(error))
    except Exception as error:  # noqa: BLE001 (transports are plug-ins, and raise what they like)
        text = masked(str(error), configuration, os.environ)
        why = f"{type(error).__name__}: {one_line(text, 300)}"
        causes.append(f"lineage is not sent ({why}); check {file}, and that its receiver runs")
    store.edges.mark_sent(sent)
    store.problems.record(_SUBJECT, STAGE, [Problem(_SUBJECT, STAGE, one) for one in causes])
    for cause in causes:
        logger.warning("%s", cause)
    return len(sent)


def _send(
    store: "Store",
    deployment: "Deployment",
    file: Path,
    configuration: dict[str, Any],
    sent: dict[str, str],
) -> None:
    """Send what changed, and note in `configuration` what the file holds, in `sent` what went."""
    addresses, above = edges_by_table(store, deployment)
    before = store.edges.sent()
    wanted = {i: _digest(i, edges, addresses) for i, edges in above.items()}
    # Of a table that is built from nothing any more, that is sent, too.
    bare = {i: _digest(i, (), addresses) for i in before if i in addresses and i not in above}
    changed = {i: one for i, one in sorted({**wanted, **bare}.items()) if before.get(i) != one}
    store.edges.mark_sent({}, [i for i in before if i not in addresses])
    if not changed:
        return
    configuration.update(_configuration(file))
    client, ends = _client(configuration), time.monotonic() + SECONDS
    try:
        for done, (table_id, digest) in enumerate(changed.items(), 1):
            if time.monotonic() > ends:
                left = len(changed) - done + 1
                logger.warning("Lineage of %d tables is left for the next run to send", left)
                break
            client.emit(event_of(deployment, table_id, above.get(table_id, ()), addresses))
            sent[table_id] = digest
            report("sending lineage", done, len(changed))
    finally:
        all_gone = client.close(max(ends - time.monotonic(), 1.0))
    # Some transports send later: they raise nothing, and tell how many failed, not which.
    failed = getattr(client.transport, "get_stats", dict[str, int])().get("failed", 0)
    if failed or not all_gone:
        sent.clear()
        raise SourceError(
            f"lineage is not sent ({failed or 'some'} events failed); check {file}, and that its "
            "receiver runs"
        )


def _digest(table_id: str, edges: "Sequence[Edge]", addresses: "Mapping[str, TableAddress]") -> str:
    parts = [*dataset_of(addresses[table_id], table_id)]
    for edge in edges:
        parts += [*dataset_of(addresses[edge.upstream], edge.upstream), repr(edge.columns)]
    return content_hash(*parts)


def _client(configuration: dict[str, Any]) -> "OpenLineageClient":
    with extra_for("sending OpenLineage events", ConfigError):
        from openlineage.client import OpenLineageClient
    return OpenLineageClient(config=configuration)


def _configuration(file: Path) -> dict[str, Any]:
    import yaml

    try:
        with file.open("rb") as opened:
            text = opened.read(MOST_BYTES)
        found = yaml.safe_load(text)
    except (OSError, RecursionError) as error:
        why = one_line(str(error), 300)
        raise ConfigError(f"lineage.emit: {file} cannot be read ({why}); fix it") from error
    except yaml.YAMLError as error:  # whose text quotes the line, which may hold a key
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark is not None else ""
        raise ConfigError(f"lineage.emit: {file}{where}: is not YAML; fix it") from None
    transport = found.get("transport") if isinstance(found, dict) else None
    if not isinstance(transport, dict) or not transport.get("type"):
        raise ConfigError(
            f"lineage.emit: {file} names no transport; write it as openlineage-python has it, "
            "such as transport: {type: http, url: 'http://localhost:5000'}"
        )
    return {**found}
