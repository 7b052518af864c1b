"""`pneuma-bench run`, `ablate`, `paper` and `tables`: a set of tables is measured, or written."""

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pneuma_assets.cli.bench import print_figures
from pneuma_assets.cli.errors import UsageError
from pneuma_assets.cli.options import JsonOption, command, given_path
from pneuma_assets.cli.output import print_json, print_line, print_table, showing_progress
from pneuma_bench.cli.shared import (
    NAMES_HIDDEN,
    AnswersOption,
    DocumentsOption,
    HideNamesOption,
    JoinsOption,
    KeepOption,
    NarrateOption,
    QueriesOption,
    SeedOption,
    SetOption,
    TablesOption,
    app,
    listed,
    names,
    narrating,
    path,
    settings_of,
    short,
)

if TYPE_CHECKING:
    from pneuma_assets.workspace import Workspace
    from pneuma_bench.measure import Compared


@app.command()
@command
def tables(
    workspace: "Workspace",
    out: Annotated[Path, path("T.jsonl", "The file to write.")],
    source: Annotated[
        list[str] | None, names("NAME", "Tables of this source only; may be given again.")
    ] = None,
    rows: Annotated[
        int, typer.Option(min=1, max=100_000, help="Most rows of a table; of more, some are drawn.")
    ] = 1_000,
    seed: SeedOption = 0,
) -> None:
    """Write the tables of the deployment's sources for `pneuma-bench run --tables`.

    They are read as indexing reads them, and columns that are hidden are left out.
    """
    from pneuma_assets.core.service.state import has_state, open_store
    from pneuma_assets.core.sources.isolation.source import IsolatedSource
    from pneuma_bench.writing import write_tables

    deployment = workspace.loaded.deployment
    known = {one.name: one.resolved(workspace.loaded.base) for one in deployment.sources}
    if unknown := [one for one in source or () if one not in known]:
        there_are = ", ".join(known) or "none"
        raise UsageError(f"no source is called {unknown[0]!r}; there are: {there_are}")
    with ExitStack() as stack, showing_progress(lasting=False):
        opened = [
            stack.enter_context(closing(IsolatedSource(known[one], os.environ, deployment.limits)))
            for one in dict.fromkeys(source or known)
        ]
        ids = {}
        if has_state(workspace.loaded, os.environ):
            store = stack.enter_context(open_store(workspace.loaded, os.environ))
            ids = {one.name: store.tables.ids(one.name) for one in opened}
        number, problems = write_tables(out, opened, rows, seed, ids)
    print_line(f"{number:,} tables written to {out}")
    for one in problems:
        print_line(f"left out: {one.subject}: {one.cause}")


