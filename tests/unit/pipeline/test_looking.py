"""Why an index, or what tables are made with, needs a run; seen without loading a model."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

from pneuma_assets.core.errors import ModelError, SearchIndexError
from pneuma_assets.core.index.base import TableContents
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.models.encoder.encoder import open_encoder
from pneuma_assets.core.pipeline.describe import describing_key
from pneuma_assets.core.pipeline.plan import expected_fingerprint, index_fingerprint
from pneuma_assets.core.pipeline.watch import EVERY_S, IndexStaleness
from pneuma_assets.core.service.state import open_store
from pneuma_assets.core.store.queue import QueueCounts
from pneuma_assets.core.tables import Block, DocumentKind, EmbeddedBlock
from tests.support.deployment_files import deploy
from tests.support.index_blocks import file_of

TO_DO = QueueCounts(indexed=2, with_blocks=2)


class Deployed:
    """A deployment whose index holds two tables, and a clock that stands still."""

    def __init__(self, folder) -> None:
        self.folder, self.now = folder, 0.0
        self.load()
        deployment = self.loaded.deployment
        encoder = open_encoder(deployment.encoder)
        vector = np.full(encoder.dimension, encoder.dimension**-0.5, np.float32)
        self.index = EmbeddedIndex(self.loaded.home / "index", encoder.name, encoder.dimension)
        for number in range(2):
            block = EmbeddedBlock(Block(f"lake/t{number}", DocumentKind.ROWS, "a b"), vector)
            self.index.replace_tables({f"lake/t{number}": TableContents([block])})
        way = describing_key(None, deployment.narration)
        self.store = open_store(self.loaded, {})
        self.store.queue.use_recipe(index_fingerprint(deployment.sampling, encoder.name, way))

    def load(self, **settings) -> IndexStaleness:
        self.loaded = deploy(self.folder, **settings)
        return IndexStaleness(self.loaded, {}, lambda: self.now)

    def reasons(self, look=None, **to_do) -> list[str]:
        return (look or self.load()).reasons(self.store, replace(TO_DO, **to_do))


@pytest.fixture
def deployed(tmp_path):
    made = Deployed(tmp_path)
    yield made
    made.index.close()
    made.store.close()


def test_an_index_that_holds_what_it_should_is_no_reason(deployed):
    assert deployed.reasons() == []


def test_an_index_that_lacks_tables_is(deployed):
    assert deployed.reasons(with_blocks=3) == ["the index holds 2 of 3 tables"]
    shutil.rmtree(deployed.loaded.home / "index")
    assert deployed.reasons() == ["the index holds 0 of 2 tables"]


def test_tables_that_may_not_be_found_any_more_are(deployed):
    assert deployed.reasons(indexed=1, with_blocks=1) == [], "another machine's, perhaps"
    (why,) = deployed.reasons(indexed=1, with_blocks=1, taken_back=1)
    assert why == "the index holds 2 tables, and only 1 may be found"


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"sampling": {"rows": 7}}, "models or options are others"),
        ({"narration": {"model": "smollm2-135m"}}, "models or options are others"),
        ({"encoder": {"model": "team/encoder"}}, "models or options are others"),
        ({"index": {"analyzer": "german"}}, "counted by another analyzer"),
    ],
)
def test_other_settings_are(deployed, settings, why):
    (told,) = deployed.reasons(deployed.load(**settings))
    assert why in told


def test_an_encoder_that_is_not_there_is_told(deployed):
    with pytest.raises(ModelError, match="there is no folder"):
        deployed.reasons(deployed.load(encoder={"model": "/nowhere/encoder"}))


def test_a_damaged_index_is_told(deployed):
    deployed.index.close()
    file_of(deployed.loaded.home / "index").write_bytes(b"no database" * 1000)
    with pytest.raises(SearchIndexError):
        deployed.reasons()


def test_a_sound_index_is_not_read_again_at_every_tick(deployed):
    look = deployed.load()
    assert deployed.reasons(look) == []
    shutil.rmtree(deployed.loaded.home / "index")
    deployed.now += EVERY_S - 1
    assert deployed.reasons(look) == []
    assert deployed.reasons(look, with_blocks=1, indexed=1), "the store says something else"
    deployed.now += 2
    assert deployed.reasons(look), "or some time has passed"


def test_the_recipe_of_a_model_from_a_hub_is_that_of_the_index(deployed):
    deployed.load(encoder={"model": "team/encoder"})
    deployment = deployed.loaded.deployment

    class Encoder:
        name = "team/encoder@abc"

    recipe = index_fingerprint(
        deployment.sampling, Encoder().name, describing_key(None, deployment.narration)
    )
    assert expected_fingerprint(deployment, "team/encoder@abc") == recipe
    assert expected_fingerprint(deployment, "team/other@abc") != recipe
    assert expected_fingerprint(deployment, None) is None
