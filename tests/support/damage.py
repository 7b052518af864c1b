"""Ways in which a disk, a cable or a stray program damages a file, each at a random place."""

import os
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

Damage = Callable[[Path, random.Random], None]


def places(reduced: int) -> int:
    """Return how many places to damage; PNEUMA_DAMAGED_PLACES asks for more than usual."""
    return int(os.environ.get("PNEUMA_DAMAGED_PLACES", reduced))


def flip_bit(path: Path, chance: random.Random) -> None:
    place = chance.randrange(path.stat().st_size)
    _change(path, place, lambda old: bytes([old[0] ^ 1 << chance.randrange(8)]), 1)


def change_header(path: Path, chance: random.Random) -> None:
    place = chance.randrange(100)
    _change(path, place, lambda old: bytes([old[0] ^ chance.randrange(1, 256)]), 1)


def scribble(path: Path, chance: random.Random) -> None:
    _change(
        path, chance.randrange(path.stat().st_size), lambda old: chance.randbytes(len(old)), 100
    )


def scribble_often(path: Path, chance: random.Random) -> None:
    for _ in range(20):
        scribble(path, chance)


def scribble_cells(path: Path, chance: random.Random) -> None:
    page = _page(path, chance)
    _change(path, page * _page_size(path), lambda old: chance.randbytes(len(old)), 60)


def zero_page(path: Path, chance: random.Random) -> None:
    size = _page_size(path)
    _change(path, _page(path, chance) * size, lambda old: bytes(len(old)), size)


def swap_pages(path: Path, chance: random.Random) -> None:
    size, data = _page_size(path), bytearray(path.read_bytes())
    pages = max(2, len(data) // size)
    one, other = (number * size for number in chance.sample(range(pages), 2))
    first, second = data[one : one + size], data[other : other + size]
    if len(first) == len(second):
        data[one : one + size], data[other : other + size] = second, first
    path.write_bytes(data)


def copy_page(path: Path, chance: random.Random) -> None:
    """Write a page to the place of another, too, as a disk that loses a write does."""
    size, data = _page_size(path), path.read_bytes()
    source = _page(path, chance) * size
    _change(path, _page(path, chance) * size, lambda _: data[source : source + size], size)


def truncate(path: Path, chance: random.Random) -> None:
    os.truncate(path, chance.randrange(path.stat().st_size))


def empty(path: Path, _: random.Random) -> None:
    os.truncate(path, 0)


def garble(path: Path, chance: random.Random) -> None:
    path.write_bytes(chance.randbytes(path.stat().st_size))


DAMAGES: tuple[Damage, ...] = (
    flip_bit,
    scribble,
    scribble_often,
    scribble_cells,
    zero_page,
    swap_pages,
    copy_page,
    truncate,
    change_header,
    scribble,
    flip_bit,
    empty,
    scribble_cells,
    garble,
)


def _change(path: Path, place: int, make: Callable[[bytes], bytes], size: int) -> None:
    with path.open("r+b") as file:
        file.seek(place)
        old = file.read(size)
        file.seek(place)
        file.write(make(old))


def _page_size(path: Path) -> int:
    """Return the page size that the header tells, or 4096 where it is not a database's."""
    size = int.from_bytes(path.read_bytes()[16:18], "big")
    return size if size >= 512 and path.stat().st_size > size else 4096


def _page(path: Path, chance: random.Random) -> int:
    return chance.randrange(max(1, path.stat().st_size // _page_size(path)))


def spoil_name(path: Path) -> None:
    """Make the first entry of a schema wrong, and its name one that is no text."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        find = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid LIMIT 1"
        (name,) = connection.execute(find).fetchone()
    data, entry = path.read_bytes(), f"table{name}{name}".encode()
    place = data.index(entry)
    wrong = b"table" + b"\xdc" * len(name)
    rest = data[place + len(wrong) :].replace(b"CREATE TABLE", b"CREATE TABLX", 1)
    path.write_bytes(data[:place] + wrong + rest)
