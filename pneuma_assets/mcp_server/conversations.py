"""Tools by which an agent works out a table that nobody has yet, with the person it acts for.

They are `workspace.seek` without what a person alone decides: to agree, to confirm an assumption,
to accept, to grant a budget, to share, export, save, rename and delete. What an agent changes can
be taken back.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from pneuma_assets.core.errors import QueryError
from pneuma_assets.core.seek.conversation import Conversation, Kind
from pneuma_assets.core.seek.state import MOST_BYTES
from pneuma_assets.core.service.describe import moment
from pneuma_assets.mcp_server import results as r
from pneuma_assets.mcp_server.tools import MOST_ITEMS, MOST_TOKENS, Limit

if TYPE_CHECKING:
    from pneuma_assets.core.access_names import Asker
    from pneuma_assets.core.service.workspace import Workspace

_MOST_RESULTS = 5
_MOST_FINDINGS = 10
_BOUNDS = ((20_000, MOST_ITEMS), (2_000, 50), (500, 30), (150, 12), (60, 5), (40, 2))
"""Characters of texts and items of lists of a state; the first with which it is read with few
tokens."""
_PROSE = ("description", "note", "text", "questions")
"""Keys of a state under which nothing stands that is given back as it is."""

_EMPTY: Mapping[str, Any] = {}

Id = Annotated[str, Field(description="Id of a conversation.")]


class Titled(r.Result):
    """A conversation in a list."""

    conversation: str
    title: r.Line
    updated: str


class Conversations(r.Part):
    """Conversations of who asks, the latest first."""

    conversations: list[Titled]


class Outcome(r.Rows):
    """Rows of a target table, or of a query over target tables."""

    name: r.Name
    is_query: bool = False


class Finding(r.Result):
    """What a rule found."""

    severity: str
    subject: r.Name
    text: Annotated[str, r.within(400)]


class Talk(r.Part):
    """A conversation as it is now; `total` and `limit` are of its state's lists."""

    conversation: str
    title: r.Line
    message: Annotated[r.Long, Field(description="What was said last.")] = ""
    questions: tuple[r.Line, ...] = ()
    next_steps: tuple[r.Line, ...] = ()
    state: Annotated[Mapping[str, Any], Field(description="As change_state takes it.")] = _EMPTY
    agreed: Annotated[bool, Field(description="The person agreed to these tables.")] = False
    accepted: Annotated[bool, Field(description="The person accepted this state.")] = False
    working: Annotated[bool, Field(description="What was said has no answer yet.")] = False
    results: tuple[Outcome, ...] = ()
    results_total: int = 0
    findings: tuple[Finding, ...] = ()
    findings_total: int = 0


def list_conversations(desk: "Workspace", asker: "Asker", limit: Limit = 10) -> Conversations:
    """List conversations in which tables are worked out that do not exist yet."""
    every = desk.seek.list(asker)
    found = [
        Titled(conversation=one.conversation_id, title=one.title, updated=moment(one.updated_at))
        for one in every[:limit]
    ]
    cut = len(found) < len(every)
    return Conversations(total=len(every), limit=limit, truncated=cut, conversations=found)


def show_conversation(
    desk: "Workspace",
    asker: "Asker",
    conversation: Id,
    part: Annotated[str, Field(description="Name of one source, table or query.")] = "",
    limit: Limit = 5,
) -> Talk:
    """Show which tables are wanted, how they are made, first rows, and what rules found."""
    return _talk(desk.seek.get(conversation, asker), limit, part=part, stale=True)


def converse(
    desk: "Workspace",
    asker: "Asker",
    text: Annotated[str, Field(description="What the person needs, in their words.")],
    conversation: Annotated[str, Field(description="Its id; empty: begin another.")] = "",
) -> Talk:
    """Begin to work out a table that find_tables does not find, or say more. May be slow."""
    from pneuma_assets.core.service.seek import check_message

    check_message(text)
    begun = conversation or desk.seek.start(asker).conversation_id
    for _ in desk.seek.say(begun, text, asker, agreed=False):
        pass
    return _talk(desk.seek.get(begun, asker), 1)


def change_state(
    desk: "Workspace",
    asker: "Asker",
    conversation: Id,
    state: Annotated[
        dict[str, Any],
        Field(
            description='Parts to put in by name: {"sources":[{"name","table_ids":[]}],"tables":[{'
            '"name","columns":[{"name","type":"text|integer|number|date|timestamp|boolean"}],"steps":'
            '[{"operator":"sql","reads":[sources],"makes":table,"code":"SELECT .."}]}],"queries":[{'
            '"name","sql" over tables}],"assumptions":[{"text"}],"questions":[]}'
        ),
    ],
    remove: Annotated[list[str], Field(description="Names to leave out.")] = [],  # noqa: B006
) -> Talk:
    """Say which tables are wanted, of what they are made and how; what cannot be is told."""
    return _talk(desk.seek.change(conversation, state, asker, remove), 1)


