"""Lets `python -m pneuma_assets.cli` do what `pneuma-assets` does."""

from pneuma_assets.cli import main

if __name__ == "__main__":
    main()
