"""What the names in a statement may mean, and how they are spelled where they are kept."""

from collections import Counter
from collections.abc import Sequence

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, traverse_scope
from sqlglot.schema import MappingSchema

from pneuma_assets.core.answers.refusing import Guard, ReadTable, refuse
from pneuma_assets.core.lineage.parsing import UnreadableSQLError, explained

TABLE, AS_IT_IS = "table", "as it is"
"""What is noted of a table of the tree: which one is meant, and that it is called by its name."""


class Vocabulary:
    """The tables that a statement may read, and its own names.

    Attributes:
        tables: They.
        postgres: Whether it is run in PostgreSQL, and not in DuckDB.
        dialect: What sqlglot calls its SQL.
        apart: Columns that differ from another of their table in capitals alone.
        columns: Of each table, as they are spelled, by how they are compared.
        schema: The same for sqlglot, by `held`.
        spelled: How other names are shown, by how they are compared.
        named: Ids of the results that the statement itself gives a name.
    """

    def __init__(self, tables: Sequence[ReadTable], dialect: str) -> None:
        self.tables, self.postgres, self.dialect = tables, dialect == "postgres", dialect
        self.named: set[int] = set()
        lower = [Counter(map(str.lower, table.columns)) for table in tables]
        self.apart = {
            name
            for table, count in zip(tables, lower, strict=True)
            for name in table.columns
            if count[name.lower()] > 1
        }
        self.columns = [{self.key(one): one for one in table.columns} for table in tables]
        self.spelled = {key: name for columns in self.columns for key, name in columns.items()}
        self.schema = MappingSchema(
            {held(at): dict.fromkeys(one, "unknown") for at, one in enumerate(self.columns)},
            dialect=dialect,
            normalize=False,
        )

    def key(self, name: str, quoted: bool = True) -> str:
        """Return how a name is compared."""
        return name if quoted and name in self.apart else name.lower()

    def shown(self, key: str) -> str:
        """Return how a name is shown that is no table's and no table's column."""
        return self.spelled.get(key, key)


def held(at: int) -> str:
    """Return what a table is called while names are looked for: no statement can say it."""
    return f"\0{at}"  # (`sizes.check_text`)


def scopes_of(tree: exp.Expr) -> list[Scope]:
    """Return the queries of a statement, those within others first.

    Raises:
        SqlRefusedError: It is not understood.
    """
    try:
        with explained():
            return traverse_scope(tree)
    except UnreadableSQLError as error:
        refuse(Guard.PARSER, f"it cannot be understood: {error}; write a simpler one")
