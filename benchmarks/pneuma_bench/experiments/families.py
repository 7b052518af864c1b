"""Are tables that are parts of one thing told from others, and is the right part shown?

    python -m pneuma_bench.experiments.families FOLDER [--lake LAKE] [--keep KEPT] [--held]

FOLDER holds sets as `NAME.tables.jsonl` and `NAME.queries.jsonl`, whose ids are names
(`schema.table`); LAKE folders of CSV files, asked for by the titles of their pages. Tables that
questions need are replaced by parts (`support/parted_tables.py`), which share their rows, and their
columns but for one. Printed are for each way of writing, position and style: `recall` and
`precision` of pairs, three tables of the same columns that are no parts standing beside each; how
often all parts are `one` family; whether a question that says one part `means` it alone, and
whether the last one is taken for the `newest`. Then each set is indexed with the parts, and asked
with a part named (`shown`: of the questions with the family in ten, those that show this part) and
without; `things` are the different ones among ten results, folded and not. Of the sets as they are,
the pairs are counted that are folded, and those that one reader took for no parts of one thing.
Intervals are 95 %, over tables.
"""

import json
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from math import comb, nan
from pathlib import Path
from random import Random

import numpy as np

from pneuma_assets.core.relations.families import families_by_word, find_families, name_of_family
from pneuma_assets.core.relations.part_names import meant, order_of
from pneuma_assets.core.tables import TableFacts
from pneuma_assets.core.terms.fields import spaced
from pneuma_bench.experiments.support.parted_tables import (
    HELD,
    JOINERS,
    POSITIONS,
    SEEN,
    Named,
    Planted,
    plant,
    read_lake,
    read_set,
)
from pneuma_bench.experiments.support.sets import UNNAMED, arguments, means
from pneuma_bench.lab import Lab
from pneuma_bench.reading import read_tables

NOT_ONE_THING = frozenset({"sub_region_*_daily", "sub_region_*_weekly", "DAAG/cps*", "DAAG/psid*"})
"""Ends of the names of families in the sets as they are whose members are no parts of one thing."""
Figures = dict[str, dict[str, list[float]]]


def families_of(tables: Sequence[Named]) -> dict[str, list[str]]:
    """Return of each table in a family all members, as an index run finds them."""
    columns = {one.table_id: {hash(name.casefold()) for name in one.columns} for one in tables}
    found = find_families(columns)
    found |= families_by_word(columns, found)
    members: dict[str, list[str]] = defaultdict(list)
    for table_id, family in found.items():
        members[family].append(table_id)
    return {one: members[family] for one, family in found.items()}


def detected(planted: Sequence[Planted], beside: Sequence[Named], figures: Figures) -> None:
    """Find the families among all tables, and note how well each table's parts were found."""
    found = families_of([*beside, *(one for some in planted for one in some.all)])
    for some in planted:
        ids = [one.table_id for one, _ in some.parts]
        mine = {one.table_id for one in some.all}
        folded = {frozenset(found[one]) for one in mine if one in found}
        right = sum(comb(len(one.intersection(ids)), 2) for one in folded)
        pairs = sum(not mine.isdisjoint(two) for one in folded for two in combinations(one, 2))
        asks = [f"{spaced(some.whole.name)} {said}" for _, said in some.parts]
        alone = [meant(one, ids) == [i] for one, i in zip(asks, ids, strict=True)]
        told = {
            "recall": right / comb(len(ids), 2),
            "precision": right / pairs if pairs else nan,
            "one": float(any(one.issuperset(ids) for one in folded)),
            "means": float(np.mean(alone)) if some.parts[0][1] else nan,
            "newest": float(max(ids, key=order_of) == ids[-1]) if some.is_dated else nan,
        }
        for way in ("all", *some.ways):
            for name, value in told.items():
                figures[way][name].append(value)


