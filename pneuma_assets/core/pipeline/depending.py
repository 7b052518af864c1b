"""Asking the engines of databases for what is built from what, beside a listing."""

from collections.abc import Collection, Iterable

from pneuma_assets.core.config.sources import SourceConfig
from pneuma_assets.core.errors import SourceError
from pneuma_assets.core.lineage.edges import EdgeKind
from pneuma_assets.core.lineage.engines import read_dependencies
from pneuma_assets.core.pipeline.outside import OutsideFile, refused
from pneuma_assets.core.progress import report
from pneuma_assets.core.sources.base import Source, TellsDependencies
from pneuma_assets.core.tables import content_hash


def dependency_origins(configs: Iterable[SourceConfig]) -> set[str]:
    """Return the origins that sources may be, whether they are asked by a run or not."""
    return {_origin(one.name) for one in configs if one.dependency_dialect is not None}


def told_dependencies(
    sources: Iterable[Source], configs: Iterable[SourceConfig], leave: Collection[str] = ()
) -> list[OutsideFile]:
    """Ask each source whose engine has a view of dependencies, by one statement a database.

    One that refuses raises nothing here: reading what it said does.

    Args:
        sources: The opened ones.
        configs: Their entries of the deployment file.
        leave: Sources that are not asked, which changes nothing of what they said.
    """
    dialects = {one.name: one.dependency_dialect for one in configs if one.name not in leave}
    found = []
    for source in sources:
        dialect = dialects.get(source.name)
        if dialect is not None and isinstance(source, TellsDependencies):
            report(f"asking {source.name} what is built from what", 0, 0)
            found.append(_told(source, source.name, dialect))
    return found


def _told(source: TellsDependencies, name: str, dialect: str) -> OutsideFile:
    origin = _origin(name)
    try:
        rows = sorted(source.dependencies() or ())
    except SourceError as error:
        return refused(origin, error, within=name)
    stamp = content_hash(*(part for row in rows for part in row))
    return OutsideFile(origin, stamp, lambda: read_dependencies(rows, dialect), within=name)


def _origin(source: str) -> str:
    return f"{EdgeKind.DEPENDENCY}:{source}"
