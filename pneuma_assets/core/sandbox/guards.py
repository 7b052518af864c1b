"""What the kernel forbids a process from now on: files, network, processes, threads, memory, time.

Each guard holds by itself and for good: no privilege of the process lifts it, and every thread has
it. Landlock (Linux 5.13; the network since 6.7, signals since 6.12) denies files and ports, seccomp
denies system calls, limits bound what is left. Code in Python is never looked at: numpy alone reads
files in a dozen ways. That a file exists, and its size, can still be asked, but of no folder what
it holds.
"""

import ctypes
import os
import platform
import resource
import struct
import sys
import sysconfig
from collections.abc import Callable, Iterable, Sequence
from math import ceil
from pathlib import Path
from time import process_time

from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.worker.limits import bound_process

LEAST_ABI = 4
"""Of Landlock: the first that denies TCP."""

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION = 1
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
_FILE_RIGHTS = {4: 15, 5: 16, 6: 16, 7: 16}
"""How many rights to files an ABI knows; later ones at least as many."""
_NETWORK, _SCOPES = 0b11, 0b11
_SCOPES_SINCE = 6
_PATH_BENEATH = 1

_NO_NEW_PRIVILEGES, _SECCOMP, _SET_FILTER, _OF_ALL_THREADS = 38, 317, 1, 1 | 1 << 4
_ARCHITECTURE = 0xC000003E
_KILL, _ALLOW, _ERRNO = 0x80000000, 0x7FFF0000, 0x00050000
_EPERM = 1
_LOAD, _EQUAL, _ANY_SET, _RETURN = 0x20, 0x15, 0x45, 0x06
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16

_ALLOWED = (
    *(0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),  # read … rt_sigreturn, but open
    *(17, 19, 20, 21, 24, 25, 28, 32, 35, 39),  # pread64 … getpid
    *(60, 63, 79, 89, 96, 97, 98, 99, 102, 104, 107, 108, 110),  # exit … getppid
    *(131, 186, 202, 204, 217, 219, 228, 229, 230, 231),  # sigaltstack … exit_group
    *(262, 267, 269, 271, 273, 309, 318, 324, 332, 334, 439),  # newfstatat … faccessat2
)
"""Calls of x86-64 by which a process computes, reads files that Landlock leaves it, and ends."""
_OPEN, _FCNTL, _OPENAT, _PRLIMIT = 2, 72, 257, 302
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND | 0o20000000
"""Flags of opening that change a file, or make one; the last is O_TMPFILE's own."""
_FCNTL_COMMANDS = (1, 2, 3, 1030)
"""Read and set close-on-exec, read flags, duplicate: none sends a signal or locks."""


class SandboxUnavailableError(PneumaError):
    """This machine has not what confines a process; the message says what."""


def lock(
    seconds: int, megabytes: int, readable: Iterable[str], start_threads: Callable[[], object]
) -> None:
    """Confine this process, for good.

    Args:
        seconds: Of processor time from now on.
        megabytes: Of memory beyond what it has now.
        readable: Folders whose files it may go on to read.
        start_threads: Starts the only threads that it will have beside this one.

    Raises:
        SandboxUnavailableError: The kernel or the processor lacks a guard.
    """
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise SandboxUnavailableError("Python runs confined on Linux on x86-64 alone")
    libc = ctypes.CDLL(None, use_errno=True)
    abi = libc.syscall(_CREATE_RULESET, None, 0, _VERSION)
    if abi < LEAST_ABI:
        raise SandboxUnavailableError(
            "the kernel lacks Landlock with rules for the network (Linux 6.7, or a container's "
            "rules that let it be used)"
        )
    _limit(seconds, megabytes)
    nothing = ctypes.c_ulong(0)
    one = ctypes.c_ulong(1)
    _checked(libc.prctl(_NO_NEW_PRIVILEGES, one, nothing, nothing, nothing), "no_new_privs")
    _restrict_files(libc, abi, readable)
    start_threads()  # Landlock holds for threads that are started under it alone
    _restrict_calls(libc)


def library_folders() -> list[str]:
    """Return the folders that Python, its packages and their libraries are loaded from."""
    paths = sysconfig.get_paths()
    found = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    shared = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo")
    return sorted(one for one in {*found, *shared} if Path(one).is_dir())


def _limit(seconds: int, megabytes: int) -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    address_space = pages * resource.getpagesize() + megabytes * (1 << 20)
    limits = {
        resource.RLIMIT_AS: address_space,
        resource.RLIMIT_CPU: seconds + ceil(process_time()),
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_NOFILE: 64,
    }
    bound_process(limits)


def _restrict_files(libc: ctypes.CDLL, abi: int, readable: Iterable[str]) -> None:
    rights = (1 << _FILE_RIGHTS.get(abi, max(_FILE_RIGHTS.values()))) - 1
    rules = struct.pack("QQQ", rights, _NETWORK, _SCOPES if abi >= _SCOPES_SINCE else 0)
    size = len(rules) if abi >= _SCOPES_SINCE else 16
    ruleset = _checked(libc.syscall(_CREATE_RULESET, rules, size, 0), "Landlock")
    for folder in readable:
        descriptor = os.open(folder, os.O_PATH | os.O_CLOEXEC)
        beneath = struct.pack("=Qi", _READ_FILE | _READ_DIR, descriptor)
        _checked(libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, beneath, 0), "Landlock's rules")
        os.close(descriptor)
    _checked(libc.syscall(_RESTRICT_SELF, ruleset, 0), "Landlock")
    os.close(ruleset)


def _restrict_calls(libc: ctypes.CDLL) -> None:
    code = b"".join(struct.pack("HBBI", *one) for one in _filter())
    held = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HP", len(code) // 8, ctypes.addressof(held))
    _checked(libc.syscall(_SECCOMP, _SET_FILTER, _OF_ALL_THREADS, program), "seccomp")


_Instruction = tuple[int, int, int, int]


def _filter() -> Sequence[_Instruction]:
    """Return the program of Berkeley's packet filter that judges each system call."""
    deny = _ERRNO | _EPERM
    program: list[_Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        (_EQUAL, 1, 0, _ARCHITECTURE),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER_AT),
    ]
    for number in _ALLOWED:
        program += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ALLOW)]
    program += _when(_OPEN, 1, [(_ANY_SET, 1, 0, _WRITING), (_RETURN, 0, 0, _ALLOW)])
    program += _when(_OPENAT, 2, [(_ANY_SET, 1, 0, _WRITING), (_RETURN, 0, 0, _ALLOW)])
    program += _when(_PRLIMIT, 0, [(_EQUAL, 0, 1, 0), (_RETURN, 0, 0, _ALLOW)])
    commands = [
        part for one in _FCNTL_COMMANDS for part in ((_EQUAL, 0, 1, one), (_RETURN, 0, 0, _ALLOW))
    ]
    return [*program, *_when(_FCNTL, 1, commands), (_RETURN, 0, 0, deny)]


def _when(number: int, argument: int, allow: Sequence[_Instruction]) -> list[_Instruction]:
    """Return what denies a call unless `allow` lets it through by the low half of an argument."""
    judged = [
        (_LOAD, 0, 0, _ARGUMENTS_AT + 8 * argument),
        *allow,
        (_RETURN, 0, 0, _ERRNO | _EPERM),
    ]
    return [(_EQUAL, 0, len(judged), number), *judged]


def _checked(result: int, what: str) -> int:
    if result < 0:
        reason = os.strerror(ctypes.get_errno())
        raise SandboxUnavailableError(f"{what} cannot be used here ({reason})")
    return result
