"""Asking a language model about columns that nobody described, each once, whoever asks."""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pneuma_assets.core.config.models import NarrationConfig
from pneuma_assets.core.errors import StateError
from pneuma_assets.core.models.base import LanguageModel
from pneuma_assets.core.narration.describe import Known, is_written
from pneuma_assets.core.narration.narrate import NarrationRequest, narrate_columns
from pneuma_assets.core.pipeline.answer_keys import answer_keys, said_by_model
from pneuma_assets.core.pipeline.grounds import stored_ground
from pneuma_assets.core.progress import report
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.narrations import AnswerKey
from pneuma_assets.core.tables import Table

SAVED_AT_ONCE = 32
"""Narrations kept in the store at a time; a killed run asks for at most these again."""

WAIT_S = 1.0
"""How often it is looked whether another run has described what this one needs, too."""


@dataclass(frozen=True, slots=True)
class Asked:
    """How many columns a model was asked for, and why some have no narration."""

    columns: int = 0
    causes: dict[str, dict[int, str]] = field(default_factory=dict)
    """By the answer's subject and the column's position."""


def ask_model(
    store: Store,
    run_id: str,
    tables: Sequence[Table],
    model: LanguageModel,
    config: NarrationConfig,
    known: Mapping[str, Known],
) -> Asked:
    """Ask for what is not known of these tables' columns, and keep the answers.

    Tables that share a subject ask once, also those of several runs: what another run is asking is
    waited for, unless that run ends.

    Args:
        store: Where answers are kept.
        run_id: Who asks.
        tables: All that this run works on.
        model: Who is asked.
        config: How.
        known: What is said of each table's columns, by its id; people are not asked over.

    Raises:
        ModelError: The model is missing or fails; what it said before is kept.
        StateError: This run was taken for dead.
    """
    keys = answer_keys(model, config)
    for table in tables:
        for one in keys:
            store.narrations.carry_over(one, table)
    asking = _Asking(store, run_id, model, config, keys)
    asked, waited = Asked(), False
    left = {keys[0].subject(table): table for table in tables}
    wanted = _undescribed(keys[0], tables, known)
    while left := {s: t for s, t in left.items() if asking.unanswered(t, wanted[s])}:
        mine = store.narrations.reserve(keys[0], left.keys(), run_id)
        if not mine:
            if not waited:
                report("waiting for narrations of another run", 0, 0)
            waited = True
            time.sleep(WAIT_S)
            continue
        try:
            # Known by now may be what the run that had reserved it has described since.
            requests = [one for s in sorted(mine) for one in asking.requests(left[s], wanted[s])]
            subjects = {left[subject].table_id: subject for subject in mine}
            left = {subject: table for subject, table in left.items() if subject not in mine}
            asked = Asked(asked.columns + len(requests), asked.causes)
            if requests:  # else the model is not even loaded
                asking.ask(requests, subjects, asked.causes)
        finally:
            store.narrations.release(run_id)  # two runs must not wait for each other
    return asked


@dataclass(frozen=True, slots=True)
class _Asking:
    store: Store
    run_id: str
    model: LanguageModel
    config: NarrationConfig
    keys: Sequence[AnswerKey]

    def unanswered(self, table: Table, wanted: Collection[int]) -> list[int]:
        said = said_by_model(self.store, self.keys, table)
        return [position for position in sorted(wanted) if position not in said]

    def requests(self, table: Table, wanted: Collection[int]) -> Iterator[NarrationRequest]:
        """Yield one request a column that is wanted and has no narration."""
        positions = self.unanswered(table, wanted)
        if not positions:
            return
        names = tuple(column.name for column in table.columns)
        ground = stored_ground(self.store, table) if self.config.asked == "grounded" else None
        for position in positions:
            yield NarrationRequest(table.table_id, names, position, ground)

    def ask(
        self,
        requests: Sequence[NarrationRequest],
        subjects: Mapping[str, str],
        causes: dict[str, dict[int, str]],
    ) -> None:
        """Keep answers as they come; `causes` gains why others did not come."""
        answers: list[tuple[str, int, str]] = []
        try:
            for said in narrate_columns(self.model, requests, self.config.max_new_tokens):
                subject = subjects[said.table_id]
                if said.problem is not None:
                    causes.setdefault(subject, {})[said.position] = said.problem
                    continue
                answers.append((subject, said.position, said.text))
                if len(answers) >= SAVED_AT_ONCE:
                    self._save(answers)
        finally:
            self.store.narrations.save(self.keys[0], answers)

    def _save(self, answers: list[tuple[str, int, str]]) -> None:
        self.store.narrations.save(self.keys[0], answers)
        answers.clear()
        if not self.store.narrations.reserved(self.keys[0], self.run_id):
            raise StateError(
                "This run was silent for so long that others took up its work; what it has done "
                "is kept. Run again."
            )


def _undescribed(
    key: AnswerKey, tables: Sequence[Table], known: Mapping[str, Known]
) -> dict[str, set[int]]:
    """Return the columns of each subject that in some table of it nobody described."""
    found: dict[str, set[int]] = {}
    for table in tables:
        read = known[table.table_id]
        places = {at for at in range(len(table.columns)) if not is_written(read, at)}
        found.setdefault(key.subject(table), set()).update(places)
    return found
