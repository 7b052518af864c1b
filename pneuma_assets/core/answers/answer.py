"""From a question and sets of tables to cells (Octopus, section 5, Algorithm 2).

Sets of tables are asked about in their order, those of one schema at once: whether they answer,
then by which statement. What a statement gives is an answer, and tables like those that it reads
give others. One that is refused, fails or gives no row is written anew once, told why; then with
all columns, where one was missed that was left out.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from pneuma_assets.core.answers.attempt import Attempts
from pneuma_assets.core.answers.like_tables import SiblingTables
from pneuma_assets.core.answers.llm import ModelWriter
from pneuma_assets.core.answers.prune import Cluster, clusters
from pneuma_assets.core.answers.results import (
    ALIKE,
    PART,
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
from pneuma_assets.core.progress import report
from pneuma_assets.core.search.judge import YES
from pneuma_assets.core.tables import Problem

_UNREAD = "has columns of the same names as what was read, and was not asked: name it to ask"
_TOO_LATE = "the question took too long; it was not asked"
_HELD = (SqlRefusedError, SqlFailedError)
"""Another statement may do."""
_LEFT = (SourceError, TableReadError)
"""No statement about these tables does."""


@dataclass(frozen=True, slots=True)
class Ways:
    """What is done to answer; each part can be left out, to measure what it is worth.

    Attributes:
        judged: Whether the model is asked first if tables answer (Figure 3).
        pruned: Whether it sees only columns that have to do with the question.
        clustered: Whether tables of the same columns are asked about once.
        corrected: Whether values are put as they are stored.
        repaired: Whether it is told of an error and writes again, once.
        tries: Sets of tables, or clusters of like ones, that a model is asked about at most.
    """

    judged: bool = True
    pruned: bool = True
    clustered: bool = True
    corrected: bool = True
    repaired: bool = True
    tries: int = 3


@dataclass(slots=True)
class Found:
    """What became of a question.

    Attributes:
        answers: Best first.
        problems: Why sets of tables gave none, in the order in which they were tried.
        judged_out: Whether the model thinks that none of those it was asked about answers.
        tried: Ids of tables that statements were run on, those of each together.
    """

    answers: list[TableAnswer] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    judged_out: bool = False
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
    """Answer a question by statements that a model writes.

    Args:
        question: In plain language.
        sets: Tables that may answer together, best first; the names in each differ.
        writer: Asks the model.
        attempts: Runs what it writes.
        ways: What is done.

    Raises:
        ModelError: The model is missing or fails.
    """
    asked = clusters(
        question,
        [(one, attempts.runner.dialect(one.tables)) for one in sets],
        pruned=ways.pruned,
        clustered=ways.clustered,
        values=writer.values,
    )[: ways.tries]
    found, judged_out = Found(), 0
    siblings = _siblings(question, sets if ways.clustered else ())
    for rank, cluster in enumerate(asked):
        report("asking about sets of tables", rank, len(asked))
        sure = writer.sure(question, cluster) if ways.judged else None
        if sure is not None and sure < YES:
            found.note(cluster.first, "judge", f"the model thinks it does not answer ({sure:.2f})")
            judged_out += 1
            continue
        given = _asked(question, cluster, siblings, writer, attempts, ways, found)
        parts = {"rank": float(rank)} | ({} if sure is None else {"sure": sure})
        found.answers += [replace(one, parts=parts) for one in given]
        if given or attempts.late:
            break
    found.judged_out = bool(asked) and judged_out == len(asked)
    found.note_unread(siblings)
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


def _asked(
    question: str,
    cluster: Cluster,
    siblings: SiblingTables,
    writer: ModelWriter,
    attempts: Attempts,
    ways: Ways,
    found: Found,
) -> list[TableAnswer]:
    """Return an answer of each table of a cluster that gives one, in the order of the sets."""
    waiting = [(cluster, False), *([(cluster, True)] if ways.repaired else [])]
    sql, cause = "", ""
    while waiting and not (cause and attempts.late):
        (shown, again), before, sql = waiting.pop(0), sql, ""
        try:
            if again:
                sql = writer.another(question, shown, before or "(none)", cause)
            else:
                sql = writer.statement(question, shown)
            made_by = f"model {writer.name}"
            given = run_on_all(sql, shown, siblings, attempts, made_by, found)
            return [replace(one, repaired=again) for one in given]
        except _HELD as error:
            cause = str(error)
            found.note(cluster.first, "statement", f"{cause}: {sql}" if sql else cause)
            lacks = isinstance(error, SqlRefusedError) and error.guard == Guard.COLUMN
            if lacks and not waiting and shown.pruned:
                waiting.append((shown.whole(), False))
    return []
