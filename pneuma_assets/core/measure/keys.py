"""Names the code that a measurement was made by."""

import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path


@cache
def code_key(modules: tuple[str, ...]) -> str:
    """Return a hash of the source files of these modules, and of all below those that are packages.

    A version number would not do: code is measured while it is written.

    Raises:
        ModuleNotFoundError: There is no such module: it was moved or misspelt, and what it holds
            would change unseen.
    """
    digest = hashlib.blake2b(digest_size=16)
    for module in sorted(modules):
        for name, file in _files(module):
            digest.update(f"{module} {name}\0".encode())
            digest.update(hashlib.blake2b(file.read_bytes()).digest())
    return digest.hexdigest()


def _files(module: str) -> Iterator[tuple[str, Path]]:
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"no module {module} to name a measurement by", name=module)
    origin = Path(spec.origin)
    if spec.submodule_search_locations is None:
        yield origin.name, origin
        return
    for file in sorted(origin.parent.rglob("*.py")):
        yield str(file.relative_to(origin.parent)), file
