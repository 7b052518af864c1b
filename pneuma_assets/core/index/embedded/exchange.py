"""Two folders that change places in one act, so that neither name ever leads nowhere."""

import ctypes
import errno
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_UNABLE = frozenset({errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EXDEV})
"""What a kernel or a file system says that cannot do it."""


def exchange(one: Path, other: Path) -> bool:
    """Let two folders change places; False, and nothing done, where the system cannot.

    `renameat2(2)` with `RENAME_EXCHANGE`: Linux, on ext4, xfs, btrfs and tmpfs among others.

    Raises:
        OSError: It can, but not these two; one of them may be missing.
    """
    rename = _renameat2()
    if rename is None:
        return False
    paths = os.fsencode(one), os.fsencode(other)
    if rename(_AT_FDCWD, paths[0], _AT_FDCWD, paths[1], _RENAME_EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in _UNABLE:
        return False
    raise OSError(number, os.strerror(number), str(one), None, str(other))


@cache
def _renameat2() -> Callable[..., int] | None:
    """Return the C library's function; Python has none for it."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        function = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):  # another C library, or one older than 2018
        return None
    path = ctypes.c_char_p
    function.argtypes = (ctypes.c_int, path, ctypes.c_int, path, ctypes.c_uint)
    function.restype = ctypes.c_int
    found: Callable[..., int] = function
    return found
