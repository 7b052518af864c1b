"""Settings are compared on the same questions, and a killed comparison goes on."""

import json
import os
import signal
import subprocess
import sys
import textwrap
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.tests.support.bench_sets import SIDES, small_set
from pneuma_assets.core.errors import QueryError
from pneuma_bench.lab import Lab
from pneuma_bench.measure import compare, paired_difference
from pneuma_bench.settings import Spec
from tests.support.word_encoder import WordEncoder

SPEC = Spec(vary={"alpha": [0, 1], "sampling.rows": [0], "n": [1]})


def compared(folder, spec=SPEC, dataset=None):
    with Lab(dataset or small_set(), folder, os.environ, lambda _: WordEncoder()) as lab:
        return compare(lab, spec.settings(SIDES))


def plain(outcomes):
    """Return figures and differences, without what a second measurement takes otherwise."""
    return [
        (one.outcome.name, str(one.outcome.figures.values), one.differences) for one in outcomes
    ]


def test_each_kind_of_question_is_counted_by_itself_and_kept(tmp_path):
    whole = small_set()
    kinds = ["places", "places", "", "papers", "", "", "places", "places"]
    (first, *_) = compared(tmp_path, Spec(), replace(whole, kinds=kinds))
    (kept, *_) = compared(tmp_path, Spec(), replace(whole, kinds=kinds))
    for one in (first, kept):
        assert [*one.outcome.kinds] == ["papers", "places"]
        assert len(one.outcome.kinds["places"].each["MRR"]) == 3, "of the four one has no answer"
        said = one.to_dict()["kinds"]["places"]
        assert said["R@1"] == first.outcome.kinds["places"].values["R@1"]
        assert said["intervals"].keys() == one.to_dict()["intervals"].keys()
    assert "kinds" not in compared(tmp_path, Spec())[0].to_dict()


def cells(folder):
    return {path.name: path.stat().st_mtime_ns for path in folder.glob("cells/*.json")}


def test_differences_are_to_the_default_over_the_same_questions(tmp_path):
    default, *others = compared(tmp_path)
    assert set(default.differences["R@1"][1]) == {0.0}
    assert [one.outcome.name for one in others] == ["alpha=0", "alpha=1", "sampling.rows=0", "n=1"]
    for one in others:
        for name in ("R@1", "MRR"):
            values = one.outcome.figures.each[name] - default.outcome.figures.each[name]
            difference, (low, high) = one.differences[name]
            assert difference == pytest.approx(np.mean(values))
            assert low <= difference <= high
    assert others[2].outcome.facts["blocks"] < default.outcome.facts["blocks"]
    json.dumps([one.to_dict() for one in (default, *others)], allow_nan=False)


def test_what_was_measured_is_not_measured_again(tmp_path):
    first = compared(tmp_path)
    kept = cells(tmp_path)
    assert plain(compared(tmp_path)) == plain(first)
    assert cells(tmp_path) == kept
    more = compared(tmp_path, Spec(vary={"alpha": [0, 1, 0.25]}))
    assert len(cells(tmp_path)) == len(kept) + 1
    assert plain(more)[:3] == plain(first)[:3]


KILLED = """
    import os, signal, sys
    from pathlib import Path
    from pneuma_bench.lab import Lab
    from pneuma_bench.measure import compare
    from pneuma_assets.core.progress import listening
    from benchmarks.tests.support.bench_sets import SIDES, small_set
    from tests.support.word_encoder import WordEncoder
    from benchmarks.tests.test_ablation import SPEC

    def listener(activity, done, total):
        if (activity, done) == ("measuring settings", 2):
            os.kill(os.getpid(), signal.SIGKILL)

    with listening(listener), Lab(
        small_set(), Path(sys.argv[1]), os.environ, lambda _: WordEncoder()
    ) as lab:
        compare(lab, SPEC.settings(SIDES))
"""


def test_a_killed_comparison_goes_on(tmp_path):
    code = textwrap.dedent(KILLED)
    done = subprocess.run([sys.executable, "-c", code, tmp_path], check=False)
    assert done.returncode == -signal.SIGKILL
    kept = cells(tmp_path)
    assert len(kept) == 2
    whole = compared(tmp_path)
    assert kept.items() <= cells(tmp_path).items()  # not written again
    assert plain(whole) == plain(compared(tmp_path / "undisturbed"))


def test_a_setting_that_cannot_be_asked_is_named_and_the_others_stay(tmp_path):
    with pytest.raises(QueryError, match="bad: alpha must be"):
        compared(tmp_path, Spec(vary={"n": [1]}, cells={"bad": {"alpha": 7}}))
    assert len(cells(tmp_path)) == 2


def test_95_of_100_paired_intervals_hold_the_true_difference():
    generator = np.random.default_rng(8)
    held = 0
    for _ in range(300):
        theirs = generator.normal(0.5, 0.3, 200)
        ours = theirs + generator.normal(0.02, 0.05, 200)
        held += (found := paired_difference(ours, theirs)[1]).low <= 0.02 <= found.high
        assert found.high - found.low < 0.03  # far less than either mean varies
    assert 0.91 <= held / 300 <= 0.985
