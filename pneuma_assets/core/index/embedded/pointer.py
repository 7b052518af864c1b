"""Which build of an embedded index is searched, and which takes its place: the file `CURRENT`.

Each build is a folder beside it, whose name is never used again. The pointer is replaced as one
act, under a lock that ends with the process that holds it; what it does not name is then removed.
Readers that have a removed build open go on with it until they look at the pointer again.
"""

import json
import re
import shutil
import uuid
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

from filelock import FileLock, Timeout

from pneuma_assets.core.atomic_write import replace_file
from pneuma_assets.core.errors import IndexMismatchError, SearchIndexError
from pneuma_assets.core.index.embedded.file import FILE_NAME, damaged, make_file, reading_rows
from pneuma_assets.core.index.identity import Identity, OtherIdentityError

POINTER, _LOCK = "CURRENT", "LOCK"
_LOCK_TIMEOUT_S = 600.0
"""For one who reads all of an index before another is built beside it; a dead one holds no lock."""
Name = TypeVar("Name", bound=str | None)
Result = TypeVar("Result")
_BUILD = re.compile(r"[0-9a-f]{32}")
_OURS = re.compile(rf"{_BUILD.pattern}(\.removed)?")


@dataclass(frozen=True, slots=True)
class Pointer:
    """The build that is searched, and that which is built or `copying` to take its place."""

    current: str
    successor: str | None = None
    copying: bool = False

    @property
    def written(self) -> str:
        """The build that indexing writes."""
        return self.current if self.successor is None or self.copying else self.successor


def read_pointer(folder: Path) -> Pointer | None:
    """Return the pointer of an index; None if there is no index.

    Raises:
        IndexDamagedError: It is not as it was written.
        SearchIndexError: It cannot be read.
    """
    try:
        text = (folder / POINTER).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise SearchIndexError(
            f"The search index {folder} cannot be read ({error.strerror}); let this user read it."
        ) from error
    with reading_rows(f"its file {POINTER}"):
        return _checked(**json.loads(text))


def look_at(named: Callable[[], Name], look: Callable[[Name], Result]) -> Result:
    """Return what `look` says of the build named; of the next one if it is removed meanwhile."""
    while True:
        build = named()
        try:
            return look(build)
        except OtherIdentityError:
            raise
        except IndexMismatchError as error:
            if build == named():
                raise damaged(f"its build {build} is gone") from error


def _checked(current: object, successor: object, copying: object) -> Pointer:
    names = [current] if successor is None else [current, successor]
    if not isinstance(copying, bool) or not all(_BUILD.fullmatch(str(one)) for one in names):
        raise ValueError("these are no builds")
    return Pointer(str(current), None if successor is None else str(successor), copying)


@contextmanager
def changing(folder: Path) -> Iterator[None]:
    """Hold the lock under which the pointer is changed; a folder that is missing is made.

    Raises:
        SearchIndexError: Another process holds it, or the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / _LOCK, timeout=_LOCK_TIMEOUT_S):
            yield
    except Timeout as error:
        raise SearchIndexError(
            f"Another process is changing the search index {folder}; try again when it is done."
        ) from error
    except OSError as error:
        raise SearchIndexError(
            f"The search index {folder} cannot be written ({error.strerror}): let this user write "
            "there, free some space on its disk, or choose another folder with --home."
        ) from error


def point(folder: Path, pointer: Pointer) -> None:
    """Replace the pointer, and remove all builds that it does not name; holding the lock."""
    replace_file(folder / POINTER, json.dumps(asdict(pointer)).encode())
    clear(folder, {pointer.current, pointer.successor})


def discard(folder: Path) -> None:
    """Remove an index, whatever its state; holding the lock."""
    (folder / POINTER).unlink(missing_ok=True)
    clear(folder, ())


def clear(folder: Path, kept: Container[str | None]) -> None:
    """Remove all builds but those of these names; holding the lock. What stays goes next time."""
    for path in folder.iterdir():
        if path.is_dir() and path.name not in kept and _OURS.fullmatch(path.name):
            removed = path.rename(path.with_suffix(".removed"))  # so that nobody opens a part of it
            shutil.rmtree(removed, ignore_errors=True)


def new_build(folder: Path, identity: Identity) -> str:
    """Make a build without tables, and return its name; holding the lock.

    A kill before the pointer names it leaves a folder that the next change removes.
    """
    made = folder / uuid.uuid4().hex
    made.mkdir()
    make_file(made / FILE_NAME, identity)
    return made.name