def searched(
    planted: Sequence[Planted], beside: Sequence[Named], asks: Sequence[str], keep: Path | None
) -> dict[str, list[float]]:
    """Index tables in parts among the others, ask for them, and return what was found."""
    tables = [*beside, *(one for some in planted for one, _ in some.parts)]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "parted.tables.jsonl")
        file.write_text("\n".join(json.dumps(one.line) for one in tables), "utf-8")
        dataset = read_tables(file)
    whole = {one.dotted: some.whole.dotted for some in planted for one, _ in some.parts}
    told: dict[str, list[float]] = defaultdict(list)
    with Lab(dataset, keep) as lab:
        engine, index = lab.engine(), lab.index()[0]

        def found(texts: Sequence[str]) -> list[list[str]]:
            results = engine.ask_many(texts, k=10)
            return [[dataset.spelled(one.table_id) for one in some] for some in results]

        def note(what: str, results: Sequence[str], some: Planted, wanted: str) -> None:
            mine = [one for one in results if whole.get(one) == some.whole.dotted]
            told[f"in ten, {what}"].append(float(bool(mine)))
            told[f"one result, {what}"].append(float(len(mine) == 1) if mine else nan)
            told[f"shown, {what}"].append(float(mine[0] == wanted) if mine and wanted else nan)
            things = {whole.get(one, one) for one in results}
            told[f"things, {what}"].append(len(things))

        chosen = [Random(some.whole.name).choice(some.parts) for some in planted]
        texts = [
            f"{ask.rstrip('?. ')} {said}?" for ask, (_, said) in zip(asks, chosen, strict=True)
        ]
        for some, results, (one, said) in zip(planted, found(texts), chosen, strict=True):
            if said:
                note("a part named", results, some, one.dotted)
        for some, results in zip(planted, found(asks), strict=True):
            note("none named", results, some, some.parts[-1][0].dotted * some.is_dated)
        known = index.facts([table.table_id for table, _ in dataset.tables])
        index.set_facts(dict.fromkeys(known, TableFacts()))
        for some, results in zip(planted, found(asks), strict=True):
            note("not folded", results, some, "")
        index.set_facts(known)
    return told


def report(name: str, figures: Mapping[str, Sequence[float]]) -> None:
    """Print the mean of each figure, with its interval."""
    print(f"  {name:14} {means(figures)}", flush=True)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--lake", type=Path, help="a folder of folders of CSV files")
    parser.add_argument("--tables", type=int, default=60, help="of each set, put into parts")
    parser.add_argument("--held", action="store_true", help="the writings that were kept aside")
    options = parser.parse_args()
    writings = HELD if options.held else SEEN
    paths = sorted(options.folder.glob("*.tables.jsonl"))
    sets = {path.name.split(".")[0]: path for path in paths}
    read = {name: read_set(path) for name, path in sets.items() if name not in UNNAMED}
    if options.lake:
        read["lake"] = read_lake(options.lake)
    total: Figures = defaultdict(lambda: defaultdict(list))
    for name, (tables, asked) in read.items():
        print(f"{name}: {as_they_are([*tables.values()])}")
        wholes = Random(0).sample([*asked], min(options.tables, len(asked)))
        beside = [one for i, one in tables.items() if i not in wholes]
        figures: Figures = defaultdict(lambda: defaultdict(list))
        for way, writing in writings.items():
            detected([plant(tables[i], way, writing) for i in wholes], beside, figures)
        ways = [Random(i).choice([*writings]) for i in wholes]
        planted = [plant(tables[i], w, writings[w]) for i, w in zip(wholes, ways, strict=True)]
        figures["search"] = searched(planted, beside, [asked[i] for i in wholes], options.keep)
        for way in ("all", "search"):
            report(way, figures[way])
        for way, told in figures.items():
            for figure, values in told.items():
                total[way][figure] += values
    print("all sets")
    for way in ("all", *writings, *POSITIONS, *JOINERS, "search"):
        report(way, total[way])


def as_they_are(tables: Sequence[Named]) -> str:
    """Return how many pairs of a set's own tables are folded, and how many of these wrongly."""
    families = {tuple(sorted(some)) for some in families_of(tables).values()}
    pairs = [(name_of_family(some), comb(len(some), 2)) for some in families]
    wrong = [count for name, count in pairs if name.endswith((*NOT_ONE_THING,))]
    return (
        f"{len(tables)} tables, {len(pairs)} families with {sum(n for _, n in pairs)} pairs; "
        f"read as no parts of one thing: {len(wrong)} with {sum(wrong)}"
    )


if __name__ == "__main__":
    main()
