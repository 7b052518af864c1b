"""Some columns of a folder, drawn by chance, as people see them described: to be read and rated.

    python -m pneuma_bench.experiments.models.descriptions FOLDER [--columns 60] [--seed 0] \
        [--no-documents]

Prints a Markdown table: table, column, description, who says it. docs/descriptions.md holds two.
"""

import argparse
import random
from contextlib import closing
from pathlib import Path

from pneuma_assets.core.config.indexing import LimitsConfig
from pneuma_assets.core.describe.columns import WRITTEN, best_descriptions, read_descriptions
from pneuma_assets.core.sources.base import gather
from pneuma_assets.core.sources.isolation.source import IsolatedSource
from pneuma_assets.core.sources.kinds.folder import FolderSourceConfig
from pneuma_assets.core.tables import Description, Provenance


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--columns", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-documents", action="store_true")
    options = parser.parse_args()
    shown = described(options.folder.resolve(), documents=not options.no_documents)
    drawn = random.Random(options.seed).sample(shown, min(options.columns, len(shown)))
    print("| table | column | description | by |\n| --- | --- | --- | --- |")
    for table, column, one in sorted(drawn, key=lambda line: line[:2]):
        print(f"| {table} | `{column}` | {one.text.replace('|', '/')} | {one.provenance} |")


def described(folder: Path, *, documents: bool) -> list[tuple[str, str, Description]]:
    """Return every column of which anything is shown without a language model."""
    shown = []
    config = FolderSourceConfig(name="lake", path=folder)
    with closing(IsolatedSource(config, {}, LimitsConfig())) as source:
        for ref in source.list_tables().tables:
            table = source.profile(ref)
            rows = gather(source, ref, 0).terms.rows
            glossaries = source.contexts(ref).glossaries if documents else ()
            known: dict[int, dict[Provenance, Description]] = {}
            for at, one in read_descriptions(table, glossaries, rows):
                if documents or one.provenance not in WRITTEN:
                    known.setdefault(at, {})[one.provenance] = one
            name = ref.table_id.partition("/")[2]
            shown += [
                (name, table.columns[at].name, one)
                for at, one in best_descriptions(known, {}).items()
            ]
    return shown


if __name__ == "__main__":
    main()
