"""`pneuma-assets config`: what editors need to know of the deployment file."""

import typer

from pneuma_assets.cli.output import print_json

app = typer.Typer(rich_markup_mode=None, help="The deployment file.")


@app.callback()
def config() -> None:
    """Keep `schema` a command of a group, also as the only one."""


@app.command()
def schema() -> None:
    """Print the JSON Schema of deployment files, by which editors check and complete them."""
    from pneuma_assets.core.config.deployment import Deployment

    print_json(Deployment.model_json_schema())
