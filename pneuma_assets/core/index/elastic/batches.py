"""Batches of questions: their searches in few requests, and the answers put together again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pneuma_assets.core.errors import QueryError
from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.index.base import (
    Hit,
    IndexFilter,
    SideHits,
    SideScores,
    fields_of,
)
from pneuma_assets.core.index.elastic.documents import block_id_of
from pneuma_assets.core.index.elastic.requests import (
    MAX_CANDIDATES,
    Search,
    field_search,
    kinds_but,
    lexical_hit,
    lexical_score,
    lexical_scores,
    lexical_search,
    semantic_hit,
    semantic_score,
    semantic_scores,
    semantic_search,
    table_hit,
    where_filters,
)
from pneuma_assets.core.index.elastic.target import Opened
from pneuma_assets.core.index.elastic.transport import Answer, Transport
from pneuma_assets.core.tables import DocumentKind, Vector
from pneuma_assets.core.terms.fields import Field

MOST_QUESTIONS, MOST_HITS = 100, 20_000
"""Most questions, and about as many hits with their texts, of one request."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question's terms, its vector, and its terms in each field of evidence.

    A side or a field without them is not searched.
    """

    terms: Sequence[str]
    vector: Vector | None
    fields: Mapping[Field, Sequence[str]]
    silent: Sequence[DocumentKind] = ()


def asked_fields(question: Question, where: IndexFilter) -> dict[Field, Sequence[str]]:
    """Return the fields to search, in one order, and what for."""
    allowed = fields_of(where)
    return {field: terms for field, terms in question.fields.items() if terms and field in allowed}


def without_kinds(where: IndexFilter) -> IndexFilter:
    """Return the filter of tables: kinds say which fields are searched, not which tables."""
    return replace(where, kinds=())


def check_limit_of_server(limit: int) -> None:
    """Raise `QueryError` where more blocks are asked for than Elasticsearch ranks."""
    if limit > MAX_CANDIDATES:
        raise QueryError(
            f"A search of {limit:,} blocks a side was asked for; Elasticsearch ranks "
            f"{MAX_CANDIDATES:,} at most: lower k or n."
        )


def search(
    transport: Transport, questions: Sequence[Question], limit: int, where: IndexFilter
) -> list[SideHits]:
    """Return the best of each side and field, with one request for up to a hundred questions.

    Raises:
        QueryError: More blocks are asked for than Elasticsearch ranks.
    """
    check_limit_of_server(limit)

    def make(opened: Opened) -> list[Search]:
        filters = [*opened.state.visible(), *where_filters(where)]
        tables = [*opened.state.visible(), *where_filters(without_kinds(where))]
        quantization = opened.described.quantization
        searches = []
        for question in part:
            if question.terms:
                speaking = [*filters, *kinds_but(question.silent)]
                searches.append(lexical_search(question.terms, speaking, limit))
            if question.vector is not None:
                searches.append(semantic_search(question.vector, filters, limit, quantization))
            for field, terms in asked_fields(question, where).items():
                searches.append(field_search(field, terms, tables, limit))
        return searches

    found = []
    together = max(1, min(MOST_QUESTIONS, MOST_HITS // (2 * limit)))
    for part in chunks(questions, together):
        answers = iter(transport.ask(make))
        for question in part:
            lexical = [lexical_hit(hit) for hit in (next(answers) if question.terms else ())]
            semantic: list[Hit] = []
            if question.vector is not None:
                semantic = [semantic_hit(hit) for hit in next(answers)]
            fields = {
                field: [table_hit(field, hit) for hit in next(answers)]
                for field in asked_fields(question, where)
            }
            some = {field: hits for field, hits in fields.items() if hits}
            found.append(SideHits(lexical, semantic, some))
    return found


def scores(
    transport: Transport,
    questions: Sequence[Question],
    block_ids: Sequence[Sequence[str]],
    where: IndexFilter,
) -> list[dict[str, SideScores]]:
    """Return the true scores of each question's blocks; unknown ids are left out."""
    asked = list(zip(questions, block_ids, strict=True))

    def make(opened: Opened) -> list[Search]:
        filters = [*opened.state.visible(), *where_filters(where)]
        quantization = opened.described.quantization
        searches = []
        for question, ids in part:
            for some in _portions(ids):
                searches.append(lexical_scores(question.terms, filters, some))
                if question.vector is not None:
                    searches.append(semantic_scores(question.vector, filters, some, quantization))
        return searches

    found: list[dict[str, SideScores]] = []
    together = max(1, min(MOST_QUESTIONS, MOST_HITS // max([1, *map(len, block_ids)])))
    for part in chunks(asked, together):
        answers = iter(transport.ask(make))
        for question, ids in part:
            lexical: Answer = []
            semantic: Answer = []
            for _ in _portions(ids):
                lexical += next(answers)
                semantic += next(answers) if question.vector is not None else []
            found.append(_joined(lexical, semantic, question))
    return found


def _joined(lexical: Answer, semantic: Answer, question: Question) -> dict[str, SideScores]:
    """Return the scores of the blocks that exist, which the words' side returns whatever it says.

    A block that the vectors' side lacks was removed between the two.
    """
    cosines = {block_id_of(hit): semantic_score(hit) for hit in semantic}
    return {
        block_id: SideScores(lexical_score(hit), cosines.get(block_id, 0.0))
        for hit in lexical
        if (block_id := block_id_of(hit)) in cosines or question.vector is None
    }


def _portions(ids: Sequence[str]) -> list[Sequence[str]]:
    """Split ids into what one search takes; what cannot be a block id is left out."""
    wanted = [one for one in ids if one.isascii() and one.isalnum()]
    return list(chunks(wanted, MAX_CANDIDATES))
