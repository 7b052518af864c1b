"""Tells an exception over full memory from any other."""

import sys

_MESSAGES = (
    "not enough memory",
    "can't allocate memory",
    "out of memory",
    "bad_alloc",
    "CUBLAS_STATUS_ALLOC_FAILED",
    "CUDNN_STATUS_ALLOC_FAILED",
    "CUDNN_STATUS_NOT_SUPPORTED",  # what cuDNN says where it finds no room to work in
)


def is_out_of_memory(error: BaseException) -> bool:
    """Say whether an exception means that memory ran out, on the device or on the host."""
    if isinstance(error, MemoryError):
        return True
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(error, torch.OutOfMemoryError):
        return True
    text = str(error).lower()
    return isinstance(error, RuntimeError) and any(part.lower() in text for part in _MESSAGES)
