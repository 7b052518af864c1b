"""The fixtures and refusals of the product's tests hold here, too."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# For processes that tests start: pytest's own `pythonpath` is of this one alone.
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(ROOT), str(ROOT / "benchmarks"), *filter(None, [os.environ.get("PYTHONPATH")])]
)

pytest_plugins = ["tests.conftest"]
