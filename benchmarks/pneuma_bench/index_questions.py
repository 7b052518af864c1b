"""Questions that a language model thinks tables answer: made, indexed, taken back."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pneuma_assets.core.progress import report
from pneuma_assets.core.tables import Document, DocumentKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pneuma_assets.core.service.workspace import Workspace


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
    workspace: "Workspace", environ: "Mapping[str, str]", wanted: int, *, renew: bool = False
) -> Asked:
    """Let the model of `bench` word questions about every indexed table that has none.

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
    from pneuma_assets.core.describe.kinds import documents_of
    from pneuma_assets.core.models.language.registry import open_language_model
    from pneuma_assets.core.service.state import models_folder
    from pneuma_bench.worded import QUESTION_TOKENS, check_may_be_shown, questions_of_tables

    config = workspace.loaded.deployment.bench
    check_may_be_shown(enabled=config.enabled, shows_values=config.shows_values)
    index, store, kind = workspace.search_index, workspace.store, DocumentKind.QUESTIONS
    known = sorted({*index.list_tables()} & {*store.tables.indexed()})
    have = {} if renew else store.documents.of_kind(kind, known)
    left = [one for one in known if one not in have]
    if not left:
        return Asked()
    asked, changed, questions = 0, 0, 0
    model = open_language_model(config, models_folder(workspace.loaded), environ)
    try:
        units = questions_of_tables(store, index, model, left, wanted, QUESTION_TOKENS)
        for unit in units:
            made = {one.asked.table_id: documents_of(one.asked)[kind] for one in unit}
            seen = {one.asked.table_id: one.seen for one in unit}
            changed += len(store.replace_questions(made, seen))
            asked += len(unit)
            questions += sum(map(len, store.documents.of_kind(kind, list(made)).values()))
            report("asking about tables", asked, len(left))
    finally:
        model.close()
    return Asked(asked, changed, questions, len(left) - asked)


def remove_questions(workspace: "Workspace") -> int:
    """Take all of these questions back; returns of how many tables, which wait for the next run."""
    store, kind = workspace.store, DocumentKind.QUESTIONS
    nothing: dict[str, list[Document]] = {
        one: [] for one in store.documents.of_kind(kind, store.tables.listed())
    }
    return len(store.replace_questions(nothing))
