"""`pneuma-bench generate`: questions about tables."""

import os
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pneuma_assets.cli.errors import UsageError
from pneuma_assets.cli.options import command
from pneuma_assets.cli.output import print_line, print_table, showing_progress
from pneuma_assets.core.errors import BenchmarkError, ConfigError
from pneuma_bench.cli.shared import SeedOption, TablesOption, app, path

if TYPE_CHECKING:
    from pneuma_assets.core.config.load import LoadedDeployment
    from pneuma_assets.workspace import Workspace
    from pneuma_bench.generator.rewording import Asker


_REASONS = 3
"""Of a stage's reasons, so many are named."""


@app.command()
@command
def generate(
    workspace: "Workspace",
    tables: TablesOption,
    out: Annotated[Path, path("DIR", "The folder to write to.")],
    questions: Annotated[
        int,
        typer.Option(
            "--content", "--questions", min=0, max=100_000, help="How many that rows answer."
        ),
    ] = 300,
    about: Annotated[
        int, typer.Option("--context", min=0, max=100_000, help="How many that documents answer.")
    ] = 0,
    seed: SeedOption = 0,
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
) -> None:
    """Make questions that these tables or their documents answer, each with all tables that do.

    A query is drawn by chance, run, and put in words by a template. The model of `answers`, if
    there is one, words it again, and its words must lead back to the query. What documents say is
    asked for by the 51 questions of the datasheet, in their words. Stopped or killed, the same
    command goes on.
    """
    if not questions + about:
        raise UsageError("give --content or --context more than 0")
    from pneuma_assets.core.models.encoder.encoder import open_encoder
    from pneuma_bench.generator.content import content_questions
    from pneuma_bench.generator.context import context_questions
    from pneuma_bench.generator.questions import Spec, together, write_generated
    from pneuma_bench.reading import read_tables

    parts = []
    with showing_progress():
        dataset = read_tables(tables)
        if questions:
            ledger = out / f"{dataset.name}.answers.sqlite"
            with _asking(workspace.loaded, ledger, asked=not no_model) as asker:
                in_words = asker is not None if described is None else described
                spec = Spec(questions, seed, answers, in_words)
                parts.append(content_questions(dataset, spec, asker))
        if about:
            encoder = open_encoder(workspace.loaded.deployment.encoder)
            parts.append(context_questions(dataset, Spec(about, seed, answers), encoder))
        generated = together(*parts)
        paths = write_generated(out, dataset.name, generated)
    print_line(f"{len(generated.asked):,} questions written to {paths[0]}")
    if len(generated.asked) < questions + about:
        print_line(f"{questions + about:,} were asked for; these tables give no more")
    for part in parts:
        _print_stages(part.manifest["stages"])
    if not generated.asked:
        raise BenchmarkError(f"no attempt passed all stages; {paths[1]} says where each ended")


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
    from pneuma_bench.files import KeptFile
    from pneuma_bench.generator.rewording import Asker

    with (
        KeptFile(ledger) as kept,
        closing(open_language_model(config, models_folder(loaded), os.environ)) as model,
    ):
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
