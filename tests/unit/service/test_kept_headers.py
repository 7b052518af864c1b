"""A run keeps the embeddings of headers, and whoever asks which columns are meant looks them up."""

import pytest

from pneuma_assets import open_workspace
from pneuma_assets.core.search.mentions import HeaderMatcher
from pneuma_assets.core.service.state import StateReader
from pneuma_assets.core.text.analysis import ENGLISH
from tests.support.indexed_home import ONE_FOLDER, make_home
from tests.support.word_encoder import WordEncoder

TABLES = {"lake/paper": ["paperTitle", "year"]}


@pytest.fixture
def workspace(here):
    (here / "pneuma.yaml").write_text(ONE_FOLDER)
    with open_workspace() as workspace:
        yield workspace


def asked(workspace) -> tuple[dict, list]:
    encoder = WordEncoder()
    state = StateReader(workspace.loaded, {})
    kept = lambda headers: state.read(lambda s: dict(s.headers.of(encoder.name, headers)), {})  # noqa: E731
    matcher = HeaderMatcher(encoder, ENGLISH, kept)
    found = matcher.matched_columns(["titles"], TABLES)
    state.close()
    return found, [text for call in encoder.calls for text in call]


def test_headers_that_a_run_kept_are_not_embedded_again(here, workspace):
    make_home(here, {"lake/paper.csv": "paperTitle,year\na,1\nb,2\n"})
    found, embedded = asked(workspace)
    assert found == {"lake/paper": {"paperTitle": 1.0}}
    assert set(embedded) == {"titles"}


def test_before_any_run_they_are_embedded_and_nothing_is_created(workspace):
    found, embedded = asked(workspace)
    assert found == {"lake/paper": {"paperTitle": 1.0}}
    assert {"paper title", "year"} <= set(embedded)
    assert not workspace.loaded.home.exists()
