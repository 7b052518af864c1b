"""What rules of privacy do, for people to see: what they hide, and what they do not hide yet."""

import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.small_sections import PrivacyConfig
from pneuma_assets.core.pipeline.profile import rules_that_changed
from pneuma_assets.core.sources.privacy.rules import Rules
from pneuma_assets.core.tables import source_of

if TYPE_CHECKING:
    from pneuma_assets.core.store import Store

_NAME_HIDDEN = re.compile(r"hidden_\d+_*")


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
    idle = list(_patterns(deployment)) if ruled else []
    tables = hidden = of_tables = 0
    for table in store.tables.profiles(one for one in listed if source_of(one) in ruled):
        concealed = [column.name for column in table.columns if column.hidden]
        tables, hidden, of_tables = tables + 1, hidden + len(concealed), of_tables + bool(concealed)
        if any(map(_NAME_HIDDEN.fullmatch, concealed)):  # any pattern may mean it
            idle = [one for one in idle if source_of(table.table_id) not in one[2]]
        else:
            idle = [
                (told, alone, sources)
                for told, alone, sources in idle
                if source_of(table.table_id) not in sources
                or not alone.hidden(table.table_id, table.columns)
            ]
    if not tables:
        return said
    said.append(f"privacy: {hidden:,} columns of {of_tables:,} tables are hidden")
    return said + [
        f"{told} means no column of any table that was read; correct or remove it"
        for told, _, _ in idle
    ]


def _patterns(deployment: Deployment) -> Iterator[tuple[str, Rules, Collection[str]]]:
    """Yield each pattern by its key and text, as a rule of its own, with the sources it is for.

    First those of all sources, then of each source those that it adds.
    """
    names = [one.name for one in deployment.sources]
    for key in ("hidden_columns", "hidden_tags"):
        of_all = getattr(deployment.privacy, key)
        stated = [("privacy", text, names) for text in of_all]
        for source in deployment.sources:
            own = [text for text in getattr(source.privacy, key) if text not in of_all]
            stated += [(f"privacy of {source.name}", text, [source.name]) for text in own]
        for where, text, sources in stated:
            alone = Rules(PrivacyConfig.model_validate({key: (text,)}))
            yield f"{where}.{key}: {text!r}", alone, sources
