"""Ways out that code may try, each with the guard that has to hold."""

LANDLOCK, SECCOMP, LIMIT = "landlock", "seccomp", "limit"

_C = "import ctypes; c = ctypes.CDLL(None, use_errno=True); "
_CALLED = "\nif r < 0: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))"


def call(number: int, *arguments: str) -> str:
    """Return code that makes a system call by its number, past every library."""
    given = "".join(f", {one}" for one in arguments)
    return f"{_C}r = c.syscall({number}{given}){_CALLED}"


ESCAPES: dict[str, tuple[str, str]] = {
    # Reading files.
    "passwords": (LANDLOCK, "open('/etc/passwd').read()"),
    "shadow": (LANDLOCK, "open('/etc/shadow').read()"),
    "list root": (LANDLOCK, "os.listdir('/')"),
    "list etc": (LANDLOCK, "os.listdir('/etc')"),
    "list home": (LANDLOCK, "os.listdir('/home')"),
    "walk temporary files": (LANDLOCK, "os.listdir('/tmp')"),
    "own environment": (LANDLOCK, "open('/proc/self/environ', 'rb').read()"),
    "environment of the parent": (LANDLOCK, "open(f'/proc/{os.getppid()}/environ', 'rb').read()"),
    "own memory": (LANDLOCK, "open('/proc/self/mem', 'rb')"),
    "memory of the parent": (LANDLOCK, "open(f'/proc/{os.getppid()}/mem', 'rb')"),
    "maps": (LANDLOCK, "open('/proc/self/maps').read()"),
    "list processes": (LANDLOCK, "os.listdir('/proc')"),
    "list descriptors": (LANDLOCK, "os.listdir('/proc/self/fd')"),
    "descriptor of the parent": (LANDLOCK, "open(f'/proc/{os.getppid()}/fd/1', 'rb')"),
    "root of the parent": (LANDLOCK, "open(f'/proc/{os.getppid()}/root/etc/passwd')"),
    "kernel": (LANDLOCK, "os.listdir('/sys/kernel')"),
    "device": (LANDLOCK, "open('/dev/zero', 'rb')"),
    "terminal": (LANDLOCK, "open('/dev/tty', 'rb')"),
    "dots": (
        LANDLOCK,
        "open(os.path.dirname(os.__file__) + '/../../../../../../../../etc/passwd')",
    ),
    "numpy text": (LANDLOCK, "numpy.genfromtxt('/etc/passwd', dtype=str)"),
    "numpy bytes": (LANDLOCK, "numpy.fromfile('/etc/passwd', 'u1')"),
    "numpy map": (LANDLOCK, "numpy.memmap('/etc/passwd', mode='r')"),
    "pandas": (LANDLOCK, "pandas.read_csv('/etc/passwd', sep=':')"),
    "arrow": (LANDLOCK, "import pyarrow.csv; pyarrow.csv.read_csv('/etc/passwd')"),
    "arrow's files": (LANDLOCK, "import pyarrow as p; p.memory_map('/etc/passwd')"),
    "pathlib": (LANDLOCK, "import pathlib; pathlib.Path('/etc/hostname').read_text()"),
    "linecache": (LANDLOCK, "import tokenize; tokenize.open('/etc/passwd')"),
    "runpy": (LANDLOCK, "import runpy; runpy.run_path('/etc/passwd')"),
    "import from elsewhere": (LANDLOCK, "os.listdir(sys.path.insert(0, '/tmp') or sys.path[0])"),
    "C library": (LANDLOCK, f"{_C}r = c.open(b'/etc/passwd', 0){_CALLED}"),
    "open by call": (LANDLOCK, call(2, "b'/etc/passwd'", "0")),
    "openat by call": (LANDLOCK, call(257, "-100", "b'/etc/passwd'", "0")),
    "openat2": (SECCOMP, call(437, "-100", "b'/etc/passwd'", "bytes(24)", "24")),
    "open by handle": (SECCOMP, call(304, "-100", "bytes(128)", "0")),
    "rings": (SECCOMP, call(425, "8", "bytes(120)")),
    "fanotify": (SECCOMP, call(300, "0", "0")),
    "inotify": (SECCOMP, call(253)),
    # Writing files.
    "write here": (SECCOMP, "open('x', 'w')"),
    "append": (SECCOMP, "open('/tmp/x', 'a')"),
    "change in place": (SECCOMP, "open(os.__file__, 'r+')"),
    "create": (SECCOMP, "os.open('x', os.O_CREAT)"),
    "file without a name": (SECCOMP, "os.open('/tmp', os.O_TMPFILE | os.O_RDWR)"),
    "temporary file": (
        SECCOMP,
        "import tempfile; tempfile._get_default_tempdir = lambda: '/tmp'; tempfile.TemporaryFile()",
    ),
    "file in memory": (SECCOMP, "os.memfd_create('x')"),
    "folder": (SECCOMP, "os.mkdir('x')"),
    "remove": (SECCOMP, "os.unlink(os.__file__)"),
    "remove folder": (SECCOMP, "os.rmdir('/tmp')"),
    "rename": (SECCOMP, "os.rename(os.__file__, 'x')"),
    "symbolic link": (SECCOMP, "os.symlink('/etc/passwd', 'x')"),
    "hard link": (SECCOMP, "os.link('/etc/passwd', 'x')"),
    "rights": (SECCOMP, "os.chmod(os.__file__, 0o777)"),
    "owner": (SECCOMP, "os.chown(os.__file__, 1, 1)"),
    "times": (SECCOMP, "os.utime(os.__file__)"),
    "truncate": (SECCOMP, "os.truncate(os.__file__, 0)"),
    "pipe with a name": (SECCOMP, "os.mkfifo('x')"),
    "attribute": (SECCOMP, "os.setxattr(os.__file__, 'user.x', b'x')"),
    "pandas writes": (SECCOMP, "pandas.DataFrame({'a': [1]}).to_csv('/tmp/x')"),
    "numpy writes": (SECCOMP, "numpy.save('/tmp/x', numpy.ones(3))"),
    # The network.
    "IPv4": (SECCOMP, "socket.socket()"),
    "IPv6": (SECCOMP, "socket.socket(socket.AF_INET6)"),
    "datagrams": (SECCOMP, "socket.socket(type=socket.SOCK_DGRAM)"),
    "raw": (SECCOMP, "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)"),
    "Unix socket": (SECCOMP, "socket.socket(socket.AF_UNIX)"),
    "netlink": (SECCOMP, "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)"),
    "pair": (SECCOMP, "socket.socketpair()"),
    "web": (SECCOMP, "import urllib.request; urllib.request.urlopen('http://127.0.0.1:9')"),
    "pandas by web": (SECCOMP, "pandas.read_csv('http://127.0.0.1:9/x.csv')"),
    # Processes and signals.
    "fork": (SECCOMP, "os.fork()"),
    "run": (SECCOMP, "subprocess.run(['true'])"),
    "spawn": (SECCOMP, "os.posix_spawn('/bin/true', ['true'], {})"),
    "execute": (SECCOMP, "os.execv('/bin/true', ['true'])"),
    "execute a descriptor": (SECCOMP, call(322, "0", "b''", "0", "0", "0x1000")),
    "clone": (SECCOMP, call(56, "17", "0", "0", "0", "0")),
    "vfork": (SECCOMP, call(58)),
    "thread by call": (SECCOMP, call(435, "bytes(88)", "88")),
    "multiprocessing": (
        SECCOMP,
        "import multiprocessing as m; m.get_context('fork').Process().start()",
    ),
    "signal to the parent": (SECCOMP, "os.kill(os.getppid(), 0)"),
    "signal to all": (SECCOMP, "os.kill(-1, 0)"),
    "signal to a thread": (SECCOMP, call(234, "os.getppid()", "os.getppid()", "0")),
    "signal by a descriptor": (SECCOMP, "os.pidfd_open(os.getppid())"),
    "signal by ownership": (SECCOMP, "import fcntl; fcntl.fcntl(0, fcntl.F_SETOWN, os.getppid())"),
    "trace": (SECCOMP, call(101, "16", "os.getppid()", "0", "0")),
    "memory of another": (SECCOMP, call(310, "os.getppid()", "0", "0", "0", "0", "0")),
    "limits of another": (
        SECCOMP,
        "import resource as r; r.prlimit(os.getppid(), r.RLIMIT_NOFILE)",
    ),
    "priority": (SECCOMP, "os.nice(-5)"),
    "alarm": (SECCOMP, "signal.setitimer(signal.ITIMER_REAL, 1)"),
    # Privileges and the kernel.
    "another user": (SECCOMP, "os.setuid(1)"),
    "another root": (SECCOMP, "os.chroot('/tmp')"),
    "another folder": (SECCOMP, "os.chdir('/')"),
    "namespaces": (SECCOMP, call(272, "0x10000000")),
    "mount": (SECCOMP, call(165, "b'x'", "b'/tmp'", "b'tmpfs'", "0", "0")),
    "another filter": (SECCOMP, call(317, "1", "0", "0")),
    "process settings": (SECCOMP, call(157, "15", "b'x'")),
    "programs in the kernel": (SECCOMP, call(321, "0", "bytes(64)", "64")),
    "performance counters": (SECCOMP, call(298, "bytes(120)", "0", "-1", "-1", "0")),
    "keys": (SECCOMP, call(250, "0", "-3", "0")),
    "page faults": (SECCOMP, call(323, "0")),
    "terminal commands": (SECCOMP, call(16, "0", "0x5412", "b'x'")),
    # Descriptors, memory, limits.
    "descriptors": (LIMIT, "x = [os.dup(0) for _ in range(100)]"),
    "more descriptors": (LIMIT, "import resource as r; r.setrlimit(r.RLIMIT_NOFILE, (999, 999))"),
    "more memory": (LIMIT, "import resource as r; r.setrlimit(r.RLIMIT_AS, (-1, -1))"),
    "more time": (LIMIT, "import resource as r; r.setrlimit(r.RLIMIT_CPU, (-1, -1))"),
    "memory": (LIMIT, "bytearray(10**10)"),
    "memory of numpy": (LIMIT, "numpy.ones(10**9)"),
    "memory by mapping": (LIMIT, "import mmap; mmap.mmap(-1, 10**10)"),
}
"""By name: the guard, and the code, which has `os`, `sys`, `socket`, `subprocess`, `signal`,
`numpy` and `pandas`."""

