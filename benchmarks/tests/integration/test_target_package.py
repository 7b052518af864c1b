"""The package's retriever, asked as the package asks it, speaks to a process of ours."""

import sys
import types
from pathlib import Path

import pytest

from benchmarks.tests.support.bench_sets import QUESTIONS, TABLES
from pneuma_bench.cli.app import app
from pneuma_bench.target import serving

CLIENT = Path(serving.__file__).with_name("client.py")
CALLED = [sys.executable, "-m", "pneuma_bench.cli"]

pytestmark = pytest.mark.integration


class _Result(types.SimpleNamespace):
    """Stands for the package's record of a result, which holds what it is given."""


class _Base:
    """Stands for the package's interface, which only keeps its argument."""

    def __init__(self, expected_corpus_format):
        self.expected_corpus_format = expected_corpus_format


@pytest.fixture
def retriever(monkeypatch, tmp_path):
    """The class of `client.py`, loaded over stand-ins for the two names it imports."""
    for name, attribute, value in (
        ("target_benchmark", "", None),
        ("target_benchmark.retrievers", "", None),
        ("target_benchmark.retrievers.AbsCustomEmbeddingRetriever",
         "AbsCustomEmbeddingRetriever", _Base),
        ("target_benchmark.retrievers.RetrieversDataModels", "RetrievalResultDataModel", _Result),
    ):  # fmt: skip
        module = types.ModuleType(name)
        if attribute:
            setattr(module, attribute, value)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setenv("PNEUMA_HOME", str(tmp_path / "home"))
    namespace = {"__name__": "pneuma_client"}
    exec(compile(CLIENT.read_text(), str(CLIENT), "exec"), namespace)  # what a user would import
    return namespace["PneumaRetriever"]


def batches(size=4):
    """The set's tables as the package gives them: lists by key; ids are numbers here."""
    tables = [[columns, *rows] for columns, rows in TABLES.values()]
    for start in range(0, len(tables), size):
        some = tables[start : start + size]
        yield {
            "table": some,
            "database_id": [7] * len(some),
            "table_id": [*range(start, start + len(some))],
            "context": [{"text": ""}] * len(some),
        }


def test_a_process_answers_with_the_ids_it_was_given(retriever, tmp_path):
    names = [*TABLES]
    with retriever(CALLED, ["--keep", str(tmp_path / "kept")]) as asked:
        asked.embed_corpus("small", batches())
        asked.embed_corpus("other", batches(size=1))
        queries = {"query_id": [*range(3)], "query": [*QUESTIONS][:3]}
        found = asked.retrieve_batch(queries, "small", top_k=2)
        alone = asked.retrieve(queries["query"][0], "other", 1)
        with pytest.raises(RuntimeError, match="k must be"):
            asked.retrieve("rivers", "small", 0)
        assert asked.retrieve("rivers", "small", 1)  # an error ends nothing
    assert [one.retrieval_results[0] for one in found] == [(7, at) for at in range(3)]
    assert [one.query_id for one in found] == [0, 1, 2]
    assert {len(one.retrieval_results) for one in found} == {2}
    assert alone == [(7, names.index("rivers"))]


def test_a_process_that_cannot_begin_is_told_of(retriever):
    with (
        retriever([sys.executable, "-c", "raise SystemExit(3)"]) as asked,
        pytest.raises((RuntimeError, BrokenPipeError)),
    ):
        asked.embed_corpus("small", batches())


def test_the_client_is_printed_as_it_is(capfdbinary):
    app(["target", "client"], standalone_mode=False)
    assert capfdbinary.readouterr().out == CLIENT.read_bytes()
