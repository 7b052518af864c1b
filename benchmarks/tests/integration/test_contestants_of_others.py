"""The scripts that run other packages, where an environment of theirs is named."""

import os
from pathlib import Path

import pytest

from benchmarks.tests.support.bench_sets import small_set
from pneuma_bench.ablations.contestants import measured
from pneuma_bench.ablations.outside import OutsideContestant
from pneuma_bench.experiments import contestants

pytestmark = pytest.mark.integration

SCRIPTS = Path(contestants.__file__).parent


@pytest.mark.parametrize(
    ("variable", "script"),
    [
        ("PNEUMA_LLAMAINDEX_PYTHON", "llamaindex_script.py"),
        ("PNEUMA_PACKAGE_PYTHON", "pneuma_script.py"),
    ],
)
def test_another_package_indexes_and_answers(variable, script, tmp_path):
    if variable not in os.environ:
        pytest.skip(f"{variable} names no python of an environment with the package")
    python = Path(os.environ[variable])
    contestant = OutsideContestant("its", python, SCRIPTS / script, "all-MiniLM-L6-v2", 100)
    try:
        found = measured(contestant, small_set(), tmp_path / "files", 6, rounds=1)
    finally:
        contestant.close()
    assert found.hit_rate(6)[0] == 1.0
    assert found.hit_rate(1)[0] >= 5 / 7
    assert found.facts["size_bytes"] > 0
    assert found.facts["vectors"] > 0
