"""`pneuma-assets bench`: how well the product does on tasks with known answers."""

import typer

app = typer.Typer(rich_markup_mode=None, help="Measure answers against known ones.")


@app.callback()
def _bench() -> None:
    """Keep `bench` a group, also while it has one command."""
