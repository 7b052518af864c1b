"""A real MariaDB for tests, started on this machine; where none is installed, its tests skip."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pymysql
import pytest

from tests.support.postgresql_process import free_port
from tests.support.waiting import LONGEST, wait_until

_LEAST = (
    *("--no-defaults", "--innodb-buffer-pool-size=32M", "--innodb-flush-log-at-trx-commit=0"),
    *("--innodb-flush-method=nosync", "--sync-frm=0", "--aria-log-file-size=8M"),
)


@pytest.fixture(scope="session")
def mariadb_port() -> Iterator[int]:
    """The port of a server of the session, at 127.0.0.1, where `pneuma` may do all."""
    server, install = shutil.which("mariadbd"), shutil.which("mariadb-install-db")
    if server is None or install is None:
        pytest.skip("no MariaDB: apt-get install mariadb-server")
    with tempfile.TemporaryDirectory(prefix="pneuma-mariadb-") as folder:
        data, port = Path(folder, "data"), free_port()
        made = subprocess.run(
            [install, "--no-defaults", "--user=root", f"--datadir={data}",
             "--auth-root-authentication-method=normal", "--skip-test-db"],
            capture_output=True, text=True, timeout=LONGEST, check=False,
        )  # fmt: skip
        assert made.returncode == 0, made.stdout + made.stderr
        with Path(folder, "log").open("wb") as log:
            process = subprocess.Popen(
                [server, *_LEAST, "--user=root", f"--datadir={data}", f"--port={port}",
                 "--bind-address=127.0.0.1", f"--socket={folder}/socket",
                 f"--pid-file={folder}/pid"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        try:
            wait_until(Path(folder, "socket").exists, "MariaDB does not listen")
            with pymysql.connect(unix_socket=f"{folder}/socket", user="root") as connection:
                cursor = connection.cursor()
                cursor.execute("CREATE USER pneuma@'127.0.0.1' IDENTIFIED BY 'hunter2'")
                cursor.execute("GRANT ALL ON *.* TO pneuma@'127.0.0.1' WITH GRANT OPTION")
            yield port
        finally:
            process.terminate()
            process.wait(timeout=LONGEST)
