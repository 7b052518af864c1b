"""Questions that a language model thinks tables answer: worded, indexed, taken back."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pneuma_assets.core.config.models import ModelConfig
from pneuma_assets.core.describe.kinds import documents_of
from pneuma_assets.core.describe.texts import QUESTION_CHARACTERS, AskedAbout
from pneuma_assets.core.errors import ConfigError
from pneuma_assets.core.evaluation.table_contents import AT_ONCE, Known, known_tables
from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.index.base import SearchIndex
from pneuma_assets.core.models.base import LanguageModel
from pneuma_assets.core.progress import report
from pneuma_assets.core.store import Store
from pneuma_assets.core.tables import Document, DocumentKind
from pneuma_assets.core.text.safe import harmless, printable

if TYPE_CHECKING:
    from pneuma_assets.core.service.workspace import Workspace

_TOKENS = 96
"""Most tokens of one answer."""
_UNIT = 32
"""Tables that are asked about before their questions are kept."""
_COLUMNS, _ROWS = 40, 3
"""Shown of a table."""
_NAME, _SAID, _ROW = 64, 80, 300
"""Characters of a name, a description, a row."""
_FEWEST_WORDS, _MOST_WORDS = 4, 30
_NUMBERED = re.compile(r"^\s*(?:[-*\u2022]|\(?\d{1,2}[.):])?\s*(?:Question\s?\d{0,2}:\s*)?", re.I)
_ABOUT_ANY = re.compile(r"\b(?:tables?|columns?|rows?|datasets?)\b", re.I)
"""What a question that every table answers speaks of, whatever the model was told."""
_QUESTION = re.compile(r"[^?]+\?")
_PROMPT = """\
The table {name} has the following columns:
/*
{columns}
*/
Some of its rows:
/*
{rows}
*/
Write {wanted} short questions in plain English that people could answer with this table. Each \
must name what it is about, so that the table can be told from others. Do not say table, column or \
row. Write one question a line."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of asking a model about tables.

    Attributes:
        tables: Tables that it was asked about, and answered.
        changed: Tables that have other questions now, and wait for the next run.
        questions: Questions of all tables together.
        unanswered: Tables of which the model, or what is known of the table, gave nothing to read.
    """

    tables: int = 0
    changed: int = 0
    questions: int = 0
    unanswered: int = 0


def index_questions(
    workspace: "Workspace", environ: Mapping[str, str], wanted: int, *, renew: bool = False
) -> Asked:
    """Let the model of `answers` word questions about every indexed table that has none.

    They are kept as soon as some tables have theirs, so that a command that was killed goes on.

    Args:
        workspace: The deployment.
        environ: Holds what signs in at an endpoint.
        wanted: Questions of a table.
        renew: Ask about those that have some, too.

    Raises:
        ConfigError: No model is enabled, or it may not be shown rows.
        ModelError: It cannot answer.
        QueryError: Nothing is indexed.
    """
    from pneuma_assets.core.models.language.registry import open_language_model
    from pneuma_assets.core.service.state import models_folder

    config = check_may_be_shown(workspace.loaded.deployment.answers.model)
    index, store, kind = workspace.search_index, workspace.store, DocumentKind.QUESTIONS
    known = sorted({*index.list_tables()} & {*store.tables.indexed()})
    have = {} if renew else store.documents.of_kind(kind, known)
    left = [one for one in known if one not in have]
    if not left:
        return Asked()
    told = Asked()
    model = open_language_model(config, models_folder(workspace.loaded), environ)
    try:
        for unit, seen in questions_of_tables(store, index, model, left, wanted):
            made = {one.table_id: documents_of(one)[kind] for one in unit}
            kept = replace_questions(store, made, seen)
            questions = sum(map(len, store.documents.of_kind(kind, [*made]).values()))
            told = replace(
                told,
                tables=told.tables + len(unit),
                changed=told.changed + len(kept),
                questions=told.questions + questions,
            )
            report("asking about tables", told.tables, len(left))
    finally:
        model.close()
    return replace(told, unanswered=len(left) - told.tables)


def check_may_be_shown(model: ModelConfig | None) -> ModelConfig:
    """Return the model that words questions; `ConfigError` unless it may be shown rows."""
    if model is None:
        raise ConfigError("no model words questions; name one in answers.model")
    if not model.shows_values:
        raise ConfigError(
            "the model of answers is at an endpoint, which may not be shown rows; set "
            "send_values: true of it, or name a model on this machine"
        )
    return model


def questions_of_tables(
    store: Store, index: SearchIndex, model: LanguageModel, table_ids: Sequence[str], wanted: int
) -> Iterator[tuple[list[AskedAbout], Mapping[str, float]]]:
    """Yield questions about tables, so many tables at a time as are asked about together.

    With them comes when what they were made of was indexed. A table of which the model gives no
    answer is left out, and keeps the questions it has.
    """
    for some in chunks(list(table_ids), min(_UNIT, AT_ONCE)):
        seen = store.questions.seen(some)  # before anything is read of them
        known = list(known_tables(store, index, [one for one in some if one in seen]))
        rows = store.documents.of_kind(DocumentKind.ROWS, some)
        told = store.narrations.of_tables([one.table_id for one in known])
        prompts = [
            question_prompt(
                one,
                {name: said.text for name, said in told[one.table_id].items()},
                rows.get(one.table_id, ()),
                wanted,
            )
            for one in known
        ]
        answers = [one for one in model.generate(prompts, _TOKENS) if one.problem is None]
        yield (
            [
                AskedAbout(known[one.index].table_id, read_questions(one.text, wanted))
                for one in sorted(answers, key=lambda one: one.index)
            ],
            seen,
        )


def question_prompt(
    known: Known, described: Mapping[str, str], rows: Sequence[str], wanted: int
) -> str:
    """Ask for questions about a table, showing its name, columns and some rows."""
    columns = []
    for name in known.columns[:_COLUMNS]:
        shown, said = harmless(name, _NAME) or "(unnamed)", harmless(described.get(name, ""), _SAID)
        columns.append(f"{shown}: {said}" if said else shown)
    return _PROMPT.format(
        name=harmless(known.names[-1], _NAME) if known.names else "without a name",
        columns="\n".join(columns),
        rows="\n".join(harmless(row, _ROW) for row in rows[:_ROWS]),
        wanted=wanted,
    )


def read_questions(answer: str, wanted: int) -> list[str]:
    """Return the questions in an answer, at most so many, each once, and none of any table."""
    found: dict[str, str] = {}
    for line in answer.splitlines():
        match = _QUESTION.match(printable(_NUMBERED.sub("", line, count=1)))
        text = match.group() if match else ""
        fits = _FEWEST_WORDS <= len(text.split()) <= _MOST_WORDS
        if fits and len(text) <= QUESTION_CHARACTERS and not _ABOUT_ANY.search(text):
            found.setdefault(text.casefold(), text)
    return list(found.values())[:wanted]


def remove_questions(workspace: "Workspace") -> int:
    """Take all of these questions back; returns of how many tables, which wait for the next run."""
    store, kind = workspace.store, DocumentKind.QUESTIONS
    known = store.documents.of_kind(kind, store.tables.listed())
    return len(replace_questions(store, {one: [] for one in known}))


def replace_questions(
    store: Store,
    questions: Mapping[str, Sequence[Document]],
    seen: Mapping[str, float] | None = None,
) -> set[str]:
    """Save questions that tables answer, in the place of earlier ones, as one act.

    A table whose questions are others now is embedded again; nothing else is done with it.

    Args:
        store: The deployment's.
        questions: Documents of the kind `questions`, by table; of some there may be none.
        seen: What `Questions.seen` gave before anything was read of the tables. One that was
            indexed again or forgotten since is left as it is: a rule may have hidden meanwhile
            what was read. None: they were made of nothing that was read.

    Returns:
        The tables whose questions changed.
    """
    kind = DocumentKind.QUESTIONS
    with store.queue.holding("", ()):  # one transaction
        there = (
            {*store.questions.versions(questions)} if seen is None else store.questions.still(seen)
        )
        before = store.documents.of_kind(kind, questions)
        changed = {
            table_id: questions[table_id]
            for table_id in sorted({*questions} & there)
            if [one.text for one in questions[table_id]] != before.get(table_id, [])
        }
        store.documents.replace(kind, changed.items())
        store.queue.mark_for_embedding("", changed)
    return set(changed)
