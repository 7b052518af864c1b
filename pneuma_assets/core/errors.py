"""The one tree of exceptions. Every message says what went wrong and what to do about it."""

from typing import Self


class PneumaError(Exception):
    """Base of every error this project raises on purpose; a command line prints it as one line."""

    unquoted: str = ""
    """What it says where cells are hidden: the cause and what to do about it, in no other program's
    words, which may quote one. Empty where nobody knows such words."""

    def saying(self, unquoted: str) -> Self:
        """Return it with what it says where cells are hidden."""
        self.unquoted = unquoted
        return self

    elsewhere: str = ""
    """What it says through a server: without folders, and without commands for who runs it. Empty
    where it says the same."""

    def saying_elsewhere(self, elsewhere: str) -> Self:
        """Return it with what it says through a server."""
        self.elsewhere = elsewhere
        return self

    @property
    def told(self) -> str:
        """What a server tells who asks."""
        return self.elsewhere or str(self)


class ConfigError(PneumaError):
    """A deployment file or option is wrong; the message names the key and the remedy."""


class SecretMissingError(ConfigError):
    """A variable that the deployment file names as holding a secret is not set."""


class SourceError(PneumaError):
    """A whole source cannot be listed (missing folder, unreachable S3, locked database)."""


class TableReadError(PneumaError):
    """One table cannot be read; recorded as that table's problem, the others go on."""


class AccessRefusedError(TableReadError):
    """A table may not be read (any more); what was indexed of it is taken back."""


class TableTooSlowError(TableReadError):
    """Reading a table took longer than it may; it rests, also when it changes."""


class TableChangedError(TableReadError):
    """A table has not the columns any more that it was indexed with; index it again."""


class ModelError(PneumaError):
    """A language model or encoder is missing, cannot be loaded, or failed beyond retry."""


class OutOfMemoryError(ModelError):
    """The model ran out of memory even at batch size one."""


class StateError(PneumaError):
    """The project's own store is unreadable, of another format, or locked for too long."""


class StateDamagedError(StateError):
    """The project's own store is damaged; `pneuma-assets restore` goes on from its backup."""


class SearchIndexError(PneumaError):
    """The search index cannot be opened, read or written."""


class EvidenceRefusedError(SearchIndexError):
    """An engine does not take the evidence of one table, and has not changed that table.

    Args:
        table_id: The table.
        message: Why, and what to do.
    """

    def __init__(self, table_id: str, message: str) -> None:
        super().__init__(message)
        self.table_id = table_id


class IndexDamagedError(SearchIndexError):
    """The index's files are damaged or not an index; a rebuild makes them anew."""


class IndexBusyError(SearchIndexError):
    """The index is being copied and takes no changes until that ends."""


class IndexMismatchError(SearchIndexError):
    """The index was built with another encoder, dimension or analyzer than the one configured."""


class QueryError(PneumaError):
    """A question or its options (k, n, alpha, filters) are out of range."""


class SqlRefusedError(PneumaError):
    """A statement that a model wrote is not run, for it may do what none may, or reads what is not.

    Args:
        guard: Which guard refuses it (`core.answers.statements.Guard`, docs/answers.md).
        message: What is wrong, so that a person or a model can write another statement.
    """

    def __init__(self, guard: str, message: str) -> None:
        super().__init__(message)
        self.guard = guard


class SqlFailedError(PneumaError):
    """A statement does not run: the engine says why, so that another one can be written."""


class SqlStoppedError(SqlFailedError):
    """A statement was ended at a bound of time, memory or size."""


class SqlEmptyError(SqlFailedError):
    """A statement runs and gives no row, or no value, so that nothing can be told from it."""


class BenchmarkError(PneumaError):
    """Tables or questions of a benchmark cannot be read; the message names file and line."""


class BusyError(PneumaError):
    """More asks at once than may wait; the same may be asked again."""


class TooSlowError(PneumaError):
    """What took too long was given up."""
