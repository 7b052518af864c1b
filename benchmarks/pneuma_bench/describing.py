"""What is said of a set's columns: by a language model, or by their names and values."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pneuma_assets.core.config.models import NarrationConfig
from pneuma_assets.core.describe.columns import fact_descriptions, searched_text
from pneuma_assets.core.describe.narrate import NarrationRequest, narrate_columns
from pneuma_assets.core.models.base import LanguageModel
from pneuma_assets.core.pipeline.describe import answer_key, prompt_context
from pneuma_assets.core.sources.base import Row
from pneuma_assets.core.sources.sampling import sample_positions
from pneuma_assets.core.tables import content_hash
from pneuma_assets.core.terms.collect import ROWS_KEPT
from pneuma_bench.files import KeptFile
from pneuma_bench.sets import RetrievalSet

Narrations = Mapping[str, Mapping[int, str]]
"""What is said of columns, by table id and position."""


def describe(
    dataset: RetrievalSet, model: LanguageModel, config: NarrationConfig, folder: Path
) -> Narrations:
    """Return what the model says of every column, asked as indexing asks.

    Each is asked for once, and kept in `folder`; one that it gives no answer to, which its name
    stands for, is asked for again the next time.
    """
    asked = answer_key(model, config.prompt)
    keys: dict[tuple[str, int], str] = {}
    requests: dict[str, NarrationRequest] = {}
    for table, rows in dataset.tables:
        ground = prompt_context(table, _seen(rows)) if config.prompt == "grounded" else None
        names = tuple(column.name for column in table.columns)
        of_table = table.table_id if asked.of_table else ""
        for at in range(len(names)):
            key = content_hash(asked.model, of_table, table.schema_hash, str(at))
            keys[table.table_id, at] = key
            requests.setdefault(key, NarrationRequest(table.table_id, names, at, ground))
    with KeptFile(folder / "narrations.db") as kept:
        known = kept.known([*requests])
        left = [request for key, request in requests.items() if key not in known]
        for said in narrate_columns(model, left) if left else ():
            if said.problem is None:
                answer = {keys[said.table_id, said.position]: said.text.encode()}
                kept.add(answer)
                known |= answer
    told: dict[str, dict[int, str]] = {table.table_id: {} for table, _ in dataset.tables}
    for (table_id, at), key in keys.items():
        if key in known:
            told[table_id][at] = known[key].decode()
    return told


def facts_of(dataset: RetrievalSet) -> Narrations:
    """Return what names and values show of every column, as indexing has it without a model."""
    told: dict[str, dict[int, str]] = {}
    for table, rows in dataset.tables:
        seen = _seen(rows)
        facts = fact_descriptions(table, seen, all_rows=len(seen) == len(rows))
        told[table.table_id] = {position: searched_text(one) for position, one in facts.items()}
    return told


def _seen(rows: Sequence[Row]) -> Sequence[Row]:
    return [rows[position] for position in sample_positions(len(rows), ROWS_KEPT, 0)]
