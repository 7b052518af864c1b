"""The true scores of given tables: their best blocks, their fields of evidence, their best rows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pneuma_assets.core.grouping import chunks, portions
from pneuma_assets.core.index.base import IndexFilter, TableScores
from pneuma_assets.core.index.elastic.batches import (
    MOST_HITS,
    MOST_QUESTIONS,
    Question,
    asked_fields,
    without_kinds,
)
from pneuma_assets.core.index.elastic.evidence import NO_ROW
from pneuma_assets.core.index.elastic.requests import (
    MAX_CANDIDATES,
    Search,
    field_search,
    given_tables,
    kinds_but,
    lexical_hit,
    lexical_tables,
    semantic_hit,
    semantic_tables,
    table_hit,
    table_records,
    where_filters,
)
from pneuma_assets.core.index.elastic.target import Opened
from pneuma_assets.core.index.elastic.text import unescape
from pneuma_assets.core.index.elastic.transport import Answer, Transport
from pneuma_assets.core.terms.fields import Field


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question, and tables that one search can score."""

    place: int
    question: Question
    table_ids: Sequence[str]


@dataclass(slots=True)
class _Found:
    """What is found of the tables: their numbers of blocks, and their scores."""

    blocks: dict[str, int]
    scores: dict[str, TableScores]


def table_scores(
    transport: Transport,
    questions: Sequence[Question],
    table_ids: Sequence[Sequence[str]],
    where: IndexFilter,
) -> list[dict[str, TableScores]]:
    """Return each question's tables with their scores, with one request for up to a hundred."""
    asked = [
        _Asked(place, question, some)
        for place, (question, ids) in enumerate(zip(questions, table_ids, strict=True))
        for some in chunks(list(dict.fromkeys(ids)), MAX_CANDIDATES)
    ]
    found: list[dict[str, TableScores]] = [{} for _ in questions]
    together = max(1, min(MOST_QUESTIONS, MOST_HITS // max([1, *map(len, table_ids)])))
    for part in chunks(asked, together):
        for one, of_one in zip(part, _ask(transport, part, where), strict=True):
            _add_missed(transport, one, of_one, where)
            found[one.place] |= of_one.scores
    return found


def _ask(transport: Transport, part: Sequence[_Asked], where: IndexFilter) -> list[_Found]:
    def make(opened: Opened) -> list[Search]:
        return [search for one in part for search in _searches(one, where, opened)]

    answers = iter(transport.ask(make))
    return [_read(one, where, answers) for one in part]


def _searches(one: _Asked, where: IndexFilter, opened: Opened) -> Iterator[Search]:
    """Yield the searches for one question; `_read` reads their answers in the same order."""
    given, count = given_tables(one.table_ids), len(one.table_ids)
    tables = [*opened.state.visible(), *where_filters(without_kinds(where)), given]
    blocks = [*opened.state.visible(), *where_filters(where), given]
    yield table_records(tables, count)
    if one.question.terms:
        speaking = [*blocks, *kinds_but(one.question.silent)]
        yield lexical_tables(one.question.terms, speaking, count)
    if one.question.vector is not None:
        quantization = opened.described.quantization
        yield semantic_tables(one.question.vector, blocks, count, quantization)
    for field, terms in asked_fields(one.question, where).items():
        yield field_search(field, terms, tables, count)


def _read(one: _Asked, where: IndexFilter, answers: Iterator[Answer]) -> _Found:
    blocks = {unescape(table_id): count for table_id, count in map(_sorted_by, next(answers))}
    lexical = [lexical_hit(hit) for hit in (next(answers) if one.question.terms else ())]
    near: Answer = [] if one.question.vector is None else next(answers)
    semantic = [semantic_hit(hit) for hit in near]
    best = {side.block.table_id: side for side in lexical}
    nearest = {side.block.table_id: side for side in semantic}
    fields: dict[str, dict[Field, float]] = {table_id: {} for table_id in blocks}
    rows: dict[str, int] = {}
    for field in asked_fields(one.question, where):
        for raw in next(answers):
            hit = table_hit(field, raw)
            fields.setdefault(hit.table_id, {})[field] = hit.score
            if field is Field.ROWS and raw["sort"][2] != NO_ROW:
                rows[hit.table_id] = int(raw["sort"][2])
    scores = {i: TableScores(best.get(i), nearest.get(i), fields[i], rows.get(i)) for i in blocks}
    return _Found(blocks, scores)


def _sorted_by(hit: Mapping[str, list[object]]) -> tuple[str, int]:
    table_id, blocks = hit["sort"]
    return str(table_id), int(str(blocks))


def _add_missed(transport: Transport, one: _Asked, found: _Found, where: IndexFilter) -> None:
    """Look for the nearest blocks anew where all tables have more blocks than one search ranks.

    Tables are asked for in groups that one search ranks, or alone.
    """
    if one.question.vector is None or sum(found.blocks.values()) <= MAX_CANDIDATES:
        return
    missed = {i: count for i, count in found.blocks.items() if found.scores[i].semantic is None}
    if len(missed) == len(found.blocks) == 1:
        return
    nearest = Question([], one.question.vector, {})
    for some in portions({i: count for i, count in missed.items() if count}, MAX_CANDIDATES):
        (again,) = _ask(transport, [_Asked(one.place, nearest, some)], where)
        for table_id, scores in again.scores.items():
            if table_id in found.scores:
                kept = found.scores[table_id]
                found.scores[table_id] = replace(kept, semantic=scores.semantic)
