"""`pneuma-assets bench`: how well questions with known answers are answered."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from pneuma_assets.cli.bench_output import print_outcome
from pneuma_assets.cli.options import ConfigOption, HomeOption, JsonOption, given_path, load
from pneuma_assets.cli.output import print_json
from pneuma_assets.cli.progress import showing_progress

app = typer.Typer(rich_markup_mode=None, help="Measure answers against known ones.")

QueriesOption = Annotated[
    Path,
    typer.Option(parser=given_path, metavar="Q.jsonl", help="Questions, a JSON object a line."),
]


@app.command()
def run(
    context: typer.Context,
    queries: QueriesOption,
    k: Annotated[int | None, typer.Option("-k", "--k", help="Tables of an answer.")] = None,
    n: Annotated[int | None, typer.Option("-n", "--n", help="Candidates a side / k.")] = None,
    alpha: Annotated[
        float | None, typer.Option(help="Weight of words against meaning: 1 is words only.")
    ] = None,
    judge: Annotated[
        bool | None, typer.Option("--judge/--no-judge", help="Let the model veto candidates.")
    ] = None,
    kinds: Annotated[
        list[str] | None, typer.Option(metavar="KIND,...", help="Look in these documents only.")
    ] = None,
    without: Annotated[
        list[str] | None, typer.Option(metavar="KIND,...", help="Do not look in these documents.")
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option(parser=given_path, metavar="FILE", help="Write each answer, as JSON lines."),
    ] = None,
    as_json: JsonOption = False,
    home: HomeOption = None,
    config: ConfigOption = None,
) -> None:
    """Ask questions about the indexed tables, and say how well they fared; nothing is changed."""
    asked = {"k": k, "n": n, "alpha": alpha, "judge": judge}
    looked = {"kinds": listed(kinds), "without": listed(without)}
    options: dict[str, object] = {key: value for key, value in asked.items() if value is not None}
    given = options | {key: value for key, value in looked.items() if value}
    loaded = load(context, home, config)
    from dataclasses import replace

    from pneuma_assets.core.measure.answers import write_answers
    from pneuma_assets.core.measure.questions import read_questions
    from pneuma_assets.core.measure.run import looked_in, measure_index
    from pneuma_assets.core.service.workspace import Workspace

    with showing_progress(), Workspace(loaded) as workspace:
        index, engine = workspace.search_index, workspace.query_engine()
        questions = read_questions(queries, index.list_tables())
        if any(looked.values()):
            options["where"] = looked_in(index.kinds(), looked["kinds"], looked["without"])
        below = loaded.deployment.query.refuse_below
        outcome = replace(measure_index(index, engine, questions, options, below), options=given)
    if as_json:
        print_json(outcome.to_dict())
    else:
        print_outcome(outcome)
    if answers is not None:  # last: what took long is shown before this can fail
        write_answers(answers, outcome.answers)


def listed(given: Sequence[str] | None) -> list[str]:
    """Return the names in options that may be given several times, or with commas."""
    names = [name.strip() for one in given or () for name in one.split(",")]
    return [name for name in names if name]
