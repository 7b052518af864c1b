"""The process from which workers are forked: started by `core.worker.handle`, once for each kind.

Run as `python -P -B -m MODULE ENTRY`, ENTRY being a module with a function `answer`, which takes a
socket. It loads that module and what that imports, runs no thread and reads nothing of a request,
so that no worker meets what another has left. For each two sockets that come on its standard input
it forks two processes: one that answers on the first, with nothing else of what is open, and a
keeper that kills it when the other end of the second is closed, and tells its exit code there. At
the end of standard input all are killed, and the folders that came with the sockets removed. What a
worker says on standard error goes to the file `stderr` in its folder; without a folder, nowhere.
"""

import fcntl
import os
import select
import shutil
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path

Answer = Callable[[socket.socket], None]

_MOST_PATH = 4096
_LINE, _KEPT = 3, 4
"""Numbers of the two sockets. Before them, what is forked has input that is empty, and output that
leads nowhere, or to a file in its folder: what it starts itself must not get the sockets."""


def main() -> None:
    """Fork workers for the sockets that come."""
    answer: Answer = import_module(sys.argv[1]).answer
    control = socket.socket(fileno=os.dup(0))
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 2):  # what keeps the module from loading was said before
        os.dup2(nowhere, number)
    folders: dict[int, Path] = {}

    def ended(*_: object) -> None:
        """Take note of keepers that have ended: their time counts as that of whoever asked."""
        with suppress(ChildProcessError):
            while pid := os.waitpid(-1, os.WNOHANG)[0]:
                folders.pop(pid, None)

    signal.signal(signal.SIGCHLD, ended)
    while True:
        said, given, _, _ = socket.recv_fds(control, _MOST_PATH, 2)
        if not given:
            break
        folder = Path(os.fsdecode(said))
        with suppress(OSError):  # no process to spare: whoever asked sees that nobody answers
            if pid := os.fork():
                folders[pid] = folder
            else:
                try:
                    line, kept = given
                    _keep(answer, line, kept, folder)
                finally:
                    os._exit(1)
        for number in given:
            os.close(number)
    here, there = socket.socketpair()
    if not os.fork():
        here.close()
        os.setsid()  # or it were killed, too
        there.send(b".")
        there.recv(1)  # until the other one is killed
        for one in filter(Path.is_absolute, folders.values()):
            shutil.rmtree(one, ignore_errors=True)
        os._exit(0)
    here.recv(1)
    os.killpg(0, signal.SIGKILL)  # a session of its own, this process included


def _keep(answer: Answer, line: int, kept: int, folder: Path) -> None:
    """Let a worker answer for as long as it lives and somebody holds the other socket."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    # Beyond both numbers, so that neither is overwritten.
    line, kept = (fcntl.fcntl(one, fcntl.F_DUPFD, _KEPT + 1) for one in (line, kept))
    os.dup2(line, _LINE, inheritable=False)
    os.dup2(kept, _KEPT, inheritable=False)
    os.closerange(_KEPT + 1, os.sysconf("SC_OPEN_MAX"))
    ended, held = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(_KEPT)
        os.close(ended)
        says = folder / "stderr" if folder.is_absolute() else os.devnull
        os.dup2(os.open(says, os.O_WRONLY | os.O_CREAT), 2)
        try:
            answer(socket.socket(fileno=_LINE))
        except BaseException:  # noqa: BLE001 (whoever asked reads it where there is a folder)
            traceback.print_exc()
            os._exit(1)
        os._exit(0)  # Nothing is left to be put in order, and no library may fail over that.
    os.close(held)
    os.close(_LINE)
    watched = select.poll()
    for number in (_KEPT, ended):
        watched.register(number, select.POLLIN)  # nothing is ever written: it is closed
    watched.poll()
    os.kill(pid, signal.SIGKILL)  # its number is nobody else's before it is waited for
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with suppress(OSError):
        os.write(_KEPT, b"%d\n" % code)
    os._exit(0)


if __name__ == "__main__":
    main()
