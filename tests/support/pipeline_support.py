"""A small lake, and runs of the real Dagster job over it with a language model that counts."""

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import ClassVar

import dagster as dg

from pneuma_assets import index_run
from pneuma_assets.core.config.load import LoadedDeployment, load_deployment
from pneuma_assets.core.config.models import NarrationConfig
from pneuma_assets.core.models.base import Conversation, Generation
from pneuma_assets.core.progress import listening
from pneuma_assets.definitions import build_definitions
from pneuma_assets.resources.build import named_resources
from pneuma_assets.resources.deployment import DeploymentResource
from pneuma_assets.resources.models import NarratorResource
from pneuma_assets.resources.names import Names
from tests.support.deployment_files import deploy, folder_source
from tests.support.fake_model import FakeLanguageModel
from tests.support.reading import reading_here


class SlowFake(FakeLanguageModel):
    """Takes a moment for each answer, so that a kill finds it at work."""

    def generate(
        self, prompts: Sequence[Conversation], max_new_tokens: int, **more: object
    ) -> Iterator[Generation]:
        """Answer as the fake does, 20 ms an answer."""
        for generation in super().generate(prompts, max_new_tokens, **more):
            time.sleep(0.02)
            yield generation


class CountingNarrator(NarratorResource):
    """Hands out one fake model; Dagster copies resources, so it stands on the class."""

    shared: ClassVar[FakeLanguageModel] = FakeLanguageModel()

    @classmethod
    def made(cls) -> "CountingNarrator":
        """Return one that knows of no deployment."""
        return cls(deployment=DeploymentResource(settings={}, base="", home=""))

    @property
    def config(self) -> NarrationConfig:
        """No model is named, whatever the deployment file says."""
        return NarrationConfig()

    @property
    def model(self) -> FakeLanguageModel:
        """The fake model of the run in progress."""
        return self.shared

    def release(self) -> None:
        """Keep the model: its counts are what the tests look at."""


def deployment(folder: Path, lake: Path, name: str = "lake", **more: object) -> LoadedDeployment:
    """Return a deployment of one folder source, its state beside it."""
    return deploy(folder, folder_source(lake, name), **more)


def run_job(
    loaded: LoadedDeployment,
    instance: dg.DagsterInstance,
    model: FakeLanguageModel | None = None,
    *,
    rebuild: bool = False,
    isolated: bool = False,
) -> dg.ExecuteInProcessResult:
    """Execute the job `index_tables`; a failure raises.

    Sources are read in this process, which saves a second of starting another one, unless they are
    to be `isolated` as those of a deployment are.
    """
    CountingNarrator.shared = model or FakeLanguageModel()
    overrides = {"pneuma_narrator": CountingNarrator.made()}
    definitions = build_definitions(loaded, overrides=overrides, with_tables=False)
    names = Names.of(loaded.deployment)
    with nullcontext() if isolated else reading_here():
        return definitions.resolve_job_def(names("index_tables")).execute_in_process(
            instance=instance,
            run_config={
                "ops": {names("raw_tables"): {"config": {"rebuild": rebuild}}},
                "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
            },
        )


def small_lake(folder: Path, tables: int = 6) -> Path:
    """Write CSV files with different columns and a document beside every second one."""
    lake = folder / "lake"
    (lake / "deep").mkdir(parents=True, exist_ok=True)
    for number in range(tables):
        rows = "\n".join(f"{row},name {row},{row * number}" for row in range(20))
        path = lake / ("deep" if number % 3 == 0 else ".") / f"t{number}.csv"
        path.write_text(f"id,label_{number},amount_{number}\n{rows}\n")
        if number % 2 == 0:
            path.with_suffix(".md").write_text(f"# Table {number}\nCollected on island {number}.")
    return lake


def index(config: Path, model: FakeLanguageModel) -> None:
    """Index as the command line does with this model; prints its progress, a line a step."""
    CountingNarrator.shared = model
    overrides = {"pneuma_narrator": CountingNarrator.made()}
    index_run.named_resources = partial(named_resources, overrides=overrides)
    with listening(lambda *heard: print(*heard, flush=True)):
        index_run.run_indexing(load_deployment(config=config))


if __name__ == "__main__":
    index(Path(sys.argv[1]), SlowFake())  # for a test to kill
