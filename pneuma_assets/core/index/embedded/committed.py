"""A note beside the embedded index of the newest state that a writer has committed.

SQLite takes a damaged write-ahead log for one that a crash cut off: it opens the state before
the damage without a word, and what had been promised durable is gone. The note tells.
"""

import uuid
from contextlib import suppress
from pathlib import Path

from pneuma_assets.core.index.embedded.meta import Meta
from pneuma_assets.core.index.embedded.sums import damaged

NAME = "committed"


def note_committed(folder: Path, index_id: str, generation: int) -> None:
    """Note a state that has become durable; of two writers' notes either may remain.

    A process that is killed before leaves an older note, which is as good.
    """
    fresh = folder / f"{NAME}.{uuid.uuid4().hex}"
    try:
        fresh.write_text(f"{index_id} {generation}\n", encoding="ascii")
        fresh.replace(folder / NAME)
    except OSError:  # the index itself is written; a full disk must not fail what is durable
        with suppress(OSError):
            fresh.unlink(missing_ok=True)


def read_committed(folder: Path) -> tuple[str, int] | None:
    """Return id and state of the noted index; None where there is no note.

    Read it before the index, whose state is then the noted one or newer.
    """
    try:
        index_id, generation = (folder / NAME).read_text(encoding="ascii").split()
        return index_id, int(generation)
    except (OSError, ValueError):  # a power cut may leave it empty
        return None


def check_committed(meta: Meta, noted: tuple[str, int] | None) -> None:
    """Raise `IndexDamagedError` if the index is older than the noted state of it."""
    if noted is not None and noted[0] == meta.index_id and noted[1] > meta.generation:
        raise damaged("its write-ahead log lost what was written last")
