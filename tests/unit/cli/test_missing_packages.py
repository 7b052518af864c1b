"""A package that is not installed is named with the extra that brings it."""

import pytest

from pneuma_assets.cli.failures import CommandGroup


@pytest.mark.parametrize(
    ("module", "install"),
    [
        ("psycopg", "pip install 'pneuma-assets[postgresql]'"),
        ("psycopg.rows", "pip install 'pneuma-assets[postgresql]'"),
        ("python_calamine", "pip install 'pneuma-assets[excel]'"),
        ("deltalake", "pip install 'pneuma-assets[delta]'"),
        ("duckdb", "pip install 'duckdb'"),
        ("nobody_knows", "pip install 'nobody_knows'"),
    ],
)
def test_a_missing_package_is_named_with_its_extra(monkeypatch, capsys, module, install):
    def without(*_: object, **__: object) -> None:
        raise ModuleNotFoundError(f"No module named {module!r}", name=module)

    monkeypatch.setattr("typer.core.TyperGroup.main", without)
    assert CommandGroup(name="pneuma-assets").main([], standalone_mode=False) == 1
    told = capsys.readouterr().err
    assert told.endswith(f"is not installed; install it: {install}\n")
    assert "unexpected" not in told
