"""What a language model says of the columns of a set, kept so that a killed measurement goes on."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pneuma_assets.core.config.models import NarrationConfig
from pneuma_assets.core.describe.columns import fact_descriptions
from pneuma_assets.core.describe.narrate import NarrationRequest, narrate_columns
from pneuma_assets.core.models.base import LanguageModel
from pneuma_assets.core.pipeline.describe import answer_key, prompt_context
from pneuma_assets.core.sources.base import Row
from pneuma_assets.core.sources.sampling import sample_positions
from pneuma_assets.core.tables import Table, content_hash
from pneuma_assets.core.terms.collect import ROWS_KEPT
from pneuma_bench.sets import RetrievalSet

Narrations = Mapping[str, Mapping[int, str]]
"""What is said of columns, by table id and position."""


def describe(
    dataset: RetrievalSet, model: LanguageModel, config: NarrationConfig, folder: Path
) -> Narrations:
    """Return what the model says of every column, asked as indexing asks.

    Each is asked for once, and kept in `folder`.
    """
    key = answer_key(model, config)
    path = folder / f"narrations-{content_hash(key.model)}.jsonl"
    known = _read(path)
    subjects = {table.table_id: key.subject(table) for table, _ in dataset.tables}
    requests = {
        (subjects[table.table_id], request.position): request
        for table, rows in dataset.tables
        for request in _requests(table, rows, config)
        if request.position not in known[subjects[table.table_id]]
    }
    if requests:
        with path.open("a", encoding="utf-8") as stream:
            stream.write("\n")  # a line that a kill cut off is no part of the next
            for said in narrate_columns(model, [*requests.values()]):
                if said.problem is not None:
                    continue  # its name stands in, and it is asked for again the next time
                subject = subjects[said.table_id]
                known[subject][said.position] = said.text
                stream.write(json.dumps([subject, said.position, said.text]) + "\n")
                stream.flush()
    return {table_id: known[subject] for table_id, subject in subjects.items()}


def _requests(
    table: Table, rows: Sequence[Row], config: NarrationConfig
) -> Iterator[NarrationRequest]:
    ground = prompt_context(table, _seen(rows)) if config.asked == "grounded" else None
    names = tuple(column.name for column in table.columns)
    for position in range(len(table.columns)):
        yield NarrationRequest(table.table_id, names, position, ground)


def facts_of(dataset: RetrievalSet) -> Narrations:
    """Return what names and values show of every column, as indexing has it without a model."""
    told: dict[str, dict[int, str]] = {}
    for table, rows in dataset.tables:
        seen = _seen(rows)
        facts = fact_descriptions(table, seen, all_rows=len(seen) == len(rows))
        told[table.table_id] = {position: one.text for position, one in facts.items()}
    return told


def _seen(rows: Sequence[Row]) -> Sequence[Row]:
    return [rows[position] for position in sample_positions(len(rows), ROWS_KEPT, 0)]


def _read(path: Path) -> dict[str, dict[int, str]]:
    """Return what was kept, by subject and position; a line cut off by a kill is passed over."""
    known: dict[str, dict[int, str]] = defaultdict(dict)
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                subject, position, text = json.loads(line)
            except ValueError:
                continue
            known[subject][position] = text
    return known
