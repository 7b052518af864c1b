"""Puts the commands together."""

import typer

from pneuma_assets.cli.options import Chosen, ConfigOption, HomeOption
from pneuma_bench.cli import discovery, generate, run, target  # noqa: F401 (add commands)
from pneuma_bench.cli.shared import app


@app.callback()
def _choose(context: typer.Context, home: HomeOption = None, config: ConfigOption = None) -> None:
    context.obj = Chosen(home, config)


def main() -> None:
    """Run the command line of this process, and end it with the command's exit code."""
    from pneuma_assets.cli import start

    start(app, "pneuma-bench")
