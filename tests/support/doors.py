"""A folder in which commands and Python ask a deployment, with an encoder that needs no model."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pneuma_assets.cli.app import app
from tests.support.word_encoder import using_words


@pytest.fixture
def here(tmp_path, monkeypatch) -> Iterator[Path]:
    """The current folder, where no variable says what is opened."""
    for name in ("PNEUMA_CONFIG", "PNEUMA_HOME", "PNEUMA_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    with using_words():
        yield tmp_path


def run(*args, stdin=None, env=None):
    asked = [str(one) for one in args]
    return CliRunner().invoke(app, asked, input=stdin, env=env, prog_name="pneuma-assets")


def succeeds(*args, **options) -> str:
    result = run(*args, **options)
    assert result.exit_code == 0, result.output
    return result.stdout


def fails(code: int, *args, **options) -> str:
    """Run a command that must fail: nothing on standard output, one line on the other."""
    result = run(*args, **options)
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: ")
    assert line.isprintable()
    return line
