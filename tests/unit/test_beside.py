"""Projects that have packages with the names of ours."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def loading(code: str, *path: Path) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))}
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=path[0],
        env=environ,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("theirs", ["jobs/__init__.py", "sensors.py"])
@pytest.mark.parametrize("module", ["component", "runs.indexing"])
def test_what_stands_in_the_place_of_ours_is_named(tmp_path, theirs, module):
    file = tmp_path / theirs
    file.parent.mkdir(exist_ok=True)
    file.write_text("")
    told = loading(f"import pneuma_assets.{module}", tmp_path, ROOT).stderr.splitlines()[-1]
    place = file.parent if file.stem == "__init__" else file
    assert told.startswith(f"pneuma_assets.core.errors.ConfigError: {place} stands in the place")


def test_what_was_imported_before_counts(tmp_path):
    (tmp_path / "resources.py").write_text("")
    told = loading(
        f"import resources, sys; sys.path.insert(0, {str(ROOT)!r}); import pneuma_assets.beside",
        tmp_path,
    )
    assert f"{tmp_path / 'resources.py'} stands in the place" in told.stderr


@pytest.mark.parametrize("how", ["links", "empty"])
def test_ours_pass_by_links_and_with_a_folder_that_is_no_package(tmp_path, how):
    (tmp_path / "sensors").mkdir()
    site = ROOT
    if how == "links":  # as a strict editable install has them
        site = tmp_path / "site"
        site.mkdir()
        for name in ("pneuma_assets", "jobs", "resources", "sensors"):
            (site / name).symlink_to(ROOT / name)
    done = loading("import pneuma_assets.beside", tmp_path, site)
    assert done.returncode == 0, done.stderr
