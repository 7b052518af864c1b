"""Builds the demo lake: 36 real tables in four formats, with documents beside most of them.

Run `python examples/demo/prepare.py --out .demo/lake`. Nothing is downloaded: the data lies in
the packages of the extra `demo`. Running it again changes nothing, so nothing is indexed anew;
a file that was damaged or lost is put back, and files of your own are left alone.
"""

import argparse
import gzip
import html
import importlib.util
import io
import json
import shutil
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from demo_origins import DISTRIBUTIONS, documentation, packaged_file, read_rows
from demo_tables import TABLES, DemoTable


def main() -> int:
    """Build the lake and say what it holds; exit code 1 with one line if it cannot be built."""
    parser = argparse.ArgumentParser(description="Build the demo lake.")
    parser.add_argument("--out", type=Path, required=True, help="the folder to build it in")
    out: Path = parser.parse_args().out
    missing = missing_packages()
    if missing:
        print(f"The demo needs {', '.join(missing)}: run pip install 'pneuma-assets[demo]'.")
        return 1
    try:
        written = build_lake(out)
    except OSError as error:
        print(
            f"Cannot build the demo lake: {error}. Choose a folder you may write to, and run "
            "pip install -U 'pneuma-assets[demo]'."
        )
        return 1
    contexts = sum(table.context is not None for table in TABLES)
    print(f"{out}: {len(TABLES)} tables, {contexts} documents ({written} files written)")
    return 0


def missing_packages() -> list[str]:
    """Return the names to install of the packages that the demo needs and does not find."""
    return [name for module, name in DISTRIBUTIONS.items() if not importlib.util.find_spec(module)]


def build_lake(out: Path) -> int:
    """Make `out` hold every table and document; return how many files had to be written.

    The lake is built in a folder beside `out` first. A new lake then appears as one act; in an
    existing one only the files that differ are replaced, each as one act.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    try:
        staging.chmod(0o755)
        for table in TABLES:
            _write_table(table, staging)
        built = [path for path in sorted(staging.rglob("*")) if path.is_file()]
        if not out.exists():
            staging.rename(out)
            return len(built)
        return sum(_replace(path, out / path.relative_to(staging)) for path in built)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _replace(new: Path, old: Path) -> bool:
    """Put `new` in the place of `old` unless they hold the same bytes."""
    if old.is_file() and old.read_bytes() == new.read_bytes():
        return False
    old.parent.mkdir(parents=True, exist_ok=True)
    new.replace(old)
    return True


def _write_table(table: DemoTable, lake: Path) -> None:
    folder = lake / table.folder
    folder.mkdir(exist_ok=True)
    (folder / f"{table.name}.{table.format}").write_bytes(_encode(table))
    if table.context is not None:
        document = folder / f"{table.name}.{table.context}"
        document.write_text(_render(table), encoding="utf-8", newline="\n")


def _encode(table: DemoTable) -> bytes:
    buffer = io.BytesIO()
    match table.format:
        case "parquet":
            pa.parquet.write_table(read_rows(table), buffer)
        case "jsonl":
            lines = (
                json.dumps(row, allow_nan=False, ensure_ascii=False)
                for row in read_rows(table).to_pylist()
            )
            buffer.write("".join(f"{line}\n" for line in lines).encode())
        case "csv" | "csv.gz":
            path = packaged_file(table)
            if path is not None:
                buffer.write(path.read_bytes())  # as shipped: delimiter, BOM and all
            else:
                pa.csv.write_csv(read_rows(table), buffer)
    data = buffer.getvalue()
    # Without a time in its header, the same rows give the same bytes.
    return gzip.compress(data, mtime=0) if table.format == "csv.gz" else data


def _render(table: DemoTable) -> str:
    """Write the package's own documentation in the format asked for, source and licence last."""
    sections = documentation(table)
    sections["Source"] = f"Python package {DISTRIBUTIONS[table.package]}, data set {table.name}"
    sections["Licence"] = table.licence
    if table.context == "json":
        return json.dumps(sections, indent=2, ensure_ascii=False) + "\n"
    # The description needs no heading: what a document says first is read first.
    description = sections.pop("Description")
    if table.context == "html":
        parts = [f"<pre>{html.escape(description)}</pre>"]
        for title, text in sections.items():
            parts.append(f"<h2>{html.escape(title)}</h2>\n<pre>{html.escape(text)}</pre>")
        return "\n".join(["<!doctype html>", "<meta charset='utf-8'>", *parts, ""])
    parts = [f"{description}\n"]
    for title, text in sections.items():
        parts.append(f"{_heading(title, table.context)}\n\n{text}\n")
    return "\n".join(parts)


def _heading(title: str, document_format: str | None) -> str:
    match document_format:
        case "md":
            return f"## {title}"
        case "rst":
            return f"{title}\n{'=' * len(title)}"
        case _:
            return title


if __name__ == "__main__":
    sys.exit(main())
