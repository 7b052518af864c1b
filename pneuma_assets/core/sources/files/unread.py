"""Names the files that look like tables and are not read, so that none is missed in silence."""

from collections.abc import Iterable

from pneuma_assets.core.sources.names import (
    COMPRESSIONS,
    FORMATS,
    is_hidden,
    parse_file_name,
    uncompressed,
)

_UNPACK = "archives are not opened; unpack it"
_EXPORT = "nothing here reads this format; write its tables as CSV or Parquet"
_CAUSES = {
    **dict.fromkeys((".zip", ".tar", ".tgz", ".7z", ".rar"), _UNPACK),
    **dict.fromkeys((".sas7bdat", ".xpt", ".sav", ".por", ".dta"), _EXPORT),
    **dict.fromkeys((".rds", ".rda", ".rdata", ".mat", ".pkl", ".pickle"), _EXPORT),
    **dict.fromkeys((".h5", ".hdf5", ".nc", ".npy", ".npz"), _EXPORT),
    **dict.fromkeys((".mdb", ".accdb", ".dbf", ".numbers"), _EXPORT),
    **dict.fromkeys((".geojson", ".shp", ".gpkg"), _EXPORT),
    **dict.fromkeys((".duckdb", ".ddb"), "name it as a source of type duckdb"),
}
_HIDDEN = "its name begins with a dot, as those of temporary files do; rename it to have it indexed"
_PACKED = "files of this format are not read compressed; decompress it"


def unread(paths: Iterable[str]) -> dict[str, str]:
    """Return the first path of each kind of unread file, with the cause and how many there are."""
    kinds: dict[str, list[str]] = {}
    for path in sorted(paths):
        name = path.rpartition("/")[2]
        if is_hidden(name):
            kinds.setdefault(_HIDDEN, []).append(path)
        elif (suffix := _suffix(name)) in _CAUSES:
            kinds.setdefault(f"it ends in {suffix}: {_CAUSES[suffix]}", []).append(path)
        elif suffix in COMPRESSIONS and parse_file_name(name) is None:
            packed = _suffix(uncompressed(name))
            if packed in {*FORMATS, ".tar"}:
                cause = _UNPACK if packed == ".tar" else _PACKED
                kinds.setdefault(f"it ends in {packed}{suffix}: {cause}", []).append(path)
    return {found[0]: f"{cause}{_others(len(found) - 1)}" for cause, found in kinds.items()}


def _suffix(name: str) -> str:
    stem, dot, suffix = name.rpartition(".")
    return f".{suffix.lower()}" if dot and stem else ""


def _others(count: int) -> str:
    return f" (and so are {count:,} others left out)" if count else ""
