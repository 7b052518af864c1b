"""The methods of a deployment that remember what people say of answers."""

import logging
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from threading import Lock

from pneuma_assets.core.answer_feedback import FailedQuestion, SavedAnswer
from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.errors import ConfigError, ModelError, StateError
from pneuma_assets.core.service import usage
from pneuma_assets.core.service.usage import ConfirmedAnswer
from pneuma_assets.core.service.workspace_base import WorkspaceBase
from pneuma_assets.core.text.suggest import check_number, check_text

logger = logging.getLogger(__name__)

MOST_LISTED = 1_000
"""Answers, or questions, of one list."""
MOST_OFFSET = 1_000_000_000
_MOST_WAITING = 1_000
"""Questions that wait to be noted; of more the oldest are not."""


class WorkspaceUsage(WorkspaceBase):
    """The part of `Workspace` that remembers answers and questions; see there."""

    def __init__(self, loaded: LoadedDeployment, environ: Mapping[str, str] | None = None) -> None:
        super().__init__(loaded, environ)
        self._writes_notes = Lock()
        self._unnoted: deque[tuple[str, str, str]] = deque(maxlen=_MOST_WAITING)

    def confirm_answer(
        self,
        question: str,
        tables: Sequence[str],
        *,
        sql: str | None = None,
        confirmed: bool = True,
        author: str | None = None,
        door: str = "python",
        readers: Sequence[str] | None = None,
    ) -> str:
        """Say that tables, or a statement over them, answer a question, or that they do not.

        It is shown to whoever asks the same in other words and may see all of the tables, and
        replaces what was said of the same answer. A statement is kept as the guard of `run_sql`
        spells it; where that cannot tell what it reads, it is shown to its author, and to who may
        see all tables, alone. A table that is rejected alone stands behind the others for such a
        question.

        Args:
            question: As it was asked, of at most 1,000 characters.
            tables: Ids of the tables.
            sql: The statement; None: the tables themselves are meant.
            confirmed: Whether it answers.
            author: Who says so.
            door: By which door.
            readers: Who says so, as tables know them.

        Returns:
            The id by which it is forgotten.

        Raises:
            ConfigError: There is no such table, or something cannot be kept.
            StateError: There are too many answers.
        """
        said = SavedAnswer("", question, _listed(tables), sql or "", confirmed, "", door)
        with self._known_store() as store, self._sessions.use() as session:
            resolved = session.answering.resolved
            answer_id = usage.confirm(store, said, author, readers, self._usage_days, resolved)
            try:
                usage.embed_question(store, answer_id, lambda: self.encoder)
            except ModelError as error:
                logger.warning(
                    "Until the next run, only the same words find the answer that was just %s: %s",
                    "confirmed" if confirmed else "rejected", error,
                )  # fmt: skip
        return answer_id

    def forget_answer(
        self, answer_id: str, *, author: str | None = None, readers: Sequence[str] | None = None
    ) -> None:
        """Forget what somebody said of an answer.

        Args:
            answer_id: As `confirm_answer` returned it.
            author: Whose it must be, for who may forget only their own; None: anybody's.
            readers: Who asks.

        Raises:
            ConfigError: There is no such answer for them.
        """
        with self._known_store() as store:
            usage.forget(store, answer_id, author, readers)

    def confirmed_answers(
        self,
        question: str | None = None,
        *,
        readers: Sequence[str] | None = None,
        author: str | None = None,
        limit: int = 20,
    ) -> list[ConfirmedAnswer]:
        """Return what people said of answers, the newest first, rejected ones, too.

        Given a question, only confirmed answers to those that ask the same, the most similar first.
        Whose statement is not `resolved` are those of the `author` alone who asks; to who may see
        all tables (no `readers`), all.

        Raises:
            ConfigError: The limit is out of range.
            QueryError: The question cannot be asked.
        """
        check_number("limit", limit, 1, MOST_LISTED, ConfigError)
        if question is None:
            with self._known_store() as store:
                every = [(one, None) for one in store.usage.answers()]
                return list(usage.shown(store, every, readers, author)[:limit])
        matches = self._ask(lambda engine: engine.remembered(question))
        if not matches:
            return []
        with self._known_store() as store:
            return list(usage.remembered(store, matches, readers, author)[:limit])

    def note_question(self, question: str, outcome: str, *, door: str) -> None:
        """Note what came of a question, for the operators' list of those that fail.

        Who asked is not kept. A state that cannot be written keeps nobody from an answer: that is
        logged. One thread at most waits for whoever writes the state; what others give it meanwhile
        it notes, too. So call it after the answer is given.

        Args:
            question: As it was asked; its first 1,000 characters are kept.
            outcome: `refused`: no table was likely to answer; `answered`: one was, or was opened,
                so that the question does not fail any more.
            door: By which door.

        Raises:
            ConfigError: The outcome is none.
        """
        outcomes = (usage.ANSWERED, usage.REFUSED)
        if outcome not in outcomes:
            raise ConfigError(f"the outcome must be one of {', '.join(outcomes)}, not {outcome!r}")
        check_text("the question", question, ConfigError)
        if not self._usage_days:
            return
        self._unnoted.append((question[: usage.MOST_QUESTION], outcome, door))
        while self._unnoted and self._writes_notes.acquire(blocking=False):
            try:
                self._note(*self._unnoted.popleft())
            finally:
                self._writes_notes.release()

    def _note(self, question: str, outcome: str, door: str) -> None:
        try:
            with self._known_store() as store:
                if outcome == usage.ANSWERED:
                    store.usage.settle(question, [usage.REFUSED])
                else:
                    store.usage.note(question, outcome, door, self._usage_days)
        except StateError as error:
            logger.warning("What came of a question was not noted: %s", error)

    def failing_questions(
        self, *, limit: int = 50, offset: int = 0
    ) -> tuple[int, list[FailedQuestion]]:
        """Return how many questions failed within `web.usage_days`, and some, the latest first.

        They may hold private things, and are for operators alone.
        """
        check_number("limit", limit, 1, MOST_LISTED, ConfigError)
        check_number("offset", offset, 0, MOST_OFFSET, ConfigError)
        with self._known_store() as store:
            return store.usage.failed(self._usage_days, limit, offset)

    def forget_questions(self, question_ids: Collection[str] | None = None) -> int:
        """Forget that questions failed (None: all of them); returns how many there were."""
        with self._known_store() as store:
            return store.usage.forget_failed(question_ids)

    @property
    def _usage_days(self) -> int:
        return self.loaded.deployment.web.usage_days


def _listed(tables: Sequence[str]) -> tuple[str, ...]:
    """Return tables as a tuple; one text alone would be a table a letter."""
    if isinstance(tables, str | bytes):
        raise ConfigError("tables must be a list of str, not one text")
    return tuple(dict.fromkeys(tables))
