"""The process from which workers are forked: started by `core.worker.handle`, once for each kind.

Run as `python -P -B -m MODULE ENTRY`, ENTRY being a module with a function `answer`, which takes a
socket. It loads that module and what that imports, runs no thread and reads nothing of a request,
so that no worker meets what another has left. For each two sockets that come on its standard input
it forks two processes: one that answers on the first, with nothing else of what is open, and a
keeper that kills it when the other end of the second is closed, and tells its exit code there. At
the end of standard input all are killed, and the folders that came with the sockets removed.
"""

import os
import select
import shutil
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module

Answer = Callable[[socket.socket], None]

_MOST_PATH = 4096
_LINE, _KEPT = 0, 3
"""Numbers of the two sockets; between them are standard output and error, which lead nowhere."""


def main() -> None:
    """Fork workers for the sockets that come."""
    answer: Answer = import_module(sys.argv[1]).answer
    control = socket.socket(fileno=0)
    signal.signal(signal.SIGCHLD, _wait)
    folders = set()
    while True:
        folder, given, _, _ = socket.recv_fds(control, _MOST_PATH, 2)
        if not given:
            break
        folders.add(folder)
        with suppress(OSError):  # no process to spare: whoever asked sees that nobody answers
            if not os.fork():
                try:
                    line, kept = given
                    _keep(answer, line, kept)
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
        for one in folders:
            shutil.rmtree(one, ignore_errors=True)
        os._exit(0)
    here.recv(1)
    os.killpg(0, signal.SIGKILL)  # a session of its own, this process included


def _wait(*_: object) -> None:
    """Take note of keepers that have ended, so that their time counts as that of whoever asked."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _keep(answer: Answer, line: int, kept: int) -> None:
    """Let a worker answer for as long as it lives and somebody holds the other socket."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    kept = os.dup(kept)  # it may have the number that comes first
    os.dup2(line, _LINE)
    os.dup2(kept, _KEPT)
    os.closerange(_KEPT + 1, os.sysconf("SC_OPEN_MAX"))
    ended, held = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(_KEPT)
        os.close(ended)
        answer(socket.socket(fileno=_LINE))
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
