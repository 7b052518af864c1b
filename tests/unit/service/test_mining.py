"""How a deployment's own questions stand, and when they are to be asked again."""

import json
from dataclasses import replace

import pytest

from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.core.errors import BenchmarkError, QueryError
from pneuma_assets.core.evaluation.ask_own_questions import Change
from pneuma_assets.core.evaluation.ask_own_questions import standing as standing_of
from pneuma_assets.core.service import own_questions
from pneuma_assets.core.service.checks import questions_finding
from tests.support.mined_lake import Mined, mined_lake


@pytest.fixture
def lake(tmp_path, monkeypatch):
    monkeypatch.setattr(own_questions, "QUESTIONS", 20)
    with mined_lake(tmp_path) as opened:
        opened.store.queue.use_recipe("one")
        opened.put("settled")  # another recipe lets all tables wait
        yield opened


def loaded(tmp_path, **more):
    (tmp_path / "pneuma.yaml").write_text(json.dumps(more))
    return load_deployment(tmp_path / "pneuma.yaml", environ={})


def catch_up(tmp_path, lake: Mined, **more) -> None:
    now = loaded(tmp_path, **more)
    own_questions.catch_up(now, lake.store, lambda: lake.index, lambda: lake.engine)


def test_questions_are_made_and_asked_once(tmp_path, lake):
    for _ in range(3):
        catch_up(tmp_path, lake)
    standing = standing_of(lake.store)
    assert (len(standing.questions), len(standing.history)) == (20, 1)
    assert standing.now == standing.history[0]
    assert (standing.best, standing.change) == (None, Change())
    finding = questions_finding(standing, show_texts=True)
    assert finding.passed
    assert finding.figures["R@1"] > 0.8
    assert "waiting" not in finding.figures


def test_other_options_make_them_due_and_those_that_change_no_answer_do_not(tmp_path, lake):
    catch_up(tmp_path, lake)
    for more in (
        {},
        {"query": {"min_confidence": 0.5}},
        {"models": {"m": {"model": "m"}}},
        {"bench": {"mined": True}},
        {"dagster": {"show_rows": True}},
    ):
        assert not own_questions.is_news(loaded(tmp_path, **more), lake.store), more
    for more in (
        {"query": {"trust": 0.1}},
        {"judge": {"model": "m"}},
        {"encoder": {"model": "other"}},
        {"index": {"analyzer": "german"}},
    ):
        assert own_questions.is_news(loaded(tmp_path, **more), lake.store), more


def test_another_recipe_counts_when_tables_wait_and_again_when_none_does(tmp_path, lake):
    catch_up(tmp_path, lake)
    lake.store.queue.use_recipe("another")
    assert len(lake.store.queue.pending()) == 10
    catch_up(tmp_path, lake)
    assert len(lake.store.questions.measurements()) == 2
    assert not own_questions.is_news(loaded(tmp_path), lake.store), "they wait still"
    lake.put("3")
    assert own_questions.is_news(loaded(tmp_path), lake.store), "all are as the recipe has it"
    catch_up(tmp_path, lake)
    assert not own_questions.is_news(loaded(tmp_path), lake.store)
    assert len(lake.store.questions.measurements()) == 3


def test_where_nothing_is_indexed_nothing_is_due(tmp_path, lake):
    lake.store.listings.sync("lake", [], rule=None)
    assert not own_questions.is_news(loaded(tmp_path), lake.store)
    finding = questions_finding(standing_of(lake.store), show_texts=True)
    assert finding.passed
    assert "next run" in finding.told


def test_what_fails_is_told_until_it_is_past(tmp_path, lake):
    catch_up(tmp_path, lake)
    other = loaded(tmp_path, query={"trust": 0.1})

    def refuse():
        raise QueryError("nothing answers; mend it")

    with pytest.raises(QueryError):
        own_questions.catch_up(other, lake.store, lambda: lake.index, refuse)
    finding = questions_finding(standing_of(lake.store), show_texts=True)
    assert (finding.passed, finding.severe) == (False, False)
    assert "nothing answers; mend it" in finding.told
    assert not own_questions.is_news(other, lake.store), "it was tried"
    assert own_questions.is_news(loaded(tmp_path), lake.store), "there is nothing to try any more"
    catch_up(tmp_path, lake)
    assert standing_of(lake.store).trouble == ""
    assert not own_questions.is_news(loaded(tmp_path), lake.store)


@pytest.mark.parametrize("killed", ["ask_own_questions.ask_mined", "generate.mined_questions"])
def test_what_was_killed_is_told_and_not_tried_each_tick(tmp_path, lake, monkeypatch, killed):
    monkeypatch.setattr(f"pneuma_assets.core.evaluation.{killed}", interrupt)
    with pytest.raises(KeyboardInterrupt):
        catch_up(tmp_path, lake)
    assert "did not end" in standing_of(lake.store).trouble
    assert not own_questions.is_news(loaded(tmp_path), lake.store)


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def test_few_questions_ask_for_others(tmp_path, lake):
    catch_up(tmp_path, lake)
    ids = [one.question_id for one in lake.store.questions.all()]
    lake.store.questions.drop(ids[9:])
    standing = standing_of(lake.store)
    assert standing.few
    assert standing.now is not None, "what is left was asked"
    finding = questions_finding(standing, show_texts=True)
    assert (finding.passed, finding.severe) == (False, False)
    assert "--renew" in finding.told
    lake.store.questions.drop(ids)
    with pytest.raises(BenchmarkError, match="--renew"):
        own_questions.measure_now(loaded(tmp_path), lake.store, lake.index, lake.engine)


