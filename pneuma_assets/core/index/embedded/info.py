"""What an operator wants to know of the file that holds an embedded index."""

from pneuma_assets.core.index.base import IndexInfo
from pneuma_assets.core.index.embedded.sqlite_file import SqliteFile
from pneuma_assets.core.index.identity import Identity


def info_of(
    file: SqliteFile, identity: Identity, tables: int, blocks: int, health: str, *, usable: bool
) -> IndexInfo:
    """Return what is known of an index of any format, where it is and how large it is included."""
    return IndexInfo(
        engine="embedded",
        encoder=identity.encoder,
        dimension=identity.dimension,
        tables=tables,
        blocks=blocks,
        size_bytes=file.size_bytes(),
        health=health,
        details={"file": str(file.path), "analyzer": identity.analyzer},
        usable=usable,
    )
