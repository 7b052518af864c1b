"""An encoder is opened by the name that an index recorded, if its setting is remembered."""

import pytest

from pneuma_assets.core.config.models import EncoderConfig
from pneuma_assets.core.errors import ModelError
from pneuma_assets.core.models.encoder.encoder import open_encoder
from pneuma_assets.core.models.encoder.known_encoders import (
    FILE_NAME,
    open_remembered,
    remember_encoder,
)

CONFIG = EncoderConfig(model="elsewhere")


def test_it_is_opened_by_name_and_no_other_in_its_place(tmp_path):
    packaged = EncoderConfig()
    name = open_encoder(packaged).name
    remember_encoder(tmp_path / "home", name, packaged)
    assert open_remembered(tmp_path / "home", name, CONFIG).name == name
    remember_encoder(tmp_path, "one", EncoderConfig())
    with pytest.raises(ModelError, match="is another one now"):
        open_remembered(tmp_path, "one", CONFIG)


def test_no_question_goes_to_an_endpoint_that_is_configured_no_more(tmp_path):
    model = {"model": "m", "endpoint_url": "http://h/v1", "send_values": True}
    far = EncoderConfig.model_validate({"model": model, "dimensions": 8, "query_prefix": "query: "})
    name = open_encoder(far).name
    remember_encoder(tmp_path, name, far)
    other = far.model_copy(update={"dimensions": 4})
    assert open_remembered(tmp_path, name, other).name == name
    with pytest.raises(ModelError, match="is configured no more"):
        open_remembered(tmp_path, name, EncoderConfig())
    local = EncoderConfig()
    remember_encoder(tmp_path, open_encoder(local).name, local)
    assert open_remembered(tmp_path, open_encoder(local).name, far).name == open_encoder(local).name


@pytest.mark.parametrize("text", [None, "", "[1]", '{"one": 1}', "[" * 100_000, "\udcff"])
def test_what_cannot_be_read_was_never_remembered(tmp_path, text):
    if text is not None:
        (tmp_path / FILE_NAME).write_text(text, errors="surrogateescape")
    with pytest.raises(ModelError, match="has built no index here"):
        open_remembered(tmp_path, "one", CONFIG)
    remember_encoder(tmp_path, "one", EncoderConfig())
    with pytest.raises(ModelError, match="is another one now"):
        open_remembered(tmp_path, "one", CONFIG)


def test_the_oldest_are_forgotten(tmp_path):
    for number in range(30):
        remember_encoder(tmp_path, f"encoder {number}", EncoderConfig())
        remember_encoder(tmp_path, "encoder 0", EncoderConfig())
    for name, known in (("encoder 0", True), ("encoder 1", False), ("encoder 29", True)):
        why = "another one now" if known else "has built no index here"
        with pytest.raises(ModelError, match=why):
            open_remembered(tmp_path, name, CONFIG)
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path):
    (tmp_path / "file").touch()
    remember_encoder(tmp_path / "file" / "home", "one", EncoderConfig())
