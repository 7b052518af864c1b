"""`pneuma-bench run` finds over Elasticsearch what it finds over the embedded engine."""

import json

import pytest
import yaml
from typer.testing import CliRunner

from benchmarks.tests.support.bench_sets import write_small_set
from pneuma_bench.cli.app import app
from tests.support.elasticsearch_server import client_of

pytestmark = pytest.mark.integration


def test_both_engines_are_measured_alike(tmp_path, elasticsearch_url, index_name):
    tables, queries = write_small_set(tmp_path)
    server = {"urls": [elasticsearch_url], "name": index_name, "replicas": 0}
    file = tmp_path / "pneuma.yaml"
    file.write_text(yaml.safe_dump({"index": {"elasticsearch": server}}))
    figures = []
    for engine in ("embedded", "elasticsearch"):
        options = ["--config", file, "--tables", tables, "--queries", queries]
        asked = ["run", *options, "--set", f"index.engine={engine}", "--set", "alpha=0.5", "--json"]
        result = CliRunner().invoke(app, [*map(str, asked)])
        assert result.exit_code == 0, result.output
        found = json.loads(result.stdout)
        assert found["engine"] == engine
        figures.append({name: found[name] for name in found["intervals"]})
    assert figures[0] == pytest.approx(figures[1], nan_ok=True)
    with client_of(elasticsearch_url) as client:
        names = [*client.indices.get(index=f"{index_name}-*")]
    assert names
    assert all(name.startswith(f"{index_name}-bench-") for name in names)
