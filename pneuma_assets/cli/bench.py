"""`pneuma-assets bench`: how well questions with known answers are answered."""

from pathlib import Path
from typing import Annotated

import typer

from pneuma_assets.cli.bench_output import print_figures
from pneuma_assets.cli.options import ConfigOption, HomeOption, JsonOption, given_path, load
from pneuma_assets.cli.output import print_json, print_line
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
    n: Annotated[
        int | None, typer.Option("-n", "--n", help="Candidates per signal, as a multiple of -k.")
    ] = None,
    alpha: Annotated[
        float | None, typer.Option(help="Use only BM25 and embeddings (1 = BM25, 0 = embeddings).")
    ] = None,
    judge: Annotated[
        bool | None,
        typer.Option(
            "--judge/--no-judge", help="Let a language model demote results that do not answer."
        ),
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
    given = {"k": k, "n": n, "alpha": alpha, "judge": judge}
    options = {name: value for name, value in given.items() if value is not None}
    loaded = load(context, home, config)
    from pneuma_assets.core.measure.answers import ask_all, write_answers
    from pneuma_assets.core.measure.figures import count, count_by_kind
    from pneuma_assets.core.measure.questions import read_questions
    from pneuma_assets.core.service.workspace import Workspace

    below = loaded.deployment.query.min_confidence
    with showing_progress(), Workspace(loaded) as workspace:
        engine = workspace.query_engine()
        questions = read_questions(queries, workspace.search_index.list_tables())
        answered = ask_all(engine, questions, options, below)
    figures, kinds = count(answered), count_by_kind(answered)
    number = sum(1 for one in questions if one.relevant)
    facts = {
        "questions": number, "unanswerable": len(questions) - number, "min_confidence": below
    }  # fmt: skip
    if as_json:
        of_kinds = {"kinds": {kind: one.to_dict() for kind, one in kinds.items()}} if kinds else {}
        print_json({**figures.to_dict(), **facts, "options": options, **of_kinds})
    else:
        print_figures(figures, kinds)
        print_line(
            f"{number:,} questions, and {facts['unanswerable']:,} that no table answers; refused "
            f"below a confidence of {below:g}"
        )
    if answers is not None:  # last: what took long is shown before this can fail
        write_answers(answers, answered)
