"""The curve over the size of the haystack, with the real encoder and processes of its own."""

import json

import pytest
from typer.testing import CliRunner

from benchmarks.tests.support.bench_sets import write_small_set
from pneuma_bench.cli.app import app

pytestmark = pytest.mark.integration


def test_a_size_is_measured_once(tmp_path, monkeypatch):
    monkeypatch.setenv("PNEUMA_HOME", str(tmp_path / "home"))
    tables, queries = write_small_set(tmp_path)
    called = ["target", "needle", "--tables", tables, "--queries", queries, "--keep",
              tmp_path / "kept", "--questions", "3", "--sizes", "12", "--plot",
              tmp_path / "c.svg", "--json"]  # fmt: skip
    first, again = (CliRunner().invoke(app, [*map(str, called)]) for _ in range(2))
    assert first.exit_code == 0, first.output
    assert json.loads(first.stdout) == json.loads(again.stdout)
    (point,) = json.loads(first.stdout)
    assert point["hit_1_interval"] == [1, 1]
    assert (point["tables"], point["real"], point["hit_1"]) == (12, 6, 1)
    assert 0 < point["memory_to_ask"] < point["memory_to_index"] * 10
    assert (tmp_path / "c.svg").read_text().count("index on disk") == 1
