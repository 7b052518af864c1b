"""What a language model says of the columns of a set, kept so that a killed measurement goes on."""

import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from pneuma_assets.core.bench.sets import RetrievalSet
from pneuma_assets.core.config.models import NarrationConfig
from pneuma_assets.core.evidence.gather import ROWS_KEPT
from pneuma_assets.core.models.base import LanguageModel
from pneuma_assets.core.narration.facts import fact_descriptions
from pneuma_assets.core.narration.narrate import NarrationRequest, narrate_columns
from pneuma_assets.core.pipeline.narrating import narration_key
from pneuma_assets.core.sources.positions import sample_positions
from pneuma_assets.core.tables import content_hash

Narrations = Mapping[str, Mapping[int, str]]
"""What is said of columns, by table id and position."""


def describe(
    dataset: RetrievalSet, model: LanguageModel, config: NarrationConfig, folder: Path
) -> Narrations:
    """Return what the model says of every column; each is asked for once, and kept in `folder`."""
    key = content_hash(narration_key(model, config))
    path = folder / f"narrations-{key}.jsonl"
    known = _read(path)
    schemas = {table.table_id: table.schema_hash for table, _ in dataset.tables}
    requests = {
        (table.schema_hash, position): NarrationRequest(
            table.table_id, tuple(column.name for column in table.columns), position
        )
        for table, _ in dataset.tables
        for position in range(len(table.columns))
        if position not in known[table.schema_hash]
    }
    if requests:
        with path.open("a", encoding="utf-8") as stream:
            stream.write("\n")  # a line that a kill cut off is no part of the next
            for said in narrate_columns(model, [*requests.values()], config.max_new_tokens):
                if said.problem is not None:
                    continue  # its name stands in, and it is asked for again the next time
                schema = schemas[said.table_id]
                known[schema][said.position] = said.text
                stream.write(json.dumps([schema, said.position, said.text]) + "\n")
                stream.flush()
    return {table_id: known[schema] for table_id, schema in schemas.items()}


def facts_of(dataset: RetrievalSet) -> Narrations:
    """Return what names and values show of every column, as indexing has it without a model."""
    told: dict[str, dict[int, str]] = {}
    for table, rows in dataset.tables:
        seen = [rows[position] for position in sample_positions(len(rows), ROWS_KEPT, 0)]
        facts = fact_descriptions(table, seen, all_rows=len(seen) == len(rows))
        told[table.table_id] = {position: one.text for position, one in facts.items()}
    return told


def _read(path: Path) -> dict[str, dict[int, str]]:
    """Return what was kept, by schema and position; a line cut off by a kill is passed over."""
    known: dict[str, dict[int, str]] = defaultdict(dict)
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                schema, position, text = json.loads(line)
            except ValueError:
                continue
            known[schema][position] = text
    return known
