"""A home that is indexed from a few files, in this process and without a model."""

from collections.abc import Mapping
from pathlib import Path

from pneuma_assets.core.config.load import load_deployment
from tests.support.stages import run_stages
from tests.support.word_encoder import using_words

ONE_FOLDER = "home: home\nsources: [{type: folder, name: lake, path: lake}]\n"


def make_home(folder: Path, files: Mapping[str, str], deployment: str = ONE_FOLDER) -> Path:
    """Write files below a folder, and a deployment file that is returned, and index them."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    file = folder / "pneuma.yaml"
    file.write_text(deployment)
    with using_words():
        run_stages(load_deployment(config=file, environ={}))
    return file
