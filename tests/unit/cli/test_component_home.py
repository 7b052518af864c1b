"""The state of a Dagster component, met by the command line, which does not read components."""

import os
from pathlib import Path

import dagster as dg
import pytest

from pneuma_assets.component import PneumaComponent
from pneuma_assets.core.config.load import LoadedDeployment, load_deployment
from pneuma_assets.core.config.owner import NOTE
from pneuma_assets.core.errors import ConfigError
from pneuma_assets.core.store import Store
from pneuma_assets.core.tables import TableRef
from pneuma_assets.resources.deployment import DeploymentResource
from pneuma_assets.resources.store import StoreResource
from tests.support.doors import fails, succeeds

RUN = "dg launch --job pneuma_index_tables"


def opened_in_a_run(loaded: LoadedDeployment) -> None:
    """Open the store as runs do, and list a table, as the first stage does."""
    deployment = DeploymentResource.of(loaded)
    deployment = DeploymentResource(**deployment.model_dump())  # as another process gets it
    with dg.build_resources({"store": StoreResource(deployment=deployment)}) as opened:
        ref = TableRef("lake/t", "lake", "/x/t", "csv", "1")
        opened.store.store.listings.sync("lake", [ref])


@pytest.fixture
def home(here) -> Path:
    (here / "lake").mkdir()
    opened_in_a_run(PneumaComponent(folder="lake").deployment_at(here, here))
    return here / ".pneuma/pneuma"


@pytest.mark.parametrize("folder", [(), ("lake",)])
def test_it_indexes_nothing_there_and_says_what_does(home, folder):
    told = fails(1, "--home", str(home), "index", *folder)
    assert RUN in told
    assert str(home.parents[1] / "defs.yaml") in told
    assert not (home / "pneuma.yaml").exists()


def test_sources_and_status_say_whose_it_is(home):
    for command in ("sources", "status"):
        told = succeeds("--home", str(home), command)
        assert RUN in told
        assert "index FOLDER" not in told


def test_a_file_remembered_there_before_counts_no_more_than_none(home):
    (home / "pneuma.yaml").write_text("home: .\nsources: []\n")
    assert RUN in fails(1, "--home", str(home), "index")


def test_no_run_of_dagster_takes_it_for_one_without_sources(home):
    with pytest.raises(dg.DagsterResourceFunctionError) as caught:
        opened_in_a_run(load_deployment(home=home, environ={}))
    assert isinstance(caught.value.__cause__, ConfigError)
    assert RUN in str(caught.value.__cause__)
    with Store(home / "state.db") as store:
        assert store.tables.listed() == ["lake/t"]


def test_a_deployment_file_that_names_the_folder_takes_it_over(home):
    file = home.parents[1] / "pneuma.yaml"
    file.write_text(f"home: {home}\nsources: [{{type: folder, name: lake, path: lake}}]\n")
    opened_in_a_run(load_deployment(file, environ={}))
    assert not (home / NOTE).exists()


def test_loading_notes_nothing(here):
    PneumaComponent(folder="lake").deployment_at(here, here)
    assert os.listdir(here) == []  # noqa: PTH208


def test_a_note_that_cannot_be_read_is_not_passed_over(home):
    (home / NOTE).write_text('{"component": 1}')
    assert NOTE in fails(1, "--home", str(home), "index")
