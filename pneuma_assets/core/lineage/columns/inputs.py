"""What a scope has from what it reads, be that a table or a query in a table's place."""

from collections.abc import Callable, Collection, Mapping, Sequence

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from pneuma_assets.core.lineage.columns.effort import Effort
from pneuma_assets.core.lineage.columns.expressions import Input, is_named
from pneuma_assets.core.lineage.columns.output import NOTHING, Output, Sources
from pneuma_assets.core.lineage.columns.tables import Tables

Outputs = Callable[[Scope], tuple[Sequence[Output], bool]]
"""Gives the columns of a scope, and whether these are all: a recursive one reads what it makes."""


class Inputs:
    """The columns of tables and scopes alike."""

    def __init__(self, tables: Tables, outputs: Outputs, effort: Effort) -> None:
        self._tables = tables
        self._outputs = outputs
        self._effort = effort
        self._by_scope: dict[int, dict[str, Sources]] = {}

    def sources_of(self, given: Input, name: str) -> Sources | None:
        """Return what a column comes from; None where a function makes it, of what it is given."""
        if isinstance(given, Scope):
            found = self._by_name(given).get(name)
            return None if found is None and self.is_open(given) else found or NOTHING
        return self._tables.sources_of(given, name) if is_named(given) else None

    def outputs(self, given: Input) -> Sequence[Output]:
        """Return all columns that are known."""
        return self._outputs(given)[0] if isinstance(given, Scope) else self._tables.outputs(given)

    def names_of(self, given: Input) -> Collection[str]:
        """Return the names of all columns that are known."""
        self._effort.look(1)
        return self._by_name(given) if isinstance(given, Scope) else self._tables.names_of(given)

    def has(self, given: Input, name: str) -> bool:
        """Tell whether there is a column of that name, or may be."""
        return name in self.names_of(given) or self.is_open(given)

    def is_open(self, given: Input) -> bool:
        """Tell whether there may be columns that nobody knows of."""
        if isinstance(given, Scope):
            expression = given.expression
            return isinstance(expression, exp.UDTF) and not isinstance(expression, exp.Values)
        return self._tables.is_open(given)

    def _by_name(self, scope: Scope) -> Mapping[str, Sources]:
        """Return the columns of a scope by name, of several of one name the first."""
        outputs, complete = self._outputs(scope)
        key = id(scope.expression)
        if key not in self._by_scope or not complete:
            self._effort.look(len(outputs))
            found: dict[str, Sources] = {}
            for one in outputs:
                found.setdefault(one.name, one.sources)
            if not complete:
                return found
            self._by_scope[key] = found
        return self._by_scope[key]
