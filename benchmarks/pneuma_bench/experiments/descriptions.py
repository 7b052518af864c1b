"""What is said of columns without a model: how many are described, by what, and is it so?

    python -m pneuma_bench.experiments.descriptions FOLDER [--lake LAKE] [--read 60]

FOLDER holds databases as folders of CSV files (`databases/NAME`) and `warehouse.tables.jsonl`; LAKE
folders of CSV files with their documents, which is measured with these withheld, and read. For each
are printed, with 95 % intervals over tables: the share of columns `described`; of these, the share
that says `no more` than the name, `id` counting as identifier; of claims about values (`one of`,
`always`, `such as`, `where known`, `from ... to`), read again in the whole files, the share that
is `right`. `--read` prints so many of the claims about units and what a name stands for, and of
sentences from documents, for a reader.
"""

import argparse
import csv
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random

from pneuma_assets.core.describe.columns import best_descriptions, read_descriptions
from pneuma_assets.core.sources.files.folder import FolderStorage
from pneuma_assets.core.sources.files.source import FileSource
from pneuma_assets.core.tables import Description, Provenance
from pneuma_bench.experiments.support.key_databases import write_tables
from pneuma_bench.experiments.support.sets import means

_CLAIM = re.compile(
    r"(?P<way>one of|always|such as) (?P<levels>.+)|(?P<known>.+) where known"
    r"|from (?P<least>\S+(?: [\d:.+]+)?) to (?P<most>\S+(?: [\d:.+]+)?)"
)
_PIECE = re.compile(r'(?:"[^"]*"|[^";])+')
_LEVEL = re.compile(r'"([^"]*)"(?:, |$)|(.+?)(?:, |$)')
_NO_VALUE = frozenset({"", "na", "null", "n/a", "nan", "none"})
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_NUMBER = re.compile(r"\d+")
_LITTLE = frozenset({"the", "a", "an", "of"})
Told = dict[str, list[float]]


def described(folder: Path, *, documents: bool) -> Iterator[tuple[Path, dict[str, Description]]]:
    """Yield the CSV files of a folder with what an index run shows of their columns."""
    source = FileSource("s", FolderStorage(folder))
    for ref in source.list_tables().tables:
        file = Path(ref.location)
        if file.suffix == ".csv":
            table, rows = source.profile(ref), source.evidence(ref, 0).terms.rows
            lists = source.contexts(ref).glossaries if documents else ()
            known: dict[int, dict[Provenance, Description]] = defaultdict(dict)
            for position, one in read_descriptions(table, lists, rows):
                known[position][one.provenance] = one
            best = best_descriptions(known, {})
            yield file, {column.name: best.get(at) for at, column in enumerate(table.columns)}


def cells_of(file: Path) -> dict[str, list[str]]:
    """Return the cells of each column, as they are written."""
    with file.open(encoding="utf-8", errors="replace", newline="") as lines:
        header, *rows = csv.reader(lines)
    return {name: [row[at] for row in rows if at < len(row)] for at, name in enumerate(header)}


def is_right(claim: str, cells: Sequence[str]) -> bool | None:
    """Tell whether what is said of a column's values is so; None where nothing is said of them."""
    found = _CLAIM.fullmatch(claim)
    if found is None:
        return None
    values = {_value(one) for one in cells if one.strip().casefold() not in _NO_VALUE}
    if found["least"]:
        ends = _value(found["least"]), _value(found["most"])
        return len({*map(type, values)}) == 1 and ends == (min(values), max(values))
    listed = found["known"] or found["levels"]
    told = {_value(quoted or plain) for quoted, plain in _LEVEL.findall(listed)}
    if found["way"] == "such as":
        return told <= {*map(_value, cells)}
    return told == values or (told == {*map(_value, cells)} and "" not in told)


def _value(cell: str) -> float | str:
    with suppress(ValueError):
        return float(cell)
    return cell.strip().casefold()


def is_no_more(name: str, text: str) -> bool:
    """Tell whether a description has no letter that its column's name does not have."""
    words = [one for one in _words(text) if one not in _LITTLE]
    whole = "".join("id" if one == "identifier" else one for one in words)
    return whole == "".join(_words(name)) or {*words} <= {*_words(name)}


def _words(text: str) -> list[str]:
    return [one.casefold() for one in _WORD.findall(text)]


def measured(folder: Path, *, documents: bool) -> tuple[Told, list[str]]:
    """Return the figures of each table of a folder, and what a reader has to judge."""
    told: Told = defaultdict(list)
    to_read: dict[str, str] = {}
    for file, columns in described(folder, documents=documents):
        cells = cells_of(file)
        shown = {name: one for name, one in columns.items() if one is not None}
        told["described"].append(len(shown) / len(columns))
        for by in (Provenance.DOCUMENT, Provenance.PROFILE):
            share = sum(one.provenance is by for one in shown.values()) / len(columns)
            told[f"by {by}"].append(share)
        for name, one in shown.items():
            told["no more"].append(is_no_more(name, one.text))
            if one.provenance is Provenance.PROFILE:
                for piece in map(str.strip, _PIECE.findall(one.text)):
                    right = is_right(piece, cells.get(name, ()))
                    if right is None:
                        alike = _NUMBER.sub("", f"{file.stem} {piece}")
                        to_read.setdefault(alike, f"{file.stem} | {name} | {piece}")
                    else:
                        told["right"].append(right)
                    if right is False:
                        print(f"    not so: {file.stem} | {name} | {piece}")
    return told, [*to_read.values()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--lake", type=Path, help="a folder of folders of CSV files")
    parser.add_argument("--read", type=int, default=0, help="print so many claims for a reader")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as written:
        write_tables(options.folder / "warehouse.tables.jsonl", Path(written))
        folders = {"two databases": (options.folder / "databases", False)}
        folders["seven schemas"] = Path(written), False
        if options.lake:
            folders["lake, documents withheld"] = options.lake, False
            folders["lake, documents read"] = options.lake, True
        for name, (folder, documents) in folders.items():
            told, to_read = measured(folder, documents=documents)
            print(f"{name}: {means(told, counted=True)}", flush=True)
            for one in Random(0).sample(to_read, min(options.read, len(to_read))):
                print(f"    {one}")


if __name__ == "__main__":
    main()
