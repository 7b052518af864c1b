"""Recall where tables share a text: a real lake with a README in every folder.

    python -m pneuma_bench.experiments.pipeline.shared_texts LAKE GOLDS [--without-pages] \
        [--home FOLDER]

LAKE has one folder a package, tables with a documentation page each; GOLDS is a file of
`{"table", "column", "gold"}` lines, what people wrote about columns. The lake is copied, and each
folder gets a README that says what the package is for and lists its tables by name: one text that
all of its tables share, as folders have them. Narration is off. Three kinds of questions:

- columns: what people wrote about the first well-described column of a table; that table answers.
- titles: the title of a table's documentation page, which no other table has; that table answers.
- folders: the README's first sentence; the tables of the folder answer (share of the first ten).

Without the pages, the README is all that people wrote about the tables. With --home the index is
kept there and used again.
"""

import argparse
import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import mean

from pneuma_assets.core.config.load import LoadedDeployment, load_deployment
from pneuma_assets.core.dictionaries.text import html_text
from pneuma_assets.core.measure.metrics import hit_at
from pneuma_assets.core.search.query import QueryEngine
from pneuma_assets.core.service.workspace import Workspace
from pneuma_assets.index_run import run_indexing

PURPOSES = {
    "AER": "Data of the handbook Applied Econometrics with R",
    "DAAG": "Data analysis and graphics, data from a course for scientists",
    "Ecdat": "Data sets for econometrics, from textbooks and journals",
    "HistData": "Data sets from the history of statistics and data visualization",
    "ISLR": "Data of the textbook An Introduction to Statistical Learning",
    "Lahman": "Sean Lahman's baseball database of players, teams and seasons",
    "MASS": "Support functions and data of Modern Applied Statistics with S",
    "Stat2Data": "Data of the textbook Stat2, modeling with regression and ANOVA",
    "agridat": "Agricultural field trials and other data from farming research",
    "carData": "Data that accompany the Companion to Applied Regression",
    "causaldata": "Example data of textbooks on causal inference",
    "crimedatasets": "A collection of crime, police and prison data",
    "datasets": "The small data sets that come with every installation of R",
    "dslabs": "Data science labs, data of an introductory course",
    "fivethirtyeight": "Data behind stories of the news site FiveThirtyEight",
    "gapminder": "Development of the world's countries after Gapminder",
    "nycflights13": "All flights that left New York City's airports in 2013",
    "openintro": "Data of the free OpenIntro statistics textbooks",
    "palmerpenguins": "Penguins measured near Palmer Station in Antarctica",
    "stevedata": "Steve's toy data for teaching political science methods",
    "survival": "Survival analysis, data on times until an event",
}
_WORDS = 6  # of a description that is worth asking for


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lake", type=Path)
    parser.add_argument("golds", type=Path)
    parser.add_argument("--without-pages", action="store_true")
    parser.add_argument("--home", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = arguments.home or Path(folder)
        loaded = prepare(arguments.lake, home, pages=not arguments.without_pages)
        with Workspace(loaded, {}) as workspace:
            engine = workspace.query_engine()
            tables = workspace.known_tables()
            print_copies([e.block.text for e in workspace.search_index.blocks()])
            report("columns", engine, column_questions(arguments.golds, tables))
            report("titles", engine, title_questions(arguments.lake, tables))
            print_folders(engine, arguments.lake)


def prepare(lake: Path, home: Path, *, pages: bool) -> LoadedDeployment:
    """Copy the lake, write the READMEs and index it, if that is not done yet."""
    copy = home / "lake"
    if not copy.exists():
        shutil.copytree(lake, copy, ignore=None if pages else shutil.ignore_patterns("*.html"))
        for folder in folders(lake):
            names = sorted({path.stem for path in folder.iterdir()})
            text = f"{PURPOSES[folder.name]}.\n\nIt holds these tables: {', '.join(names)}.\n"
            (copy / folder.name / "README.md").write_text(text)
    file = home / "pneuma.yaml"
    source = {"name": "lake", "type": "folder", "path": str(copy)}
    settings = {"home": str(home), "sources": [source], "narration": {"enabled": False}}
    file.write_text(json.dumps(settings))
    loaded = load_deployment(config=file, environ={})
    figures = run_indexing(loaded)
    print(f"{figures.indexed} tables indexed, {figures.blocks} blocks, {figures.seconds:.0f} s")
    return loaded


def folders(lake: Path) -> list[Path]:
    """Return the packages' folders."""
    return sorted(path for path in lake.iterdir() if path.name in PURPOSES)


def column_questions(golds: Path, tables: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the first long enough description of each table's columns, and the table."""
    asked = set()
    for line in golds.read_text("utf-8").splitlines():
        record = json.loads(line)
        table_id = f"lake/{record['table']}"
        if table_id in tables and table_id not in asked and record["gold"].count(" ") >= _WORDS:
            asked.add(table_id)
            yield record["gold"], table_id


def title_questions(lake: Path, tables: Sequence[str]) -> list[tuple[str, str]]:
    """Return the titles of documentation pages that one table has, and the table."""
    titles = {}
    for page in sorted(lake.glob("*/*.html")):
        table_id = f"lake/{page.parent.name}/{page.stem}"
        first = html_text(page.read_text("utf-8")).strip().split("\n")[0]
        if table_id in tables and first.startswith("R: "):
            titles[table_id] = first.removeprefix("R: ")
    counts = Counter(titles.values())
    return [(title, table_id) for table_id, title in titles.items() if counts[title] == 1]


def print_copies(texts: Sequence[str]) -> None:
    """Print how many of the blocks say what another says, too."""
    copies = [count for count in Counter(texts).values() if count > 1]
    print(f"{len(texts)} blocks, {len(set(texts))} texts; {sum(copies)} blocks share {len(copies)}")


def report(name: str, engine: QueryEngine, questions: Iterator[tuple[str, str]]) -> None:
    """Print how often the wanted table is first and among ten."""
    asked, wanted = zip(*questions, strict=True)
    answers = [[one.table_id for one in found] for found in engine.ask_many(asked, k=10)]
    relevant = [{table_id} for table_id in wanted]
    figures = [mean(map(partial(hit_at, k), answers, relevant)) for k in (1, 10)]
    print(f"{name:8} {len(asked):4} questions  R@1 {figures[0]:.3f}  R@10 {figures[1]:.3f}")


def print_folders(engine: QueryEngine, lake: Path) -> None:
    """Print what share of ten answers lies in the folder that was asked for."""
    names = [folder.name for folder in folders(lake)]
    shares = []
    for name, found in zip(names, engine.ask_many([PURPOSES[n] for n in names], k=10), strict=True):
        within = sum(one.table_id.startswith(f"lake/{name}/") for one in found)
        shares.append(within / min(10, len(list((lake / name).glob("*.html")))))
    print(f"folders  {len(names):4} questions  of the first ten {sum(shares) / len(shares):.3f}")


if __name__ == "__main__":
    main()
