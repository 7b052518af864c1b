"""Opens SQLite files of others without a trace: nothing is written to them, or beside them.

Whoever opens a file with a write-ahead log makes an index of the log beside both, and marks there
what it reads.
"""

import shutil
from pathlib import Path


def read_only(file: Path, content: Path, scratch: Path) -> tuple[Path, str]:
    """Return what to open in the place of a file, and the options of its URI.

    Rows that wait in its log are read: by the index of a writer that has it open or was killed, or
    where there is none by one of a copy. A file without rows in a log is read as it is; should a
    writer begin now, its version changes, and it is read again.

    Args:
        file: By its own name, beside which its log lies.
        content: By a name that leads nowhere else whatever takes the file's place.
        scratch: A folder for the copy.

    Raises:
        OSError: It cannot be copied.
    """
    log, index = (file.with_name(f"{file.name}{end}") for end in ("-wal", "-shm"))
    if log.exists() and index.exists():
        return file, "mode=ro&readonly_shm=1"
    if not log.exists() or not log.stat().st_size:
        return file, "mode=ro&immutable=1"
    copy = scratch / "copy.sqlite"
    shutil.copyfile(content, copy)
    shutil.copyfile(log, f"{copy}-wal", follow_symlinks=False)  # SQLite takes no link for a log
    return copy, "mode=ro"
