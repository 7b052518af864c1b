"""The edges between tables as OpenLineage events, written to a file or sent at the end of a run.

Where they are sent, and how often that is tried, is openlineage-python's own configuration: a file,
an HTTP endpoint, Kafka. What was sent of each table is stored, so that a run sends what changed,
and after a failure what was not sent. Transports, and the libraries below them, quote in their
errors what they could not send, so keys, passwords and headers are masked in these.
"""

import json
import logging
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus, urlsplit

from pneuma_assets.core.errors import ConfigError, PneumaError, SourceError
from pneuma_assets.core.extras import extra_for
from pneuma_assets.core.progress import report
from pneuma_assets.core.store.manifest_write import address_of
from pneuma_assets.core.tables import Problem, content_hash
from pneuma_assets.core.text.safe import one_line

if TYPE_CHECKING:
    from openlineage.client import OpenLineageClient
    from openlineage.client.event_v2 import JobEvent

    from pneuma_assets.core.config.deployment import Deployment
    from pneuma_assets.core.config.sources import TableAddress
    from pneuma_assets.core.lineage.edges import Edge
    from pneuma_assets.core.store import Store

PRODUCER = "https://pypi.org/project/pneuma-assets"


def openlineage_events(
    store: "Store", deployment: "Deployment", table_id: str | None = None
) -> Iterator[str]:
    """Yield one event as JSON for each table that is built from others: a job that makes it.

    Args:
        store: Where the edges are kept.
        deployment: Names the sources, by which tables have their names elsewhere.
        table_id: Of this table alone; None: of all.

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


logger = logging.getLogger(__name__)

SECONDS = 60.0
"""What one run takes for sending; what is left is sent by the next."""

MOST_BYTES = 1_000_000
"""Of the configuration's file."""

STAGE = "lineage sent"
_SUBJECT = "lineage.emit"


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


_SECRET = re.compile("auth|key|passw|pwd|secret|token|header|credential|sasl|jaas", re.IGNORECASE)
_SIGNS_IN = re.compile(r"://([^/?#\s]+)@")
_SHORTEST = 4
"""Characters of a secret; fewer are parts of any word."""
_SHORTEST_NUMBER = 5
"""Digits of a number that may be a key; shorter ones are seconds and ports."""
_DEEPEST = 20


def masked(text: str, configuration: object, environ: Mapping[str, str]) -> str:
    """Return a text with `***` instead of every secret of a configuration.

    Args:
        text: That of an error, not cut yet: half a key would not be known as one.
        configuration: What `openlineage.yml` holds.
        environ: Its variables `OPENLINEAGE…` come before that file.
    """
    variables = {k: _parsed(v) for k, v in environ.items() if k.upper().startswith("OPENLINEAGE")}
    forms = {
        form
        for secret in (*_secrets(configuration), *_secrets(variables))
        for form in _forms(secret)
    }
    for form in sorted(forms, key=len, reverse=True):  # one may be part of another
        text = text.replace(form, "***")
    return text


def _secrets(value: object, *, is_secret: bool = False, depth: int = 0) -> Iterator[str]:
    """Yield every string below a key that sounds secret, and who signs in by an address."""
    if depth > _DEEPEST:
        return
    if isinstance(value, Mapping):
        for key, one in value.items():
            # The kind of authentication is none, and the words of an error that explains it.
            below = key != "type" and (is_secret or bool(_SECRET.search(str(key))))
            yield from _secrets(one, is_secret=below, depth=depth + 1)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _secrets(one, is_secret=is_secret, depth=depth + 1)
    elif isinstance(value, str):
        yield from [value] if is_secret else _SIGNS_IN.findall(value)
    elif is_secret and len(str(value)) >= _SHORTEST_NUMBER and not isinstance(value, bool):
        yield str(value)


def _forms(secret: str) -> set[str]:
    """Return how a secret is spelled in an error: as it is, as Python, JSON or a URL has it."""
    plain = {one for one in (secret, *secret.split()) if len(one) >= _SHORTEST}
    spelled = {repr(one)[1:-1] for one in plain} | {json.dumps(one)[1:-1] for one in plain}
    quoted = {quote(one, safe="") for one in plain} | {quote_plus(one) for one in plain}
    return plain | spelled | quoted


def _parsed(value: str) -> object:
    """Return what a variable holds: JSON, where one stands for a whole branch of the file."""
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value
