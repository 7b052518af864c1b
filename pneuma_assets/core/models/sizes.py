"""How large a model is, for people who wait for it."""

from pathlib import Path


def with_size(name: str, where: str | Path) -> str:
    """Return the name with the size of the file or folder, or alone where it is neither."""
    path = Path(where)
    files = [path] if path.is_file() else path.rglob("*") if path.is_dir() else []
    size = sum(file.stat().st_size for file in files if file.is_file())
    return f"{name} ({size / 1e6:,.0f} MB)" if size else name
