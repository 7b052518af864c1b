"""Lines that a table's rows lack are counted, and the first of them is named by its number."""

import bz2
import gzip
from collections.abc import Mapping
from pathlib import Path
from unittest.mock import patch

import pytest

from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources.base import UNREAD, unread_of
from pneuma_assets.core.sources.files import delimited, unread_lines
from pneuma_assets.core.sources.files.folder import FolderStorage
from pneuma_assets.core.sources.files.source import FileSource
from tests.support.lake_tables import only_table

ROWS = 40
PLAIN = [f"{i},name {i},{i * 2}\n" for i in range(ROWS)]
QUOTED = [f'{i},"name, {i}",{i * 2}\n' for i in range(ROWS)]
OBJECTS = [f'{{"id": {i}, "name": "name {i}"}}\n' for i in range(ROWS)]


def csv(rows: list[str], at: Mapping[int, str] = {}, head: str = "id,name,size\n") -> bytes:
    return "".join([head, *(at.get(i, row) for i, row in enumerate(rows))]).encode()


def lines(at: Mapping[int, str], rows: list[str] = OBJECTS) -> bytes:
    return csv(rows, at, head="")


UNCLOSED = csv(QUOTED, {20: '20,"name, 20\n'})
CUT = lines({20: '{"id": 20, "na\n'})
OTHER_DELIMITER = [row.replace(",", ";") for row in PLAIN]

