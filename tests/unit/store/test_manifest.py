"""What definitions are made of is read without a store, and whatever is there instead of it."""

import zlib
from dataclasses import replace

import pytest

from pneuma_assets.core.store import dagster_manifest
from pneuma_assets.core.store.dagster_manifest import (
    COLUMNS,
    PAGES,
    DescribedTable,
    Folder,
    Manifest,
    TablePage,
    read_described,
    read_manifest,
    write_described,
    write_pages,
)
from pneuma_assets.core.tables import Description, Provenance
from tests.support.pipeline_support import deployment

PAGE = TablePage(
    "lake/bäume",
    "lake",
    "pneuma/lake/bäume",
    "Trees.",
    "lake/bäume.csv",
    "file:///lake/b%C3%A4ume.csv",
    kinds=("csv",),
    problem="too long",
    updated_at=1.5,
)
SAID = Description("how tall", Provenance.MODEL, "a model", 0.5)
DESCRIBED = DescribedTable("lake/bäume", "lake/bäume.csv", None, {"height": SAID})


@pytest.fixture
def loaded(tmp_path):
    found = deployment(tmp_path, tmp_path / "lake")
    found.home.mkdir()
    return found


def written(loaded, *pages):
    place = Folder(loaded.home)
    write_pages(place, pages, "a store")
    return loaded.home / f"{PAGES}.manifest"


def test_what_was_written_is_read(loaded):
    written(loaded, PAGE)
    assert read_manifest(loaded, {}).tables == [PAGE]
    write_described(Folder(loaded.home), [DESCRIBED], "a store")
    assert read_described(loaded, {}).tables == {"lake/bäume": DESCRIBED}


def test_before_the_first_run_there_is_no_trouble_and_then_it_says_what_to_do(loaded):
    assert read_manifest(loaded, {}) == Manifest([])
    loaded.home.rmdir()
    assert read_manifest(loaded, {}) == Manifest([])
    assert not loaded.home.exists()
    loaded.home.mkdir()
    (loaded.home / "state.db").touch()
    assert "next run" in read_manifest(loaded, {}).trouble
    (loaded.home / f"{PAGES}.manifest").mkdir()
    assert "cannot be read" in read_manifest(loaded, {}).trouble


def test_tables_of_a_source_that_is_configured_no_more_have_no_page(loaded):
    written(loaded, PAGE, replace(PAGE, table_id="old/t", source="old", key="pneuma/old/t"))
    assert [page.source for page in read_manifest(loaded, {}).tables] == ["lake"]


@pytest.mark.parametrize(
    "packed",
    [
        b"",
        b"\n",
        b"null\n",
        b"[" * 100_000,
        b"\xff\xfe\x00",
        b"a store\n" + zlib.compress(b"[]")[:-1],
        b"a store\n" + zlib.compress(b"\0" * (64 << 20)),
        b"a store\n" + zlib.compress(b"[" * 100_000),
        b"a store\n" + zlib.compress(b'[{"table_id": "lake/t"}]'),
    ],
)
def test_what_is_damaged_is_an_empty_manifest(loaded, packed):
    for name in (PAGES, COLUMNS):
        (loaded.home / f"{name}.manifest").write_bytes(packed)
    manifest, described = read_manifest(loaded, {}), read_described(loaded, {})
    assert (manifest.tables, described.tables) == ([], {})
    assert manifest.trouble == described.trouble
    assert "damaged, or another version" in manifest.trouble


def test_what_unfolds_without_end_is_not_unfolded(loaded, monkeypatch):
    monkeypatch.setattr(dagster_manifest, "MAX_UNPACKED", 1000)
    written(loaded, *[PAGE] * 100)
    assert "damaged" in read_manifest(loaded, {}).trouble


def test_every_flipped_byte_is_noticed_or_harmless(loaded):
    file = written(loaded, PAGE)
    whole = file.read_bytes()
    for position in range(len(whole)):
        file.write_bytes(whole[:position] + bytes([whole[position] ^ 4]) + whole[position + 1 :])
        found = read_manifest(loaded, {})
        assert found.trouble or found.tables == [PAGE]
