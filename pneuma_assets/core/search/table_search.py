"""Answers by all signals: tables compete, and each shows what of it matched."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from pneuma_assets.core.config.query import QueryOptions
from pneuma_assets.core.describe.texts import row_text
from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.index.base import IndexFilter, IndexQuery, SearchIndex
from pneuma_assets.core.search.confidence import NAMED, answerable, confidences
from pneuma_assets.core.search.names import NameMatch, match_names
from pneuma_assets.core.search.passages import Passages, is_heading
from pneuma_assets.core.search.rerank import Reranker
from pneuma_assets.core.search.results import Found, ScoreParts, TableResult, descending
from pneuma_assets.core.search.retrieve import Proposal
from pneuma_assets.core.search.signals import MEANING, RankedTable, added
from pneuma_assets.core.tables import Block, DocumentKind, TableTerms
from pneuma_assets.core.terms.fields import Field, spaced
from pneuma_assets.core.text.analysis import Analyzer
from pneuma_assets.core.text.holding import holding

SILENT = (DocumentKind.ROWS, DocumentKind.SCHEMA)
"""Kinds whose words the fields of evidence have, of all rows and of all names: counted twice, they
would outweigh what people wrote."""

_MOST_COLUMNS = 10
_TABLES_AT_ONCE = 50
"""Whose evidence is read whole at a time."""
_MOST_HELD = 5
"""Rows, and cells of others, that are looked at because a word sought is a cell of theirs."""
_NOTHING = TableTerms()


@dataclass(frozen=True, slots=True)
class TableSearch:
    """Answers questions over one index; `analyzer` finds the passages to show."""

    index: SearchIndex
    analyzer: Analyzer

    def answer(
        self,
        queries: Sequence[IndexQuery],
        options: QueryOptions,
        most: int,
        where: IndexFilter,
        of_family: int = 1,
        named: Sequence[str] = (),
    ) -> list[Found]:
        """Return up to `most` tables for each query, which has text, evidence and maybe a vector.

        Those beyond `k` change none before them. Of each family, `of_family` are results of their
        own; tables `named` always are.
        """
        reranker = Reranker(self.index, options, where, of_family, named)
        proposals, ranked = zip(*reranker.find(queries, options.k), strict=True)
        shown = [one[:most] for one in ranked]
        found = []
        for query, one, proposal, few in zip(queries, ranked, proposals, shown, strict=True):
            sought = frozenset(map(str.casefold, query.sought))
            known = self._evidence(proposal, few, sought)
            text = query.text or ""
            results = self._tables(text, sought, one, known, most, where.kinds)
            if query.vector is None or where.kinds:  # how sure a part is was never fitted
                results = [replace(r, confidence=None, answerable=None) for r in results]
            headers = {table.table_id: table.scores.headers for table in one}
            found.append(Found(results, headers))
        return found

    def _evidence(
        self, proposal: Proposal, shown: Sequence[RankedTable], sought: frozenset[str]
    ) -> dict[str, TableTerms]:
        """Return what is shown of tables that may be, or may bear a name typed in.

        Of all that their rows say, it is the best row and what has a word sought as a whole cell:
        more would take half a megabyte each.
        """
        rows = {one.table_id: one.scores.row for one in shown}
        typed = (hit.table_id for hit in proposal.side.fields.get(Field.GRAMS, ()))
        return {
            table_id: _to_show(evidence, rows.get(table_id), sought)
            for some in chunks(list(dict.fromkeys((*rows, *typed))), _TABLES_AT_ONCE)
            for table_id, evidence in self.index.evidence(some).items()
        }

    def _tables(
        self,
        question: str,
        sought: frozenset[str],
        ranked: Sequence[RankedTable],
        evidence: Mapping[str, TableTerms],
        most: int,
        kinds: Collection[DocumentKind],
    ) -> list[TableResult]:
        among = {one.table_id: evidence[one.table_id] for one in ranked if one.table_id in evidence}
        prefixes = {one.table_id: one.prefix for one in ranked}
        asked = {} if kinds and DocumentKind.NAMES not in kinds else among
        names = match_names(question, asked, prefixes)
        last = 1 + max((match.rank for match in names.values()), default=0)

        def by_name(one: RankedTable) -> int:
            return names[one.table_id].rank if one.table_id in names else last

        first = sorted(ranked, key=by_name)
        passages = Passages(question, self.analyzer, sought)
        results = [
            self._result(passages, one, evidence.get(one.table_id, _NOTHING), names, kinds)
            for one in first[:most]
        ]
        return descending(_with_confidence(ranked, results))

    def _result(
        self,
        passages: Passages,
        one: RankedTable,
        evidence: TableTerms,
        names: Mapping[str, NameMatch],
        kinds: Collection[DocumentKind],
    ) -> TableResult:
        kind, text = self._passage(passages, one, evidence, kinds)
        block = _best_block(one)
        match = names.get(one.table_id)
        return TableResult(
            one.table_id,
            one.score,
            replace(_parts(one), named=None if match is None else match.name),
            kind,
            text,
            "" if block is None else block.text,
            "" if block is None else block.block_id,
            self._columns(passages, evidence, match),
            copies=one.copies,
            family=one.family,
        )

    def _passage(
        self,
        passages: Passages,
        one: RankedTable,
        evidence: TableTerms,
        kinds: Collection[DocumentKind],
    ) -> tuple[DocumentKind, str]:
        """Return what shows best why the table was found: of a block, a row, or its names.

        A text that lacks a cell by which the table was found would be taken for what has it.
        """
        texts = list(self._texts(passages, one, evidence))
        asked = [text for text in texts if not kinds or text[0] in kinds] or texts
        telling = [text for text in asked if not is_heading(text[1])] or asked
        cells = (
            cell.casefold() for some in (*evidence.rows, evidence.cells) for cell in some if cell
        )
        held = passages.sought.intersection(cells)
        return max(telling, key=lambda text: (holding(held, text[1]), passages.count(text[1])))

    def _texts(
        self, passages: Passages, one: RankedTable, evidence: TableTerms
    ) -> Iterator[tuple[DocumentKind, str]]:
        blocks = {hit.block for hit in (one.scores.semantic, one.scores.lexical) if hit is not None}
        for block in sorted(blocks, key=lambda block: block != _best_block(one)):
            yield block.kind, passages.best(block.text)
        for row in filter(None, evidence.rows):
            yield DocumentKind.VALUES, passages.best(row_text(evidence.columns, row))
        for cell in evidence.cells:
            yield DocumentKind.VALUES, passages.best(cell)
        names = " ".join((*evidence.names[-1:], *evidence.columns)) or one.table_id
        yield DocumentKind.NAMES, passages.best(names)

    def _columns(
        self, passages: Passages, evidence: TableTerms, match: NameMatch | None
    ) -> tuple[str, ...]:
        terms = {name: _terms_of_name(self.analyzer, name) for name in evidence.columns}
        found = [name for name, some in terms.items() if some and some <= passages.asked]
        typed = [match.name] if match is not None and match.column else []
        return tuple(dict.fromkeys((*typed, *found)))[:_MOST_COLUMNS]


def _with_confidence(
    ranked: Sequence[RankedTable], results: Sequence[TableResult]
) -> list[TableResult]:
    """Say of each result how sure it is; a table whose name was typed in is meant.

    By what the question says of tables alone: whom people trust tells nothing of whether a table
    answers.
    """
    least = [0.0 if one.parts.named is None else NAMED for one in results]
    scores = [one.found for one in ranked]
    any_does = max(answerable(scores), *least, 0.0)
    sure = dict(zip((one.table_id for one in ranked), confidences(scores), strict=True))
    return [
        replace(one, confidence=max(sure[one.table_id], floor), answerable=any_does)
        for one, floor in zip(results, least, strict=True)
    ]


def _to_show(evidence: TableTerms, row: int | None, sought: frozenset[str]) -> TableTerms:
    """Return evidence with the best row at its place, and what has a word sought as a whole cell.

    That is rows behind it, and cells of rows that are not kept.
    """

    def having(cells: Iterable[str | None]) -> list[str]:
        told = [*filter(None, cells)]
        text = "\n".join(told).casefold()  # of most cells none has any, which is told at once
        some = [word for word in sought if word in text]
        return [cell for cell in told if cell.casefold() in some] if some else []

    best = () if row is None else (*((),) * row, *evidence.rows[row : row + 1])
    rows = [some for some in evidence.rows if having(some)][:_MOST_HELD]
    return replace(evidence, rows=(*best, *rows), cells=tuple(having(evidence.cells)[:_MOST_HELD]))


@lru_cache(maxsize=65_536)
def _terms_of_name(analyzer: Analyzer, name: str) -> frozenset[str]:
    return frozenset(analyzer.terms(spaced(name)))


def _best_block(one: RankedTable) -> Block | None:
    hit = one.scores.semantic or one.scores.lexical
    return None if hit is None else hit.block


def _parts(one: RankedTable) -> ScoreParts:
    semantic, lexical = one.scores.semantic, one.scores.lexical
    return ScoreParts(
        lexical=added({name: part for name, part in one.signals.items() if name != MEANING}),
        semantic=one.signals.get(MEANING, 0.0),
        judge=None,
        raw_lexical=0.0 if lexical is None else lexical.score,
        raw_semantic=0.0 if semantic is None else semantic.score,
        tables=one.tables,
        signals=one.signals,
        trust=one.trust,
    )
