"""Writes the tables of sources as a set's file, for questions about one's own lake.

They are read through the same guard and by the same rules of privacy as for indexing; columns that
are hidden are not in the file.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from pneuma_assets.core.describe.documented import comments_of, documented_descriptions
from pneuma_assets.core.errors import BenchmarkError, TableReadError
from pneuma_assets.core.evaluation.evaluate import MOST_LINE_BYTES
from pneuma_assets.core.progress import report
from pneuma_assets.core.sources.base import NONE_KNOWN, KnownIds, Source
from pneuma_assets.core.sources.names import unescape
from pneuma_assets.core.tables import Problem, TableRef
from pneuma_bench.files import whole


def write_tables(
    path: Path, sources: Sequence[Source], rows: int, seed: int, known: Mapping[str, KnownIds]
) -> tuple[int, Sequence[Problem]]:
    """Write every table that can be read, a JSON object a line that `reading` takes.

    A table's id is the one that search shows, so that the same questions can be asked of the set
    and of the deployment's index. The file is as it was until all is written.

    Of a table with more than `rows` rows, so many are drawn by the seed; `known` are the ids that
    tables have in the deployment's state, by source.

    Returns:
        How many tables the file has, and which ones it has not, and why.

    Raises:
        BenchmarkError: The file cannot be written, or there is no table for it.
        SourceError: A source cannot be listed.
    """
    problems: list[Problem] = []
    listed: list[tuple[Source, TableRef]] = []
    for source in sources:
        listing = source.list_tables(known.get(source.name, NONE_KNOWN))
        problems += listing.problems
        listed += [(source, ref) for ref in listing.tables]
    tables = 0
    with whole(path) as stream:
        for done, (source, ref) in enumerate(listed, start=1):
            try:
                stream.write(_line(source, ref, rows, seed))
                tables += 1
            except TableReadError as error:
                problems.append(Problem(ref.table_id, "read", str(error)))
            report("reading tables", done, len(listed))
        if not tables:
            first = f"; the first of {len(problems):,}: {problems[0].cause}" if problems else ""
            raise BenchmarkError(
                f"no table can be read, so {path} is not written{first}; "
                "`pneuma-assets sources` says what there is"
            )
    return tables, problems


def _line(source: Source, ref: TableRef, rows: int, seed: int) -> bytes:
    table = source.profile(ref)
    shown = [at for at, column in enumerate(table.columns) if not column.hidden]
    drawn = source.sample(ref, rows, seed) or ()
    contexts = source.contexts(ref)
    described = documented_descriptions(table, contexts.glossaries) | comments_of(table)
    record = {
        "id": table.table_id,
        "name": [unescape(part) for part in table.table_id.split("/")[1:]],
        "columns": [table.columns[at].name for at in shown],
        "rows": [[row.cells[at] for at in shown] for row in drawn],
        "contexts": [text for text in (table.comment, *contexts.texts) if text.strip()],
        "descriptions": [described[at].text if at in described else "" for at in shown],
    }
    line = json.dumps(record, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
    if len(line) > MOST_LINE_BYTES:
        raise TableReadError(
            f"{rows:,} rows of it take more than {MOST_LINE_BYTES // 1024**2} MiB; take fewer"
        )
    return line
