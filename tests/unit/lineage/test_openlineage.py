"""Events that the standard's own library writes are read, and those of any other shape end."""

import json
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st
from openlineage.client import facet_v2
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.serde import Serde
from openlineage.client.uuid import generate_new_uuid

from pneuma_assets.core.lineage.external import fields_of, text_about
from pneuma_assets.core.lineage.openlineage import read_events

AT = "postgres://db.example.com:5432"


def event(state: RunState = RunState.COMPLETE) -> dict:
    column = facet_v2.column_lineage_dataset
    facets = {
        "columnLineage": column.ColumnLineageDatasetFacet(
            fields={"total": column.Fields([column.InputField(AT, "shop.public.orders", "amount")])}
        ),
        "documentation": facet_v2.documentation_dataset.DocumentationDatasetFacet("Money."),
        "schema": facet_v2.schema_dataset.SchemaDatasetFacet(
            [facet_v2.schema_dataset.SchemaDatasetFacetFields("total", "float", "In euros.")]
        ),
    }
    written = RunEvent(
        eventType=state,
        eventTime=datetime.now(UTC).isoformat(),
        run=Run(str(generate_new_uuid())),
        job=Job("airflow", "nightly"),
        inputs=[InputDataset(AT, "shop.public.orders"), InputDataset("s3://lake", "raw/a.csv")],
        outputs=[OutputDataset(AT, "shop.public.revenue", facets=facets)],
    )
    return json.loads(Serde.to_json(written))


def test_a_run_that_ended_tells_what_it_read_and_wrote():
    (table,) = read_events([event()]).tables
    assert str(table.name) == "shop.public.revenue"
    assert [(str(one.name), one.uri) for one in table.upstream] == [
        ("shop.public.orders", f"{AT}/shop.public.orders"),
        ("", "s3://lake/raw/a.csv"),
    ]
    ((reference, column),) = table.column_sources["total"]
    assert (str(reference.name), column) == ("shop.public.orders", "amount")
    assert text_about(fields_of(table)).splitlines() == ["Money.", "total: In euros."]


def test_a_run_that_failed_tells_nothing():
    assert not read_events([event(RunState.FAIL), event(RunState.START)]).tables


LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
KEYS = st.sampled_from(
    ["inputs", "outputs", "name", "namespace", "facets", "fields", "columnLineage", "schema"]
)
ANY = st.recursive(
    LEAVES, lambda one: st.lists(one, max_size=3) | st.dictionaries(KEYS, one, max_size=6)
)


@given(st.lists(ANY, max_size=4))
def test_no_json_of_any_shape_raises(events):
    for table in read_events(events).tables:
        text_about(fields_of(table))
