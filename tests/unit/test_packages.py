"""What is installed is all there is: an editable install hides a package that was left out."""

import tomllib
from pathlib import Path

from setuptools import find_packages

ROOT = Path(__file__).resolve().parents[2]
NOT_INSTALLED = {"tests", "benchmarks", "examples"}


def test_every_package_on_disk_is_in_the_wheel():
    described = tomllib.loads((ROOT / "pyproject.toml").read_text())
    found = find_packages(str(ROOT), **described["tool"]["setuptools"]["packages"]["find"])
    package = ROOT / "pneuma_assets"
    linked = {link.readlink().name for link in package.iterdir() if link.is_symlink()}
    modules = [module for module in ROOT.glob("*/**/*.py") if ".venv" not in module.parts]
    folders = {module.parent.relative_to(ROOT).parts for module in modules}
    folders = {(package.name, *parts) if parts[0] in linked else parts for parts in folders}
    on_disk = {".".join(parts) for parts in folders if parts[0] not in NOT_INSTALLED}
    assert on_disk == set(found)
