"""What each kind of source that is built in says of itself, before anything is read."""

import subprocess
import sys
from pathlib import Path

import pytest

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.sources import SourceConfig
from pneuma_assets.core.errors import ConfigError, SourceError

S3 = {"type": "s3", "name": "cloud", "bucket": "lake"}
MINIO = {**S3, "prefix": "a/b/", "endpoint_url": "http://localhost:9000"}


def configured(*sources: dict[str, str]) -> tuple[SourceConfig, ...]:
    return Deployment.model_validate({"sources": sources}).sources


def test_every_kind_opens_without_reaching_anything(tmp_path: Path):
    configs = configured(
        {"type": "folder", "name": "lake", "path": "absent"},
        {"type": "duckdb", "name": "base", "path": "absent.duckdb"},
        S3,
    )
    sources = [config.resolved(tmp_path).open({}) for config in configs]
    assert [source.name for source in sources] == ["lake", "base", "cloud"]
    for source in sources[:2]:
        with pytest.raises(SourceError, match=str(tmp_path / "absent")):
            source.list_tables()


@pytest.mark.parametrize("kind", ["folder", "duckdb"])
def test_relative_paths_start_from_the_base_and_absolute_ones_stay(tmp_path: Path, kind: str):
    for path, expected in (("lake", tmp_path / "lake"), ("/lake", Path("/lake"))):
        (config,) = configured({"type": kind, "name": "a", "path": path})
        assert config.resolved(tmp_path).location == str(expected)


@pytest.mark.parametrize(
    ("entry", "location"), [(S3, "s3://lake/"), (MINIO, "s3://lake/a/b/ at http://localhost:9000")]
)
def test_a_bucket_lies_where_its_address_says(tmp_path: Path, entry, location: str):
    (config,) = configured(entry)
    assert config.resolved(tmp_path) == config
    assert config.location == location
    assert config.folder is None


@pytest.mark.parametrize("present", ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])
def test_half_a_pair_of_keys_is_an_error(present: str):
    with pytest.raises(ConfigError, match=r"'cloud': the environment variable AWS_.* is not set"):
        configured(S3)[0].open({present: "x"})


def test_a_bucket_is_read_with_the_keys_that_its_variables_hold():
    keys = {"L_ACCESS_KEY_ID": "a", "L_SECRET_ACCESS_KEY": "b", "L_SESSION_TOKEN": "c"}
    environ = {**keys, "AWS_ACCESS_KEY_ID": "other"}
    (config,) = configured({**S3, "prefix_env": "L"})
    assert config.credentials(environ) == ("a", "b", "c")  # type: ignore[attr-defined]
    assert config.environment(environ) == environ


@pytest.mark.parametrize("kind", ["folder", "duckdb"])
def test_what_has_no_secrets_is_read_without_any(kind: str):
    (config,) = configured({"type": kind, "name": "a", "path": "b"})
    assert config.environment({"AWS_SECRET_ACCESS_KEY": "x", "PATH": "/bin"}) == {}


def test_reading_a_file_with_every_kind_imports_nothing_that_reads(tmp_path: Path):
    (tmp_path / "pneuma.yaml").write_text(
        "sources:\n- {type: folder, name: a, path: x}\n- {type: s3, name: b, bucket: lake}\n"
        "- {type: duckdb, name: c, path: y}\n"
    )
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from pneuma_assets.core.config.load import load_deployment\n"
        "assert len(load_deployment(Path(sys.argv[1]), environ={}).deployment.sources) == 3\n"
        "print(*{'duckdb', 'pyarrow', 'boto3', 'fsspec', 'numpy', 'dagster'} & {*sys.modules})\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "pneuma.yaml")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "\n"
