"""Makes sure, when it is imported, that the packages beside this one are its own.

They have everyday names, and another project's package of such a name, found first, would take
their place. Imported before them, this says so, where Python would miss some module of them.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

from pneuma_assets.core.errors import ConfigError

PACKAGES = ("jobs", "resources", "sensors")


def check_packages(root: Path) -> None:
    """Raise `ConfigError` for a package that is found elsewhere than in this folder."""
    for name in PACKAGES:
        found, ours = _place_of(name), root / name
        if found is not None and ours.exists() and not found.samefile(ours):
            raise ConfigError(
                f"{found} stands in the place of the package '{name}' of pneuma-assets; rename it, "
                "or load pneuma_assets.definitions as a code location of its own, whose working "
                "directory has no such folder (docs/dagster.md)"
            )


def _place_of(name: str) -> Path | None:
    """Return the folder of a package, or the file of a module; None if Python finds neither."""
    module = sys.modules.get(name)
    if module is not None:
        places = [*getattr(module, "__path__", [])] or [getattr(module, "__file__", None)]
    else:
        spec = find_spec(name)
        if spec is None:
            return None
        places = [*(spec.submodule_search_locations or [])] or [spec.origin]
    there = [Path(place) for place in places if place and Path(place).exists()]
    return there[0] if there else None


check_packages(Path(__file__).resolve().parents[1])
