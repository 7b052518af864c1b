"""Finding rows in a SQLite file that SQLite itself may no longer open.

Every page is looked at by itself (https://sqlite.org/fileformat2.html), so neither the header nor
the schema nor the pages that lead to a row need be whole. Whether a row is what was written is
for its checksum to say; anything that does not look like a row is passed over.
"""

import struct
from collections.abc import Iterator
from pathlib import Path

Value = None | int | float | str | bytes
Row = tuple[Value, ...]

_USUAL_SIZE = 4096
_INTERIOR_INDEX, _LEAF_INDEX, _LEAF_TABLE = 2, 10, 13
_HEADERS = {_INTERIOR_INDEX: 12, _LEAF_INDEX: 8, _LEAF_TABLE: 8}
_WAL_HEADER, _FRAME_HEADER = 32, 24
_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
_WRONG = (IndexError, ValueError, struct.error, UnicodeDecodeError)


def rows_of(path: Path) -> Iterator[Row]:
    """Yield whatever looks like a row in a file and its write-ahead log, its newest pages only.

    Raises:
        OSError: The file cannot be read at all.
    """
    data = path.read_bytes()
    size = _page_size(data)
    pages = {
        number + 1: data[start : start + size]
        for number, start in enumerate(range(0, len(data), size))
    }
    log = path.with_name(f"{path.name}-wal")
    if log.exists():
        pages.update(_committed(log.read_bytes(), size))
    for number, page in pages.items():
        yield from _rows(pages, page.ljust(size, b"\0"), 100 if number == 1 else 0)


def _page_size(data: bytes) -> int:
    size = int.from_bytes(data[16:18], "big")
    usual = size >= 512 and not size & (size - 1) and data[:15] == b"SQLite format 3"
    return size if usual else _USUAL_SIZE


def _committed(log: bytes, size: int) -> dict[int, bytes]:
    """Return the pages of all transactions in a log that are whole, up to the first damage."""
    order = ">" if int.from_bytes(log[:4], "big") & 1 else "<"
    seed = _checksum(log[:24], (0, 0), order)
    if len(log) < _WAL_HEADER or seed != struct.unpack(">II", log[24:32]):
        return {}
    pages: dict[int, bytes] = {}
    pending: dict[int, bytes] = {}
    for start in range(_WAL_HEADER, len(log) - size - _FRAME_HEADER + 1, size + _FRAME_HEADER):
        head, page = log[start : start + _FRAME_HEADER], log[start + _FRAME_HEADER :][:size]
        number, commits = struct.unpack(">II", head[:8])
        seed = _checksum(page, _checksum(head[:8], seed, order), order)
        if head[8:16] != log[16:24] or seed != struct.unpack(">II", head[16:24]):
            break
        pending[number] = page
        if commits:
            pages.update(pending)
            pending = {}
    return pages


def _checksum(data: bytes, seed: tuple[int, int], order: str) -> tuple[int, int]:
    """Return the checksum that SQLite puts into its log."""
    one, two = seed
    for first, second in struct.iter_unpack(f"{order}II", data[: len(data) // 8 * 8]):
        one = (one + first + two) & 0xFFFFFFFF
        two = (two + second + one) & 0xFFFFFFFF
    return one, two


def _rows(pages: dict[int, bytes], page: bytes, begin: int) -> Iterator[Row]:
    """Yield a page's rows, of whatever kind it may be if its header does not say."""
    kind = page[begin]
    for likely in (kind,) if kind in _HEADERS else _HEADERS:
        yield from _rows_of_kind(pages, page, begin, likely)


def _rows_of_kind(pages: dict[int, bytes], page: bytes, begin: int, kind: int) -> Iterator[Row]:
    cells = int.from_bytes(page[begin + 3 : begin + 5], "big")
    first = begin + _HEADERS[kind]
    for place in range(first, len(page) - 1, 2):
        at = int.from_bytes(page[place : place + 2], "big")
        if place >= first + 2 * cells and not place < at < len(page):
            return  # The list of cells ends here, if the number of them is no longer known.
        try:
            yield _record(_payload(pages, page, at, kind))
        except _WRONG:
            continue


def _payload(pages: dict[int, bytes], page: bytes, at: int, kind: int) -> bytes:
    """Return what a cell holds, with the pages that it flows over to."""
    usable = len(page)
    if kind == _INTERIOR_INDEX:
        at += 4
    length, at = _varint(page, at)
    if kind == _LEAF_TABLE:
        _, at = _varint(page, at)
    least = (usable - 12) * 32 // 255 - 23
    most = usable - 35 if kind == _LEAF_TABLE else (usable - 12) * 64 // 255 - 23
    if length <= most:
        return page[at : at + length]
    kept = least + (length - least) % (usable - 4)
    kept = kept if kept <= most else least
    parts, following = [page[at : at + kept]], page[at + kept : at + kept + 4]
    missing = length - kept
    while missing > 0:
        beyond = pages.get(int.from_bytes(following, "big"))
        if beyond is None or len(parts) > len(pages):
            raise ValueError("it flows over to a page that is not there")
        parts.append(beyond[4 : 4 + missing])
        following, missing = beyond[:4], missing - (usable - 4)
    return b"".join(parts)


def _record(payload: bytes) -> Row:
    end, at = _varint(payload, 0)
    values: list[Value] = []
    body = end
    while at < end:
        kind, at = _varint(payload, at)
        value, body = _value(payload, body, kind)
        values.append(value)
    if body != len(payload):
        raise ValueError("its parts do not fill it")
    return tuple(values)


def _value(payload: bytes, at: int, kind: int) -> tuple[Value, int]:
    if kind in {0, 8, 9}:
        return (None if kind == 0 else kind - 8), at
    if kind in _INTEGERS:
        end = at + _INTEGERS[kind]
        return int.from_bytes(payload[at:end], "big", signed=True), end
    if kind == 7:
        return float(struct.unpack(">d", payload[at : at + 8])[0]), at + 8
    if kind < 12:
        raise ValueError("no such type")
    end = at + (kind - 12) // 2
    data = payload[at:end]
    return (data.decode() if kind % 2 else data), end


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for place in range(8):
        byte = data[at + place]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + place + 1
    return value << 8 | data[at + 8], at + 9
