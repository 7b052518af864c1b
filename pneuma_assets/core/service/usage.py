"""What people say of answers: right ones are found again, wrong ones stay out of the way."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pneuma_assets.core.answer_feedback import SavedAnswer
from pneuma_assets.core.errors import ConfigError, QueryError, SqlRefusedError
from pneuma_assets.core.search.results import checked_question
from pneuma_assets.core.service.describe import author_of, moment
from pneuma_assets.core.service.visible_tables import check_table, readable, seen_among
from pneuma_assets.core.text.safe import one_line, printable, well_formed
from pneuma_assets.core.text.suggest import check_names, check_text

if TYPE_CHECKING:
    from pneuma_assets.core.models.base import Encoder
    from pneuma_assets.core.search.paraphrases import Match
    from pneuma_assets.core.store import Store

MOST_QUESTION = 1_000
"""Characters of a question whose answer is confirmed."""
MOST_SQL = 20_000
"""Characters of a statement."""
MOST_TABLES = 20
"""Of an answer."""
_MOST_DOOR = 20

REFUSED, REJECTED, ANSWERED = "refused", "rejected", "answered"
"""What came of a question."""


@dataclass(frozen=True, slots=True)
class ConfirmedAnswer:
    """Tables, and perhaps a statement, that somebody said answer a question, or do not.

    Attributes:
        answer_id: Names it.
        question: As it was asked then.
        tables: Ids of the tables.
        sql: The statement that gave the answer; None where tables alone were meant.
        confirmed: Whether it is right; False: somebody rejected it.
        author: Who says so.
        said_at: When, as ISO 8601 in UTC.
        door: By which door it came: `python`, `cli`, `page`, `http`, `mcp`.
        similarity: Of the question that was asked with this one, 0 to 1; 1 where both have the same
            words; None where no question was asked.
        gone: Those of its tables that have left their source.
        resolved: Whether the guard knows what the statement reads; else its author and those who
            may see all tables are shown it alone.
    """

    answer_id: str
    question: str
    tables: tuple[str, ...]
    sql: str | None
    confirmed: bool
    author: str
    said_at: str
    door: str
    similarity: float | None = None
    gone: tuple[str, ...] = ()
    resolved: bool = True


def confirm(
    store: "Store",
    said: SavedAnswer,
    author: str | None,
    readers: Sequence[str] | None,
    days: int,
    resolved: Callable[[str, Sequence[str]], str | None],
) -> str:
    """Keep what somebody says of an answer, as `Workspace.confirm_answer` has it.

    A rejected one is a question that failed, too; `days` says how long these are kept. Of a table
    that they may not see, nobody says anything. `resolved` is `Answering.resolved`: a statement is
    kept as the guard spells it, and one of which that cannot be told is not `resolved`.
    """
    question = _checked(said.question)
    check_names("tables", said.tables, ConfigError)
    if not 1 <= len(set(said.tables)) <= MOST_TABLES:
        raise ConfigError(f"name the tables of the answer, 1 to {MOST_TABLES}")
    for table_id in said.tables:
        check_table(store, table_id, readers)
    check_text("the statement", said.sql, ConfigError)
    sql = well_formed(said.sql).strip()
    try:
        spelled = resolved(sql, said.tables) if sql else ""
    except SqlRefusedError as error:
        raise ConfigError(f"the statement cannot be kept: {error}") from error
    if len(spelled or sql) > MOST_SQL:
        raise ConfigError(f"the statement has more than {MOST_SQL:,} characters, the most kept")
    check_text("the door", said.door, ConfigError)
    kept = replace(
        said,
        question=question,
        sql=spelled or sql,
        resolved=spelled is not None,
        author=author_of(author),
        door=one_line(printable(said.door), _MOST_DOOR),
    )
    answer_id = store.usage.say(kept)
    if kept.confirmed:
        store.usage.settle(question, [REFUSED, REJECTED])
    elif days:
        store.usage.note(question, REJECTED, kept.door, days)
    return answer_id


def embed_question(store: "Store", answer_id: str, encoder: "Callable[[], Encoder]") -> None:
    """Keep the embedding of an answer's question, by which those that ask the same find it.

    Raises:
        ModelError: The encoder is away; the next run embeds the question.
    """
    for one in store.usage.answers(answer_id):
        opened = encoder()
        (vector,) = opened.encode_queries([one.question])
        store.usage.keep_vectors(opened.name, {answer_id: (one.question, vector)})


def forget(
    store: "Store", answer_id: str, author: str | None, readers: Sequence[str] | None
) -> None:
    """Forget what was said of an answer, as `Workspace.forget_answer` has it."""
    check_text("the answer's id", answer_id, ConfigError)
    said = [(one, None) for one in store.usage.answers(answer_id)]
    for one in shown(store, said, readers, author):
        if author is None or one.author == author:
            store.usage.forget(answer_id)
            if not one.confirmed:
                store.usage.settle(one.question, [REJECTED])
            return
    told = f"unknown answer {one_line(printable(answer_id), 40)!r}"
    may = "only who said so, or an operator, forgets one that you may see"
    listed = "`pneuma-assets confirmed` lists those"
    raise ConfigError(f"{told}; {listed}, and {may}").saying_elsewhere(f"{told}; {may}")


def shown(
    store: "Store",
    answers: Sequence[tuple[SavedAnswer, float | None]],
    readers: Sequence[str] | None,
    author: str | None = None,
) -> tuple[ConfirmedAnswer, ...]:
    """Return answers, each with how similar its question is, as far as they are `readable`."""
    similar = {one.answer_id: similarity for one, similarity in answers}
    said = readable(store, (one for one, _ in answers), readers, author)
    seen = seen_among(store, {table for one in said for table in one.tables}, readers)
    return tuple(
        ConfirmedAnswer(
            *(one.answer_id, one.question, one.tables, one.sql or None, one.confirmed),
            *(one.author, str(moment(one.said_at)), one.door, similar[one.answer_id]),
            gone=tuple(table for table in one.tables if table not in seen),
            resolved=one.resolved,
        )
        for one in said
    )


def remembered(
    store: "Store",
    matches: "Iterable[Match]",
    readers: Sequence[str] | None,
    author: str | None = None,
) -> tuple[ConfirmedAnswer, ...]:
    """Return the answers that people confirmed to questions that ask the same, as `shown` does."""
    found = [(one.answer, one.similarity) for one in matches if one.answer.confirmed]
    return shown(store, found, readers, author)


def questions_of(store: "Store", table_id: str, readers: Sequence[str] | None) -> tuple[str, ...]:
    """Return the questions to which people confirmed that a table answers, the newest first."""
    about = [one for one in store.usage.answers() if one.confirmed and table_id in one.tables]
    return tuple(dict.fromkeys(one.question for one in readable(store, about, readers)))


def _checked(question: str) -> str:
    try:
        checked = checked_question(question)
    except QueryError as error:
        raise ConfigError(str(error)) from error
    if len(checked) > MOST_QUESTION:
        raise ConfigError(f"the question has more than {MOST_QUESTION:,} characters")
    return checked
