"""Are copies told from tables of their own, and does the original come first?

    python -m pneuma_bench.experiments.copies [--lake FOLDER] [--copies 100] [--keep FOLDER]

A lake is indexed by the real job, without a language model; then copies of its tables are put
beside them (`planting`), and what is new is indexed. Printed are the copies that were found and
those that were not, by kind; every table that was called a copy and was not planted, to be looked
at by hand; and of questions, which are the titles of the tables' documents and their names, how
often the original is the first result, stands before its copy, and was the first in the lake
without copies.
"""

import argparse
import json
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.core.service.workspace import Workspace
from pneuma_assets.index_run import run_indexing
from pneuma_bench.experiments.copies.planting import Planted, chosen, plant

LAKE = Path(__file__).resolve().parents[4].parent / "shared/data/lake"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lake", type=Path, default=LAKE, help="a folder of folders of tables")
    parser.add_argument("--copies", type=int, default=100)
    parser.add_argument("--keep", type=Path, help="keeps the lake with copies, and its index")
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = options.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        lake = folder / "lake"
        shutil.copytree(options.lake, lake)
        for place in (lake, *lake.iterdir()):
            place.chmod(0o755)
        tables = chosen(options.lake, options.copies)
        originals = [(f"{path.parent.name}/{path.stem}", title) for path, title in tables]
        with indexed(folder) as workspace:
            without = places(workspace, originals)
        planted = plant(tables, lake)
        with indexed(folder) as workspace:
            report_found(planted, workspace.store.profiles.copies())
            report_places(planted, without, places(workspace, originals))


def indexed(folder: Path) -> Workspace:
    """Index what is new in the folder's lake, and return what answers questions about it."""
    file = folder / "pneuma.yaml"
    sources = [{"name": "lake", "type": "folder", "path": "lake"}]
    settings = {"home": "home", "sources": sources, "narration": {"enabled": False}}
    file.write_text(json.dumps(settings))
    loaded = load_deployment(config=file, environ={}, cwd=folder)
    run_indexing(loaded)
    return Workspace(loaded)


def report_found(planted: Sequence[Planted], copies: Mapping[str, str]) -> None:
    """Print which copies were found, and what else was taken for one."""
    wanted = {f"lake/{one.copy}": one for one in planted}
    kinds = Counter(one.kind for one in planted)
    right = [one.kind for copy, one in wanted.items() if copies.get(copy) == f"lake/{one.original}"]
    found = Counter(right)
    print(f"planted {len(planted)}, found {len(right)}; called copies {len(copies)}")
    for kind, count in kinds.items():
        print(f"  {kind:34} {found[kind]:3} of {count}")
    for copy, original in sorted(copies.items()):
        if copy not in wanted or original != f"lake/{wanted[copy].original}":
            print(f"  called a copy, and not planted: {copy} of {original}")


Places = dict[tuple[str, str], list[str]]
"""By the way of asking and the original: the tables found, the best first."""


def places(workspace: Workspace, originals: Sequence[tuple[str, str]]) -> Places:
    """Ask for every original by its title and by its name."""
    ways = {
        "title": [title for _, title in originals],
        "name": [original.rpartition("/")[2] for original, _ in originals],
    }
    return {
        (way, original): [result.table_id for result in results]
        for way, asked in ways.items()
        for (original, _), results in zip(originals, workspace.ask_many(asked), strict=True)
    }


def report_places(planted: Sequence[Planted], without: Places, found: Places) -> None:
    """Print how often the original is first, and which copies stand before theirs."""
    counted: dict[str, Counter[str]] = defaultdict(Counter)
    of = {one.original: one for one in planted}
    for (way, original), ids in found.items():
        first, second = (_place(ids, one) for one in (original, of[original].copy))
        before = _place(without[way, original], original)
        ahead = 0 < second < (first or len(ids) + 1)
        kept = {"first": first == 1, "first without copies": before == 1, "copy ahead": ahead}
        counted[way].update(name for name, is_so in kept.items() if is_so)
        if ahead or (before == 1 != first):
            print(
                f"  by {way}: {original} at {first}, was {before}; {of[original].copy} at {second}"
            )
    for way, counts in counted.items():
        print(f"by {way}: {dict(counts)} of {len(planted)}")


def _place(ids: Sequence[str], table: str) -> int:
    """Return where a table stands, from 1; 0: nowhere."""
    return ids.index(f"lake/{table}") + 1 if f"lake/{table}" in ids else 0


if __name__ == "__main__":
    main()
