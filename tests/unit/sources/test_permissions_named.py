"""A table that may not be read says which permission is missing, whatever rules there are."""

import os
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pneuma_assets.core.config.small_sections import PrivacyConfig
from pneuma_assets.core.sources.files.folder import FolderStorage
from pneuma_assets.core.sources.files.source import FileSource
from pneuma_assets.core.sources.privacy.rules import Rules
from pneuma_assets.core.sources.privacy.source import PrivateSource
from tests.support.lake_tables import let_others_enter

SCRIPT = """
import os, sys
from pathlib import Path
import python_calamine  # before this user's packages are out of reach, as all that follows
from pyarrow import orc
from pneuma_assets.core.config.small_sections import PrivacyConfig
from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources.files import arrow_files, excel, parquet, sqlite, text_reader
from pneuma_assets.core.sources.files.folder import FolderStorage
from pneuma_assets.core.sources.files.source import FileSource
from pneuma_assets.core.sources.privacy.rules import Rules
from pneuma_assets.core.sources.privacy.source import PrivateSource
os.setuid(65534)
lake = PrivateSource(FileSource('s', FolderStorage(Path(sys.argv[1]))), Rules(
    PrivacyConfig(hidden_columns=['*ssn*'])))
listing = lake.list_tables()
for problem in listing.problems:
    print(problem.cause)
for ref in listing.tables:
    try:
        print(lake.profile(ref))
    except TableReadError as error:
        print(error)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_file_of_any_format_says_that_permission_is_denied(tmp_path):
    names = ("a.csv", "b.parquet", "c.arrow", "d.xlsx", "e.sqlite", "f.json", "g.orc")
    for name in names:
        (tmp_path / name).write_bytes(b"x")
        (tmp_path / name).chmod(0)
    let_others_enter(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path)], capture_output=True, text=True, check=True
    )
    told = done.stdout.splitlines()
    assert len(told) == len(names)
    for line in told:
        assert "permission denied; allow this user to read it" in line


def test_a_damaged_file_is_told_by_its_kind_alone(tmp_path):
    pq.write_table(pa.table({"ssn": ["secret1"]}), tmp_path / "a.parquet")
    whole = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "a.parquet").write_bytes(whole[:20] + b"secret1" + whole[27:-9] + whole[-8:])
    rules = Rules(PrivacyConfig(hidden_columns=["*ssn*"]))
    lake = PrivateSource(FileSource("s", FolderStorage(tmp_path)), rules)
    (ref,) = lake.list_tables().tables
    with pytest.raises(Exception, match="the reader failed") as caught:
        lake.profile(ref)
    assert "secret1" not in str(caught.value)
