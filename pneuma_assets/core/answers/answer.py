"""From a question and sets of tables to cells (Octopus, section 5, Algorithm 2).

A model is shown the best sets at once, and writes a statement about one of them, or says what no
table says. What a statement gives is an answer, and tables like those that it reads give others.
One that is refused, fails or gives no row is written anew, told why; with all columns, where one
was missed that was left out. The paper asks first whether tables answer: of 30 questions, that
refused 4 that a capable model answers.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from pneuma_assets.core.answers.attempt import Attempts
from pneuma_assets.core.answers.like_tables import SiblingTables
from pneuma_assets.core.answers.llm import ModelWriter, OtherReading, Written, statement_in
from pneuma_assets.core.answers.prompts import MOST_CHARACTERS, Offer, again, asking, offer
from pneuma_assets.core.answers.prune import Cluster, clusters
from pneuma_assets.core.answers.results import (
    ALIKE,
    PART,
    READING,
    AnswerSet,
    AnswerTable,
    TableAnswer,
    called,
)
from pneuma_assets.core.answers.statements import Guard
from pneuma_assets.core.errors import (
    SourceError,
    SqlEmptyError,
    SqlFailedError,
    SqlRefusedError,
    TableReadError,
)
from pneuma_assets.core.models.base import Message
from pneuma_assets.core.models.language.forms import Answer
from pneuma_assets.core.progress import report
from pneuma_assets.core.tables import Problem
from pneuma_assets.core.text.safe import one_line

_UNREAD = "has columns of the same names as what was read, and was not asked: name it to ask"
_TOO_LATE = "the question took too long; it was not asked"
_HELD = (SqlRefusedError, SqlFailedError)
"""Another statement may do."""
_LEFT = (SourceError, TableReadError)
"""No statement about these tables does."""
_WIDER = 4
"""Times as much room as else where a model misses what was left out."""
_WORDS = 300
"""Characters of what a model says of tables or readings."""


@dataclass(frozen=True, slots=True)
class Ways:
    """What is done to answer; each part can be left out, to measure what it is worth.

    Attributes:
        clustered: Whether tables of the same columns are asked about once.
        corrected: Whether values are put as they are stored.
        repairs: How often the model is told of an error and writes again.
    """

    clustered: bool = True
    corrected: bool = True
    repairs: int = 2


@dataclass(slots=True)
class Found:
    """What became of a question.

    Attributes:
        answers: Best first.
        problems: Why sets of tables gave none, in the order in which they were tried.
        missing: What the model says, last, that no table says; one line.
        unheard: Why the last request has no answer of the model, which is no verdict.
        tried: Ids of tables that statements were run on, those of each together.
    """

    answers: list[TableAnswer] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    missing: str = ""
    unheard: str = ""
    tried: set[frozenset[str]] = field(default_factory=set)

    def note(self, tables: AnswerSet, stage: str, cause: str) -> None:
        """Note why tables gave no answer."""
        subject = ", ".join(one.table_id for one in tables.tables)
        self.problems.append(Problem(subject, stage, cause))

    def note_unread(self, siblings: SiblingTables) -> None:
        """Note which tables are like those that were read, and were not asked about."""
        read = {table for one in self.answers for table in one.tables}
        left = siblings.unread(read, frozenset().union(*self.tried))
        self.problems += [Problem(table, ALIKE, _UNREAD) for table in left]


def by_model(
    question: str, sets: Sequence[AnswerSet], writer: ModelWriter, attempts: Attempts, ways: Ways
) -> Found:
    """Answer a question by a statement that a model writes.

    Args:
        question: In plain language.
        sets: Tables that may answer together, best first; the names in each differ.
        writer: Asks the model.
        attempts: Runs what it writes.
        ways: What is done.

    Raises:
        ModelError: The model is missing or fails.
    """
    dialects = [(one, attempts.runner.dialect(one.tables)) for one in sets]
    asked = clusters(question, dialects, clustered=ways.clustered)
    shown = offer(question, asked, values=writer.values, room=writer.room())
    siblings = _siblings(question, sets if ways.clustered else ())
    found, before = Found(), list[Message]()
    for request in range(1 + ways.repairs if asked else 0):
        if request and attempts.late:
            break
        report("asking the model", request, 1 + ways.repairs)
        answer = writer.written([asking(question, shown), *before])
        cause, lacking = _tried(answer, shown, siblings, writer, attempts, found)
        found.answers = [replace(one, repaired=request > 0) for one in found.answers]
        wider = shown
        if lacking and not shown.whole:
            room = writer.room(_WIDER * MOST_CHARACTERS)
            wider = offer(question, lacking, values=writer.values, room=room)
        if wider != shown:
            shown, before = wider, []
        elif found.missing or not cause:
            break
        else:
            before += again(answer.said, cause)
    found.note_unread(siblings)
    return found


def _tried(
    answer: Answer[Written],
    shown: Offer,
    siblings: SiblingTables,
    writer: ModelWriter,
    attempts: Attempts,
    found: Found,
) -> tuple[str, Sequence[Cluster]]:
    """Run what a model answers; return what it is told, and which sets may lack columns for it.

    It is told nothing where there are answers, or where to ask again would help nothing. Nothing
    said is no verdict: a model is silent or cut off also where tables say what is asked for.
    """
    said, found.missing = answer.value, ""
    sql = "" if said is None or said.sql is None else said.sql.strip()
    missing = "" if said is None or said.missing is None else one_line(said.missing, _WORDS)
    nothing = "" if sql or missing else "it says neither a statement nor what is missing"
    found.unheard = answer.problem or nothing
    if said is None or found.unheard:
        cause = f"the model gave no answer: {found.unheard}"
        found.problems.append(Problem(writer.name, "model", cause))
        return (cause if answer.said else ""), ()
    cluster = shown.clusters[0]
    try:
        cluster = shown.chosen(said.set)
        if not sql:
            found.missing = missing
            return missing, (shown.clusters if said.set is None else (cluster,))
        made_by = f"model {writer.name}"
        given = run_on_all(_statement(sql), cluster, siblings, attempts, made_by, found)
    except _HELD as error:
        found.note(cluster.first, "statement", f"{error}: {sql}" if sql else str(error))
        may_quote = isinstance(error, SqlFailedError) and not writer.values
        lacks = isinstance(error, SqlRefusedError) and error.guard == Guard.COLUMN
        told = "it does not run, or gives no row" if may_quote else str(error)
        return told, ((cluster,) if lacks else ())
    if not given:
        several = len(shown.clusters) > 1
        return ("its tables cannot be read now; take another set" if several else ""), ()
    found.answers = [
        replace(one, doubts=(*one.doubts, f"the model says that no table has this: {missing}"))
        if missing
        else one
        for one in given
    ]
    if said.other_reading is not None:
        found.answers = _read_otherwise(said.other_reading, found, cluster, siblings, attempts)
    return "", ()


def _read_otherwise(
    other: OtherReading,
    found: Found,
    cluster: Cluster,
    siblings: SiblingTables,
    attempts: Attempts,
) -> list[TableAnswer]:
    """Return answers with those of a second reading, each with what it takes the question for.

    One that gives nothing, or the same rows, is no other answer.
    """
    first, made_by = found.answers, found.answers[0].made_by
    told = f"the question may mean another thing: {one_line(other.means, _WORDS)}"
    if attempts.late:
        found.note(cluster.first, READING, f"{told}: {_TOO_LATE}")
        return first
    aside, more = Found(), list[TableAnswer]()
    try:
        more = run_on_all(_statement(other.sql), cluster, siblings, attempts, made_by, aside)
    except _HELD as error:
        aside.note(cluster.first, READING, str(error))
    found.tried |= aside.tried
    found.problems += [
        replace(one, stage=READING, cause=f"{told}: {one.cause}") for one in aside.problems
    ]
    if not more or [one.rows for one in more] == [one.rows for one in first]:
        return first
    return [
        replace(one, means=one_line(means, _WORDS))
        for some, means in ((first, other.first), (more, other.means))
        for one in some
    ]


def _statement(sql: str) -> str:
    found = statement_in(sql)
    if found is None:
        raise SqlRefusedError(Guard.QUERY, "what the model writes is no SELECT statement")
    return found


def _siblings(question: str, sets: Sequence[AnswerSet]) -> SiblingTables:
    tables = {table.table_id: table for one in sets for table in one.tables}
    joins = {edge.on: edge for one in sets for edge in one.joins}
    return SiblingTables(question, tuple(tables.values()), tuple(joins.values()))


def run_on_all(
    sql: str,
    cluster: Cluster,
    siblings: SiblingTables,
    attempts: Attempts,
    made_by: str,
    found: Found,
) -> list[TableAnswer]:
    """Run a statement on each set of a cluster, and on tables like those that it reads.

    Each is called as the one in whose place it stands.

    Args:
        sql: About the first set.
        cluster: The sets.
        siblings: What else it may be run on.
        attempts: Runs it.
        made_by: Who wrote it.
        found: Where it is noted what sets other than the first one gave none.

    Raises:
        SqlRefusedError: A guard refuses it.
        SqlFailedError: It does not run, or gives no row in any of them.
    """
    given: list[TableAnswer] = []
    empty: list[tuple[AnswerSet, SqlEmptyError]] = []
    read = attempts.reads(sql, cluster.first, cluster.dialect)
    found.tried.add(_ids(read))
    for tables in (cluster.first, *_others(read, cluster, siblings, attempts)):
        if tables is not cluster.first:
            found.tried.add(_ids(tables.tables))
            if attempts.late:
                found.note(tables, PART, _TOO_LATE)
                continue
        try:
            given.append(attempts.attempt(sql, tables, cluster.dialect, made_by))
        except SqlEmptyError as error:
            empty.append((tables, error))
        except _LEFT as error:
            found.note(tables, PART, str(error))
        except _HELD as error:
            if not given and not empty:
                raise
            found.note(tables, PART, str(error))
    if empty and not given:
        raise empty[0][1]
    for tables, why in empty:
        found.note(tables, PART, str(why).partition(";")[0])
    return given


def _others(
    read: Sequence[AnswerTable], cluster: Cluster, siblings: SiblingTables, attempts: Attempts
) -> list[AnswerSet]:
    """Return what else a statement is run on, each table called as the one that it stands for."""
    first = cluster.first.tables[0].read
    asked = [
        AnswerSet((called(one.tables[0], first.name, first.schema),)) for one in cluster.sets[1:]
    ]
    known = {_ids(one.tables) for one in cluster.sets}
    return asked + [
        one
        for one in siblings.others(read)
        if _ids(one.tables) not in known and attempts.runner.dialect(one.tables) == cluster.dialect
    ]


def _ids(tables: Iterable[AnswerTable]) -> frozenset[str]:
    return frozenset(one.table_id for one in tables)
