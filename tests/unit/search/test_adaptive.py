"""A question gets as many tables as score nearly as well as its best one (Octopus, section 4.3)."""

from dataclasses import replace

import pytest

from pneuma_assets.core.config.query import QueryOptions
from pneuma_assets.core.errors import QueryError
from pneuma_assets.core.index.base import TableContents
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.search.query import QueryEngine
from pneuma_assets.core.search.results import (
    ScoreParts,
    TableResult,
    reaching,
    relative_cutoff,
    scaled,
)
from pneuma_assets.core.tables import Block, DocumentKind, TableTerms
from tests.support.fake_model import FakeLanguageModel
from tests.support.index_blocks import embedded
from tests.support.word_encoder import WordEncoder


def result(name: str, score: float, judge: float | None = None) -> TableResult:
    parts = ScoreParts(0.0, 0.0, judge, 0.0, 0.0)
    return TableResult(name, score, parts, DocumentKind.ROWS, "", "", "")


def needed(results: list[TableResult], tau: float) -> str:
    return "".join(one.table_id for one in relative_cutoff(results, tau))


FOUND = [
    result(name, score) for name, score in zip("abcde", (0.9, 0.8, 0.6, 0.5, 0.4), strict=True)
]


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ((), []),
        ((0.3,), [1.0]),
        ((2.0, 2.0), [1.0, 1.0]),
        ((0.9, 0.4, 0.5), [1.0, 0.0, 0.2]),
        ((-1.0, 1.0, 0.0), [0.0, 1.0, 0.5]),
    ],
)
def test_scores_are_scaled_for_each_question(scores, expected):
    assert scaled(scores) == pytest.approx(expected)


def test_a_table_at_the_threshold_stays_and_nothing_needs_nothing():
    assert reaching([0.75, 0.5, 0.25], 0.5) == [True, True, False]
    assert relative_cutoff([], 0.5) == []


@pytest.mark.parametrize(
    ("tau", "expected"), [(0.0, "abcde"), (0.3, "abc"), (0.5, "ab"), (0.7, "ab"), (1.0, "a")]
)  # fmt: skip
def test_the_nearer_to_the_best_the_fewer(tau, expected):
    assert needed(FOUND, tau) == expected


def test_what_was_placed_before_one_that_stays_stays():
    """Such as a table whose name was typed in, and an original in the place of its copy."""
    named = [FOUND[4], FOUND[0], FOUND[3]]
    assert needed(named, 0.9) == "ea"


def test_what_the_judge_refuses_goes_unless_it_refuses_all():
    def judged(*verdicts: float | None) -> list[TableResult]:
        return [
            replace(one, parts=replace(one.parts, judge=verdict))
            for one, verdict in zip(FOUND, verdicts, strict=False)
        ]

    assert needed(judged(1.0, 0.0, None), 0.0) == "ac"
    assert needed(judged(0.0, 0.0, 0.0), 0.5) == "ab"


SAID = "herring landed in the harbour", "herring landed elsewhere", "herring"
NAMES = [f"lake/t{number:02}" for number in range(40)]


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """Two tables say what is asked, others ever less of it."""
    encoder = WordEncoder()
    folder = tmp_path_factory.mktemp("adaptive")
    index = EmbeddedIndex(folder / "index", encoder.name, encoder.dimension)
    for number, name in enumerate(NAMES):
        said = SAID[0 if number < 2 else 1 if number < 10 else 2]
        block = Block(name, DocumentKind.CONTEXT, f"{said} {number * 'x '}")
        found = TableTerms(names=("lake", name[5:]), columns=("kind",), rows=((said,),))
        index.replace_tables({name: TableContents(embedded([block])[name], found)})
    yield index
    index.close()


QUESTION = "herring landed in the harbour"


def found(engine: QueryEngine, **options) -> list[str]:
    return [one.table_id for one in engine.find(QUESTION, **options)]


def test_a_question_gets_the_near_tables_however_many_are_wanted(index):
    engine = QueryEngine(index, WordEncoder())
    assert set(found(engine)) == {"lake/t00", "lake/t01"}
    assert len(found(engine, tau=0.0)) == QueryOptions().k
    assert len(found(engine, tau=0.0, k=35)) == 35
    assert len(found(engine, k=1)) == 1
    near = found(engine, tau=0.2, k=30)
    assert 2 < len(near) < 30
    for k in (1, 2, len(near) - 1, len(near) + 1):
        assert found(engine, tau=0.2, k=k) == near[:k]


def test_a_judge_reads_no_more_than_for_a_search(index):
    model = FakeLanguageModel()
    engine = QueryEngine(index, WordEncoder(), model)
    engine.ask(QUESTION, k=3)
    asked = len(model.prompts)
    found(engine, k=3)
    assert len(model.prompts) == 2 * asked


@pytest.mark.parametrize("tau", [-0.1, 1.1, float("nan"), "0.5", True])
def test_a_threshold_out_of_range_is_refused(index, tau):
    with pytest.raises(QueryError, match=r"tau must be a number from 0\.0 to 1\.0, not"):
        QueryEngine(index, WordEncoder()).find(QUESTION, tau=tau)


def test_many_questions_get_as_many_each(index):
    engine = QueryEngine(index, WordEncoder())
    one, two = engine.ask_many([QUESTION, "t05"], tau=0.9)
    assert {result.table_id for result in one} == {"lake/t00", "lake/t01"}
    assert two[0].table_id == "lake/t05"
