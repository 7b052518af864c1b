"""Which engine a deployment uses: the one place that knows them all."""

from pathlib import Path

from pneuma_assets.core.config import IndexConfig
from pneuma_assets.core.index.base import IndexInfo, SearchIndex
from pneuma_assets.core.index.embedded import EmbeddedIndex
from pneuma_assets.core.index.embedded_contents import discard, inspect

_FOLDER = "index"


def open_index(config: IndexConfig, home: Path, encoder: str, dimension: int) -> SearchIndex:
    """Open the configured index, creating it if there is none.

    Args:
        config: Which engine, and how to reach it.
        home: The deployment's state folder; the embedded engine lives in its folder `index`.
        encoder: Name of the encoder.
        dimension: Length of one of its vectors.

    Raises:
        IndexMismatchError: The index was built with another encoder; rebuild or configure it.
        SearchIndexError: The index cannot be opened.
    """
    match config.engine:
        case "embedded":
            return EmbeddedIndex(home / _FOLDER, encoder, dimension)


def inspect_index(config: IndexConfig, home: Path) -> IndexInfo | None:
    """Return what the configured index holds, whatever encoder built it; None if there is none.

    Raises:
        SearchIndexError: It cannot be read.
    """
    match config.engine:
        case "embedded":
            return inspect(home / _FOLDER)


def discard_index(config: IndexConfig, home: Path) -> None:
    """Remove the configured index, whatever its encoder or state, so that it is built anew.

    Raises:
        SearchIndexError: It cannot be removed.
    """
    match config.engine:
        case "embedded":
            discard(home / _FOLDER)
