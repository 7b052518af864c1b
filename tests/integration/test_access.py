"""A matrix of askers and tables: what is hidden is found by nothing, and shows nowhere.

Every question is asked twice: of an index with all tables, and of one that never had those that the
asker may not see. What is found must be the same, every score, too.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pneuma_assets.core.errors import QueryError
from pneuma_assets.core.index.base import IndexFilter, SearchIndex, TableContents, is_seen
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.search.names import Elsewhere
from pneuma_assets.core.search.query import QueryEngine
from pneuma_assets.core.tables import Block, DocumentKind, EmbeddedBlock, TableFacts, TableTerms
from tests.support.word_encoder import WordEncoder

pytestmark = pytest.mark.integration

GRANTS: Mapping[str, tuple[str, ...] | None] = {
    "w/public/rivers": None,
    "w/public/lakes": None,
    "w/finance/salaries": ("w/finance_ro",),
    "w/finance/bonuses": ("w/finance_ro", "ana"),
    "w/hr/dismissals": ("w/hr",),
    "v/hr/dismissals": ("v/hr",),
    "w/ana/notes": ("ana",),
    "w/ops/incidents": ("w/public",),
    "x/vault/keys": (),
}
"""Two warehouses have a role of one name; nobody may see the last."""

SECRETS = {
    "w/public/rivers": "danube rhine volga length",
    "w/public/lakes": "ladoga onega vanern depth",
    "w/finance/salaries": "wages zloty payslip monthly",
    "w/finance/bonuses": "bounty zloty payslip yearly",
    "w/hr/dismissals": "severance tribunal redundancy",
    "v/hr/dismissals": "severance hearing layoff",
    "w/ana/notes": "birthday zanzibar rhine",
    "w/ops/incidents": "outage pager rhine",
    "x/vault/keys": "xylophone passphrase volga",
}

ASKERS: Mapping[str, tuple[str, ...]] = {
    "nobody": (),
    "stranger": ("eve", "finance_ro", "w", "hr"),
    "finance": ("w/finance_ro",),
    "hr": ("w/hr",),
    "other hr": ("v/hr",),
    "ana": ("ana", "v/hr"),
}
PUBLIC = {"finance": {"w/ops/incidents"}, "hr": {"w/ops/incidents"}}
"""Whom a source knows sees what everybody may whom it knows."""

Opener = Callable[[str], SearchIndex]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opener]:
    """Opens an empty index of a name."""
    with ExitStack() as stack:

        def open_index(name: str) -> SearchIndex:
            index = EmbeddedIndex(tmp_path / name, WordEncoder.name, WordEncoder.dimension)
            return stack.enter_context(closing(index))

        yield open_index


def contents(table_id: str) -> TableContents:
    words = SECRETS[table_id]
    texts = [f"{words} {table_id.replace('/', ' ')}", *words.split(), "report of the year 2020"]
    vectors = WordEncoder().encode_documents(texts)
    kinds = (DocumentKind.CONTEXT, *[DocumentKind.ROWS] * len(words.split()), DocumentKind.SCHEMA)
    blocks = [
        EmbeddedBlock(Block(table_id, kind, text), vector)
        for kind, text, vector in zip(kinds, texts, vectors, strict=True)
    ]
    first, *others = words.split()
    rows = tuple((word, f"{word} of {first}") for word in others)
    evidence = TableTerms(tuple(table_id.split("/")), (first, "remark"), rows=rows, cells=(words,))
    return TableContents(blocks, evidence, TableFacts(GRANTS[table_id]))


def seen_by(asker: str) -> set[str]:
    own = {i for i, readers in GRANTS.items() if is_seen(TableFacts(readers), ASKERS[asker])}
    return own | PUBLIC.get(asker, set())


def engine_of(index: SearchIndex) -> QueryEngine:
    """As a deployment has it, whose store knows all tables."""
    elsewhere = Elsewhere(lambda: list(GRANTS), ("w", "v", "x"), lambda: ("schema", "rows"))
    return QueryEngine(index, WordEncoder(), elsewhere=elsewhere)


def shown(results: list[Any]) -> list[dict[str, Any]]:
    return [_rounded(one.to_dict()) for one in results]


def _rounded(value: Any) -> Any:
    """Let figures be equal that differ by less than floats do."""
    if isinstance(value, float):
        return pytest.approx(value, rel=1e-4, abs=1e-5)
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    return [_rounded(one) for one in value] if isinstance(value, list) else value


def plain(results: list[Any]) -> list[dict[str, Any]]:
    return [one.to_dict() for one in results]


QUESTIONS = [
    *SECRETS.values(),
    *(word for words in SECRETS.values() for word in words.split()),
    *(table_id.split("/")[-1] for table_id in GRANTS),
    *GRANTS,
    *("salarys", "zlotys of the year", "report of the year 2020", "remark"),
]
"""The own text of each table, its unique words, its names, and some that are nearly such."""


def test_an_answer_tells_nothing_of_what_is_hidden(opened: Opener) -> None:
    full = opened("full")
    full.replace_tables({i: contents(i) for i in GRANTS})
    for number, (asker, names) in enumerate(ASKERS.items()):
        seen = seen_by(asker)
        alone = opened(f"alone{number}")
        alone.replace_tables({i: contents(i) for i in seen})
        where = IndexFilter(readers=names)
        one, other = engine_of(full), engine_of(alone)
        for questions, alpha in ((QUESTIONS, None), (QUESTIONS[:5], 0.5)):
            found = one.ask_many(questions, k=5, alpha=alpha, where=where)
            expected = other.ask_many(questions, k=5, alpha=alpha, where=where)
            for question, ours, theirs in zip(questions, found, expected, strict=True):
                assert {result.table_id for result in ours} <= seen, (asker, question)
                assert plain(ours) == shown(theirs), (asker, question)


def test_a_hidden_table_has_the_words_of_one_that_does_not_exist(opened: Opener) -> None:
    index = opened("full")
    index.replace_tables({i: contents(i) for i in GRANTS})
    engine = engine_of(index)
    for names in ASKERS.values():
        readers = replace(IndexFilter(), readers=names)
        for hidden in ("w/ana/secrets", "x/vault/keys"):
            with pytest.raises(QueryError) as refused:
                engine.ask("rhine", where=replace(readers, tables=(hidden,)))
            assert str(refused.value).startswith(f"unknown table '{hidden}'; ")
            assert "vault" not in str(refused.value).removeprefix(f"unknown table '{hidden}'")
        with pytest.raises(QueryError, match="unknown source 'x'"):
            engine.ask("rhine", where=replace(readers, sources=("x",)))
    (only,) = engine.ask("rhine", where=IndexFilter(tables=("x/vault/keys",)))
    assert only.table_id == "x/vault/keys"


def test_an_index_of_which_nothing_is_seen_is_an_empty_one(opened: Opener) -> None:
    index = opened("full")
    index.replace_tables({"x/vault/keys": contents("x/vault/keys")})
    told = []
    for one in (index, opened("empty")):
        with pytest.raises(QueryError) as refused:
            engine_of(one).ask("xylophone", where=IndexFilter(readers=("ana",)))
        told.append(str(refused.value))
    assert told[0] == told[1]
