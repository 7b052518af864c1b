"""Opens SQLite files of others without a trace: nothing is written to them, or beside them.

Whoever opens a file with a write-ahead log makes an index of the log beside both, and marks there
what it reads.
"""

import shutil
from pathlib import Path

from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources.bounds import limits
from pneuma_assets.core.sqlite_codes import read_options_of


def read_only(file: Path, content: Path, scratch: Path) -> tuple[Path, str]:
    """Return what to open in the place of a file, and the options of its URI.

    Rows in a log without an index are read in a copy. Should a writer begin now, the file's version
    changes, and it is read again.

    Args:
        file: By its own name, beside which its log lies.
        content: By a name that leads nowhere else whatever takes the file's place.
        scratch: A folder for the copy.

    Raises:
        OSError: It cannot be copied.
        TableReadError: The copy would take more room than temporary files may.
    """
    if (options := read_options_of(file)) is not None:
        return file, options
    copy, log = scratch / "copy.sqlite", file.with_name(f"{file.name}-wal")
    if content.stat().st_size + log.stat().st_size > limits().temporary_gigabytes * 10**9:
        raise TableReadError(
            "to copy it with its log takes too much room; close it in the program that writes it, "
            "or raise limits.temporary_gigabytes in the deployment file"
        )
    shutil.copyfile(content, copy)
    shutil.copyfile(log, f"{copy}-wal", follow_symlinks=False)  # SQLite takes no link for a log
    return copy, "mode=ro"
