"""`pneuma-bench target answer`: what a language model makes of the tables that are found."""

import json
import os
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from pneuma_assets.cli.errors import UsageError
from pneuma_assets.cli.options import ConfigOption, HomeOption, JsonOption, given_path, load
from pneuma_assets.cli.output import counted, print_json, print_line, print_table, showing_progress
from pneuma_bench.cli.shared import QueriesOption, narrating, settings_of
from pneuma_bench.cli.target import KeepOption, SetOption, TablesOption, app


@app.command()
def databases(
    tables: TablesOption,
    gold: Annotated[
        Path,
        typer.Option(
            parser=given_path, metavar="G.jsonl", help="Questions with right statements, and rows."
        ),
    ],
    out: Annotated[
        Path, typer.Option(parser=given_path, metavar="DIR", help="The folder to write to.")
    ],
) -> None:
    """Make databases of SQLite of a set's schemas, and say which statements are right there."""
    from pneuma_bench.reading import read_tables
    from pneuma_bench.target.databases import write_databases
    from pneuma_bench.target.gold_sql import gold_questions, write_gold

    dataset = read_tables(tables)
    made = write_databases(dataset, out / "databases")
    kept, gone = gold_questions(gold, out / "databases")
    path = out / f"{dataset.name}.queries.jsonl"
    write_gold(path, kept)
    print_line(f"{counted(len(made), 'database', 'databases')}: {', '.join(made)}")
    print_line(f"{counted(len(kept), 'question', 'questions')} written to {path}")
    for reason, number in gone.items():
        print_line(f"left out: {counted(number, 'question', 'questions')}: {reason}")


@app.command()
def answer(
    context: typer.Context,
    task: Annotated[str, typer.Argument(metavar="answers|facts|sql", help="The task.")],
    tables: TablesOption,
    queries: QueriesOption,
    out: Annotated[
        Path, typer.Option(parser=given_path, metavar="DIR", help="The folder to write to.")
    ],
    questions: Annotated[int | None, typer.Option(min=1, help="Only so many, the first.")] = None,
    k: Annotated[int, typer.Option("-k", "--k", min=1, help="Tables that are shown.")] = 10,
    rows: Annotated[int, typer.Option(min=0, help="Most rows of each.")] = 1_000,
    characters: Annotated[int, typer.Option(min=0, help="Most of all tables.")] = 60_000,
    max_new_tokens: Annotated[
        int | None, typer.Option(min=1, max=4_096, help="Most of an answer. [default: the task's]")
    ] = None,
    keep: KeepOption = None,
    more: SetOption = None,
    as_json: JsonOption = False,
    home: HomeOption = None,
    config: ConfigOption = None,
) -> None:
    """Retrieve tables for questions, have a model answer from them, and score what it says.

    The model is that of the deployment file's section `bench`. What it said is kept: stopped or
    killed, the same command goes on.
    """
    loaded = load(context, home, config)
    from pneuma_assets.core.models.language.registry import open_language_model
    from pneuma_bench.files import whole
    from pneuma_bench.lab import Lab
    from pneuma_bench.reading import read_files
    from pneuma_bench.settings import setting_of
    from pneuma_bench.target.downstream import TASKS
    from pneuma_bench.target.running import (
        Bounds,
        check_may_be_shown,
        right_answers,
        run_task,
    )

    if task not in TASKS:
        raise UsageError(f"there is no task {task!r}; use one of: {', '.join(TASKS)}")
    asked = TASKS[task]
    model_of = loaded.deployment.bench.resolved(loaded.base)
    check_may_be_shown(model_of)
    right = right_answers(asked, queries)[:questions]
    dataset = read_files(tables, queries).first(len(right))
    setting = setting_of(narrating(loaded.deployment, enabled=False), settings_of(more or ()))
    bounds = Bounds(k, rows, characters, max_new_tokens)
    with (
        showing_progress(),
        Lab(dataset, keep, os.environ) as lab,
        closing(open_language_model(model_of, loaded.home / "models", os.environ)) as model,
    ):
        found = run_task(asked, dataset, right, out, setting, lab, model, bounds)
    with whole(out / f"{found['name']}-{k}.json") as stream:
        stream.write(json.dumps(found, indent=2).encode() + b"\n")
    if as_json:
        print_json(found)
        return
    asked_of = counted(found["questions"], "question", "questions")
    print_line(f"{asked_of}, {found['model']}, {counted(k, 'table', 'tables')} each")
    print_line(f"rows that did not fit: {found['rows_cut']:,}; no answer: {found['silent']:,}")
    # Labels of facts have a recall, too.
    of_tables = {f"{name} of tables": found[name] for name in ("recall", "capped_recall")}
    figures = [[name, f"{value:.4g}"] for name, value in {**of_tables, **found["scores"]}.items()]
    print_table(["figure", "value"], figures, numbers=["value"])
