"""How much the reading of one table may take; whoever reads says here how much there is to read.

Time is kept by `reader_handle`, from outside the process that reads: DuckDB cannot be interrupted
while it sniffs a line of fifty million commas or computes one cell of a view.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pneuma_assets.core.config.small_sections import LimitsConfig
from pneuma_assets.core.errors import TableReadError

MAX_COLUMNS = 10_000
"""Most columns of one table."""

MAX_TABLES = 1_000
"""Most tables of one file among others: a small one can list as many as it likes."""

SMALLEST_FILE = 4_000_000
"""A file counts as that many bytes at least: to open one takes time, too, above all far away."""

_MOST_BYTES = 1 << 60


@dataclass(slots=True)
class _Bounds:
    """What is in force in this process."""

    limits: LimitsConfig
    tell: Callable[[int], None] | None = None


_in_force = _Bounds(LimitsConfig())


def use(limits: LimitsConfig, tell: Callable[[int], None] | None = None) -> None:
    """Put limits in force in this process; `tell` hears of the bytes there are to read."""
    _in_force.limits = limits
    _in_force.tell = tell


def limits() -> LimitsConfig:
    """Return the limits in force."""
    return _in_force.limits


def reading(size: int) -> None:
    """Say that so many more bytes are about to be read: they grant more time."""
    if _in_force.tell is not None:
        _in_force.tell(min(max(0, size), _MOST_BYTES))  # catalogues say what they like


def reading_file(path: Path) -> None:
    """Say that a file is about to be read, by its blocks on the disk: holes grant no time."""
    try:
        size = path.stat().st_blocks * 512
    except OSError:
        size = 0  # Far away, or gone; then reading it says so.
    reading(max(size, SMALLEST_FILE))


def check_width(columns: int) -> None:
    """Refuse a table of too many columns before anything is asked of each.

    Raises:
        TableReadError: There are more than the limits allow.
    """
    if columns > MAX_COLUMNS:
        raise TableReadError(
            f"it has {columns:,} columns, more than {MAX_COLUMNS:,}; turn columns "
            "into rows, or exclude it"
        )
