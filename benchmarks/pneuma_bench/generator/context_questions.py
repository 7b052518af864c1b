"""Puts contexts as questions, without a model (Pneuma, section 6.2.3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from pneuma_bench.generator.context_annotating import Saying
from pneuma_bench.generator.context_wording import requested
from pneuma_bench.generator.contexts import Context
from pneuma_bench.generator.pages import Pages
from pneuma_bench.sets import RetrievalSet


@dataclass(frozen=True, slots=True)
class Worded:
    """A question that was made of a context.

    Attributes:
        context: What it was made of.
        question: Its words; empty where there is none.
        draft: Its words before it was rephrased; empty without a model.
        reason: Why it is not fit; empty where it is.
    """

    context: Context
    question: str
    draft: str = ""
    reason: str = ""


class Wording(Protocol):
    """Makes questions of contexts, and finds who else answers them."""

    def worded(self, contexts: Sequence[Context]) -> list[Worded]:
        """Return a question a context, in order."""
        ...

    def others(self, questions: Sequence[Worded]) -> Sequence[list[str] | None]:
        """Return of each question the other tables that answer it; None if that is not told."""
        ...


class TemplateWording:
    """Asks by the sentence of a passage; another passage with its words answers, too."""

    def __init__(self, dataset: RetrievalSet, pages: Pages) -> None:
        self._pages = pages
        self._saying = Saying(pages)
        self._names = {
            table.table_id: frozenset(map(str.casefold, own_names(dataset, table.table_id)))
            for table, _ in dataset.tables
        }

    def worded(self, contexts: Sequence[Context]) -> list[Worded]:
        """Return questions in the words of their contexts."""
        return [
            Worded(one, requested(one.sentence, self._pages.common, self._names[one.pair.table_id]))
            for one in contexts
        ]

    def others(self, questions: Sequence[Worded]) -> list[list[str]]:
        """Return the tables of which a passage says as much as the sentence does."""
        return [
            self._saying.others(one.context.sentence, one.context.pair.table_id)
            for one in questions
        ]


def own_names(dataset: RetrievalSet, table_id: str) -> tuple[str, str]:
    """Return what a table is called, and its id as the set's files have it, without folders."""
    name = dataset.names.get(table_id, ("",))[-1]
    return name, dataset.spelled(table_id).rpartition("/")[2]