def test_a_loss_is_told_also_where_few_are_left(tmp_path, lake):
    catch_up(tmp_path, lake)
    found = lose(lake, 8)
    ids = [one.question_id for one in lake.store.questions.all()]
    lake.store.questions.drop([one for one in ids if one not in found])
    standing = standing_of(lake.store)
    assert standing.few
    finding = questions_finding(standing, show_texts=False)
    assert (finding.passed, finding.severe, len(finding.rows)) == (False, True, 8)
    assert "more than chance explains" in finding.told
    assert "--renew" in finding.told


def test_tables_that_come_and_push_others_down_are_no_loss(tmp_path, lake):
    catch_up(tmp_path, lake)
    engine = lake.engine
    tables = lake.store.tables.indexed()
    assert {*lake.store.questions.arrivals(tables).values()} == {0}
    came = {f"lake/new/{n}": 2 for n in range(10)}

    class Crowded:
        """Answers as the lake does, with new tables before all others."""

        def ask_many(self, questions, k):
            new = [replace(engine.ask_many(questions[:1], k=1)[0][0], table_id=one) for one in came]
            return [[*new, *some][:k] for some in engine.ask_many(questions, k=k)]

    everything = [*tables, *came]
    lake.store.tables.indexed = lambda: everything
    own_questions.measure_now(loaded(tmp_path), lake.store, lake.index, Crowded())
    standing = standing_of(lake.store)
    assert set(standing.now.places.values()) == {None}
    assert not standing.change.red
    assert standing.not_compared == 20
    assert "20 are not compared" in questions_finding(standing, show_texts=False).told
    assert standing.to_dict()["not_compared"] == 20
    again = standing_of(lake.store).history[-1]
    assert set(map(tuple, again.newer.values())) == {(2,) * 10}, "kept by the state"
    own_questions.measure_now(loaded(tmp_path), lake.store, lake.index, engine)
    assert standing_of(lake.store).not_compared == 0
    lake.store.questions.arrivals(tables)
    assert lake.store.questions.arrivals([*tables, "lake/new/1"])["lake/new/1"] == 4, (
        "it left, and came"
    )


def test_a_tick_reads_measurements_and_options_once(tmp_path, lake, monkeypatch):
    catch_up(tmp_path, lake)
    read = []
    for where, name in ((lake.store.questions, "measurements"), (lake.store.questions, "all"),
                        (own_questions, "key_of")):  # fmt: skip
        whole = getattr(where, name)
        monkeypatch.setattr(where, name, lambda *a, n=name, w=whole: (read.append(n), w(*a))[1])
    standing = standing_of(lake.store)
    assert not own_questions.is_news(loaded(tmp_path), lake.store, standing)
    assert sorted(read) == ["all", "key_of", "measurements"]


def lose(lake: Mined, number: int) -> list[str]:
    (first,) = lake.store.questions.measurements()
    found = [one for one, place in first.places.items() if place == 1][:number]
    lake.store.questions.add("key", first.figures, {**first.places, **dict.fromkeys(found)})
    return found


def test_the_finding_names_what_got_worse_and_shows_cells_only_if_told_to(tmp_path, lake):
    catch_up(tmp_path, lake)
    worse = lose(lake, 5)
    standing = standing_of(lake.store)
    assert [one.question_id for one, _, _ in standing.worse()] == worse
    hidden, shown = (questions_finding(standing, show_texts=on) for on in (False, True))
    assert (hidden.passed, hidden.severe, hidden.fingerprint) == (False, True, shown.fingerprint)
    texts = {one.question for one in standing.questions}
    assert {row[-1] for row in shown.rows} <= texts
    assert not texts & {str(cell) for row in hidden.rows for cell in row}
    assert hidden.header == ["id", "kind", "table", "before", "now"]
    assert {row[3:5] for row in hidden.rows} == {("1", "not found")}
    assert lake.store.questions.accept()
    assert questions_finding(standing_of(lake.store), show_texts=False).passed


def test_other_questions_begin_another_history(tmp_path, lake):
    catch_up(tmp_path, lake)
    standing = standing_of(lake.store)
    renewed = [replace(standing.questions[0], question_id="new")]
    lake.store.questions.replace(renewed, lake.store.questions.seen(lake.store.tables.indexed()))
    standing = standing_of(lake.store)
    assert (standing.now, standing.change.red) == (None, False)
    assert len(standing.history) == 1
    assert own_questions.is_news(loaded(tmp_path), lake.store), "whoever made them was killed"
    catch_up(tmp_path, lake)
    assert list(standing_of(lake.store).now.places) == ["new"]
    assert not own_questions.is_news(loaded(tmp_path), lake.store)


def test_json_says_all_of_it(tmp_path, lake):
    catch_up(tmp_path, lake)
    worse = lose(lake, 5)
    told = json.loads(json.dumps(standing_of(lake.store).to_dict()))
    assert [one["id"] for one in told["worse"]] == worse
    assert (told["red"], told["better"], told["trouble"]) == (True, 0, None)
    assert (told["best"]["number"], told["now"]["number"], len(told["history"])) == (1, 2, 2)
    lost = [one["id"] for one in told["questions"] if one["place"] is None]
    assert set(worse) <= set(lost)
