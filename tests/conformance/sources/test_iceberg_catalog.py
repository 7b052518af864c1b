"""A catalogue in a SQL database keeps the contract, its tables written by pyiceberg."""

import shutil
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import NoSuchTableError

from pneuma_assets.core.errors import SourceError
from pneuma_assets.core.sources.kinds.iceberg import IcebergSourceConfig
from tests.conformance.sources.suite import SourceConformance
from tests.conformance.sources.support import Columns, arrow_table


class IcebergLake:
    """One namespace; what people write is a property of a table."""

    environ: ClassVar[dict[str, str]] = {}

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir()
        uri = f"sqlite:///{folder}/catalog.sqlite"
        self._catalog = SqlCatalog("c", uri=uri, warehouse=f"{folder.as_uri()}/data")
        self._catalog.create_namespace("n")
        self.config = IcebergSourceConfig(
            name="s", catalog="sql", catalog_name="c", uri=uri, local_files=folder / "data"
        )
        self._numbers = 0

    def close(self) -> None:
        self._catalog.close()

    def write(self, name: str, columns: Columns) -> None:
        self.delete(name)
        rows = arrow_table(columns)
        self._numbers += 1
        location = f"{self._folder.as_uri()}/data/{self._numbers}"
        table = self._catalog.create_table(("n", name), rows.schema, location=location)
        table.append(rows)

    def write_beside(self, name: str) -> None:
        self.write(name.upper() + "/", {"x": [1]})

    def describe(self, name: str, text: str) -> None:
        with self._catalog.load_table(("n", name)).transaction() as change:
            change.set_properties(comment=text)

    def damage(self, name: str) -> None:
        """Leave a table without its manifests."""
        self.write(name, {"x": [1]})
        for file in (self._folder / "data" / str(self._numbers)).rglob("*.avro"):
            file.unlink()

    def delete(self, name: str) -> None:
        with suppress(NoSuchTableError):
            self._catalog.drop_table(("n", name))

    def vanish(self) -> None:
        self._catalog.close()
        shutil.rmtree(self._folder)


@pytest.mark.slow
class TestIcebergCatalog(SourceConformance):
    @pytest.fixture
    def lake(self, tmp_path):
        lake = IcebergLake(tmp_path / "lake")
        yield lake
        lake.close()

    def test_patterns_that_let_nothing_through_are_an_error(self, lake):
        """As `test_sources_words` tells for every source of databases."""
        lake.write("a", {"x": [1]})
        source = lake.config.model_copy(update={"include": ["m.*"]}).open({})
        with pytest.raises(SourceError, match=r"none of its tables \(1, such as n\.a\); did"):
            source.list_tables()
        source.close()
