"""A SQLite file by its URL keeps the contract; SQLite has no comments that people could write."""

import pytest

from pneuma_assets.core.sources.kinds.sql import SqlSourceConfig
from tests.conformance.sources.hostile import NAMES
from tests.conformance.sources.suite import SourceConformance
from tests.conformance.sources.support import cells, people, rows_of
from tests.conformance.sources.test_sqlite import TYPES, SQLiteLake


class FileByUrl(SQLiteLake):
    """The same file, read by SQLAlchemy."""

    def __init__(self, file):
        super().__init__(file)
        with self._writing() as connection:
            connection.execute("DROP TABLE about")
        self.config = SqlSourceConfig(name="s", url=f"sqlite:///{file}")


@pytest.mark.slow
class TestSQLiteByUrl(SourceConformance):
    types = TYPES

    @pytest.fixture
    def lake(self, tmp_path):
        return FileByUrl(tmp_path / "lake.sqlite")

    test_what_people_wrote_is_of_its_table_alone = None
    test_texts_are_as_people_wrote_them = None
    test_texts_are_text_and_bounded = None
    test_another_version_where_people_wrote_something = None

    def test_tables_of_any_name_are_read_and_kept_apart(self, lake, source):
        for number, name in enumerate(NAMES, 1):
            lake.write(name, people(number))
        refs = source.list_tables().tables
        assert len({ref.table_id for ref in refs}) == len(NAMES)
        for ref in refs:
            number = source.profile(ref).row_count
            assert cells(source.sample(ref, 99, 0)) == rows_of(people(number))

    def test_a_file_that_is_not_there_is_not_made(self, lake, source, tmp_path):
        lake.vanish()
        with pytest.raises(Exception, match="there is no file"):
            source.list_tables()
        assert list(tmp_path.iterdir()) == []
