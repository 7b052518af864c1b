"""Text of strangers made safe to store, to print, to stand in Markdown, and in a prompt.

Names, cells and documents are data. Whoever wrote them must not be able to move a cursor, to end
the comment of a prompt that holds them, or to forge the markers between a model's turns.
"""

import re

_BLANKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")


def well_formed(text: str) -> str:
    """Return the text with lone surrogates replaced by '?'; no file, index or model takes those."""
    return text.encode("utf-8", "replace").decode("utf-8")


def one_line(text: str, limit: int = 200) -> str:
    """Collapse blanks and control characters to one space each, and cut at `limit` characters."""
    flat = well_formed(_BLANKS.sub(" ", text[: 4 * limit]).strip())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def printable(text: str) -> str:
    """Return the text on one line, without anything a terminal would obey instead of show.

    File names, column names and cells come from strangers: an escape sequence in one of them
    could rewrite the screen, and a change of direction could disguise a name.
    """
    if not text.isprintable():
        text = "".join(sign if sign.isprintable() else " " for sign in text)
    return " ".join(text.split())


_SIGNS = re.compile(
    r"[\\`*{}\[\]<>|&~$^]"
    r"|(?<!\w)_|_(?!\w)"  # inside of a word it means nothing, and lists show it as it is
    r"|(?<=\w):(?=//)|(?<=\bwww)\.|(?<=\w)@(?=\w)"  # addresses become links by themselves
    r"|^[#+=-]"
)
_NUMBERED = re.compile(r"^(\d+)([.)])")
_HEADING = re.compile(r" {0,3}#{1,6}(\s+|$)")
_FENCES = ("```", "~~~")


def plain_in_markdown(text: str) -> str:
    """Return one line of Markdown that shows exactly this text, and links to nothing."""
    flat = " ".join(text.split())
    return _NUMBERED.sub(r"\1\\\2", _SIGNS.sub(lambda sign: f"\\{sign.group()}", flat))


def prose(text: str) -> str:
    """Return Markdown without fenced code, and without headings that have no text of their own.

    Descriptions that programs write end in such a block: dagster-dbt appends a model's query.
    """
    kept: list[str] = []
    fence = ""
    for line in text.splitlines():
        mark = line.strip()[:3]
        if fence:
            fence = "" if mark == fence else fence
        elif mark in _FENCES:
            fence = mark
        elif heading := _HEADING.match(line):
            kept = [*_said(kept), "#" + line[heading.end() :]]
        else:
            kept.append(" " + line)
    return "\n".join(line[1:] for line in _said(kept))


def _said(lines: list[str]) -> list[str]:
    """Return lines, of which headings are marked by '#', up to the last that is prose."""
    end = len(lines)
    while end and (lines[end - 1][0] == "#" or not lines[end - 1].strip()):
        end -= 1
    return lines[:end]


_INVISIBLE = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]+")
_COMMENT = re.compile(r"\*(?=/)|/(?=\*)")
_TURN_MARKER = re.compile(r"<(?=[|/]?[\w|│▁:]+[|│]?>)|\[(?=/?(?:INST|SYS|AVAILABLE_TOOLS)\])")
_GAP = " … "


def harmless(text: str, limit: int) -> str:
    """Return the text on one line, at most `limit` characters long, unable to pose as a prompt.

    Too long a text loses its middle. `*/` becomes `* /`, `<|im_end|>` becomes `< |im_end|>`;
    control characters and invisible ones become blanks; lone surrogates become question marks.
    """
    text = text[: 8 * limit] if len(text) > 8 * limit else text
    flat = well_formed(_INVISIBLE.sub(" ", text).strip())
    flat = _COMMENT.sub(lambda found: found.group() + " ", flat)
    flat = _TURN_MARKER.sub(lambda found: found.group() + " ", flat)
    if len(flat) <= limit:
        return flat
    kept = limit - len(_GAP)
    return flat[: kept - kept // 3] + _GAP + flat[len(flat) - kept // 3 :]
