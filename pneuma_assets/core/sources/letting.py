"""What is said where a deployment file's names let through none of the tables that there are.

One letter too few would otherwise look as if somebody had dropped every table.
"""

from collections.abc import Collection, Sequence

from pneuma_assets.core.errors import SourceError
from pneuma_assets.core.sources.names import one_line
from pneuma_assets.core.text.suggest import nearest

_NAME_CHARACTERS = 200


def nothing_fits(
    source: str, key: str, given: Sequence[str], tables: Collection[str]
) -> SourceError:
    """Return the error for `include`, `exclude` or `schemas` that let nothing through.

    Args:
        source: Whose deployment file it is.
        key: Which of these keys is wrong.
        given: What it holds.
        tables: The names `schema.table` of those that it keeps out, one at least.
    """
    verb = {"include": "matches", "exclude": "leaves"}.get(key, "name")
    some = f"none of the {len(tables):,} tables, such as {_shown(min(tables))}"
    schemas = {name.rpartition(".")[0] for name in tables}
    alike: list[str] = []
    if key == "schemas":
        alike = nearest(given[0], schemas, most=1)
    elif key == "include":
        alike = nearest(given[0], {*(f"{name}.*" for name in schemas), *tables}, most=1)
    return SourceError(
        f"source {source!r} cannot be listed: its {key} {verb} {some}; {_correct(alike)}"
    )


def unknown_schema(source: str, name: str, known: Collection[str]) -> SourceError:
    """Return the error for a name in `schemas` that is no schema's."""
    return SourceError(
        f"source {source!r} cannot be listed: its schemas name {_shown(name)}, which is not there; "
        f"{_correct(nearest(name, known, most=1))}"
    )


def _correct(alike: Sequence[str]) -> str:
    meant = f"did you mean {_shown(alike[0])}? " if alike else ""
    return f"{meant}correct it in the deployment file"


def _shown(name: str) -> str:
    return one_line(name, _NAME_CHARACTERS)
