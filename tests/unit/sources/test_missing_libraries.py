"""What is said where the library of a format is not installed."""

import sys
from contextlib import closing

import pytest

from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources.files.folder import FolderStorage
from pneuma_assets.core.sources.files.source import FileSource
from pneuma_assets.core.tables import TableRef

READERS = "pneuma_assets.core.sources.files."


@pytest.mark.parametrize(
    ("file_format", "library", "extra", "file"),
    [
        ("delta", "deltalake", "delta", "t/_delta_log/00000000000000000000.json"),
        ("iceberg", "pyiceberg", "iceberg", "t/metadata/v1.metadata.json"),
        ("avro", "fastavro", "avro", "t/p=1/a.avro"),
        ("excel", "python_calamine", "excel", "t"),
    ],
)
def test_its_name_and_the_command_that_installs_it_are_told(
    tmp_path, monkeypatch, file_format, library, extra, file
):
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text("{}")
    for name in [*sys.modules]:
        if name.startswith((f"{library}.", f"{READERS}iceberg")) or name == library:
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    place = f"{tmp_path}/t" + ("#Sheet" if file_format == "excel" else "/")
    ref = TableRef("s/t", "s", place, file_format, "1")
    source = FileSource("s", FolderStorage(tmp_path))
    told = rf"pip install 'pneuma-assets\[{extra}\]'"
    with closing(source), pytest.raises(TableReadError, match=told):
        source.profile(ref)
