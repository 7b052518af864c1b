"""Counting an embedded index's words anew with another analyzer: no model is asked.

The new index is built from the old one's texts and vectors in a folder beside it and takes its
place when it is complete. Killed at any moment, it leaves the one or the other, and is done again.
"""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

from pneuma_assets.core.errors import SearchIndexError
from pneuma_assets.core.index.copying import copy_index
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.index.embedded.folder import finish_replacing, replace_folder
from pneuma_assets.core.index.embedded.schema import FILE_NAME
from pneuma_assets.core.index.embedded.sqlite_file import SqliteFile
from pneuma_assets.core.index.identity import Identity
from pneuma_assets.core.text.analysis import Analyzer

_LOCK_TIMEOUT = 60.0


def renew(folder: Path, found: Identity, analyzer: Analyzer) -> None:
    """Build the index in `folder` anew with this analyzer; what readers have open stays readable.

    Args:
        folder: Holds the index.
        found: What it was built with.
        analyzer: Counts its words from now on.

    Raises:
        SearchIndexError: It cannot be read, or the new one not be written.
    """
    finish_replacing(folder)
    file = SqliteFile(folder / FILE_NAME, _LOCK_TIMEOUT)
    try:
        with file.writing():  # nobody changes it meanwhile
            if file.is_current():  # no other process was faster
                replace_folder(folder, lambda begun: _build(folder, begun, found, analyzer))
    finally:
        file.close()


def _build(folder: Path, begun: Path, found: Identity, analyzer: Analyzer) -> None:
    wanted = replace(found, analyzer=analyzer.name)
    reading = _reading(found)
    with (
        closing(EmbeddedIndex(folder, found.encoder, found.dimension, analyzer=reading)) as old,
        closing(EmbeddedIndex(begun, wanted.encoder, wanted.dimension, analyzer=analyzer)) as new,
    ):
        if copy_index(old, new) != old.list_tables():
            raise SearchIndexError(
                f"The copy of the search index {folder} differs from it, so it does not take its "
                "place; do the same again."
            )


def _reading(found: Identity) -> Analyzer:
    """Return what blocks are read with, for which the rules, which are gone, are not needed."""
    return Analyzer(found.analyzer, None)
