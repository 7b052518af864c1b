"""Answers in cells, or else rows that have what a question names, for every door."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from sqlglot import exp

from pneuma_assets.core.answers.answer import Found, Ways, by_model
from pneuma_assets.core.answers.attempt import Attempts
from pneuma_assets.core.answers.guard import checked, names_read
from pneuma_assets.core.answers.llm import ModelWriter
from pneuma_assets.core.answers.named_rows import named_rows
from pneuma_assets.core.answers.prune import Tables, answer_sets, sets_to_ask, with_matches
from pneuma_assets.core.answers.results import (
    CHANGED,
    AnswerSet,
    AnswerTable,
    CellAnswer,
    Outcome,
    TableAnswer,
    called,
)
from pneuma_assets.core.answers.run_duckdb import CHANGED as CHANGED_SINCE
from pneuma_assets.core.answers.statements import Checked, Guard, refuse
from pneuma_assets.core.close_once import Closing
from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.config.models import MOST_ROWS
from pneuma_assets.core.errors import (
    AccessRefusedError,
    ModelError,
    QueryError,
    SourceError,
    SqlFailedError,
    SqlRefusedError,
    StateError,
    TableChangedError,
    TableReadError,
)
from pneuma_assets.core.missing_parts import Part
from pneuma_assets.core.models.usage import counting
from pneuma_assets.core.search.confidence import is_unlikely
from pneuma_assets.core.service.answer_sources import AnswerSources, may_be_called
from pneuma_assets.core.service.check_parts import Missing
from pneuma_assets.core.sources.base import StatementRows
from pneuma_assets.core.tables import Problem, TableTerms, source_of
from pneuma_assets.core.terms.fields import cell_term
from pneuma_assets.core.terms.rare_words import sought_words
from pneuma_assets.core.text.suggest import check_number

if TYPE_CHECKING:
    from pneuma_assets.core.index.base import IndexFilter
    from pneuma_assets.core.models.base import LanguageModel
    from pneuma_assets.core.relations.rank_groups import GroupResult
    from pneuma_assets.core.search.query import QueryEngine
    from pneuma_assets.core.service.engine import LiveQueryEngine
    from pneuma_assets.core.text.analysis import Analyzer

_T = TypeVar("_T")

_NEAREST = 5
_GROUPS = 3
"""Sets that are found for each that is asked about, since some are within others."""
SETS = 10
"""Sets of tables that are looked at for an answer, unless the caller says otherwise."""

ANSWER_TOKENS = 4_000
"""Most tokens of what a model answers, what it thinks before it included."""

PERSON = "a person"
"""Who made a statement that somebody wrote or changed."""

_FEW_TABLES = 10
"""Of those found, most that have a rare word as a cell; copies are among them."""
_MOST_SETS = 100
_MOST_STATEMENTS = 5
"""Times `answers.seconds`: after so long no other statement of a question is begun."""
_NO_MODEL = "no model writes statements: name one in answers.model, or ask without it"
_NOT_SET_UP = (
    "No language model is set up that would write SQL to answer: name one in answers.model "
    "(docs/answers.md, Which model)"
)


@dataclass(frozen=True, slots=True)
class _Searched:
    """What the index says of a question."""

    groups: "Sequence[GroupResult]"
    evidence: Mapping[str, TableTerms]
    matched: Mapping[str, Mapping[str, float]]
    analyzer: "Analyzer"

    @property
    def nearest(self) -> tuple[str, ...]:
        tables = (one for group in self.groups for one in group.tables)
        return tuple(dict.fromkeys(tables))[:_NEAREST]

    @property
    def answerable(self) -> float | None:
        return self.groups[0].answerable if self.groups else 0.0


@dataclass(frozen=True, slots=True)
class _Asked:
    """How a question was asked; `model` is as the caller said it, `by_model` what follows.

    `doubt` is the beginning of why there are only rows with a rare word, where no table is likely.
    """

    most: int
    model: bool | None
    by_model: bool
    where: "IndexFilter"
    ways: Ways
    doubt: str


@dataclass(frozen=True, slots=True)
class _Told:
    """Runs statements, and notes which sources cannot be read."""

    sources: AnswerSources
    missing: Missing

    def dialect(self, tables: Sequence[AnswerTable]) -> str:
        """Return the dialect of a statement about these tables."""
        return self.sources.dialect(tables)

    def run(self, statement: Checked, tables: Sequence[AnswerTable]) -> StatementRows:
        """Return the rows of a checked statement, as `Runner` has it."""
        try:
            return self.sources.run(statement, tables)
        except TableChangedError:
            raise
        except AccessRefusedError as error:  # the source is there; its words name who reads it
            error.args = (self.missing.cause(str(error)),)
            raise
        except (SourceError, TableReadError) as error:
            named, why = {one.name for one in statement.tables}, str(error)
            read = [one for one in tables if one.read.name in named]
            failed = [one for one in read if one.ref.location in why] or read
            error.args = (self.missing.cause(why),)
            for table_id in sorted(one.table_id for one in failed):
                effect = f"no rows of {table_id} are read"
                self.missing.add(Part.SOURCE, source_of(table_id), str(error), effect)
            raise

    def doubts(self, statement: Checked, tables: Sequence[AnswerTable]) -> list[str]:
        """Return which sums a join of a statement multiplies, and why that was not counted."""
        from pneuma_assets.core.seek.skeptic.joins import AGGREGATES, REPEATED, findings_of_joins

        tree = statement.tree
        if tree.find(exp.Join) is None or tree.find(*AGGREGATES) is None:
            return []

        def ask(sql: str) -> StatementRows:
            read = [one.read for one in tables]
            return self.sources.run(checked(sql, read, statement.dialect, 1), tables)

        try:
            found = [*findings_of_joins(statement, "the statement", ask)]
        except (SqlRefusedError, SqlFailedError, SourceError, TableReadError) as error:
            why = self.missing.cause(str(error))
            return [f"whether a join repeats what is added up was not counted: {why}"]
        return [one.text for one in found if one.rule == REPEATED]


class Answering(Closing):
    """Answers questions in cells; for any number of threads.

    Args:
        loaded: The deployment.
        environ: Holds the secrets that its file names.
        engine: Returns what searches the index.
        model: Returns the model of the section `answers`.

    Attributes:
        sources: The deployment's, of which statements read.
    """

    def __init__(
        self,
        loaded: LoadedDeployment,
        environ: Mapping[str, str],
        engine: "Callable[[], LiveQueryEngine]",
        model: "Callable[[], LanguageModel | None]",
    ) -> None:
        self._loaded = loaded
        self._engine, self._model = engine, model
        self.sources = AnswerSources(loaded, environ)

    def answer(
        self,
        question: str,
        k: int | None,
        model: bool | None,
        where: "IndexFilter",
        ways: Ways | None = None,
    ) -> CellAnswer:
        """Return the cells that answer a question, or rows that it names; see `Workspace.answer`.

        Only experiments say otherwise by which `ways`.
        """
        config = self._loaded.deployment.answers
        most = SETS if k is None else k
        if not isinstance(most, int) or isinstance(most, bool) or not 1 <= most <= _MOST_SETS:
            raise QueryError(f"k must be a whole number from 1 to {_MOST_SETS}, not {k!r}")
        asked = config.model is not None if model is None else model
        if asked and config.model is None:
            raise QueryError(_NO_MODEL)
        judge = None if asked else False  # where no model is to be asked, none is
        missing = Missing(self._loaded, sees_all=where.readers is None)
        with counting() as used:
            searched = self._engine().ask(
                lambda engine: _search(engine, question, most, judge, where, missing)
            )
            sure, least = searched.answerable, self._loaded.deployment.query.min_confidence
            unlikely = is_unlikely(sure, least)  # the search says that none answers (section 5)
            doubt = f"No confident match ({sure:.2f}); " if unlikely else ""
            reason = f"{doubt}ask in other words, or look at the nearest tables"
            found = CellAnswer(question, Outcome.REFUSED, reason=reason)
            if not searched.groups:
                reason = "no table matches; ask in other words, or loosen the filters"
                found = replace(found, reason=reason)
            else:
                how = _Asked(most, model, asked, where, ways or Ways(), doubt)
                read = self._read(question, searched, how, missing)
                found = found if unlikely and read.outcome == Outcome.NO_ROWS else read
        return replace(
            found,
            nearest=searched.nearest,
            answerable=sure,
            unlikely=unlikely,
            missing=missing.parts,
            usage=used,
        )

    def run(
        self, sql: str, table_ids: Sequence[str], rows: int | None, where: "IndexFilter"
    ) -> TableAnswer:
        """Return the rows of a person's own statement; see `Workspace.run_sql`."""
        most = self._loaded.deployment.answers.rows if rows is None else rows
        check_number("rows", most, 1, MOST_ROWS)
        ids = self.sources.seen(table_ids, where)
        known = self.sources.tables(self._engine().ask(lambda engine: engine.evidence(ids)))
        for one in ids:
            if one not in known:
                raise QueryError(f"no statement can read {one}: it is not indexed, or hidden")
        tables = tuple(known[one] for one in ids)
        dialect = self.sources.dialect(tables)
        attempts = Attempts(self.sources, most)
        return self._as_written(
            sql, tables, dialect, lambda named: attempts.run(sql, named, dialect, PERSON)
        )

    def resolved(self, sql: str, table_ids: Sequence[str]) -> str | None:
        """Return a statement that reads these tables alone, as the guard spells it.

        None where the guard cannot tell what it reads, as in another dialect.

        Raises:
            SqlRefusedError: It is no query, or reads another table.
        """
        known = self.sources.tables(dict.fromkeys(table_ids, TableTerms()))
        if not known.keys() >= {*table_ids}:
            return None
        tables, most = tuple(known.values()), self._loaded.deployment.answers.rows
        dialect = self.sources.dialect(tables)

        def spelled(named: AnswerSet) -> str:
            return checked(sql, [one.read for one in named.tables], dialect, most).sql

        try:
            return self._as_written(sql, tables, dialect, spelled)
        except SqlRefusedError as error:
            if error.guard in (Guard.ONE_STATEMENT, Guard.QUERY):
                raise
            unknown = names_read(sql, dialect) if error.guard == Guard.TABLE else set[str]()
        there = {name.lower() for one in tables for name in (one.read.name, one.read.place[1])}
        for name in sorted(unknown):
            if name.lower() not in there:
                refuse(Guard.TABLE, f"it reads {name[:60]!r}; name that table, too")
        return None

    def _as_written(
        self,
        sql: str,
        tables: tuple[AnswerTable, ...],
        dialect: str,
        use: "Callable[[AnswerSet], _T]",
    ) -> _T:
        """Use tables as a statement calls them; raises what `use` does."""
        try:
            return use(AnswerSet(tables))
        except SqlRefusedError as error:
            names = names_read(sql, dialect) if error.guard == Guard.TABLE else set[str]()
            if (len(names), len(tables)) != (1, 1) or not may_be_called(tables[0].table_id, *names):
                raise
        # Where it was written, others were called alike, so this one by a longer name.
        return use(AnswerSet((called(tables[0], names.pop(), ""),)))

    def _read(
        self, question: str, searched: _Searched, asked: "_Asked", missing: Missing
    ) -> CellAnswer:
        """Return cells of the tables found, as far as the parts that are there can read any."""
        sets = sets_to_ask(searched.groups, asked.most)
        try:
            if asked.by_model:
                try:
                    found = self._by_model(question, searched, sets, asked.ways, missing)
                    return self._dated(found)
                except ModelError as error:
                    if asked.model:  # who insists on the model is told that it fails
                        raise
                    missing(Part.MODEL, error)
            return self._dated(self._named(question, searched, sets, asked, missing))
        except StateError as error:
            missing(Part.STATE, error)
            told = "nothing is known of the tables, as the state cannot be read"
            return CellAnswer(question, Outcome.NO_ROWS, reason=told)

    def _dated(self, answer: CellAnswer) -> CellAnswer:
        """Return an answer with the tables that were listed anew since they were indexed."""
        read = {table for one in answer.answers for table in one.tables}
        read.update(one.table for one in answer.named)
        stale = sorted(self.sources.changed(read)) if read else []
        told = f"it {CHANGED_SINCE}, then ask again"
        problems = tuple(Problem(table, CHANGED, told) for table in stale)
        return replace(answer, problems=(*answer.problems, *problems))

    def close(self) -> None:
        """Let go of the sources; used again, they are opened anew."""
        self.sources.close()

    def _by_model(
        self,
        question: str,
        searched: _Searched,
        tables: Sequence[Tables],
        ways: Ways,
        missing: Missing,
    ) -> CellAnswer:
        config, model = self._loaded.deployment.answers.model, self._model()
        if config is None or model is None:
            raise QueryError(_NO_MODEL)
        writer = ModelWriter(model, ANSWER_TOKENS, config.shows_values, missing.cause)
        known = {
            table_id: with_matches(one, searched.matched.get(table_id, {}))
            for table_id, one in self.sources.tables(searched.evidence).items()
        }
        sets = answer_sets(tables, known)
        found = by_model(question, sets, writer, self._attempts(ways, missing), ways)
        if found.unheard:
            silent = ModelError(f"it gave no answer: {found.unheard}")
            missing(Part.MODEL, silent, "no statement was written")
        return _of(question, found, sets, searched.analyzer)

    def _named(
        self,
        question: str,
        searched: _Searched,
        sets: Sequence[Tables],
        asked: _Asked,
        missing: Missing,
    ) -> CellAnswer:
        """Return rows that have the cells that a question names: no model is asked, or is there."""
        ids = list(dict.fromkeys(table for tables, _ in sets for table in tables))
        held = self._engine().ask(lambda engine: engine.held_values(question, ids, asked.where))
        first = searched.groups[0].tables
        held = _telling(held, question, searched.analyzer, first, is_likely=not asked.doubt)
        known = self.sources.tables({one: searched.evidence[one] for one in ids})
        tables = [known[one] for one in ids if one in known]
        found, problems = named_rows(question, held, tables, self._attempts(Ways(), missing))
        why = "the question names no cell of the nearest tables"
        if found:
            why = f"{asked.doubt}these rows contain words of the question, and are not an answer"
        elif problems:
            why = "no row was read that has what the question names"
        is_set_up = self._loaded.deployment.answers.model is not None
        return CellAnswer(
            question,
            Outcome.NAMED if found else Outcome.NO_ROWS,
            named=tuple(found),
            reason=why if is_set_up else f"{why}. {_NOT_SET_UP}",
            problems=tuple(problems),
        )

    def _attempts(self, ways: Ways, missing: Missing) -> Attempts:
        config = self._loaded.deployment.answers
        until = time.monotonic() + _MOST_STATEMENTS * config.seconds
        runner = _Told(self.sources, missing)
        return Attempts(runner, config.rows, ways.corrected, until, runner.doubts)


