"""What is fitted to questions is what they were drawn by, and both commands say what they fit."""

import json

import numpy as np
import pytest

from benchmarks.tests.support.bench_sets import TABLES, write_small_set
from pneuma_bench.experiments import confidence, weights
from pneuma_bench.experiments.confidence import ANSWERED, MOST, OTHERS, WITHOUT, Asked
from pneuma_bench.experiments.support.sets import left_out, sets_of

SIGNALS = weights.SIGNALS


@pytest.fixture
def folder(tmp_path):
    """Return a folder of two sets of the same content, one with described columns."""
    tables, queries = write_small_set(tmp_path)
    (tmp_path / "told.queries.jsonl").write_bytes(queries.read_bytes())
    records = [json.loads(line) for line in tables.read_text().splitlines()]
    for one in records:
        one["descriptions"] = [f"what {name} means" for name in one["columns"]]
    (tmp_path / "told.tables.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))
    (tmp_path / "told.copies.jsonl").write_text('{"tables": ["rivers", "lakes"]}\n')
    return tmp_path


def test_described_sets_are_also_taken_with_documents_and_left_out_together(folder):
    sets = sets_of(folder, documents=True)
    assert [*sets] == ["small", "told", "told, documents"]
    texts = [[*one.contexts.values()] for one in sets.values()]
    assert [sum(map(len, some)) for some in texts] == [0, 0, len(TABLES)]
    assert [*left_out(sets, "told")] == [*left_out(sets, "told, documents")] == ["small"]


def probability(odds):
    return 1 / (1 + np.exp(-odds))


def test_constants_are_those_that_answers_were_drawn_by():
    chance = np.random.default_rng(0)
    scores = -np.sort(-chance.uniform(0.01, 0.6, (4_000, MOST)), axis=1)
    best, second = scores[:, :1], scores[:, 1:2]
    ahead = np.hstack([best - second, scores[:, 1:] - best])
    answered = chance.random(len(scores)) < probability(20 * best[:, 0] - 10)
    right = chance.random(scores.shape) < probability(10 * scores + 6 * ahead - 4)
    kinds = np.where(answered, ANSWERED, chance.choice([WITHOUT, OTHERS], len(scores)))
    asked = Asked(kinds, scores, right)
    fitted = confidence.fit([asked])
    alike = np.log(np.mean(~answered) / np.mean(answered))  # half of each kind counts
    assert fitted.question == pytest.approx([20, -10 + alike], rel=0.1)
    assert fitted.table == pytest.approx([10, 6, -4], rel=0.1)
    assert "refused answerable 0.010" in confidence.shown(fitted, asked)


def test_a_signal_counts_as_far_as_it_tells_and_never_less_than_nothing():
    chance, told = np.random.default_rng(0), np.zeros(len(SIGNALS))
    told[:2] = 9, 3
    asked = []
    for _ in range(2_000):
        shares = chance.random((20, len(SIGNALS)))
        likely = np.exp(shares @ told - 4 * shares[:, 2])
        first = str(chance.choice(20, p=likely / likely.sum()))
        asked.append(weights.Asked([*map(str, range(20))], shares, frozenset([first])))
    nothing = weights.Asked(["a"], np.ones((1, len(SIGNALS))), frozenset("b"))
    fitted = weights.fit({"told": asked, "told, documents": [nothing]})
    assert fitted == pytest.approx(told / 12, abs=0.05)
    assert fitted[2] == 0.0


def test_a_copy_has_the_place_of_its_original():
    shares = np.linspace(1, 0, 12)[:, np.newaxis] * np.ones(len(SIGNALS))
    tables = ["a", "a", *map(str, range(9)), "b"]
    weighted = np.ones(len(SIGNALS))
    for needed, expected in (({"a", "8"}, (True, True)), ({"0", "b"}, (False, False))):
        assert weights.Asked(tables, shares, frozenset(needed)).found(weighted) == expected


@pytest.mark.parametrize(
    ("command", "said", "last"),
    [
        (confidence, ["AUROC without its tables", "fitted:", "left out:", "BEST, "], "threshold"),
        (weights, ["(7)", "shipped:", "fitted:", "left out:", "hit@1 ", "meaning: "], "rare: "),
    ],
    ids=["confidence", "weights"],
)
def test_a_command_tells_of_each_set_and_what_is_fitted(
    folder, monkeypatch, capsys, command, said, last
):
    monkeypatch.setattr("sys.argv", ["", str(folder), "--keep", str(folder / "kept")])
    command.main()
    shown = capsys.readouterr().out
    assert [one for one in ("small", "told", "told, documents", *said) if one not in shown] == []
    assert shown.splitlines()[-1].startswith(last)
