"""`pneuma-bench run` and `tables`: a set of tables is measured, or written."""

import os
from collections.abc import Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Annotated, Any

import typer

from pneuma_assets.cli.errors import UsageError
from pneuma_assets.cli.measure import print_figures
from pneuma_assets.cli.options import ConfigOption, HomeOption, JsonOption, given_path, load
from pneuma_assets.cli.output import print_json, print_line, showing_progress
from pneuma_bench.cli.shared import (
    IdsAreNamesOption,
    LeaveOutOption,
    QueriesOption,
    app,
    listed,
    narrating,
    read,
    settings_of,
)


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


DECISIONS = ("precision", "recall", "F1", "AUROC")
"""Figures that are shown beside those of the product's own `bench run`."""


@app.command()
def run(
    context: typer.Context,
    queries: QueriesOption,
    tables: Annotated[
        Path,
        typer.Option(parser=given_path, metavar="T.jsonl", help="Tables, a JSON object a line."),
    ],
    k: Annotated[int | None, typer.Option("-k", "--k", help="Tables of an answer.")] = None,
    n: Annotated[int | None, typer.Option("-n", "--n", help="Candidates a side / k.")] = None,
    alpha: Annotated[
        float | None, typer.Option(help="Weight of words against meaning: 1 is words only.")
    ] = None,
    judge: Annotated[
        bool | None, typer.Option("--judge/--no-judge", help="Let the model veto candidates.")
    ] = None,
    narrate: Annotated[
        bool, typer.Option("--narrate/--no-narrate", help="Have columns described, too.")
    ] = False,
    kinds: Annotated[
        list[str] | None, typer.Option(metavar="KIND,...", help="Look in these documents only.")
    ] = None,
    without: Annotated[
        list[str] | None, typer.Option(metavar="KIND,...", help="Do not look in these documents.")
    ] = None,
    engine: Annotated[
        str | None, typer.Option(metavar="NAME", help="Search engine. [default: the deployment's]")
    ] = None,
    more: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="A key of the deployment file, or of a question."
        ),
    ] = None,
    ids_are_names: IdsAreNamesOption = False,
    leave_out: LeaveOutOption = 0.0,
    threshold: Annotated[
        float, typer.Option(help="Score from which on a table counts as found, for precision.")
    ] = 0.5,
    answers: Annotated[
        Path | None,
        typer.Option(parser=given_path, metavar="FILE", help="Write each answer, as JSON lines."),
    ] = None,
    keep: Annotated[
        Path | None,
        typer.Option(
            parser=given_path,
            metavar="DIR",
            help="Keep embeddings and the index here; what is there and still true is not made "
            "again.",
        ),
    ] = None,
    as_json: JsonOption = False,
    home: HomeOption = None,
    config: ConfigOption = None,
) -> None:
    """Index tables apart from everything else, ask the questions, and say how well they fared."""
    options: dict[str, object] = {
        "k": k,
        "n": n,
        "alpha": alpha,
        "judge": judge,
        "index.engine": engine,
    }
    options |= {"kinds": listed(kinds) or None, "without": listed(without) or None}
    options |= settings_of(more or ())
    loaded = load(context, home, config)
    from pneuma_assets.core.measure.evaluate import write_answers
    from pneuma_bench.run import measure_apart

    with showing_progress():
        dataset = read(tables, queries, leave_out, ids_are_names=ids_are_names)
        base = narrating(loaded.deployment, enabled=narrate)
        outcome = measure_apart(base, dataset, options, folder=keep, threshold=threshold)
    if as_json:
        print_json(outcome.to_dict())
    else:
        print_line(outcome.name)
        print_figures(outcome.figures, outcome.kinds, DECISIONS)
        for line in _facts(outcome.facts):
            print_line(line)
    if answers is not None:  # last: what took long is shown before this can fail
        write_answers(answers, outcome.answers, dataset.spelled)


def _facts(facts: Mapping[str, Any]) -> list[str]:
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in facts["blocks_by_kind"].items())
    return [
        f"{facts['questions']:,} questions, and {facts['unanswerable']:,} that no table answers; "
        f"precision, recall and F1 at a score of {facts['threshold']:g}, "
        f"refused below a confidence of {facts['min_confidence']:g}",
        f"{facts['tables']:,} tables, {facts['blocks']:,} blocks ({kinds}), "
        f"{facts['index_bytes'] / 1e6:,.1f} MB, engine {facts['engine']}",
        f"a question: {facts['ms_p50']:.1f} ms (median), {facts['ms_p95']:.1f} ms (95 of 100)",
        f"indexed in {facts['seconds_to_index']:.1f} s, {facts['texts_embedded']:,} texts embedded",
    ]