ENDS: dict[str, tuple[str, str]] = {
    "loop": ("while True: pass", "did not end within 1 seconds"),
    "sleep": ("import time; time.sleep(99)", "did not end within 1 seconds"),
    "expression": ("import re; re.match('(a+)+b', 'a' * 40)", "did not end within 1 seconds"),
    "caught end of time": (
        "import signal\nfor s in range(1, 32):\n  try: signal.signal(s, lambda *_: None)\n"
        "  except (OSError, ValueError): pass\nwhile True: pass",
        "did not end within 1 seconds",
    ),
    "crash": ("import ctypes; ctypes.string_at(0)", "crashed"),
    "early end": ("import os; os._exit(0)", "ended its process"),
    "forged answer": (
        "import os\nfor d in range(3, 64):\n  try: os.write(d, b'\\xff' * 99)\n"
        "  except OSError: pass\nos._exit(0)",
        "header has more",
    ),
    "bomb": (
        "import json, os, pandas, pyarrow as pa\n"
        "sink = pa.BufferOutputStream()\n"
        "table = pa.table({'a': pa.array([0] * 10**6)})\n"
        "options = pa.ipc.IpcWriteOptions(compression='zstd', use_threads=False)\n"
        "with pa.ipc.new_stream(sink, table.schema, options=options) as w: w.write_table(table)\n"
        "data = sink.getvalue().to_pybytes()\n"
        "head = json.dumps({'header': {}, 'tables': [['a', len(data)]]}).encode()\n"
        "message = len(head).to_bytes(8, 'big') + head + data\n"
        "for d in range(3, 64):\n"
        "  try:\n"
        "    left = message\n"
        "    while left: left = left[os.write(d, left):]\n"
        "  except OSError: pass\n"
        "os._exit(0)",
        "is compressed",
    ),
    "runs": (
        "import pyarrow as pa\n"
        "runs = pa.RunEndEncodedArray.from_arrays(pa.array([2**31 - 1], pa.int32()), ['x'])\n"
        "result = pa.table({'a': runs})",
        "column of run_end_encoded",
    ),
    "nested": ("import pyarrow as pa; result = pa.table({'a': [[1], [2, 3]]})", "column of list<"),
    "large result": (
        "import numpy, pandas; result = pandas.DataFrame({'a': numpy.ones(10**6)})",
        "tables have more than 1,000,000 bytes",
    ),
    "unknown object": ("class X: pass\nresult = X()", "result must be a DataFrame"),
    "objects in cells": (
        "import pandas; result = pandas.DataFrame({'a': [object(), object()]})",
        "ArrowInvalid",
    ),
}
"""By name: the code, and what is said of its end."""
