"""`pneuma-bench tables`: the deployment's tables as a file to ask questions about."""

import os
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Annotated

import typer

from pneuma_assets.cli.errors import UsageError
from pneuma_assets.cli.options import ConfigOption, HomeOption, JsonOption, given_path, load
from pneuma_assets.cli.output import print_json, print_line, showing_progress
from pneuma_bench.cli.shared import app


@app.command()
def tables(
    context: typer.Context,
    out: Annotated[
        Path, typer.Option(parser=given_path, metavar="T.jsonl", help="The file to write.")
    ],
    source: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Tables of this source only; may be given again."),
    ] = None,
    rows: Annotated[
        int, typer.Option(min=1, max=100_000, help="Most rows of a table; of more, some are drawn.")
    ] = 1_000,
    seed: Annotated[int, typer.Option(help="Decides which rows are drawn.")] = 0,
    as_json: JsonOption = False,
    home: HomeOption = None,
    config: ConfigOption = None,
) -> None:
    """Write the tables of the deployment's sources for `pneuma-bench run --tables`.

    They are read as indexing reads them, and columns that are hidden are left out.
    """
    loaded = load(context, home, config)
    from pneuma_assets.core.service.state import has_state, open_store
    from pneuma_assets.core.sources.isolation.source import IsolatedSource
    from pneuma_bench.writing import write_tables

    deployment = loaded.deployment
    known = {one.name: one.resolved(loaded.base) for one in deployment.sources}
    if unknown := [one for one in source or () if one not in known]:
        raise UsageError(
            f"no source is called {unknown[0]!r}; there are: {', '.join(known) or 'none'}"
        )
    with ExitStack() as stack, showing_progress(lasting=False):
        opened = [
            stack.enter_context(closing(IsolatedSource(known[one], os.environ, deployment.limits)))
            for one in dict.fromkeys(source or known)
        ]
        ids = {}
        if has_state(loaded, os.environ):
            store = stack.enter_context(open_store(loaded, os.environ))
            ids = {one.name: store.tables.ids(one.name) for one in opened}
        written = write_tables(out, opened, rows, seed, ids)
    if as_json:
        problems = [{"table": one.subject, "cause": one.cause} for one in written.problems]
        print_json({"tables": written.tables, "file": str(out), "problems": problems})
        return
    print_line(f"{written.tables:,} tables written to {out}")
    for one in written.problems:
        print_line(f"left out: {one.subject}: {one.cause}")
