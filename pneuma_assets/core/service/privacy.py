"""What rules of privacy do, for people to see: what they hide, and what they do not hide yet."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.sections import PrivacyConfig
from pneuma_assets.core.pipeline.profile import rules_that_changed
from pneuma_assets.core.sources.privacy.rules import Rules
from pneuma_assets.core.tables import Table, source_of

if TYPE_CHECKING:
    from pneuma_assets.core.store import Store

_NAME_HIDDEN = re.compile(r"hidden_\d+_*")
_PATTERNS = ("hidden_columns", "hidden_tags")


@dataclass(frozen=True)  # no slots: it caches
class _Pattern:
    """One pattern of a deployment's rules: the key it stands under, and the sources it is for."""

    where: str
    key: str
    text: str
    sources: Collection[str]

    def matches(self, table: Table) -> bool:
        """Tell whether it means a column of a table; one whose name is hidden may be meant."""
        if source_of(table.table_id) not in self.sources:
            return False
        nameless = any(one.hidden and _NAME_HIDDEN.fullmatch(one.name) for one in table.columns)
        return nameless or bool(self._alone.hidden(table.table_id, table.columns))

    @cached_property
    def _alone(self) -> Rules:
        return Rules(PrivacyConfig.model_validate({self.key: (self.text,)}))


def privacy_notices(store: "Store", deployment: Deployment) -> list[str]:
    """Return what the status says of rules: nothing where there are none and were none."""
    rules = {one.name: Rules(one.privacy) for one in deployment.sources}
    listed = store.tables.listed()
    known = set(map(source_of, listed))
    changed = [name for name in rules_that_changed(store, rules) if name in known]
    said = []
    if changed:
        said.append(
            f"privacy: the rules of {', '.join(changed)} have changed; they are in force after the "
            "next run, and until then what was read by the old ones can be found: "
            "run pneuma-assets index"
        )
    ruled = {name for name, one in rules.items() if one.hide_anything}
    tables = hidden = of_tables = 0
    idle = list(_patterns(deployment)) if ruled else []
    for table in store.tables.profiles(one for one in listed if source_of(one) in ruled):
        columns = sum(column.hidden for column in table.columns)
        tables, hidden, of_tables = tables + 1, hidden + columns, of_tables + bool(columns)
        idle = [one for one in idle if not one.matches(table)]
    if not tables:
        return said
    said.append(f"privacy: {hidden:,} columns of {of_tables:,} tables are hidden")
    return said + [
        f"{one.where}.{one.key}: {one.text!r} means no column of any table that was read; "
        "correct or remove it"
        for one in idle
    ]


def _patterns(deployment: Deployment) -> Iterator[_Pattern]:
    """Yield those of all sources, and of each source those it adds."""
    everywhere = deployment.privacy
    names = [one.name for one in deployment.sources]
    for key in _PATTERNS:
        of_all = getattr(everywhere, key)
        yield from (_Pattern("privacy", key, text, names) for text in of_all)
        for source in deployment.sources:
            own = [text for text in getattr(source.privacy, key) if text not in of_all]
            where = f"privacy of {source.name}"
            yield from (_Pattern(where, key, text, [source.name]) for text in own)
