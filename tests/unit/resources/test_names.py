"""Names of one deployment are nobody else's."""

import pytest

from pneuma_assets.core.config.load import load_deployment
from resources.names import Names


@pytest.mark.parametrize(
    ("file", "key", "job"),
    [
        ("sources: []", "pneuma/search_index", "pneuma_index_tables"),
        ("name: sales", "pneuma/sales/search_index", "pneuma_sales_index_tables"),
        ("dagster: {key_prefix: team/a-b.c}", "team/a-b.c/search_index", "team_a_b_c_index_tables"),
        ("{name: sales, dagster: {key_prefix: x}}", "x/search_index", "x_index_tables"),
        ("dagster: {key_prefix: 2026/a}", "2026/a/search_index", "_2026_a_index_tables"),
    ],
)
def test_names_begin_with_the_prefix(tmp_path, file, key, job):
    (tmp_path / "pneuma.yaml").write_text(file)
    names = Names.of(load_deployment(tmp_path / "pneuma.yaml", environ={}).deployment)
    assert names.key("search_index").to_user_string() == key
    assert names("index_tables") == job
    assert names.resource("pneuma_index_tables") == job
