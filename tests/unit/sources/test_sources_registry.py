from pathlib import Path

import pytest

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.errors import ConfigError, SourceError
from pneuma_assets.core.sources.registry import open_source

S3 = {"type": "s3", "name": "cloud", "bucket": "lake"}


def deployment(*sources: dict[str, str]) -> Deployment:
    return Deployment.model_validate({"sources": sources})


def test_every_type_opens_without_reaching_anything(tmp_path: Path):
    config = deployment(
        {"type": "folder", "name": "lake", "path": "absent"},
        {"type": "duckdb", "name": "base", "path": "absent.duckdb"},
        S3,
    )
    sources = [open_source(one, tmp_path, {}) for one in config.sources]
    assert [source.name for source in sources] == ["lake", "base", "cloud"]
    for source in sources[:2]:
        with pytest.raises(SourceError, match=str(tmp_path / "absent")):
            source.list_tables()


def test_relative_paths_start_from_the_base(tmp_path: Path):
    (tmp_path / "lake").mkdir()
    (tmp_path / "lake" / "a.csv").write_text("a\n1\n")
    (config,) = deployment({"type": "folder", "name": "lake", "path": "lake"}).sources
    source = open_source(config, tmp_path, {})
    assert [ref.table_id for ref in source.list_tables().tables] == ["lake/a"]


@pytest.mark.parametrize("present", ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])
def test_half_a_pair_of_keys_is_an_error(tmp_path: Path, present: str):
    with pytest.raises(ConfigError, match=r"'cloud': the environment variable AWS_.* is not set"):
        open_source(deployment(S3).sources[0], tmp_path, {present: "x"})


def test_factories_replace_the_default_connections(tmp_path: Path):
    made = []

    def make_client() -> None:
        made.append("client")
        raise SourceError("no client today")

    config = deployment(S3).sources[0]
    source = open_source(config, tmp_path, {}, make_s3_client=make_client)  # type: ignore[arg-type]
    assert not made
    with pytest.raises(SourceError, match="no client today"):
        source.list_tables()
    assert made == ["client"]
