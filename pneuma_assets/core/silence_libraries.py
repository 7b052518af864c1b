"""Keeps libraries from talking over what a program says."""

import logging
import os
import re
import sys
import warnings

_TALKATIVE = (
    "dagster",
    "transformers",
    "sentence_transformers",
    "alembic",
    "httpx",
    "huggingface_hub",
)
_RAW = re.compile(r"Exception while writing logger call to event log: (?:\(\S+\) )?(.*)\n[\s\S]*")
"""What Dagster writes to standard error by itself, which ends with the statement that failed."""
_SILENCE = {
    "TQDM_DISABLE": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
}


def debugging() -> bool:
    """Return whether PNEUMA_DEBUG asks for tracebacks and for the libraries' own messages."""
    return os.environ.get("PNEUMA_DEBUG", "") not in {"", "0"}


def quieten_libraries() -> None:
    """Keep logs, warnings and progress bars of libraries off the terminal of this process."""
    if debugging():
        return
    warnings.simplefilter("ignore")
    logging.getLogger().setLevel(logging.ERROR)
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.ERROR)
    for variable, value in _SILENCE.items():
        os.environ.setdefault(variable, value)
    write, told = sys.stderr.write, r"Dagster's history lacks an event: \1\n"
    sys.stderr.write = lambda text: write(_RAW.sub(told, text))  # type: ignore[method-assign]
