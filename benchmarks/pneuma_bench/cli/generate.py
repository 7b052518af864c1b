"""`pneuma-bench generate`, `read`, `index-questions`: questions about tables."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pneuma_assets.cli.errors import UsageError
from pneuma_assets.cli.options import ConfigOption, HomeOption, JsonOption, given_path, load
from pneuma_assets.cli.output import counted, print_json, print_line, print_table, showing_progress
from pneuma_assets.core.errors import BenchmarkError, ConfigError
from pneuma_bench.cli.shared import app

if TYPE_CHECKING:
    from pneuma_assets.core.config.load import LoadedDeployment
    from pneuma_bench.generator.questions import Generated
    from pneuma_bench.generator.rewording import Asker


@app.command()
def read(
    folder: Annotated[
        Path, typer.Argument(parser=given_path, metavar="DIR", help="What `generate` wrote.")
    ],
    sample: Annotated[int, typer.Option(min=1, help="How many questions.")] = 40,
    seed: Annotated[int, typer.Option(help="Decides which.")] = 0,
    ratings: Annotated[
        Path | None,
        typer.Option(parser=given_path, metavar="SHEET.md", help="Count this sheet's verdicts."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Print a sheet of questions to read, or count the verdicts on one."""
    from pneuma_bench.generator.sheet import read_made, read_sheet, sheet_of, verdicts

    if ratings is None and as_json:
        raise UsageError("--json shows what --ratings counts; a sheet is Markdown")
    if ratings is not None:
        counted = verdicts(read_sheet(ratings))
        if as_json:
            print_json([asdict(one) for one in counted])
            return
        rows = [
            [one.verdict, str(one.number), f"{one.share:.2f}", f"{one.low:.2f} to {one.high:.2f}"]
            for one in counted
        ]
        print_table(["right", "number", "share", "95 %"], rows, numbers=["number", "share"])
        return
    files = sorted(folder.glob("*.queries.jsonl"))
    if not files:
        raise UsageError(f"{folder} has no .queries.jsonl; `pneuma-bench generate --out` writes it")
    made = [record for file in files for record in read_made(file)]
    typer.echo(sheet_of(made, sample, seed), nl=False)


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


_REASONS = 3
"""Of a stage's reasons, so many are named."""


