"""What a deployment tells of its tables at once: lists, suggestions, pages, searches with both."""

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from pneuma_assets.core.config.query import QueryOptions
from pneuma_assets.core.errors import QueryError, StateError
from pneuma_assets.core.index.base import NO_FILTER, IndexFilter
from pneuma_assets.core.missing_parts import Part
from pneuma_assets.core.service.catalog_types import (
    ColumnHit,
    Facets,
    Listing,
    Marked,
    SampleRows,
    SearchAnswer,
    Suggestion,
    TablePage,
)
from pneuma_assets.core.service.check_parts import Missing, listed_sources
from pneuma_assets.core.service.usage import ConfirmedAnswer, questions_of, remembered
from pneuma_assets.core.service.visible_tables import check_table
from pneuma_assets.core.service.workspace_base import WorkspaceBase
from pneuma_assets.core.tables import source_of
from pneuma_assets.core.text.suggest import check_names, check_number, check_text

if TYPE_CHECKING:
    from pneuma_assets.core.search.results import TableResult
    from pneuma_assets.core.service.catalog import Catalog
    from pneuma_assets.core.service.catalog_snapshot import View

MOST_SUGGESTED = 50
LONGEST_TYPED = 200
MOST_MARKED = 1_000
"""Texts that are marked at once."""


