"""The edges between tables as OpenLineage events, written to a file or sent at the end of a run.

Where they are sent, and how often that is tried, is openlineage-python's own configuration: a file,
an HTTP endpoint, Kafka. What was sent of each table is stored, so that a run sends what changed,
and after a failure what was not sent. Transports, and the libraries below them, quote in their
errors what they could not send and how they sign in, so none of their words is shown.
"""

import errno
import logging
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pneuma_assets.core.errors import ConfigError, PneumaError, SourceError
from pneuma_assets.core.extras import extra_for
from pneuma_assets.core.progress import report
from pneuma_assets.core.store.dagster_manifest_write import address_of
from pneuma_assets.core.tables import Problem, content_hash
from pneuma_assets.core.text.safe import one_line

if TYPE_CHECKING:
    from openlineage.client.event_v2 import JobEvent

    from pneuma_assets.core.config.deployment import Deployment
    from pneuma_assets.core.config.sources import TableAddress
    from pneuma_assets.core.lineage.edges import Edge
    from pneuma_assets.core.store import Store

logger = logging.getLogger(__name__)

PRODUCER = "https://pypi.org/project/pneuma-assets"

SECONDS = 60.0
"""What one run takes for sending; what is left is sent by the next."""

MOST_BYTES = 1_000_000
"""Of the configuration's file."""

STAGE = "lineage sent"
_SUBJECT = "lineage.emit"


def openlineage_events(
    store: "Store", deployment: "Deployment", table_id: str | None = None
) -> Iterator[str]:
    """Yield one event as JSON for each table that is built from others: a job that makes it.

    Raises:
        ConfigError: The package that writes such events is not installed.
    """
    with extra_for("writing OpenLineage events", ConfigError):
        from openlineage.client.serde import Serde
    addresses, above = edges_by_table(store, deployment)
    for downstream, edges in sorted(above.items()):
        if table_id in (None, downstream):
            yield Serde.to_json(event_of(deployment, downstream, edges, addresses))


def edges_by_table(
    store: "Store", deployment: "Deployment"
) -> "tuple[dict[str, TableAddress], dict[str, list[Edge]]]":
    """Return how tables are known elsewhere, and the edges by which data comes to each."""
    sources = {source.name: source for source in deployment.sources}
    records = [record for record in store.tables.records() if record.source in sources]
    addresses = {r.table_id: address_of(sources[r.source], r) for r in records}
    above: dict[str, list[Edge]] = {}
    for edge in store.edges.all():
        if edge.derives and edge.upstream in addresses and edge.downstream in addresses:
            above.setdefault(edge.downstream, []).append(edge)
    return addresses, above


def event_of(
    deployment: "Deployment",
    table_id: str,
    edges: "Sequence[Edge]",
    addresses: "Mapping[str, TableAddress]",
) -> "JobEvent":
    """Return the event of the job that makes a table; without edges, of one that reads nothing."""
    from openlineage.client import event_v2

    inputs = dict.fromkeys(edge.upstream for edge in edges)
    return event_v2.JobEvent(
        eventTime=datetime.now(UTC).isoformat(),
        producer=PRODUCER,
        job=event_v2.Job(deployment.key_prefix, table_id),
        inputs=[event_v2.InputDataset(*dataset_of(addresses[one], one)) for one in inputs],
        outputs=[
            event_v2.OutputDataset(
                *dataset_of(addresses[table_id], table_id), facets=_facets(edges, addresses)
            )
        ],
    )


def dataset_of(address: "TableAddress", table_id: str) -> tuple[str, str]:
    """Return namespace and name of a table, as the standard has them for its kind of place.

    See https://openlineage.io/docs/spec/naming. A database file is the namespace of its tables.
    """
    if address.uri is None:
        return f"pneuma:{table_id.split('/', 1)[0]}", address.name
    parts = urlsplit(address.uri)
    if parts.fragment:
        return address.uri.partition("#")[0], address.name
    if parts.scheme == "file":
        return "file", parts.path
    if parts.scheme in ("s3", "gs", "abfss", "wasbs"):
        return f"{parts.scheme}://{parts.netloc}", parts.path.lstrip("/")
    return f"{parts.scheme}://{parts.netloc}", address.name


def _facets(edges: "Sequence[Edge]", addresses: "Mapping[str, TableAddress]") -> dict[str, Any]:
    from openlineage.client.facet_v2 import column_lineage_dataset as written

    fields: dict[str, dict[tuple[str, str, str], None]] = {}  # several may say the same
    for edge in edges:
        dataset = dataset_of(addresses[edge.upstream], edge.upstream)
        for column, own in edge.columns:
            fields.setdefault(own, {})[*dataset, column] = None
    if not fields:
        return {}
    made = {
        own: written.Fields([written.InputField(*one) for one in inputs])
        for own, inputs in fields.items()
    }
    return {"columnLineage": written.ColumnLineageDatasetFacet(fields=made)}


def emit_lineage(store: "Store", deployment: "Deployment") -> int:
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
    causes: list[str] = []
    try:
        _send(store, deployment, file, sent)
    except PneumaError as error:
        causes.append(str(error))
    except Exception as error:  # noqa: BLE001 (transports are plug-ins, and raise what they like)
        causes.append(
            f"lineage is not sent ({_reason(error)}); check {file}, and that its receiver runs"
        )
    store.edges.mark_sent(sent)
    store.problems.record(_SUBJECT, STAGE, [Problem(_SUBJECT, STAGE, one) for one in causes])
    for cause in causes:
        logger.warning("%s", cause)
    return len(sent)


def _reason(error: BaseException) -> str:
    """Return which errors it was, the answer's status and what the system says: nobody's words."""
    names = [_name(error)]
    while (below := error.__cause__ or error.__context__) is not None:
        error = below
    return ", ".join(dict.fromkeys([*names, _name(error)]))


def _name(error: BaseException) -> str:
    status = getattr(getattr(error, "response", None), "status_code", None)
    if isinstance(status, int):
        return f"{type(error).__name__} {status}"
    code = getattr(error, "errno", None)
    told = f": {os.strerror(code)}" if isinstance(code, int) and code in errno.errorcode else ""
    return f"{type(error).__name__}{told}"


def _send(store: "Store", deployment: "Deployment", file: Path, sent: dict[str, str]) -> None:
    """Send what changed, and note in `sent` what went."""
    addresses, above = edges_by_table(store, deployment)
    before = store.edges.sent()
    wanted = {i: _digest(i, edges, addresses) for i, edges in above.items()}
    # Of a table that is built from nothing any more, that is sent, too.
    bare = {i: _digest(i, (), addresses) for i in before if i in addresses and i not in above}
    changed = {i: one for i, one in sorted({**wanted, **bare}.items()) if before.get(i) != one}
    store.edges.mark_sent({}, [i for i in before if i not in addresses])
    if not changed:
        return
    with extra_for("sending OpenLineage events", ConfigError):
        from openlineage.client import OpenLineageClient
    client = OpenLineageClient(config=_configuration(file))
    ends = time.monotonic() + SECONDS
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
