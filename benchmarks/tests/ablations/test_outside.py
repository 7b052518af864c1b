"""A contestant in another interpreter: asked over pipes, believed only where it can be."""

import sys
from pathlib import Path

import pytest

from benchmarks.tests.support.bench_sets import small_set
from pneuma_assets.core.errors import BenchmarkError
from pneuma_bench.ablations.contestants import measured
from pneuma_bench.ablations.outside import OutsideContestant, packages_of

BEGIN = """
import json, os, sys, time
for line in sys.stdin:
    asked = json.loads(line)
    if asked["do"] == "prepare":
        tables = [json.loads(one) for one in open(asked["tables"])]
        ids = [one["id"] for one in tables]
        said = {"seconds": 1, "bytes": 2, "documents": len(tables), "vectors": 0,
                "about": os.environ.get("PYTHONPATH", "apart")}
    else:
        found = [[i for i in ids if any(w in q for w in (i.split("/")[1][:-1],))][: asked["k"]]
                 for q in asked["questions"]]
        said = {"tables": found}
"""
END = "    print(json.dumps(said), flush=True)\n"


@pytest.fixture
def outside(tmp_path):
    made = []

    def make(code):
        script = tmp_path / "its_script.py"
        script.write_text(code)
        python = Path(sys.executable)
        one = OutsideContestant("its", python, script, "all-MiniLM-L6-v2", 100)
        made.append(one)
        return one

    yield make
    for one in made:
        one.close()


def test_other_packages_there_are_another_measurement(tmp_path):
    versions, python, script = (tmp_path / name for name in ("versions", "python", "script.py"))
    script.write_text(BEGIN + END)
    python.write_text(f"#!/bin/sh\ncat {versions}\n")
    python.chmod(0o755)
    keys = []
    for text in ("llama==1.0", "llama==1.1", "llama==1.0"):
        versions.write_text(text)
        packages_of.cache_clear()
        keys.append(OutsideContestant("its", python, script, "all-MiniLM-L6-v2", 100).key)
    assert keys[0] == keys[2] != keys[1]


def test_it_indexes_and_answers_in_its_own_environment(outside, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "ours")
    found = measured(outside(BEGIN + END), small_set(), tmp_path / "files", 5, rounds=1)
    assert [*found.places] == [1, 1, 1, 1, 0, 1, 1]
    assert found.facts["about"] == "apart"
    assert (found.facts["documents"], found.facts["questions_a_second"] > 0) == (6, True)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import no_such_package_as_this", "ended: ModuleNotFoundError: No module named"),
        ("print('loading', flush=True); input()", "did not answer with a JSON object"),
        (BEGIN + "    said = {'error': 'no\\nmodel'}\n" + END, "no model"),
        (BEGIN + "    said = {'seconds': 'x'}\n" + END, "did not answer with what indexing took"),
        (BEGIN + "    said['bytes'] = 1e999\n" + END, "did not answer with what indexing took"),
    ],
)
def test_what_it_cannot_index_has_a_reason(outside, tmp_path, code, reason):
    with pytest.raises(BenchmarkError, match=reason):
        outside(code).prepare(small_set(), tmp_path / "files")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("{'tables': [['small/none']]}", "ids of the tables that it was given"),
        ("{'tables': []}", "a list of tables for each question"),
    ],
)
def test_answers_that_cannot_be_are_refused(outside, tmp_path, change, reason):
    one = outside(BEGIN + f"        said = {change}\n" + END)
    one.prepare(small_set(), tmp_path / "files")
    with pytest.raises(BenchmarkError, match=reason):
        one.answer(["river"], 3)


def test_an_interpreter_that_is_not_there_is_named(tmp_path):
    one = OutsideContestant("its", tmp_path / "none", tmp_path / "s.py", "all-MiniLM-L6-v2", 1)
    with pytest.raises(BenchmarkError, match="cannot be started"):
        one.prepare(small_set(), tmp_path / "files")
    with pytest.raises(BenchmarkError, match="before it had indexed"):
        one.answer(["a"], 1)
