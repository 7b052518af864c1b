"""Reads JSON: lines of objects, and `.json` files, which may also be documents."""

from pneuma_assets.core.sources.files.json_shape import holds_rows
from pneuma_assets.core.sources.files.staging import working
from pneuma_assets.core.sources.files.text_reader import TextReader
from pneuma_assets.core.tables import TableRef
from pneuma_assets.core.text import encoding


class JsonReader(TextReader):
    """Reads JSON Lines and arrays of objects, and tells them from documents."""

    def names_inside(self, ref: TableRef) -> tuple[str, ...]:
        """Return one name, which is empty, where a `.json` file is a table, else none."""
        storage = self._desk.storage
        with working(self._desk.database, ref), storage.open(storage.path(ref.location)) as file:
            head = encoding.unpacked(file).read(encoding.HEAD_BYTES)
            return ("",) if holds_rows(encoding.decode(head)) else ()
