"""What is installed is all there is: an editable install hides a package that was left out."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NOT_INSTALLED = {"tests", "benchmarks", "examples"}


def test_every_package_on_disk_is_in_the_wheel():
    described = tomllib.loads((ROOT / "pyproject.toml").read_text())
    tops = [init.parent for init in ROOT.glob("*/__init__.py")]
    on_disk = {
        ".".join(module.parent.relative_to(ROOT).parts)
        for top in tops
        if top.name not in NOT_INSTALLED
        for module in top.rglob("*.py")
    }
    assert on_disk == set(described["tool"]["setuptools"]["packages"])
