"""Copying an index into another one, embeddings included: no model is loaded."""

from collections.abc import Iterable, Iterator

from pneuma_assets.core.errors import SearchIndexError
from pneuma_assets.core.grouping import portions
from pneuma_assets.core.index.base import SearchIndex, TableContents, blocks_worth
from pneuma_assets.core.progress import report

_BLOCKS_AT_ONCE, _TABLES_AT_ONCE = 5_000, 1_000


def copy_index(source: SearchIndex, target: SearchIndex) -> dict[str, int]:
    """Make the target hold exactly the source's tables; returns what it then holds.

    Tables that are equal already stay untouched, so an interrupted copy is taken up again by
    doing it again. Readers of the target see each table as it was or as it becomes.

    How many blocks a table has is known before it is read, and bounds what is asked for at once;
    how much evidence, only then: what has been read is written as soon as it is worth as many
    blocks, so one table more than that is in memory at most.
    """
    tables, done = source.list_tables(), 0
    for ids in portions(tables, _BLOCKS_AT_ONCE, _TABLES_AT_ONCE):
        for part in _fitting(source.contents(ids)):
            target.replace_tables(part)
        done += len(ids)
        report("copying tables", done, len(tables))
    kept = source.list_tables()
    target.delete_tables([table_id for table_id in target.list_tables() if table_id not in kept])
    target.optimise()
    return target.list_tables()


def copy_exactly(source: SearchIndex, target: SearchIndex) -> None:
    """Copy an index that nobody changes to one that takes its place.

    Raises:
        SearchIndexError: The copy has other tables, or tables of other sizes.
    """
    if copy_index(source, target) != source.list_tables():
        raise SearchIndexError(
            "The copy of the search index differs from it, so it does not take its place; do the "
            "same again."
        )


def _fitting(tables: Iterable[tuple[str, TableContents]]) -> Iterator[dict[str, TableContents]]:
    part: dict[str, TableContents] = {}
    worth = 0
    for table_id, contents in tables:
        part[table_id] = contents
        worth += blocks_worth(contents)
        if worth >= _BLOCKS_AT_ONCE:
            yield part
            part, worth = {}, 0
    if part:
        yield part