CASES: dict[str, tuple[str, bytes, int, str]] = {
    # name of the file, its bytes, the rows that are read, what is said
    "an unclosed quote": ("a.csv", UNCLOSED, 39, "2 lines; 22"),
    "two of them": ("a.csv", csv(QUOTED, {9: '9,"a, 1\n', 30: '30,"b, 1\n'}), 38, "4 lines; 11"),
    "to the end of the file": (
        "a.csv", csv(QUOTED * 600 + ['20,"name, 20\n'] + PLAIN), 24_001, "41 lines; 24,002",
    ),
    "far to the next quote": (
        "a.csv", csv([*QUOTED[:9], '9,"name, 9\n', *PLAIN[10:30], *QUOTED[30:]]), 19,
        "22 lines; 11",
    ),
    "a file that is cut in quotes": (
        "a.csv", csv([*QUOTED[:-1], '39,"name']), 40, "1 line; 41",
    ),
    "behind cells of two lines": (
        "a.csv", csv([row.replace(", ", ",\n") for row in QUOTED], {20: '20,"x, 20\n'}), 40,
        "at least 2 lines; 42",
    ),
    "two quotes that look like a cell's": (
        "a.csv", csv(PLAIN, {9: '9,"name 9,18\n', 30: '30,name 30",60\n'}), 19, "22 lines; 11",
    ),
    "two of them beside a long row": (
        "a.csv", csv(PLAIN, {4: "4,a,8,x,y\n", 9: '9,"name 9,18\n', 30: '30,name 30",60\n'}), 19,
        "22 lines; 11",
    ),
    "two of them in rows with blanks": (
        "a.csv",
        csv(PLAIN, {9: '9,"name 9,18\n', 30: '30,name 30",60\n'}).replace(b",", b", "), 19,
        "22 lines; 11",
    ),
    "with tabs": ("a.tsv", UNCLOSED.replace(b",", b"\t"), 39, "2 lines; 22"),
    "with CRLF": ("a.csv", UNCLOSED.replace(b"\n", b"\r\n"), 39, "2 lines; 22"),
    "with a byte order mark": ("a.csv", b"\xef\xbb\xbf" + UNCLOSED, 39, "2 lines; 22"),
    "in UTF-16": ("a.csv", UNCLOSED.decode().encode("utf-16"), 39, "2 lines; 22"),
    "in Latin-1": ("a.csv", UNCLOSED.replace(b"name, 7", b"n\xe4me, 7"), 39, "2 lines; 22"),
    "packed by gzip": ("a.csv.gz", gzip.compress(UNCLOSED), 39, "2 lines; 22"),
    "packed by bzip2": ("a.csv.bz2", bz2.compress(UNCLOSED), 39, "2 lines; 22"),
    "other cells above": (
        "a.csv", csv(PLAIN[:25] + OTHER_DELIMITER * 3), 120, "26 lines; 1",
    ),
    "cut JSON": ("a.jsonl", CUT, 39, "1 line; 21"),
    "cut JSON below blank lines": ("a.jsonl", b"\n\n" + CUT, 39, "1 line; 23"),
    "JSON that is packed": ("a.jsonl.gz", gzip.compress(CUT), 39, "1 line; 21"),
    "the cut end of JSON": ("a.jsonl", lines({})[:-6], 39, "1 line; 40"),
    "two objects in a line": ("a.jsonl", lines({5: OBJECTS[5][:-1] * 2 + "\n"}), 39, "1 line; 6"),
    "zeros for JSON": ("a.jsonl", lines({5: "\0" * 20 + "\n", 7: "\0\n"}), 38, "2 lines; 6"),
    "every second line of JSON": (
        "a.jsonl", lines(dict.fromkeys(range(1, ROWS, 2), "oops\n")), 20, "20 lines; 2",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_lines_that_are_no_rows_are_counted(lake: FileSource, folder: Path, case: str):
    name, data, rows, said = CASES[case]
    (folder / name).write_bytes(data)
    ref = only_table(lake)
    table = lake.profile(ref)
    lines, _, first = said.partition("; ")
    assert unread_of(table.notes) == f"{lines} {UNREAD}; the first is line {first}"
    read = [row for batch in lake.scan(ref) for row in batch.to_pylist()]
    assert (table.row_count, len(read)) == (rows, rows)
    assert all(any(row.values()) for row in read)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.csv", csv(QUOTED)),
        ("a.csv", csv(QUOTED, {3: "3\n", 5: '5,"a, 5",1,2,3\n'})),
        ("a.csv", csv(QUOTED, {3: '3,"he said "hi" to, me",1\n'})),
        ("a.csv", csv(PLAIN, {3: '3,5" pipe,1\n', 6: "6\n"})),
        ("a.csv", csv([f'{i},"a, {i}\nb\nc, d\n",1\n' for i in range(ROWS)])),
        (
            "a.csv",
            csv(
                [f'{i},a,"b, c, {i}\nbuy tea, ham, jam\nx, y, z\np, q, r\n"\n' for i in range(ROWS)]
            ),
        ),
        ("a.csv", csv(PLAIN, head="".join(f"# line {i}, of a comment\n" for i in range(30)))),
        ("a.csv", csv(PLAIN, head="".join(f"line {i} of a text\n" for i in range(30)) + "a,b,c\n")),
        ("a.csv", csv(["\n" if i % 3 else f"{i}\n" for i in range(ROWS)], head="a\n")),
        ("a.jsonl", lines({3: "\n", 5: '{"id": 1, "name": "a",}\n', 7: "{}\n"})),
    ],
)
def test_nothing_is_said_of_lines_that_are_read(lake, folder, name, data):
    (folder / name).write_bytes(data)
    assert unread_of(lake.profile(only_table(lake)).notes) == ""


def test_the_file_of_a_folder_is_named(lake, folder):
    for day, data in enumerate((csv(QUOTED), b"\n", UNCLOSED, UNCLOSED), 1):
        (folder / f"t/day={day}").mkdir(parents=True)
        (folder / f"t/day={day}/rows.csv").write_bytes(data)
    note = unread_of(lake.profile(only_table(lake)).notes)
    assert note == f"4 lines {UNREAD}; the first is line 22 of rows.csv (file 3)"


