"""Forks processes for each socket that comes on standard input: the other end of `fork_server`.

Loaded by its path: nothing of this project can be imported where it runs. What is forked from runs
no thread and reads nothing of a request, so that no process meets what another has left. For each
socket two are forked: one that answers, with the socket and nothing else of what is open here, and
one that kills it when the other end is closed, and says its exit code behind the answer, on a line
of its own. All are killed at the end of standard input.
"""

import os
import select
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn


def serve(answer: Callable[[socket.socket], None]) -> NoReturn:
    """Fork processes for each socket that comes, one of which answers there."""
    control = socket.socket(fileno=0)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for what is forked
    while lines := socket.recv_fds(control, 1, 1)[1]:
        if not os.fork():
            try:
                _keep(lines[0], answer)
            finally:
                os._exit(1)
        os.close(lines[0])
    os.killpg(0, signal.SIGKILL)  # a session of its own, this process included
    os._exit(0)


def _keep(line: int, answer: Callable[[socket.socket], None]) -> None:
    """Let a process answer for as long as it lives and somebody listens."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.dup2(line, 0)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    ended, held = os.pipe()
    pid = os.fork()
    if not pid:
        answer(socket.socket(fileno=0))
        os._exit(0)  # Nothing is left to be put in order, and no library may fail over that.
    os.close(held)
    watched = select.poll()
    for number in (0, ended):
        watched.register(number, 0)  # that the other end is closed is told anyway
    watched.poll()
    os.kill(pid, signal.SIGKILL)  # its number is nobody else's before it is waited for
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with suppress(OSError):
        os.write(0, b"\n%d" % code)
    os._exit(0)
