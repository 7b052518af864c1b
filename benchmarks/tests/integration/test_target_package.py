"""The package's retriever, asked as the package asks it, speaks to a process of ours.

With PNEUMA_TARGET_PYTHON, the python of an environment with `target_benchmark` 0.1.3, the package
itself runs its retrieval task, and both evaluations are compared.
"""

import json
import os
import subprocess
import sys
import types
from pathlib import Path

import pytest

from benchmarks.tests.support.bench_sets import QUESTIONS, SIDES, TABLES, small_set, write_small_set
from pneuma_assets.core.models.language.fake import FakeLanguageModel
from pneuma_bench.cli.app import app
from pneuma_bench.experiments.target import downstream
from pneuma_bench.experiments.target.__main__ import compare
from pneuma_bench.lab import Lab
from pneuma_bench.settings import setting_of
from pneuma_bench.target import prompts, serving
from pneuma_bench.target.downstream import TASKS
from pneuma_bench.target.running import Bounds, run_task
from tests.support.word_encoder import WordEncoder

PYTHON = os.environ.get("PNEUMA_TARGET_PYTHON")
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


@pytest.mark.skipif(PYTHON is None, reason="no PNEUMA_TARGET_PYTHON with target_benchmark")
@pytest.mark.parametrize("named", [False, True])
def test_the_package_and_we_agree(tmp_path, named, capsys):
    tables, queries = write_small_set(tmp_path)
    assert compare(PYTHON, tmp_path / "kept", "small", tables, queries, named)
    said = capsys.readouterr().out
    assert said.count("recall  ") >= 3
    assert "DIFFERS" not in said


@pytest.mark.skipif(PYTHON is None, reason="no PNEUMA_TARGET_PYTHON with target_benchmark")
def test_it_is_the_package(tmp_path):
    code = "import target_benchmark, importlib.metadata as m; print(m.version('target_benchmark'))"
    done = subprocess.run([PYTHON, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0.1.3"


@pytest.mark.skipif(PYTHON is None, reason="no PNEUMA_TARGET_PYTHON with target_benchmark")
def test_the_prompts_are_those_of_the_package():
    names = {
        "QA_SYSTEM_PROMPT": prompts.QA_SYSTEM,
        "QA_USER_PROMPT": prompts.QA_USER,
        "FACT_VER_SYSTEM_PROMPT": prompts.FACTS_SYSTEM,
        "FACT_VER_USER_PROMPT": prompts.FACTS_USER,
        "DEFAULT_SYSTEM_PROMPT": prompts.SQL_SYSTEM,
        "TEXT2SQL_USER_PROMPT_NO_FORMAT_INSTR": prompts.SQL_USER,
        "NO_CONTEXT_TABLE_PROMPT": prompts.NO_TABLES,
    }
    code = (
        "import json, sys, target_benchmark.generators.GeneratorPrompts as p\n"
        "print(json.dumps([getattr(p, name) for name in sys.argv[1:]]))"
    )
    done = subprocess.run([PYTHON, "-c", code, *names], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [*names.values()]


SAID = {
    "answers": "The river Danube is 2,850 km long, and the lake has its depth.",
    "facts": "True, False or Not Enough Information: this is it.",
    "sql": "SELECT river FROM rivers WHERE length_km > 2000",
}


@pytest.mark.skipif(PYTHON is None, reason="no PNEUMA_TARGET_PYTHON with target_benchmark")
@pytest.mark.parametrize("task", [*SAID])
def test_the_package_scores_the_same_answers_alike(tmp_path, capsys, task):
    right = {
        "answers": [[f"The river Danube is {n} km long, says the table."] for n in range(7)],
        "facts": [["True"], ["False"]] * 3 + [["Not Enough Information"]],
        "sql": [["SELECT 'Danube'"], ["SELECT 1"]] * 3 + [["SELECT river FROM rivers"]],
    }[task]
    said = iter([SAID[task], "False", "no", "DROP TABLE rivers", *[SAID[task]] * 9])
    model = FakeLanguageModel(answers=lambda _: next(said))
    with Lab(small_set(), None, os.environ, lambda _: WordEncoder()) as lab:
        ours = run_task(
            TASKS[task], small_set().first(7), right, tmp_path / "out",
            setting_of(SIDES, {}), lab, model, Bounds(k=2),
        )  # fmt: skip
    assert downstream.compare(PYTHON, tmp_path / "out", ours)
    shown = capsys.readouterr().out
    assert {"answers": "sacrebleu", "facts": "precision", "sql": "accuracy "}[task] in shown
    assert "recall" in shown
