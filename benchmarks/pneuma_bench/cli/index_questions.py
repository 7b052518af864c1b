"""`pneuma-bench index-questions`: questions that a model words, to find tables by."""

import os
from dataclasses import asdict
from typing import Annotated

import typer

from pneuma_assets.cli.errors import UsageError
from pneuma_assets.cli.options import ConfigOption, HomeOption, JsonOption, load
from pneuma_assets.cli.output import counted, print_json, print_line, showing_progress
from pneuma_bench.cli.shared import app

NEXT_RUN = "run: pneuma-assets index, to bring this into the index"


@app.command()
def index_questions(
    context: typer.Context,
    per_table: Annotated[int, typer.Option(min=1, max=20, help="Questions of a table.")] = 5,
    renew: Annotated[
        bool, typer.Option("--renew", help="Ask about tables that have questions, too.")
    ] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Take all questions back.")] = False,
    as_json: JsonOption = False,
    home: HomeOption = None,
    config: ConfigOption = None,
) -> None:
    """Let the model of the section `bench` word questions about every table, to be indexed with it.

    They help with some lakes and hurt others: see by `bench mine`, before and after.
    """
    if remove and renew:
        raise UsageError("--renew makes questions and --remove takes them back; give one of them")
    from pneuma_assets.core.service.workspace import Workspace
    from pneuma_bench.index_questions import index_questions as ask
    from pneuma_bench.index_questions import remove_questions

    with Workspace(load(context, home, config)) as workspace, showing_progress():
        if remove:
            workspace.query_engine()  # says so where nothing is indexed
            removed = remove_questions(workspace)
        else:
            asked = ask(workspace, os.environ, per_table, renew=renew)
    if as_json:
        print_json({"removed": removed} if remove else asdict(asked))
    elif remove:
        print_line(f"removed the questions about {counted(removed, 'table', 'tables')}; {NEXT_RUN}")
    else:
        made = counted(asked.questions, "question", "questions")
        about = counted(asked.tables, "table", "tables")
        print_line(f"{made} about {about}, of which {asked.changed:,} changed; {NEXT_RUN}")
        if asked.unanswered:
            left = counted(asked.unanswered, "table", "tables")
            print_line(f"nothing came of {left}, which keep what they had")