ROWS_OF = {
    "no quotes": [f"{i},name {i},b{i % 7},{i * 2}\n" for i in range(ROWS)],
    "quoted names": [f'{i},"name, {i}",b{i % 7},{i * 2}\n' for i in range(ROWS)],
    "some quoted names": [
        f'{i},"name 5"", {i}",b{i % 7},{i * 2}\n' if i % 10 == 3 else f"{i},name {i},b{i % 7},1\n"
        for i in range(ROWS)
    ],
    "all cells quoted": [f'"{i}","name, {i}","b{i % 7}","{i * 2}"\n' for i in range(ROWS)],
}


@pytest.mark.parametrize("kind", ROWS_OF)
@pytest.mark.parametrize("line", [0, 21], ids=["header", "row"])
def test_a_stray_quote_takes_no_row_without_a_word(tmp_path: Path, kind: str, line: int):
    head = "id,name,brand,size\n"
    if kind == "all cells quoted":
        head = '"id","name","brand","size"\n'
    lines = [head, *ROWS_OF[kind]]
    for at in range(len(lines[line])):
        damaged = [*lines[:line], f'{lines[line][:at]}"{lines[line][at:]}', *lines[line + 1 :]]
        folder = tmp_path / str(at)
        folder.mkdir()
        (folder / "a.csv").write_text("".join(damaged))
        source = FileSource("s", FolderStorage(folder))
        table = source.profile(only_table(source))
        source.close()
        names = [column.name.strip('"') for column in table.columns]
        note = unread_of(table.notes)
        counted = int(note.removeprefix("at least ").partition(" ")[0]) if note else 0
        assert table.row_count > ROWS - 6
        assert table.row_count <= ROWS <= table.row_count + counted, (at, table)
        if kind != "some quoted names":
            assert line == 0 or names[:4] == ["id", "name", "brand", "size"]


@pytest.mark.parametrize("damaged", ['20,""name, 20",1\n', '"20,name 20,1\n'])
def test_a_damaged_row_leaves_the_doubled_quotes_of_others_alone(lake, folder, damaged):
    comma = "," if damaged.count('"') > 1 else ""
    rows = [f'{i},"name{comma} 5"" {i}",{i * 2}\n' for i in range(ROWS)]
    (folder / "a.csv").write_bytes(csv(rows, {20: damaged}))
    read = [[*row.values()] for batch in lake.scan(only_table(lake)) for row in batch.to_pylist()]
    assert [row[:3] for i, row in enumerate(read) if i != 20] == [
        [str(i), f'name{comma} 5" {i}', str(i * 2)] for i in range(ROWS) if i != 20
    ]


def test_a_header_that_takes_all_rows_is_a_problem(lake, folder):
    (folder / "a.csv").write_text('b1,"c",""c"\nb1,"d,e",a\n')
    with pytest.raises(TableReadError, match="a quote that is not closed takes all rows"):
        lake.profile(only_table(lake))


@pytest.fixture
def short_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a row have 2,000 bytes at most, as it may else have 16 MiB."""
    buffers = {**delimited._BUFFERS, "max_line_size": "2000", "buffer_size": "64000"}
    monkeypatch.setattr(delimited, "_BUFFERS", buffers)
    monkeypatch.setattr(unread_lines, "LINE_BYTES", 2000)


@pytest.mark.usefixtures("short_lines")
@pytest.mark.parametrize("end", ["\n", ""])
def test_a_line_that_is_too_long_is_counted_once(lake, folder, end):
    row = f"21000,{'x' * 9000},1{end}"
    (folder / "a.csv").write_bytes(csv([f"{i},name {i},{i}\n" for i in range(21_000)] + [row]))
    assert unread_of(lake.profile(only_table(lake)).notes).endswith("the first is line 21,002")


def test_only_files_that_are_not_strict_are_looked_at(lake, folder):
    (folder / "a.csv").write_bytes(csv(QUOTED))
    with patch.object(delimited, "unread_csv", side_effect=AssertionError):
        assert lake.profile(only_table(lake)).row_count == ROWS
