"""The edges between tables as OpenLineage events, for catalogues that read these."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pneuma_assets.core.errors import ConfigError
from pneuma_assets.core.extras import extra_for
from pneuma_assets.core.store.manifest_write import address_of

if TYPE_CHECKING:
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