def make_tables(desk: "Workspace", asker: "Asker", conversation: Id, limit: Limit = 20) -> Talk:
    """Make the tables and run the queries, when the person agrees to the plan. Slow."""
    found = desk.seek.run(conversation, asker, by_agent=True)
    return _talk(found, limit, with_state=False)


def _talk(
    found: Conversation, limit: int, *, part: str = "", stale: bool = False, with_state: bool = True
) -> Talk:
    last = found.message(stale=stale)
    said: Mapping[str, Any] = last.data if last else {}
    caveats = ((last and last.cells) or {}).get("caveats", ())
    unseen = [{"severity": "warning", "subject": "message", "text": one} for one in caveats]
    findings = [Finding.model_validate(one) for one in (*unseen, *found.findings)]
    state = _part(found, part) if with_state else {}
    talk = Talk(
        conversation=found.conversation_id,
        title=found.saved.title,
        message=said.get("text", ""),
        questions=said.get("questions", ())[:5],
        next_steps=said.get("next_steps", ())[:5],
        agreed=found.is_agreed,
        accepted=found.accepted is not None,
        working=found.is_open,
        findings=tuple(findings[:_MOST_FINDINGS]),
        findings_total=len(findings),
        total=sum(map(len, state.values())),
        limit=0,
        truncated=False,
    )
    left = MOST_TOKENS - r.estimated_tokens(talk.to_dict())
    outcomes = tuple(_outcomes(found, limit, left // 2 if state else left))
    talk.results, talk.results_total = outcomes[:_MOST_RESULTS], len(outcomes)
    left -= r.tokens_of(talk.results)
    for characters, talk.limit in _BOUNDS:
        talk.state = _shortened(state, characters, talk.limit)
        if r.estimated_tokens(talk.state) <= left:
            break
    is_cut = talk.state != _shortened(state, MOST_BYTES, MOST_BYTES)
    talk.truncated = is_cut or len(outcomes) > _MOST_RESULTS or len(findings) > _MOST_FINDINGS
    return talk


def _part(found: Conversation, name: str) -> dict[str, Any]:
    """Return the state, or what has a name in it."""
    state: dict[str, Any] = found.state.model_dump(mode="json", exclude_defaults=True)
    if not name:
        return state
    named = {key: [one for one in every if one["name"] == name] for key, every in state.items()
             if key in ("sources", "tables", "queries")}  # fmt: skip
    if not any(named.values()):
        raise QueryError(f"nothing is called {name[:80]!r} in this conversation")
    return {key: every for key, every in named.items() if every}


def _outcomes(found: Conversation, limit: int, tokens: int) -> Iterator[Outcome]:
    """Yield results of queries, then first rows of tables, each within its share of tokens."""
    ran, made = found.shown(Kind.RESULT), found.shown(Kind.MADE)
    told = [(True, one, "rows", ran) for one in (ran.data["queries"] if ran else ())]
    told += [(False, one, "samples", made) for one in (made.data["tables"] if made else ())]
    for is_query, one, key, event in told:
        cells, name = (event and event.cells) or {}, one["name"]
        columns = one.get("columns") or cells.get("columns", {}).get(name, ())
        yield Outcome.of(
            columns,
            cells.get(key, {}).get(name, ()),
            total=None if one.get("more") else one["rows"],
            limit=limit,
            tokens=tokens // min(len(told), _MOST_RESULTS),
            name=name,
            is_query=is_query,
        )


def _shortened(value: Any, characters: int, items: int, key: str = "") -> Any:
    """Return JSON of which long texts are cut, and of long lists the rest is told at the end."""
    if key == "options":  # of any depth
        text = json.dumps(value, ensure_ascii=False)
        return value if len(text) <= characters else f"{text[: characters - 1]}…"
    if isinstance(value, str):
        if key in _PROSE:
            return r.text_of(value, characters)
        return value if len(value) <= characters else f"{value[: characters - 1]}…"
    if isinstance(value, dict):
        return {name: _shortened(one, characters, items, name) for name, one in value.items()}
    if not isinstance(value, list):
        return value
    kept = [_shortened(one, characters, items, key) for one in value[:items]]
    return [*kept, f"… {len(value) - items} more"] if len(value) > items else kept


CONVERSATION_TOOLS: Mapping[Callable[..., r.Result], dict[str, bool]] = {
    list_conversations: {},
    show_conversation: {},
    converse: {"read_only_hint": False, "idempotent_hint": False, "open_world_hint": True},
    change_state: {"read_only_hint": False},
    make_tables: {"read_only_hint": False, "idempotent_hint": False},
}
"""Each tool, and where its hints are others than those of a tool that only reads."""
