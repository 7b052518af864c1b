"""`pneuma-assets bench`: how well questions with known answers are answered."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pneuma_assets.cli.bench_output import print_outcome
from pneuma_assets.cli.failures import UsageError
from pneuma_assets.cli.options import ConfigOption, HomeOption, JsonOption, given_path, load
from pneuma_assets.cli.output import print_json
from pneuma_assets.cli.progress import showing_progress

if TYPE_CHECKING:
    from pneuma_assets.core.bench.run import Outcome
    from pneuma_assets.core.bench.sets import RetrievalSet
    from pneuma_assets.core.config.deployment import Deployment
    from pneuma_assets.core.config.load import LoadedDeployment

app = typer.Typer(rich_markup_mode=None, help="Measure answers against known ones.")

QueriesOption = Annotated[
    Path,
    typer.Option(parser=given_path, metavar="Q.jsonl", help="Questions, a JSON object a line."),
]
IdsAreNamesOption = Annotated[
    bool, typer.Option("--ids-are-names", help="People know tables without a name by their ids.")
]
LeaveOutOption = Annotated[
    float, typer.Option(min=0, max=1, help="Share of questions whose tables are left out.")
]


@app.callback()
def _bench() -> None:
    """Keep `bench` a group, also while it has one command."""


@app.command()
def run(
    context: typer.Context,
    queries: QueriesOption,
    tables: Annotated[
        Path | None,
        typer.Option(parser=given_path, metavar="T.jsonl", help="Tables, a JSON object a line."),
    ] = None,
    deployment: Annotated[
        bool, typer.Option("--deployment", help="Ask the index there is; --tables is not needed.")
    ] = False,
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
    if (tables is None) is not deployment:
        raise UsageError("give --tables T.jsonl, or --deployment, not both")
    if deployment:
        _refuse_of_tables(
            {
                "--leave-out": leave_out,
                "--ids-are-names": ids_are_names,
                "--narrate": narrate,
                "--keep": keep,
            }
        )
    options = {"k": k, "n": n, "alpha": alpha, "judge": judge, "index.engine": engine}
    options |= {"kinds": listed(kinds), "without": listed(without)} | settings_of(more or ())
    loaded = load(context, home, config)
    from pneuma_assets.core.bench.answers import write_answers

    with showing_progress():
        if tables is None:
            dataset, outcome = _of_deployment(loaded, queries, options, threshold)
        else:
            dataset = read(tables, queries, leave_out, ids_are_names=ids_are_names)
            base = narrating(loaded.deployment, enabled=narrate)
            outcome = _apart(base, dataset, options, keep, threshold)
    if as_json:
        print_json(outcome.to_dict())
    else:
        print_outcome(outcome)
    if answers is not None:  # last: what took long is shown before this can fail
        write_answers(answers, dataset, outcome.answers)


def _refuse_of_tables(given: Mapping[str, object]) -> None:
    """Raise `UsageError` for an option that says how tables are indexed apart."""
    for name, value in given.items():
        if value:
            raise UsageError(f"{name} says how --tables are indexed; --deployment indexes nothing")


def narrating(deployment: "Deployment", *, enabled: bool) -> "Deployment":
    """Return the deployment with narration on or off, whatever its file says."""
    narration = deployment.narration.model_copy(update={"enabled": enabled})
    return deployment.model_copy(update={"narration": narration})


def _apart(
    deployment: "Deployment",
    dataset: "RetrievalSet",
    options: Mapping[str, Any],
    keep: Path | None,
    threshold: float,
) -> "Outcome":
    from pneuma_assets.core.bench.run import measure_apart

    return measure_apart(deployment, dataset, options, folder=keep, threshold=threshold)


def _of_deployment(
    loaded: "LoadedDeployment", queries: Path, options: Mapping[str, Any], threshold: float
) -> "tuple[RetrievalSet, Outcome]":
    """Ask the index that there is; nothing of it is changed."""
    from pneuma_assets.core.bench.reading import read_questions
    from pneuma_assets.core.bench.run import measure_index
    from pneuma_assets.core.bench.settings import INDEXED, setting_of
    from pneuma_assets.core.service.workspace import Workspace

    setting = setting_of(loaded.deployment, options)
    fixed = [name for name in setting.given if name.split(".")[0] in INDEXED]
    if fixed:
        raise UsageError(f"{fixed[0]} cannot be changed in an index that there is; give --tables")
    with Workspace(replace(loaded, deployment=setting.deployment)) as workspace:
        index = workspace.search_index
        dataset = read_questions(queries, index.list_tables())
        engine = workspace.query_engine()
        return dataset, measure_index(index, dataset, setting, engine, threshold=threshold)


def read(tables: Path, queries: Path, leave_out: float, *, ids_are_names: bool) -> "RetrievalSet":
    """Return a set, if asked for without the tables of some of its questions."""
    from pneuma_assets.core.bench.reading import read_files

    dataset = read_files(tables, queries, ids_are_names=ids_are_names)
    return dataset.leave_out(leave_out) if leave_out else dataset


def settings_of(given: Sequence[str]) -> dict[str, Any]:
    """Return what `--set KEY=VALUE` says; a value is read as in a deployment file."""
    import yaml

    settings = {}
    for one in given:
        key, equals, value = one.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"--set takes KEY=VALUE, such as sampling.rows=10, not {one!r}")
        try:
            settings[key.strip()] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise UsageError(f"--set {key}: {value!r} is no YAML value") from error
    return settings


def listed(given: Sequence[str] | None) -> list[str] | None:
    """Return the names in options that may be given several times, or with commas."""
    names = [name.strip() for one in given or () for name in one.split(",")]
    return [name for name in names if name] or None