class WorkspaceCatalog(WorkspaceBase):
    """The part of `Workspace` that pages and agents browse by; see there.

    What is listed, counted and suggested is at most five seconds behind the state.
    """

    def search(
        self,
        question: str,
        *,
        k: int | None = None,
        facets: Facets = Facets(),  # noqa: B008 (frozen)
        where: IndexFilter = NO_FILTER,
        words_only: bool = False,
        judge: bool | None = None,
        author: str | None = None,
    ) -> SearchAnswer:
        """Return the tables that `ask` returns, with what a page shows of them and of the question.

        The encoder, the judge and the state may be away: the answer says what it lacks.

        Args:
            question: In plain language.
            k: Most tables of the answer.
            facets: Which tables are wanted, of those that `where` lets through.
            where: Which sources, tables and kinds of documents to search, and who asks.
            words_only: Whether meaning is left out of account: no encoder is loaded then, and how
                sure the answer is, nobody knows.
            judge: Whether a language model grades the best results and orders them.
            author: Who asks, as in `confirmed_answers`.

        Raises:
            QueryError: No table that who asks may see has a value of the facets, or these leave
                more tables than one search can name.
            StateError: The state is away, and facets are wanted, which it knows alone.
        """
        from pneuma_assets.core.search.confidence import confidence_of, is_unlikely
        from pneuma_assets.core.search.highlight import Marker
        from pneuma_assets.core.search.results import Found, check_filter, checked_question
        from pneuma_assets.core.service.browse import check_facets
        from pneuma_assets.core.service.search import (
            Searched,
            described,
            hit_of,
            named_columns,
            said_columns,
        )
        from pneuma_assets.core.text.analysis import analyzer_named

        began = time.perf_counter()
        check_filter(where)
        asked, deployment = checked_question(question), self.loaded.deployment
        missing = Missing(self.loaded, sees_all=where.readers is None)
        view = self._view_or_none(where.readers, facets, missing)
        check_facets(facets, view)
        among = Searched.of(view, where, facets)
        found = Found([])
        if among.tables is None or among.tables:
            found = self._ask(
                lambda engine: engine.search(
                    asked,
                    k=k,
                    judge=judge,
                    where=among.where,
                    among=among.tables,
                    words_only=words_only,
                    missing=missing,
                )
            )
        results = found.results
        analyzer = analyzer_named(deployment.index.analyzer)
        marker = Marker(asked, analyzer)
        of_tables = asked, [one.table_id for one in results], view, analyzer
        columns = named_columns(*of_tables)
        told: tuple[ColumnHit, ...] = tuple(columns)
        confirmed: tuple[ConfirmedAnswer, ...] = ()
        with missing.state(), self._stores.use() as store:
            if store is not None:
                told = described(columns, said_columns(*of_tables, store), marker, store)
                confirmed = remembered(store, found.remembered, where.readers, author)
                missing.sources(store, self._sources_of(results, where))
        unsure = words_only or missing.without(Part.ENCODER)
        sure = None if unsure else confidence_of(results)
        return SearchAnswer(
            asked,
            QueryOptions.of(deployment.query).k if k is None else k,
            max(among.total, len(results)),
            tuple(hit_of(one, view, marker) for one in results),
            told,
            among.facets,
            sure,
            is_unlikely(sure, deployment.query.min_confidence),
            missing=missing.parts,
            confirmed=confirmed,
            seconds=time.perf_counter() - began,
        )

    def browse(
        self,
        *,
        facets: Facets = Facets(),  # noqa: B008 (frozen)
        text: str = "",
        sort: str = "name",
        offset: int = 0,
        limit: int = 50,
        readers: Sequence[str] | None = None,
    ) -> Listing:
        """Return a part of all tables, with how many there are by each facet.

        Args:
            facets: Which tables are wanted.
            text: Words that a table's id has in it.
            sort: `name`; or `updated`, `rows`, of which the greatest come first.
            offset: How many tables to leave out at the beginning.
            limit: Most tables, 1 to 1,000.
            readers: Who asks.

        Raises:
            QueryError: An option is out of range.
        """
        from pneuma_assets.core.service.browse import browse

        return browse(self._view(readers), facets, text, sort, offset, limit)

    def suggest(
        self, text: str, *, k: int = 8, readers: Sequence[str] | None = None
    ) -> list[Suggestion]:
        """Return up to `k` names of tables and columns of which a word so begins, best first.

        Last come questions to which people confirmed an answer, a quarter of the places at most.

        Args:
            text: What somebody has typed so far, its first 200 characters.
            k: Most suggestions, 1 to 50.
            readers: Who asks.

        Raises:
            QueryError: The text is none, or `k` is out of range.
        """
        check_text("the text", text, QueryError)
        check_number("k", k, 1, MOST_SUGGESTED)
        view = self._view(readers)
        questions = view.questions(text[:LONGEST_TYPED], k // 4)
        found = view.all.names.suggest(text, k - len(questions), view.seen, view.names)
        ids = view.all.cards
        return [
            *(
                Suggestion(name, "column" if is_column else "table", ids[place].table_id)
                for name, place, is_column in found
            ),
            *(Suggestion(question, "question") for question in questions),
        ]

    def table(self, table_id: str, *, readers: Sequence[str] | None = None) -> TablePage:
        """Return all that is shown of one table."""
        from pneuma_assets.core.service.table_page import table_page

        with self._known_store() as store:
            view = self._view(readers)
            page = table_page(store, self.loaded.deployment, table_id, readers, view)
            return replace(page, questions=questions_of(store, table_id, readers))

    def sample_rows(
        self, table_id: str, *, limit: int = 10, readers: Sequence[str] | None = None
    ) -> SampleRows:
        """Return rows of a table that the index keeps; its source is not read.

        Args:
            table_id: The table.
            limit: Most rows, 1 to 50: so many are kept.
            readers: Who asks.

        Raises:
            QueryError: The limit is out of range.
        """
        from pneuma_assets.core.service.table_page import sample_rows

        with self._known_store() as store:
            check_table(store, table_id, readers)
            record = store.tables.record(table_id)
        kept = self._ask(lambda engine: engine.evidence([table_id]))
        return sample_rows(kept.get(table_id), limit, None if record is None else record.rows)

    def mark(self, question: str, texts: Sequence[str]) -> list[Marked]:
        """Return texts with the words of a question marked, as the index compares words."""
        from pneuma_assets.core.search.highlight import Marker
        from pneuma_assets.core.text.analysis import analyzer_named

        check_text("the question", question, QueryError)
        check_names("texts", texts, QueryError)
        if len(texts) > MOST_MARKED:
            raise QueryError(f"{len(texts):,} texts are to be marked; give {MOST_MARKED:,} at most")
        marker = Marker(question, analyzer_named(self.loaded.deployment.index.analyzer))
        return [Marked(text, marker.marks(text)) for text in texts]

    def _view_or_none(
        self, readers: Sequence[str] | None, facets: Facets, missing: Missing
    ) -> "View":
        """Return what an asker sees; nothing where the state is away and nothing depends on it."""
        try:
            return self._view(readers)
        except StateError as error:
            if facets != Facets():
                raise
            missing(Part.STATE, error)
            from pneuma_assets.core.service.catalog_snapshot import NOTHING, Snapshot

            return Snapshot(NOTHING, {}).view(None)

    def _sources_of(self, results: "Sequence[TableResult]", where: IndexFilter) -> set[str]:
        """Return the sources of which it is told that they are away: to some, those found alone."""
        if where.readers is None:
            return listed_sources(self.loaded, where.sources)
        return {source_of(one.table_id) for one in results}

    def _view(self, readers: Sequence[str] | None) -> "View":
        self._check_open()
        if readers is not None:
            check_names("readers", readers, QueryError)
        return self._catalog.current().view(readers)

    @cached_property
    def _catalog(self) -> "Catalog":
        from pneuma_assets.core.service.catalog import Catalog

        return Catalog(self._stores.use, self.loaded.deployment)
