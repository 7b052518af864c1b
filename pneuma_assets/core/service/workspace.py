"""Everything one deployment consists of, opened when first needed and closed together."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pneuma_assets.core.errors import ConfigError, QueryError
from pneuma_assets.core.index.base import NO_FILTER, IndexFilter
from pneuma_assets.core.service import describe, state
from pneuma_assets.core.service.check_parts import Missing
from pneuma_assets.core.service.status import Status, read_status
from pneuma_assets.core.service.visible_tables import check_table, seen_tables
from pneuma_assets.core.service.workspace_catalog import WorkspaceCatalog
from pneuma_assets.core.service.workspace_usage import WorkspaceUsage
from pneuma_assets.core.text.suggest import check_names, check_text

if TYPE_CHECKING:
    from pneuma_assets.core.answers.results import CellAnswer, TableAnswer
    from pneuma_assets.core.index.base import IndexInfo
    from pneuma_assets.core.missing_parts import MissingPart, OnMissing
    from pneuma_assets.core.relations.rank_groups import GroupResult
    from pneuma_assets.core.search.query import QueryEngine
    from pneuma_assets.core.search.results import TableResult
    from pneuma_assets.core.service.ask import Answer
    from pneuma_assets.core.service.changed import Changed
    from pneuma_assets.core.service.describe import ColumnDescription
    from pneuma_assets.core.service.joins import JudgedJoin, KnownJoin
    from pneuma_assets.core.service.lineage import LinkedTable
    from pneuma_assets.core.service.seek import Seeker
    from pneuma_assets.core.service.sources import SourceCheck
    from pneuma_assets.core.store.documents import UserContext
    from pneuma_assets.core.store.restore import Restored


class Workspace(WorkspaceCatalog, WorkspaceUsage):
    """A deployment ready for use: what the command line, Python and Dagster call.

    Nothing is opened before it is needed: reading the status loads no model. Close it, or use it in
    a `with` statement; closed, it raises `StateError` where it would have to open something.

    Arguments that several methods take: `question` is in plain language; `k` bounds the results,
    None as the deployment file has it; `where` says which sources, tables and kinds of documents
    are searched, and with `readers` who asks; `table_id` is a table as answers and the status name
    it; `readers` are all names of who asks, who sees no other's tables, None for who may see all;
    `author` is who says something, None for the user who is logged in.

    Errors that several methods raise: methods that ask raise `QueryError` where the question or an
    option cannot be used, nothing is indexed, or the filter names what does not exist, and
    `SearchIndexError` where the index cannot be read; methods about one table raise `ConfigError`
    where there is no such table.
    """

    @cached_property
    def seek(self) -> "Seeker":
        """Conversations that end in the table somebody needed (docs/seek.md)."""
        from pneuma_assets.core.service.seek import Seeker

        return Seeker(self.loaded, self._environ, self._known_store, self._asking)

    def ask(
        self,
        question: str,
        *,
        k: int | None = None,
        n: int | None = None,
        alpha: float | None = None,
        judge: bool | None = None,
        where: IndexFilter = NO_FILTER,
    ) -> "list[TableResult]":
        """Return the tables that may answer the question, best first.

        What is None is as the deployment file has it.

        Args:
            question: In plain language.
            k: Most tables of the answer.
            n: Candidates per signal, as a multiple of `k`.
            alpha: Use only BM25 (1), embeddings (0) or a weighted mean of both.
            judge: Whether a language model grades the best results and orders them.
            where: Which sources, tables and kinds of documents to search, and who asks.
        """
        return self.ask_many([question], k=k, n=n, alpha=alpha, judge=judge, where=where)[0]

    def ask_many(
        self,
        questions: Sequence[str],
        *,
        k: int | None = None,
        n: int | None = None,
        alpha: float | None = None,
        judge: bool | None = None,
        tau: float | None = None,
        where: IndexFilter = NO_FILTER,
        missing: "list[MissingPart] | None" = None,
    ) -> "list[list[TableResult]]":
        """Answer several questions, much quicker than with a call each; otherwise as `ask`.

        Given `tau`, each answer has as many tables as its question needs, as with `find`. Given a
        list as `missing`, a model or a state that is away is no error: it is added there, and the
        questions are answered without it.
        """
        options: dict[str, Any] = {"k": k, "n": n, "alpha": alpha, "judge": judge, "tau": tau}
        with self._noting(missing, where) as note:
            return self._ask(
                lambda engine: engine.ask_many(questions, **options, where=where, missing=note)
            )

    def ask_each(
        self,
        questions: Sequence[str | None],
        *,
        k: int | None = None,
        n: int | None = None,
        alpha: float | None = None,
        judge: bool | None = None,
        tau: float | None = None,
        where: IndexFilter = NO_FILTER,
        missing: "list[MissingPart] | None" = None,
    ) -> "list[Answer]":
        """Answer as `ask_many`, but let a question that cannot be asked fail no other.

        Its `Answer` has the error. None stands for a question that is not text.
        """
        from pneuma_assets.core.service.ask import ask_each

        options = {"k": k, "n": n, "alpha": alpha, "judge": judge, "tau": tau, "where": where}
        with self._noting(missing, where) as note:
            return self._ask(lambda engine: ask_each(engine, questions, **options, missing=note))

    def find(
        self,
        question: str,
        *,
        tau: float | None = None,
        k: int | None = None,
        judge: bool | None = None,
        where: IndexFilter = NO_FILTER,
    ) -> "list[TableResult]":
        """Return as many tables as the question needs, at most `k`, best first.

        Scores are scaled from 0 to 1 for each question, and those tables returned that reach `tau`
        (Octopus, section 4.3): 1 leaves the best table alone, 0 all; None is 0.9, with which F1 was
        highest. What the judge refuses is left out, unless it refuses all.
        """
        from pneuma_assets.core.search.results import TAU

        near = TAU if tau is None else tau
        return self.ask_many([question], k=k, judge=judge, tau=near, where=where)[0]

    def find_groups(
        self,
        question: str,
        *,
        k: int | None = None,
        where: IndexFilter = NO_FILTER,
        missing: "list[MissingPart] | None" = None,
    ) -> "list[GroupResult]":
        """Return sets of tables that may answer the question together, best first.

        A table that may answer by itself is such a set, too. `missing` is as in `ask_many`.
        """
        with self._noting(missing, where) as note:
            return self._ask(
                lambda engine: engine.find_groups(question, k=k, where=where, missing=note)
            )

    def answer(
        self,
        question: str,
        *,
        k: int | None = None,
        model: bool | None = None,
        where: IndexFilter = NO_FILTER,
    ) -> "CellAnswer":
        """Return the cells that answer a question, with the statement that gave them.

        Tables are found as by `find_groups`; a statement about them is written by the model of the
        section `answers`. It is checked, and run where the tables lie, or in DuckDB over their rows
        (Octopus, section 5; docs/answers.md). Without a model nothing is answered: `named` has the
        rows with cells that the question names. Parts that are away are named in `missing`; where
        that is the model, rows are shown as without one, unless `model` is True.

        Args:
            question: In plain language.
            k: Most sets of tables that are looked at.
            model: Whether a language model writes statements; None: as the deployment file has it.
            where: Which sources, tables and kinds of documents to search, and who asks.

        Raises:
            ModelError: The model is to write statements (`model`), and is missing or fails.
            ConfigError: A secret that the deployment file names is not set.
        """
        with self._asking() as session:
            return session.answering.answer(question, k, model, where)

    def run_sql(
        self,
        sql: str,
        tables: Sequence[str],
        *,
        rows: int | None = None,
        where: IndexFilter = NO_FILTER,
    ) -> "TableAnswer":
        """Return the rows of a statement that a person wrote, or changed after an answer.

        It passes the guard that a model's passes, and runs within the same bounds.

        Args:
            sql: One SELECT in the dialect of the tables' database, else DuckDB's.
            tables: Ids of the tables that it may read, called as answers call them.
            rows: Most rows, up to 10,000 and 4 MB; None: as the deployment file has it.
            where: Who asks.

        Raises:
            ConfigError: There is no such table for who asks.
            QueryError: A table is not indexed, or `rows` is out of range.
            SqlRefusedError: The guard refuses it; the message says why.
            SqlFailedError: It does not run, or a bound ends it.
            SourceError: A source does not answer; `TableReadError`: a table cannot be read.
        """
        check_text("the statement", sql, QueryError)
        check_names("the tables", tables, QueryError)
        with self._asking() as session:
            return session.answering.run(sql, tables, rows, where)

    def statement_names(self, tables: Iterable[str]) -> dict[str, str]:
        """Return by id what statements about these tables call them, as `run_sql` expects it."""
        with self._asking() as session:
            return session.answering.sources.names(tables)

    def joins(self, table_id: str, *, readers: Sequence[str] | None = None) -> "list[KnownJoin]":
        """Return by which columns a table can be joined with others, the surest first."""
        from pneuma_assets.core.service.joins import joins_of_table

        with self._known_store() as store:
            return joins_of_table(store, table_id, readers)

    def judged_joins(self, *, readers: Sequence[str] | None = None) -> "list[JudgedJoin]":
        """Return all joins that people confirmed or rejected.

        To who may see all, also of what has left since.
        """
        from pneuma_assets.core.service.joins import judged_joins

        with self._known_store() as store:
            return judged_joins(store, self.loaded.deployment, readers)

    def judge_join(
        self,
        table_id: str,
        columns: Sequence[str],
        other: str,
        other_columns: Sequence[str],
        *,
        holds: bool | None,
        author: str | None = None,
        readers: Sequence[str] | None = None,
    ) -> None:
        """Confirm or reject that tables can be joined by these columns; None removes the verdict.

        It counts from the next question on, and stays when joins are inferred again. `table_id` is
        the table that refers to `other`; columns are in the same order.

        Raises:
            ConfigError: There is no such table or column, or no verdict to remove.
        """
        from pneuma_assets.core.service.joins import judge_join

        edge = (table_id, tuple(columns), other, tuple(other_columns))
        with self._known_store() as store:
            judge_join(store, edge, holds, author, readers)

    def query_engine(self) -> "QueryEngine":
        """Return what answers questions over the current index.

        When an index of another encoder has taken that one's place it raises `IndexMismatchError`,
        and after `release` there is another. `ask` and its like do that by themselves.
        """
        return self._current.engine

    def status(self) -> Status:
        """Return what is indexed, what is not and why, without loading a model.

        Where nothing was indexed yet it is empty, and no state is created.
        """
        if not state.has_state(self.loaded, self._environ):
            return Status(self.loaded.home, (), (), self.inspect_index())
        from pneuma_assets.core.service.status import privacy_notices

        found = read_status(self.store, self.loaded, self.inspect_index())
        privacy = privacy_notices(self.store, self.loaded.deployment)
        return replace(found, notices=[*self.loaded.deployment.notices, *privacy])

    def changed(
        self,
        tables: str | Collection[str] = (),
        *,
        sources: Collection[str] = (),
        reason: str = "",
    ) -> "Changed":
        """Say that tables have changed; stored at once, and worked on by the next run.

        A known table is read again, whatever a listing can see of it; no model is asked where it
        turns out to be as it was. A name that no table has lets its source be listed. It is for who
        operates the deployment: what it tells names tables, whoever may see them, so that no door
        but Python, the command line and Dagster has it.

        Args:
            tables: A table's id, a glob over ids, or what it is called where it is kept (full name,
                path, URI); or several of these, 10,000 at most.
            sources: Names of sources to list, without saying what of them has changed.
            reason: Who says so, and why: for people.

        Raises:
            ConfigError: No source has a table of such a name, or nothing was ever listed.
        """
        from pneuma_assets.core.service.changed import note_changed

        with self._known_store() as store:
            return note_changed(self.loaded, store, tables, sources=sources, reason=reason)

    def add_context(
        self, table_id: str, name: str, text: str, *, readers: Sequence[str] | None = None
    ) -> None:
        """Add a text about a table; searchable after the next run.

        Args:
            table_id: The table.
            name: Label of the text; reusing a label replaces its text.
            text: At most 200,000 characters.
            readers: Who adds it.

        Raises:
            ConfigError: There is no such table, or name or text is not text.
            StateError: Name or text is empty, or the text too long.
        """
        with self._known_store() as store:
            describe.add_context(store, table_id, name, text, readers)

    def remove_context(
        self, table_id: str, name: str, *, readers: Sequence[str] | None = None
    ) -> None:
        """Remove a text that was added to a table; raises `ConfigError` where there is none."""
        with self._known_store() as store:
            describe.remove_context(store, table_id, name, readers)

    def contexts(
        self, table_id: str, *, readers: Sequence[str] | None = None
    ) -> "list[UserContext]":
        """Return the texts that were added to a table, ordered by name."""
        with self._known_store() as store:
            return describe.contexts_of(store, table_id, readers)

    def describe(
        self,
        table_id: str,
        column: str | None,
        text: str,
        *,
        author: str | None = None,
        readers: Sequence[str] | None = None,
    ) -> None:
        """Describe a column, or with None the table, in the place of every other description.

        It stays until `withdraw`, also where the column or the table leaves, and is searchable
        after the next run. `text` is one line of at most 1,000 characters.

        Raises:
            ConfigError: There is no such table or column, or text or author cannot be stored.
        """
        check_text("the text", text, ConfigError)
        with self._known_store() as store:
            describe.correct(store, table_id, column, text, author, readers)

    def reject(
        self,
        table_id: str,
        column: str | None,
        *,
        author: str | None = None,
        readers: Sequence[str] | None = None,
    ) -> None:
        """Show and index no description by models, values or documents of a column or table.

        Its name stands in, and what people wrote in the table itself, until `withdraw` or
        `describe`. Raises what `describe` raises.
        """
        with self._known_store() as store:
            describe.correct(store, table_id, column, None, author, readers)

    def withdraw(
        self, table_id: str, column: str | None, *, readers: Sequence[str] | None = None
    ) -> None:
        """Remove a correction or rejection, also of what has left; raises if there is none."""
        with self._known_store() as store:
            describe.withdraw(store, self.loaded.deployment, table_id, column, readers)

    def descriptions(
        self, table_id: str | None = None, *, readers: Sequence[str] | None = None
    ) -> "list[ColumnDescription]":
        """Return the descriptions of a table and each of its columns, with author and time.

        What only the next run can tell is `pending`. Without a table: all corrections and
        rejections; to who may see all, also of what has left.
        """
        deployment = self.loaded.deployment
        with self._known_store() as store:
            if table_id is not None:
                return describe.descriptions_of(store, deployment, table_id, readers)
            return describe.corrections_of(store, deployment, readers)

    def lineage(
        self,
        table_id: str,
        direction: str | None = None,
        *,
        depth: int = 10,
        keys: bool = True,
        readers: Sequence[str] | None = None,
    ) -> "list[LinkedTable]":
        """Return the tables that one is built from, and those that are built from it.

        Args:
            table_id: The table.
            direction: `upstream`, `downstream`, or None for both.
            depth: Steps to follow, 1 to 100.
            keys: Whether foreign keys count, too.
            readers: Who asks.

        Raises:
            ConfigError: There is no such table.
            QueryError: Direction or depth are out of range.
        """
        from pneuma_assets.core.service.lineage import lineage_of

        with self._known_store() as store:
            return lineage_of(store, table_id, direction, depth, keys=keys, readers=readers)

    def openlineage(self, table_id: str | None = None) -> Iterator[str]:
        """Yield OpenLineage events, each one line of JSON, of one table or of all with lineage.

        Raises:
            ConfigError: There is no such table, or openlineage-python is not installed.
        """
        from pneuma_assets.core.service.openlineage import openlineage_events

        if table_id is not None:
            with self._known_store() as store:
                check_table(store, table_id)

        def events() -> Iterator[str]:
            with self._known_store() as store:
                yield from openlineage_events(store, self.loaded.deployment, table_id)

        return events()

    def related(
        self,
        *,
        upstream_of: str | None = None,
        downstream_of: str | None = None,
        where: IndexFilter = NO_FILTER,
    ) -> IndexFilter:
        """Return a filter to `ask` with, for tables up- or downstream of others.

        Args:
            upstream_of: A table that those are built from, at however many steps.
            downstream_of: A table that is built from those.
            where: What the filter restricts besides.

        Raises:
            ConfigError: There is no such table.
            QueryError: No indexed table is so related.
        """
        from pneuma_assets.core.service.lineage import related

        above, below = ([one] if one is not None else [] for one in (upstream_of, downstream_of))
        with self._known_store() as store:
            return related(store, above, below, where)

    def known_tables(self, *, readers: Sequence[str] | None = None) -> list[str]:
        """Return the ids of the tables that were listed, indexed or not; creates nothing."""
        self._check_open()
        with self._stores.use() as store:
            return [] if store is None else sorted(seen_tables(store, readers))

    def check_sources(self) -> "list[SourceCheck]":
        """Return of each source where it is, and whether and how many tables it lists now."""
        from pneuma_assets.core.service.sources import check_sources

        return check_sources(self.loaded, self._environ)

    def restore(self) -> "Restored | None":
        """Put a sound state file in the place of a damaged one; None if the file is intact.

        Raises:
            StateError: There is no file, it cannot be used, or the state is on a server.
        """
        self.release()
        return state.restore_state(self.loaded)

    def inspect_index(self) -> "IndexInfo | None":
        """Return what the index holds, whatever encoder built it; None if it does not exist."""
        from pneuma_assets.core.index.registry import index_credentials, inspect_index

        config = self.loaded.deployment.index
        return inspect_index(config, self.loaded.home, index_credentials(config, self._environ))

    def reindex(self) -> None:
        """Rebuild the index with the current settings, while the old one is searched.

        Raises:
            SearchIndexError: There is no index, or it cannot be read.
        """
        from pneuma_assets.core.index.registry import index_credentials, reindex

        config = self.loaded.deployment.index
        reindex(config, self.loaded.home, index_credentials(config, self._environ))

    def copy_index(self, source: str, target: str, *, replace: bool = False) -> "IndexInfo":
        """Copy the index of one engine to another, and return what that then holds.

        Raises:
            ConfigError: There is no such engine, or both are the same.
            SearchIndexError: There is nothing to copy.
            IndexMismatchError: The target was built with another encoder, and not to `replace`.
        """
        from pneuma_assets.core.index.copy_between import copy_between

        config = self.loaded.deployment.index
        return copy_between(
            config, source, target, self.loaded.home, self._environ, replace=replace
        )

    @contextmanager
    def _noting(
        self, missing: "list[MissingPart] | None", where: IndexFilter
    ) -> "Iterator[OnMissing | None]":
        """Yield what is told of parts that are away; afterwards they are in the caller's list."""
        if missing is None:
            yield None
            return
        sees_all = isinstance(where, IndexFilter) and where.readers is None
        noted = Missing(self.loaded, sees_all=sees_all)
        yield noted
        missing.extend(noted.parts)
