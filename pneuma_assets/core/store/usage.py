"""What people say of answers, and which questions had no good one."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from secrets import token_hex
from typing import Any

from sqlalchemy import Connection, Row, delete, func, select

from pneuma_assets.core.answer_feedback import FailedQuestion, SavedAnswer, words_of
from pneuma_assets.core.errors import StateError
from pneuma_assets.core.store.database import Database, StorePart
from pneuma_assets.core.store.embeddings import Embeddings
from pneuma_assets.core.store.schema import answers, delete_by, failed_questions, storable, upsert
from pneuma_assets.core.tables import Block, DocumentKind, EmbeddedBlock, Vector, content_hash

MOST_ANSWERS = 5_000
"""That are kept: each question is compared with all of them."""
MOST_FAILED = 10_000
"""Failed questions that are kept; of more those asked longest ago are forgotten."""
_LONGEST = 1_000
"""Characters of a failed question that are kept."""
_DAY = 86_400.0


class Usage(StorePart):
    """The part of the store that remembers answers that people confirmed or rejected."""

    def __init__(self, database: Database, embeddings: Embeddings) -> None:
        super().__init__(database)
        self._embeddings = embeddings

    def answers(self, answer_id: str | None = None) -> list[SavedAnswer]:
        """Return all that was said of answers, the newest first, or of one by its id."""
        asked = select(answers).order_by(answers.c.said_at.desc(), answers.c.answer_id)
        if answer_id is not None:
            asked = asked.where(answers.c.answer_id == answer_id)
        return [_answer_of(row) for row in self._db.read(asked)]

    def stamp(self) -> object:
        """Return what is another one when an answer came, changed, moved or was forgotten."""
        of_tables = func.aggregate_strings(answers.c.tables, ",")
        asked = select(func.count(), func.max(answers.c.said_at), of_tables)
        return tuple(self._db.read(asked.select_from(answers))[0])

    def say(self, said: SavedAnswer) -> str:
        """Keep what somebody says, now, in the place of what was said of the same; returns its id.

        Raises:
            StateError: `MOST_ANSWERS` are kept.
        """
        with self._db.write() as connection:
            known, words = self._db.read(select(answers)), words_of(said.question)
            alike = (_answer_of(row) for row in known if words_of(row.question) == words)
            answer_id = next((one.answer_id for one in alike if one.content == said.content), None)
            if answer_id is None and len(known) >= MOST_ANSWERS:
                told = f"{MOST_ANSWERS:,} answers are kept, the most there are; forget some first"
                command = "pneuma-assets confirmed --forget ID"
                raise StateError(f"{told}: {command}").saying_elsewhere(told)
            answer_id = answer_id or token_hex(8)
            row = {
                **asdict(said),
                "answer_id": answer_id,
                "tables": json.dumps(list(dict.fromkeys(said.tables)), ensure_ascii=False),
                "confirmed": int(said.confirmed),
                "resolved": int(said.resolved),
                "said_at": self._db.now(),
            }
            upsert(connection, answers, [row])
        self._db.checkpoint()
        return answer_id

    def forget(self, answer_id: str) -> bool:
        """Forget what was said of an answer, here and in the backup; tells whether it was there."""
        with self._db.write() as connection:
            mine = delete(answers).where(answers.c.answer_id == answer_id)
            forgotten = connection.execute(mine).rowcount > 0
        if forgotten:
            self._embeddings.prune([answer_id])
            self._db.drop_backup()
            self._db.checkpoint()
        return forgotten

    def keep_vectors(self, encoder: str, vectors: Mapping[str, tuple[str, Vector]]) -> None:
        """Keep the embedding of the question of each of these answers, by the answer's id."""
        kept = [
            (i, [EmbeddedBlock(Block(i, DocumentKind.CONTEXT, question), vector)])
            for i, (question, vector) in vectors.items()
        ]
        self._embeddings.keep(_as_questions(encoder), kept)

    def vectors(self, encoder: str, questions: Collection[str]) -> dict[str, Vector]:
        """Return the embeddings that are kept of questions by this encoder."""
        return self._embeddings.known(_as_questions(encoder), questions)

    def note(self, question: str, outcome: str, door: str, days: int) -> None:
        """Note that a question failed, and forget those not asked for so many days."""
        text = storable(question[:_LONGEST])
        question_id = _id_of(text, outcome)
        found = failed_questions.c.question_id == question_id
        with self._db.write() as connection:
            self.forget_older(days)
            times = connection.execute(select(failed_questions.c.times).where(found)).scalar()
            now, times = self._db.now(), 1 + (times or 0)
            one = FailedQuestion(question_id, text, outcome, door, times, now)
            upsert(connection, failed_questions, [asdict(one)])
            newest = (
                select(failed_questions.c.question_id)
                .order_by(failed_questions.c.asked_at.desc(), failed_questions.c.question_id)
                .offset(MOST_FAILED)
                .limit(MOST_FAILED)
            )
            excess = connection.execute(newest).scalars().all()
            delete_by(connection, failed_questions.c.question_id, excess)

    def forget_older(self, days: int) -> None:
        """Forget the questions that failed and were not asked for so many days; 0: all."""
        old = failed_questions.c.asked_at <= self._db.now() - days * _DAY
        counted = select(func.count()).select_from(failed_questions).where(old)
        if self._db.read(counted)[0][0]:
            with self._db.write() as connection:
                connection.execute(delete(failed_questions).where(old))

    def settle(self, question: str, outcomes: Sequence[str]) -> None:
        """Forget that a question failed in these ways; nothing is written where it did not."""
        ids = [_id_of(storable(question[:_LONGEST]), outcome) for outcome in outcomes]
        column = failed_questions.c.question_id
        if [*self._db.read_by(select(column), column, ids)]:
            self.forget_failed(ids)

    def failed(self, days: int, limit: int, offset: int) -> tuple[int, list[FailedQuestion]]:
        """Return how many questions failed within so many days, and some, the latest first."""
        fresh = failed_questions.c.asked_at >= self._db.now() - days * _DAY
        counted = select(func.count()).select_from(failed_questions).where(fresh)
        order = failed_questions.c.asked_at.desc(), failed_questions.c.question_id
        some = select(failed_questions).where(fresh).order_by(*order).limit(limit).offset(offset)
        rows = self._db.read(some)
        return int(self._db.read(counted)[0][0]), [FailedQuestion(**row._mapping) for row in rows]

    def forget_failed(self, question_ids: Collection[str] | None = None) -> int:
        """Forget that these questions failed (None: all), in the backup, too; returns how many."""
        with self._db.write() as connection:
            wanted = delete(failed_questions)
            if question_ids is not None:
                wanted = wanted.where(failed_questions.c.question_id.in_(list(question_ids)))
            number = connection.execute(wanted).rowcount
        if number:
            self._db.drop_backup()
            self._db.checkpoint()
        return int(number)


def move_answers(connection: Connection, names: Mapping[str, str]) -> None:
    """Let what was said of answers from tables be said of others, by the ids of the former."""
    rows = []
    for row in connection.execute(select(answers.c.answer_id, answers.c.tables)):
        before = json.loads(row.tables)
        after = list(dict.fromkeys(names.get(one, one) for one in before))
        if after != before:
            rows.append((row.answer_id, json.dumps(after, ensure_ascii=False)))
    for answer_id, moved in rows:
        mine = answers.update().where(answers.c.answer_id == answer_id)
        connection.execute(mine.values(tables=moved))


def _answer_of(row: Row[Any]) -> SavedAnswer:
    tables, confirmed = tuple(json.loads(row.tables)), bool(row.confirmed)
    said = row.answer_id, row.question, tables, row.sql, confirmed
    return SavedAnswer(*said, row.author, row.door, row.said_at, bool(row.resolved))


def _as_questions(encoder: str) -> str:
    """Return what stands for an encoder that embeds questions: some embed documents otherwise."""
    return f"{encoder} of questions"


def _id_of(question: str, outcome: str) -> str:
    return content_hash(words_of(question), outcome)