def _telling(
    held: Mapping[str, tuple[str, ...]],
    question: str,
    analyzer: "Analyzer",
    first: Sequence[str],
    *,
    is_likely: bool,
) -> dict[str, tuple[str, ...]]:
    """Return cells with the tables in which they are no accident: any in the first ones, if likely.

    In others these alone: rare words (codes and names, of few tables; no years), and several words.
    "Average" is a grade of turf in a table of no other word asked for. Where no table is likely,
    several words count in the first ones.
    """
    rare = {cell_term(word) for word in sought_words(question, analyzer) if not word.isdigit()}
    return {
        text: tables
        if len(tables) <= _FEW_TABLES and (cell_term(text) in rare or (is_likely and " " in text))
        else tuple(one for one in tables if one in first and (is_likely or " " in text))
        for text, tables in held.items()
    }


def _search(
    engine: "QueryEngine",
    question: str,
    most: int,
    judge: bool | None,
    where: "IndexFilter",
    missing: Missing,
) -> _Searched:
    groups = engine.find_groups(
        question, k=_GROUPS * most, judge=judge, where=where, missing=missing
    )
    tables = {table for group in groups for table in group.tables}
    evidence = engine.evidence(sorted(tables))
    columns = {table: one.columns for table, one in evidence.items()}
    matched = engine.matched_columns(question, columns, missing)
    return _Searched(groups, evidence, matched, engine.analyzer)


def _of(question: str, found: Found, sets: Sequence[AnswerSet], analyzer: "Analyzer") -> CellAnswer:
    if found.answers:
        from pneuma_assets.core.answers.unmatched_words import unmatched_words

        known = {table.table_id: table for one in sets for table in one.tables}
        answers = tuple(
            replace(
                one,
                unmatched=unmatched_words(
                    question, one.sql, one.dialect, [known[i] for i in one.tables], analyzer
                ),
            )
            for one in found.answers
        )
        return CellAnswer(question, Outcome.ANSWERED, answers, problems=tuple(found.problems))
    outcome = Outcome.NOT_WRITTEN
    reason = "Could not build SQL for this question; ask more plainly, or read the tables"
    if found.missing:
        told = f"the model says that no table has this: {found.missing}"
        outcome, reason = Outcome.REFUSED, f"{told}. Ask in other words, or look at the tables"
    elif found.unheard:
        reason = f"the model gave no answer: {found.unheard}"
    elif found.problems:
        reason = (
            "statements about these tables give nothing; ask more precisely, or read the tables"
        )
    return CellAnswer(question, outcome, reason=reason, problems=tuple(found.problems))