@app.command()
@command
def run(
    workspace: "Workspace",
    queries: QueriesOption,
    tables: TablesOption,
    narrate: NarrateOption = False,
    more: SetOption = None,
    hide_names: HideNamesOption = False,
    joins: JoinsOption = None,
    documents: DocumentsOption = False,
    answers: AnswersOption = None,
    keep: Annotated[
        Path | None, path("DIR", "Keep the index; what is there and still true is used.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Index tables apart from everything else, ask the questions, and say how well they fared."""
    from pneuma_assets.core.evaluation.evaluate import write_answers
    from pneuma_bench.lab import Lab
    from pneuma_bench.measure import measure
    from pneuma_bench.reading import read_files
    from pneuma_bench.settings import setting_of

    setting = setting_of(narrating(workspace, enabled=narrate), settings_of(more))
    dataset = read_files(tables, queries, joins, hide_names=hide_names, documents=documents)
    with showing_progress(), Lab(dataset, keep) as lab:
        outcome = measure(lab, setting)
    if as_json:
        print_json(outcome.to_dict())
    else:
        print_line(outcome.name)
        print_figures(outcome.figures, outcome.kinds, ["AUROC"])
        _print_facts(outcome.facts)
    if answers is not None:  # last: what took long is shown before this can fail
        write_answers(answers, outcome.answers, dataset.spelled)


def _print_facts(facts: Mapping[str, Any]) -> None:
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in facts["blocks_by_kind"].items())
    print_line(
        f"{facts['questions']:,} questions, and {facts['unanswerable']:,} that no table answers; "
        f"refused below a confidence of {facts['min_confidence']:g}"
    )
    hidden = f", {NAMES_HIDDEN}" if facts["names_hidden"] else ""
    print_line(
        f"{facts['tables']:,} tables{hidden}, {facts['blocks']:,} blocks ({kinds}), "
        f"{facts['index_bytes'] / 1e6:,.1f} MB, indexed in {facts['seconds_to_index']:.1f} s, "
        f"{facts['texts_embedded']:,} texts embedded"
    )
    print_line(
        f"a question: {facts['ms_p50']:.1f} ms (median), {facts['ms_p95']:.1f} ms (95 of 100)"
    )


@app.command()
@command
def ablate(
    workspace: "Workspace",
    queries: QueriesOption,
    tables: TablesOption,
    keep: KeepOption,
    spec: Annotated[
        Path | None,
        typer.Argument(
            parser=given_path,
            metavar="[SPEC.yaml]",
            show_default=False,
            help="The settings to compare. [default: what Pneuma's paper varies, and each kind "
            "of document left out]",
        ),
    ] = None,
    metrics: Annotated[list[str] | None, names("NAME,...", "Shown. [default: R@1,R@10]")] = None,
    narrate: NarrateOption = False,
    hide_names: HideNamesOption = False,
    joins: JoinsOption = None,
    documents: DocumentsOption = False,
    as_json: JsonOption = False,
) -> None:
    """Compare settings on the same questions; a setting that was measured is not measured again.

    Each difference to the default is that of the same questions, with its 95 % interval.
    """
    from pneuma_assets.core.evaluation.metrics import ranking_metrics
    from pneuma_bench.lab import Lab
    from pneuma_bench.measure import compare
    from pneuma_bench.reading import read_files
    from pneuma_bench.settings import PAPER, read_spec

    shown, known = listed(metrics) or ["R@1", "R@10"], ranking_metrics()
    if unknown := [name for name in shown if name not in known]:
        raise UsageError(f"there is no figure {unknown[0]!r}; use some of: {', '.join(known)}")
    settings = read_spec(spec or PAPER).settings(narrating(workspace, enabled=narrate))
    dataset = read_files(tables, queries, joins, hide_names=hide_names, documents=documents)
    with showing_progress(), Lab(dataset, keep) as lab:
        compared = compare(lab, settings)
    if as_json:
        print_json([one.to_dict() for one in compared])
    else:
        _print_compared(compared, shown)


def _print_compared(compared: "Sequence[Compared]", metrics: Sequence[str]) -> None:
    """Print a line a setting: each figure, its interval, and the difference to the first."""
    headings = [part for name in metrics for part in (name, "95 %", "to default, 95 %")]
    rows = []
    for one in compared:
        row = []
        for name in metrics:
            low, high = one.outcome.figures.intervals[name]
            difference, (least, most) = one.differences[name]
            row += [short(one.outcome.figures.values[name]), f"{short(low)}-{short(high)}"]
            row += [f"{short(difference, '+')} {short(least, '+')}..{short(most, '+')}"]
        rows.append([*row, one.outcome.name])
    print_table([*headings, "setting"], rows, numbers=metrics)
    if compared[0].outcome.facts["names_hidden"]:
        print_line(NAMES_HIDDEN)


@app.command()
@command
def paper(
    workspace: "Workspace",
    queries: QueriesOption,
    tables: TablesOption,
    keep: KeepOption,
    rounds: Annotated[int, typer.Option(min=1, help="How often 100 questions are timed.")] = 3,
    rows: Annotated[
        int, typer.Option(min=0, max=1_000, help="Rows of a table embedded one by one; 0: none.")
    ] = 100,
    hide_names: HideNamesOption = False,
    model: Annotated[
        str | None,
        typer.Option(
            help="Also retrievers that ask a model: its name at $PNEUMA_BENCH_ENDPOINT, or a .gguf."
        ),
    ] = None,
) -> None:
    """Compare this project's search with plain retrievers, as section 7 of Pneuma's paper does.

    Hit rates at 1 and 5, at 1 by sort of question, questions a second, and what indexing takes.
    What was measured is kept and not measured again: killed, the same command goes on. With a
    model also TARGET's table summaries and Octopus' parse of a question, which is not timed; how
    many prompts had no reply that can be read stands beside.
    """
    from pneuma_bench.contestants import beside
    from pneuma_bench.contestants_by_model import asking
    from pneuma_bench.files import KeptFile
    from pneuma_bench.lab import Lab
    from pneuma_bench.models import open_model
    from pneuma_bench.reading import read_files

    dataset = read_files(tables, queries, hide_names=hide_names)
    deployment = narrating(workspace, enabled=False)
    kinds = sorted({*dataset.kinds} - {""})
    shown = []
    with ExitStack() as stack:
        stack.enter_context(showing_progress())
        lab, others = stack.enter_context(Lab(dataset, keep)), {}
        if model:
            opened = stack.enter_context(closing(open_model(model)))
            others = asking(opened, stack.enter_context(KeptFile(keep / "replies.db")))
        for name, found in beside(dataset, deployment, lab, rounds, rows, others):
            rates = [found.hit_rate(1), found.hit_rate(5), *(found.hit_rate(1, k) for k in kinds)]
            values = [*found.facts.values()][: None if model else -1]
            facts = [f"{one:,.3g}" if one < 100 else f"{one:,.0f}" for one in values]
            cells = [f"{short(v)} ({short(low)} to {short(high)})" for v, (low, high) in rates]
            shown.append([name, *cells, *facts])
    facts = ["seconds", "bytes", "vectors", "questions/s", *(["no reply"] if model else [])]
    headings = ["", "hit@1", "hit@5", *(f"{one}, hit@1" for one in kinds), *facts]
    print_table(headings, shown, numbers=facts)
    if not dataset.names:
        print_line(NAMES_HIDDEN)
