"""Makes text from outside harmless inside a prompt.

Names, cells and documents are data. Whoever wrote them must not be able to end the comment that
holds them, or to forge the markers that separate the model's turns.
"""

import re

from pneuma_assets.core.text.clean import well_formed

_BLANKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]+")
_COMMENT = re.compile(r"\*(?=/)|/(?=\*)")
_TURN_MARKER = re.compile(r"<(?=[|/]?[\w|│▁:]+[|│]?>)|\[(?=/?(?:INST|SYS|AVAILABLE_TOOLS)\])")
_GAP = " … "


def harmless(text: str, limit: int) -> str:
    """Return the text on one line, at most `limit` characters long, unable to pose as a prompt.

    Too long a text loses its middle. `*/` becomes `* /`, `<|im_end|>` becomes `< |im_end|>`;
    control characters and invisible ones become blanks; lone surrogates become question marks.
    """
    text = text[: 8 * limit] if len(text) > 8 * limit else text
    flat = well_formed(_BLANKS.sub(" ", text).strip())
    flat = _COMMENT.sub(lambda found: found.group() + " ", flat)
    flat = _TURN_MARKER.sub(lambda found: found.group() + " ", flat)
    if len(flat) <= limit:
        return flat
    kept = limit - len(_GAP)
    return flat[: kept - kept // 3] + _GAP + flat[len(flat) - kept // 3 :]
