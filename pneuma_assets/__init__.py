"""Make every table of a lake or warehouse findable by asking in plain language, with Dagster.

    from pneuma_assets import open_workspace

    with open_workspace() as workspace:
        for table in workspace.ask("how much rain fell in Seattle?"):
            print(table.table_id, table.text)

Each name is imported when it is first used, so importing the package costs nothing.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

# OpenMP's threads that spin while they wait starve each other on busy cores, for 1.5 times the
# processor time. It reads this when torch is loaded: in runs of Dagster, commands and from Python.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

if TYPE_CHECKING:
    from pneuma_assets.component import PneumaComponent
    from pneuma_assets.core.answers.results import CellAnswer, NamedRows, TableAnswer
    from pneuma_assets.core.errors import (
        ConfigError,
        ModelError,
        PneumaError,
        QueryError,
        SearchIndexError,
        SourceError,
        StateError,
    )
    from pneuma_assets.core.index.base import IndexFilter, IndexInfo
    from pneuma_assets.core.relations.join_graph import JoinEdge
    from pneuma_assets.core.relations.rank_groups import GroupResult
    from pneuma_assets.core.search.results import ScoreParts, TableResult
    from pneuma_assets.core.service.ask import Answer
    from pneuma_assets.core.service.catalog_types import (
        Facets,
        Listing,
        Marked,
        SampleRows,
        SearchAnswer,
        Suggestion,
        TablePage,
    )
    from pneuma_assets.core.service.changed import Changed
    from pneuma_assets.core.service.describe import ColumnDescription
    from pneuma_assets.core.service.index_report import IndexingReport
    from pneuma_assets.core.service.joins import JudgedJoin, KnownJoin
    from pneuma_assets.core.service.lineage import LinkedTable
    from pneuma_assets.core.service.sources import SourceCheck
    from pneuma_assets.core.service.status import Status
    from pneuma_assets.core.service.usage import ConfirmedAnswer
    from pneuma_assets.core.store.documents import UserContext
    from pneuma_assets.core.store.restore import Restored
    from pneuma_assets.core.tables import DocumentKind
    from pneuma_assets.enrichment import with_narrations
    from pneuma_assets.index_run import IndexingFailedError
    from pneuma_assets.workspace import Workspace, open_workspace

__all__ = [
    "Answer",
    "CellAnswer",
    "Changed",
    "ColumnDescription",
    "ConfigError",
    "ConfirmedAnswer",
    "DocumentKind",
    "Facets",
    "GroupResult",
    "IndexFilter",
    "IndexInfo",
    "IndexingFailedError",
    "IndexingReport",
    "JoinEdge",
    "JudgedJoin",
    "KnownJoin",
    "LinkedTable",
    "Listing",
    "Marked",
    "ModelError",
    "NamedRows",
    "PneumaComponent",
    "PneumaError",
    "QueryError",
    "Restored",
    "SampleRows",
    "ScoreParts",
    "SearchAnswer",
    "SearchIndexError",
    "SourceCheck",
    "SourceError",
    "StateError",
    "Status",
    "Suggestion",
    "TableAnswer",
    "TablePage",
    "TableResult",
    "UserContext",
    "Workspace",
    "open_workspace",
    "with_narrations",
]

_MODULES = {
    "Answer": "core.service.ask",
    "CellAnswer": "core.answers.results",
    "Changed": "core.service.changed",
    "ColumnDescription": "core.service.describe",
    "ConfirmedAnswer": "core.service.usage",
    "DocumentKind": "core.tables",
    "Facets": "core.service.catalog_types",
    "GroupResult": "core.relations.rank_groups",
    "IndexFilter": "core.index.base",
    "IndexInfo": "core.index.base",
    "IndexingFailedError": "index_run",
    "IndexingReport": "core.service.index_report",
    "JoinEdge": "core.relations.join_graph",
    "JudgedJoin": "core.service.joins",
    "KnownJoin": "core.service.joins",
    "LinkedTable": "core.service.lineage",
    "Listing": "core.service.catalog_types",
    "Marked": "core.service.catalog_types",
    "NamedRows": "core.answers.results",
    "PneumaComponent": "component",
    "Restored": "core.store.restore",
    "SampleRows": "core.service.catalog_types",
    "ScoreParts": "core.search.results",
    "SearchAnswer": "core.service.catalog_types",
    "SourceCheck": "core.service.sources",
    "Status": "core.service.status",
    "Suggestion": "core.service.catalog_types",
    "TableAnswer": "core.answers.results",
    "TablePage": "core.service.catalog_types",
    "TableResult": "core.search.results",
    "UserContext": "core.store.documents",
    "Workspace": "workspace",
    "open_workspace": "workspace",
    "with_narrations": "enrichment",
}
"""Where the names are defined that are not errors of `core.errors`."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES.get(name, 'core.errors')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
