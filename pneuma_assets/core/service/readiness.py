"""Whether there is anything to ask, and why and what to do where there is not; creates nothing."""

from typing import TYPE_CHECKING

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.config.owner import owner_of
from pneuma_assets.core.errors import ConfigError, QueryError
from pneuma_assets.core.tables import source_of

if TYPE_CHECKING:
    from pneuma_assets.core.store import Store


def check_answerable(loaded: LoadedDeployment) -> None:
    """Raise `QueryError` where there is no index to ask.

    It may come from elsewhere: kept by a cluster, or copied here.
    """
    from pneuma_assets.core.index.registry import may_have_index

    if not may_have_index(loaded.deployment.index, loaded.home):
        raise nothing_indexed(loaded)


def nothing_indexed(loaded: LoadedDeployment) -> QueryError:
    """Return the refusal to answer from an index without tables."""
    return QueryError(f"nothing is indexed in {loaded.home} yet; {how_to_index(loaded)}")


def no_table_known(loaded: LoadedDeployment) -> ConfigError:
    """Return the refusal of what is about one table, where none was ever listed."""
    return ConfigError(f"no table is known in {loaded.home} yet; {how_to_index(loaded)}")


def how_to_index(loaded: LoadedDeployment) -> str:
    """Return the command that fills an empty index."""
    owner = owner_of(loaded)
    if owner is not None:
        return f"in the project of {owner.component} run: {owner.command}"
    if loaded.deployment.sources:
        return "run: pneuma-assets index"
    return "run: pneuma-assets index FOLDER"


def why_not_indexed(store: "Store", table_id: str) -> str:
    """Return why a table that is listed is not in the index: its problem, or its source's."""
    causes = {problem.subject: problem.cause for problem in store.problems.all()}
    if table_id in causes:
        return causes[table_id]
    source = source_of(table_id)
    if source in causes:
        return f"its source {source} has a problem: {causes[source]}"
    return "it waits for the next run; run: pneuma-assets index"
