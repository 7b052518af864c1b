"""Which encoders have built an index here, so that one whose setting was changed can be opened.

An index records its encoder's name, which says which weights they are but not where they lie. The
state folder remembers that: the section `encoder` under which each name was used.
"""

import json
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pneuma_assets.core.config.models import EncoderConfig
from pneuma_assets.core.errors import ModelError
from pneuma_assets.core.models.base import Encoder

FILE_NAME = "encoders.json"
_KEPT = 20
"""Encoders remembered; the one used longest ago is forgotten first."""
_LARGEST = 1 << 20
"""Bytes of the file that are read; what is larger was not written here."""


def remember_encoder(home: Path, name: str, config: EncoderConfig) -> None:
    """Remember the setting under which an encoder was used to build an index.

    A folder that cannot be written is no error: then only this setting opens the encoder.
    """
    known = _remembered(home)
    setting = config.model_dump(mode="json", exclude_defaults=True)
    if known.get(name) == setting and next(reversed(known)) == name:
        return
    known.pop(name, None)
    known[name] = setting
    newest = dict([*known.items()][-_KEPT:])
    fresh = home / f"{FILE_NAME}.{uuid.uuid4().hex}"
    try:
        home.mkdir(parents=True, exist_ok=True)
        fresh.write_text(json.dumps(newest, indent=1), encoding="utf-8")
        fresh.replace(home / FILE_NAME)
    except OSError:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)


def open_remembered(home: Path, name: str, config: EncoderConfig) -> Encoder:
    """Open the encoder of this name, with the configured device.

    No question is sent to an endpoint that is configured no more.

    Raises:
        ModelError: It was never used here, is gone, or another one has taken its place.
    """
    from pneuma_assets.core.models.encoder import encoder as opening

    try:
        known = EncoderConfig.model_validate(_remembered(home)[name])
    except (KeyError, ValidationError):
        raise ModelError(f"the encoder {name!r} has built no index here") from None
    if known.model.endpoint_url not in (None, config.model.endpoint_url):
        raise ModelError(f"the endpoint of encoder {name!r} is configured no more")
    here = {"device": config.model.device, "dtype": config.model.dtype}
    model = known.model.model_copy(update=here)
    found = opening.open_encoder(known.model_copy(update={"model": model}))
    if found.name != name:
        raise ModelError(f"encoder.model {model.model!r} is another one now, {found.name!r}")
    return found


def _remembered(home: Path) -> dict[str, Any]:
    """Return settings by name, oldest first; what cannot be read was never remembered."""
    try:
        with (home / FILE_NAME).open(encoding="utf-8") as file:
            known = json.loads(file.read(_LARGEST))
    except (OSError, ValueError, RecursionError):
        return {}
    return known if isinstance(known, dict) else {}
