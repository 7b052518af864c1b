"""What tables are built from, once profiles are read: edges, and texts that tell of them.

All tables are compared with what was known, so that a view finds a table that came after it; only
views whose query, neighbours or columns of neighbours are others are parsed again.
"""

import logging
from collections.abc import Collection, Iterable, Mapping

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.lineage.edges import EdgeKind
from pneuma_assets.core.pipeline.asking_webserver import origin_of_webserver
from pneuma_assets.core.pipeline.declared import DeclaredTables
from pneuma_assets.core.pipeline.depending import dependency_origins
from pneuma_assets.core.pipeline.neighbours import lineage_texts
from pneuma_assets.core.pipeline.outside import OutsideFile, outside_files
from pneuma_assets.core.pipeline.outside_edges import origin_of
from pneuma_assets.core.progress import report
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.edges import Declared, Known, Origin
from pneuma_assets.core.tables import Problem
from pneuma_assets.core.text.safe import one_line

logger = logging.getLogger(__name__)

OWN = "table:"
"""Begins the origin of what a table declares itself."""

DEFINITIONS = f"{EdgeKind.DAGSTER}:definitions"
"""The origin that the other assets beside a deployment are."""

STAGE = "lineage"

_TROUBLED = "troubled"
"""The stamp of a file with a problem: each run reads it again, and tells its problem anew."""

CHUNK = 200
"""Tables whose queries are read before what they say is kept."""


def link_tables(
    store: Store, run_id: str, deployment: Deployment, others: Iterable[OutsideFile] = ()
) -> int:
    """Bring the edges between tables up to date, and the texts that tell of them.

    Where no table, query or key is another, nothing is written.

    Args:
        store: Where tables and edges are kept.
        run_id: The run, whose tables are embedded later in it all the same.
        deployment: Names the sources, and the files of other tools.
        others: What the other assets beside the deployment, a webserver and engines say that were
            asked; those that were not still say what they said.

    Returns:
        The number of tables whose texts changed.
    """
    declared = store.edges.declared()
    tables = DeclaredTables(declared, {source.name: source for source in deployment.sources})
    known = store.edges.origins()
    saying = {OWN + one.table_id: one for one in declared if one.relations is not None}
    outdated = [
        (name, one)
        for name, one in saying.items()
        if name not in known or tables.digest(one, known[name].names) != known[name].digest
    ]
    files = {file.name: file for file in (*outside_files(deployment.lineage), *others)}
    asked = {
        DEFINITIONS,
        origin_of_webserver(deployment.lineage.webserver),
        *dependency_origins(deployment.sources),
    }
    unasked = [name for name in known if name in asked and name not in files]
    gone = [name for name in known if name not in {*saying, *files, *unasked}]
    changed: set[str] = set()
    troubled = {problem.subject for problem in store.problems.all() if problem.stage == STAGE}
    for name in troubled - {*files, *asked}:  # nobody asks these any more
        store.problems.record(name, STAGE, [])
    said, broken = _outside(store, tables, files.values(), known, troubled)
    unheard = [*unasked, *(name for name in broken if name in known)]
    for done, (name, one) in enumerate(outdated, 1):
        said.append(_origin(tables, name, one))
        if len(said) >= CHUNK or done == len(outdated):
            changed |= store.link(run_id, said, gone, lambda ids: lineage_texts(store, ids))
            said, gone = [], []
            report("reading lineage", done, len(outdated))
    if gone or said or unheard:
        changed |= store.link(run_id, said, gone, lambda ids: lineage_texts(store, ids), unheard)
    return len(changed)


def _outside(
    store: Store,
    tables: DeclaredTables,
    files: Iterable[OutsideFile],
    known: Mapping[str, Known],
    troubled: Collection[str],
) -> tuple[list[Origin], list[str]]:
    """Return what files of other tools say that are not as they were, or mean something else.

    One that cannot be read leaves what it said before, and is a problem under its name; the names
    of those come second. `troubled` are the names of those that had one.
    """
    found: list[Origin] = []
    broken: list[str] = []
    for file in files:
        before = known.get(file.name)
        if before is not None and before.digest == tables.digest_outside(
            file.stamp, before.dialect, before.names, file.within
        ):
            if file.name in troubled:  # it could not be read, and says again what it said before
                store.problems.record(file.name, STAGE, [])
            continue
        try:
            outside = file.read()
            trouble = outside.problems
            stamp = _TROUBLED if trouble else file.stamp
            found.append(origin_of(outside, file.name, stamp, tables, file.within))
        except PneumaError as error:
            trouble = (f"{error}; what it said before stays",)
            broken.append(file.name)
        except (OSError, ValueError) as error:
            trouble = (f"cannot be read: {error}; mend it, or take it out of lineage",)
            broken.append(file.name)
        causes = [Problem(file.name, STAGE, one_line(why, 500)) for why in trouble[:1]]
        store.problems.record(file.name, STAGE, causes)
        for problem in causes:
            logger.warning("%s: %s", problem.subject, problem.cause)
    return found, broken


def _origin(tables: DeclaredTables, name: str, one: Declared) -> Origin:
    names, edges, joined = tables.edges(one)
    return Origin(name, tables.digest(one, names), names, tuple(edges), joins=tuple(joined))
