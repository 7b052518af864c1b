from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.sources.encoding import decode, guess_encoding, transcode
from pneuma_assets.core.sources.files import FileSource
from pneuma_assets.core.sources.folder import FolderStorage
from pneuma_assets.core.sources.text_files import LOSSY, loosened


@given(st.text(max_size=200))
def test_utf8_is_read_as_it_is(text: str):
    clean = text.removeprefix("\ufeff")
    if guess_encoding(clean.encode()) == "utf-8":
        assert decode(clean.encode()) == clean


@pytest.mark.parametrize(
    "encoding",
    ["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-le", "utf-16-be", "latin-1", "cp1252"],
)
def test_encodings_become_the_same_text(encoding: str, tmp_path: Path):
    text = "nom,ville\nRené,Orléans\n" * 20_000
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(text.encode(encoding))
    transcode(source, target, guess_encoding(source.read_bytes()[:1000]), json_lines=False)
    assert target.read_text(encoding="utf-8") == text


@given(st.binary(max_size=300))
def test_any_bytes_decode(data: bytes):
    assert decode(data).encode("utf-8", "surrogatepass") is not None


def test_mixed_encodings_are_told_apart_byte_by_byte():
    assert decode("é".encode() + b" \xe9 \x80 \x81") == "é é € \x81"


@pytest.mark.parametrize("size", [1 << 20, (1 << 20) - 1, (1 << 20) + 1])
def test_characters_across_chunks_survive(size: int, tmp_path: Path):
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(b"x" * (size - 1) + "é表".encode() + b"\xe9")
    transcode(source, target, "utf-8", json_lines=False)
    assert target.read_text(encoding="utf-8") == "x" * (size - 1) + "é表é"


def test_options_end():
    """Whatever errors come, in any order, the attempts are few."""
    for error in (duckdb.ConversionException("x"), duckdb.InvalidInputException("x")):
        options: object = {"delim": "','"}
        attempts = 0
        while options is not None:
            options = loosened(options, error, json_lines=False)  # type: ignore[arg-type]
            attempts += 1
        assert attempts <= 6


def profile(tmp_path: Path, name: str, content: str):
    (tmp_path / name).write_text(content)
    source = FileSource("s", FolderStorage(tmp_path))
    (ref,) = source.list_tables().tables
    return source, ref, source.profile(ref)


def test_lost_lines_are_noted(tmp_path: Path):
    _, _, table = profile(tmp_path, "a.jsonl", '{"a":1}\n{"a":\n{"a":3}\n')
    assert table.notes == (LOSSY,)


def test_late_misfit_keeps_the_other_columns_types(tmp_path: Path):
    rows = "".join(f"{i},{i},2024-01-01\n" for i in range(30_000))
    _, _, table = profile(tmp_path, "a.csv", f"a,b,c\n{rows}x,1,2024-01-02\n")
    assert [column.type for column in table.columns] == ["VARCHAR", "BIGINT", "DATE"]
    assert table.notes == ()


def test_sampling_without_profiling_first_gives_the_same_rows(tmp_path: Path):
    content = "a,b\n" + "".join(f"{i},é{i}\n" for i in range(1000))
    (tmp_path / "a.csv").write_bytes(content.encode("latin-1"))
    source = FileSource("s", FolderStorage(tmp_path))
    (ref,) = source.list_tables().tables
    before = source.sample(ref, 5, 7)
    source.profile(ref)
    assert source.sample(ref, 5, 7) == before
    assert all(row[1] == f"é{row[0]}" for row in before)


def test_scan_names_columns_as_the_profile_does(tmp_path: Path):
    source, ref, table = profile(tmp_path, "a.csv", '"x\ny",x y,z\n1,2,3\n4,5,6\n')
    batches = list(source.scan(ref, batch_rows=1))
    assert [batch.num_rows for batch in batches] == [1, 1]
    assert batches[0].schema.names == [column.name for column in table.columns]


def test_only_one_table_is_staged_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    lake, scratch = tmp_path / "lake", tmp_path / "scratch"
    lake.mkdir()
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    (lake / "a.csv").write_bytes("é\n1\n".encode("utf-16"))
    (lake / "b.csv").write_bytes(b"")
    source = FileSource("s", FolderStorage(lake))
    good, bad = source.list_tables().tables
    source.profile(good)
    with pytest.raises(Exception, match="empty"):
        source.profile(bad)
    assert [
        path.name for path in scratch.iterdir() if not path.name.startswith("pneuma-spill")
    ] == []


def test_a_table_can_be_scanned_without_being_profiled(tmp_path: Path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    source = FileSource("s", FolderStorage(tmp_path))
    (ref,) = source.list_tables().tables
    assert [batch.num_rows for batch in source.scan(ref)] == [1]
