"""A set is indexed and asked as the product does it, and what is kept is used again."""

import json
import os
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from benchmarks.tests.support.bench_sets import SIDES, TABLES, small_set
from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.errors import BenchmarkError, QueryError
from pneuma_assets.core.evaluation.evaluate import Answered, write_answers
from pneuma_bench.files import KeptFile
from pneuma_bench.lab import Lab, RememberingEncoder
from pneuma_bench.measure import measure
from pneuma_bench.settings import setting_of
from tests.support.word_encoder import WordEncoder

REFUSING = ({}, {"query.min_confidence": 0}, {"query.min_confidence": 1})


class Counting(WordEncoder):
    """Counts the texts it was given."""

    def __init__(self):
        super().__init__()
        self.texts = 0

    def encode_documents(self, texts):
        self.texts += len(texts)
        return super().encode_documents(texts)


def lab_of(folder, dataset=None, encoder=None):
    return Lab(dataset or small_set(), folder, os.environ, lambda _: encoder or WordEncoder())


def test_what_is_refused_is_counted():
    with lab_of(None) as lab:
        some, none, every = (
            measure(lab, setting_of(Deployment(), options)) for options in REFUSING
        )
    assert (none.figures.values["kept"], none.figures.values["refused"]) == (1.0, 0.0)
    assert (every.figures.values["kept"], every.figures.values["refused"]) == (0.0, 1.0)
    kept = [not answer.refused for answer in some.answers if answer.relevant]
    assert some.figures.values["kept"] == sum(kept) / 7
    assert some.facts["min_confidence"] == Deployment().query.min_confidence


def test_the_figures_are_those_of_the_answers(tmp_path):
    with lab_of(None) as lab:
        outcome = measure(lab, setting_of(SIDES, {}))
    figures, answers = outcome.figures, outcome.answers
    assert len(answers) == 8
    assert len(figures.each["R@1"]) == 7  # one question has no answer
    hits = [answer.ranked[0] in answer.relevant for answer in answers if answer.relevant]
    assert figures.values["R@1"] == sum(hits) / 7
    assert figures.values["R@1"] > 0.7  # the questions repeat words of their tables
    assert 0.0 <= figures.values["AUROC"] <= 1.0
    assert np.isnan(figures.values["kept"])  # by the paper's two sides nothing is refused
    facts = outcome.facts
    assert (facts["questions"], facts["unanswerable"], facts["tables"]) == (7, 1, len(TABLES))
    assert facts["blocks"] == sum(facts["blocks_by_kind"].values()) == 12
    assert facts["index_bytes"] > 0
    assert facts["seconds_to_index"] > 0
    assert 0 < facts["ms_p50"] <= facts["ms_p95"]
    path = tmp_path / "answers.jsonl"
    write_answers(path, answers, small_set().spelled)
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert records[0]["tables"] == ["rivers"]
    assert records[0]["ranking"][0]["table"] == answers[0].ranked[0].removeprefix("small/")
    assert records[-1]["rank"] is None
    json.dumps(outcome.to_dict(), allow_nan=False)


def test_an_index_is_built_once_and_a_text_embedded_once(tmp_path):
    encoder = Counting()
    with lab_of(tmp_path, encoder=encoder) as lab:
        first = measure(lab, setting_of(SIDES, {}))
        measure(lab, setting_of(SIDES, {"alpha": 0.1}))
    embedded = first.facts["texts_embedded"]
    assert embedded == 12
    again = Counting()
    with lab_of(tmp_path, encoder=again) as lab:
        kept = measure(lab, setting_of(SIDES, {}))
    assert again.texts == 1 + 1 + len(small_set().questions)  # ready, the first, the timed ones
    assert str(kept.figures.values) == str(first.figures.values)
    assert kept.facts["seconds_to_index"] == first.facts["seconds_to_index"]
    assert len([*tmp_path.glob("index-*")]) == 1
    with lab_of(tmp_path, encoder=Counting()) as lab:
        fewer = measure(lab, setting_of(SIDES, {"sampling.rows": 1}))
    assert fewer.facts["texts_embedded"] == 6  # the rows; names are as they were
    assert len([*tmp_path.glob("index-*")]) == 2


def test_an_index_that_was_not_finished_is_built_anew(tmp_path):
    setting = setting_of(SIDES, {})
    with lab_of(tmp_path) as lab:
        whole = measure(lab, setting)
        index = lab.index(setting)[0]
        index.delete_tables([*index.list_tables()][:3])
    (marker,) = tmp_path.glob("index-*/built.json")
    marker.unlink()
    with lab_of(tmp_path) as lab:
        again = measure(lab, setting)
    assert again.facts["tables"] == len(TABLES)
    assert str(again.figures.values) == str(whole.figures.values)


def test_what_another_version_made_is_removed_and_not_used(tmp_path):
    stale = tmp_path / "index-of-old"
    stale.mkdir(parents=True)
    (stale / "built.json").write_text('{"seconds": 1, "embedded": 2, "code": "older"}')
    with lab_of(tmp_path) as lab:
        measure(lab, setting_of(SIDES, {}))
    assert not stale.exists()


def test_nothing_is_left_where_nothing_is_to_be_kept():
    with lab_of(None) as lab:
        measure(lab, setting_of(SIDES, {}))
        folder = lab.folder
        assert folder.is_dir()
    assert not folder.exists()


def test_options_out_of_range_are_told(tmp_path):
    with lab_of(tmp_path) as lab, pytest.raises(QueryError, match="alpha must be"):
        measure(lab, setting_of(SIDES, {"alpha": 3}))


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BenchmarkError, match="cannot be made"):
        lab_of(tmp_path / "file" / "folder")


def test_vectors_are_kept_and_a_damaged_file_is_told(tmp_path):
    path = tmp_path / "vectors.db"
    encoder = Counting()
    with KeptFile(path) as kept:
        remembering = RememberingEncoder(encoder, kept)
        vectors = remembering.encode_documents(["a b", "c", "a b"])
        assert np.array_equal(vectors, WordEncoder().encode_documents(["a b", "c", "a b"]))
        assert remembering.embedded == 2
        assert remembering.encode_documents([]).shape == (0, encoder.dimension)
    with KeptFile(path) as kept:
        remembering = RememberingEncoder(encoder, kept)
        assert np.array_equal(remembering.encode_documents(["c"]), vectors[1:2])
        remembering.encode_queries(["c"])  # a question is not a document
        assert remembering.embedded == 1
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("UPDATE vectors SET v = x'00'")
    with KeptFile(path) as kept:  # one of another length is embedded again
        assert np.array_equal(
            RememberingEncoder(encoder, kept).encode_documents(["c"])[0], vectors[1]
        )
    path.write_bytes(b"not a database" * 100)
    with pytest.raises(BenchmarkError, match="cannot be used"):
        KeptFile(path)


def test_answers_that_are_not_all_there_leave_the_file_as_it_was(tmp_path):
    def some():
        yield Answered("q", {"a"}, [("a", 1.0)], 0.5)
        raise KeyboardInterrupt

    (tmp_path / "answers.jsonl").write_text("before")
    with pytest.raises(KeyboardInterrupt):
        write_answers(tmp_path / "answers.jsonl", some())
    assert [one.name for one in tmp_path.iterdir()] == ["answers.jsonl"]
    assert (tmp_path / "answers.jsonl").read_text() == "before"