@app.command()
def generate(
    context: typer.Context,
    tables: Annotated[
        Path,
        typer.Option(parser=given_path, metavar="T.jsonl", help="Tables, a JSON object a line."),
    ],
    out: Annotated[
        Path, typer.Option(parser=given_path, metavar="DIR", help="The folder to write to.")
    ],
    questions: Annotated[
        int,
        typer.Option(
            "--content", "--questions", min=0, max=100_000, help="How many that rows answer."
        ),
    ] = 300,
    about: Annotated[
        int,
        typer.Option("--context", min=0, max=100_000, help="How many that documents answer."),
    ] = 0,
    seed: Annotated[int, typer.Option(help="Decides which.")] = 0,
    answers: Annotated[
        int | None,
        typer.Option(
            min=1, help="Most tables that may answer one. [default: a twentieth of all, but ten]"
        ),
    ] = None,
    no_model: Annotated[
        bool, typer.Option("--no-model", help="Ask no model, whatever `answers.model` says.")
    ] = False,
    described: Annotated[
        bool | None,
        typer.Option(
            "--described/--names",
            help="Call columns in drafts by what people wrote about them, or by their names. "
            "[default: described where a model words questions]",
        ),
    ] = None,
    as_json: JsonOption = False,
    home: HomeOption = None,
    config: ConfigOption = None,
) -> None:
    """Make questions that these tables or their documents answer, each with all tables that do.

    A query is drawn by chance, run, and put in words by a template. The model of `answers`, if
    there is one, words it again, and its words must lead back to the query. What documents say is
    asked for by the 51 questions of the datasheet, in their words. Stopped or killed, the same
    command goes on.
    """
    if not questions + about:
        raise UsageError("give --content or --context more than 0")
    loaded = load(context, home, config)
    from pneuma_assets.core.models.encoder.encoder import open_encoder
    from pneuma_bench.generator.content import ContentSpec, content_questions
    from pneuma_bench.generator.context import ContextSpec, context_questions
    from pneuma_bench.generator.questions import together, write_generated
    from pneuma_bench.reading import read_tables

    with showing_progress():
        dataset = read_tables(tables)
        ledger = out / f"{dataset.name}.answers.sqlite"
        with _asking(loaded, ledger, asked=not no_model) as asker:
            spec = ContentSpec(
                questions,
                seed,
                answers=answers,
                described=asker is not None if described is None else described,
            )
            makers: list[Callable[[], Generated]] = []
            if questions:
                makers.append(lambda: content_questions(dataset, spec, asker))
            if about:
                sought = ContextSpec(about, seed, answers)
                makers.append(
                    lambda: context_questions(
                        dataset, sought, open_encoder(loaded.deployment.encoder)
                    )
                )
            parts, missing = _made(makers)
        generated = together(*parts)
        paths = write_generated(out, dataset.name, generated)
    if as_json:
        told = {} if missing is None else {"missing": str(missing)}
        print_json({**generated.manifest, **told, "files": [str(path) for path in paths]})
    else:
        print_line(f"{len(generated.asked):,} questions written to {paths[0]}")
        if len(generated.asked) < questions + about:
            print_line(f"{questions + about:,} were asked for; these tables give no more")
        _print_stages(generated.manifest["stages"])
        if questions and about and missing is None:
            _print_stages(generated.manifest["context"]["stages"])
    if missing is not None:
        raise BenchmarkError(
            f"one of the two kinds of questions is missing: {missing}"
        ) from missing
    if not generated.asked:
        raise BenchmarkError(f"no attempt passed all stages; {paths[1]} says where each ended")


def _made(
    makers: Sequence["Callable[[], Generated]"],
) -> "tuple[list[Generated], BenchmarkError | None]":
    """Return what can be made, and why something cannot; raise that where nothing can."""
    parts, missing = [], None
    for make in makers:
        try:
            parts.append(make())
        except BenchmarkError as error:  # what the other kind gives is not lost for that
            missing = error
    if missing is not None and not parts:
        raise missing
    return parts, missing


@contextmanager
def _asking(loaded: "LoadedDeployment", ledger: Path, *, asked: bool) -> Iterator["Asker | None"]:
    """Yield the deployment's model with the file of its answers; None where none is asked."""
    config = loaded.deployment.answers.model
    if config is None or not asked:
        yield None
        return
    if not config.shows_values:
        raise ConfigError(
            "answers: the endpoint may not be shown what tables hold, and every query holds some "
            "of it; set send_values: true of the model, name one of here, or give --no-model"
        )
    from pneuma_assets.core.models.language.registry import open_language_model
    from pneuma_assets.core.service.state import models_folder
    from pneuma_bench.generator.asking import Ledger
    from pneuma_bench.generator.rewording import Asker

    with ExitStack() as stack:
        kept = stack.enter_context(Ledger(ledger))
        model = open_language_model(config, models_folder(loaded), os.environ)
        stack.enter_context(closing(model))
        yield Asker(model, kept)


def _print_stages(stages: Mapping[str, Mapping[str, Any]]) -> None:
    rows = []
    for name, stage in stages.items():
        came, rejected = stage["came"], stage["rejected"]
        most = list(stage["reasons"].items())[:_REASONS]
        why = ", ".join(f"{reason} ({number:,})" for reason, number in most)
        rows.append([name, f"{came:,}", f"{rejected:,}", f"{rejected / max(came, 1):.0%}", why])
    headings = ["stage", "came in", "rejected", "share", "mostly because"]
    print_table(headings, rows, numbers=headings[1:4])
