"""A person whom a model plays: they have a question in mind, and come to it by what they are shown.

The idea, the limit of turns and the figures are those of section 4 of Pneuma-Seeker (CIDR 2026,
figure 3 and tables 2 and 3); the words are ours. A model that gives its question away makes every
system look good, so that is counted.
"""

import json
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel, ValidationError

from pneuma_assets import Workspace
from pneuma_assets.core.models.base import ConversingModel, Message
from pneuma_assets.core.seek.conversation import Conversation, Kind, Spent
from pneuma_bench.seek.levels import ASKER, MOST_TURNS, has_answer
from pneuma_bench.seek.needs import Need

_PLAYED = """You play somebody who knows their field and looks for something in their company's \
data, by talking with a system. It finds tables, and keeps a state that you see: target tables \
with columns, made of the tables that exist, and SQL over them. The data are there; you bring none.
Where all this may end, which you cannot say yet: {question}
Be curious and rather vague. React to what you are shown: say what is wrong or missing, and agree \
when it goes your way. Come to a detail only when what you are shown leads you there. Never give \
the sentence above as a whole, and do not copy its wording.
Answer as JSON: {{"message": one to three sentences to the system, "agrees": true when the tables \
that it proposes are to be made as they are, "reached": true when the state, as it is now, \
answers what you had in mind}}"""
_GRAM, _PASTED = 3, 0.5
"""Words in a row, and which share of the question's, in one message, gives it away."""
_SHOWN, _REPLY = 6_000, 500
"""Characters of what the person is shown at each turn; tokens of what they say."""


class _Said(BaseModel):
    message: str
    agrees: bool = False
    reached: bool = False


@dataclass
class Simulated:
    """What a conversation with such a person came to.

    Attributes:
        told: What the person said, in order; the opening words are the need's.
        reached: The turn after which they said that this is it; 0: none.
        answered: The turn after which the computed answer was among the results; 0: none.
        seconds: How long the system took, of all turns.
        system: What the system's model took.
        person: What the person's model took.
        unreadable: How often what the person said had another form, and was taken as it stood.
    """

    told: list[str]
    reached: int = 0
    answered: int = 0
    seconds: float = 0.0
    system: Spent = field(default_factory=Spent)
    person: Spent = field(default_factory=Spent)
    unreadable: int = 0


def simulated(workspace: Workspace, need: Need, person: ConversingModel) -> Simulated:
    """Let a model that knows the question talk with the system; raises `ModelError` of its own."""
    seek = workspace.seek
    begun = seek.start(ASKER, need.name).conversation_id
    found = Simulated([need.told["say"]])
    talk: list[Message] = [
        {"role": "system", "content": _PLAYED.format(question=need.question)},
        {"role": "assistant", "content": json.dumps({"message": found.told[0]})},
    ]
    agrees = False
    while True:
        began, turn = time.monotonic(), len(found.told)
        list(seek.say(begun, found.told[-1], ASKER, agreed=agrees))
        found.seconds += time.monotonic() - began
        now = seek.get(begun, ASKER)
        found.system = now.spent
        found.answered = found.answered or turn * has_answer(now, need)
        talk.append({"role": "user", "content": shown(now)})
        said = _said(person, talk, found)
        if said.reached or turn == MOST_TURNS:
            found.reached = turn * said.reached
            return found
        agrees = said.agrees
        found.told.append(said.message)
        talk.append({"role": "assistant", "content": said.model_dump_json()})


def _said(person: ConversingModel, talk: Sequence[Message], found: Simulated) -> _Said:
    reply = person.converse(talk, _Said.model_json_schema(), _REPLY)
    found.person += Spent(1, reply.read or 0, reply.written or 0)
    try:
        return _Said.model_validate_json(reply.text)
    except ValidationError:
        found.unreadable += 1
        return _Said(message=reply.text.strip()[:1_000] or "Go on.")


def shown(now: Conversation) -> str:
    """Return what a person sees: the message, the state, sample rows and results."""
    told = [*now.of(Kind.ASSISTANT)][-1].data
    state = now.state.model_dump(mode="json", exclude_defaults=True)
    lines = [str(told["text"]), *map(str, told.get("questions", ())), f"STATE: {json.dumps(state)}"]
    for kind, what in ((Kind.RESULT, "rows"), (Kind.MADE, "samples")):
        if event := now.shown(kind):
            lines.append(f"{what.upper()}: {json.dumps((event.cells or {}).get(what))[:2_000]}")
    return "\n".join(lines)[:_SHOWN]


def pasted(told: Sequence[str], question: str) -> bool:
    """Tell whether one message has half of the question's word triples or more.

    It is strict: who was led to the question, and then says it in its words, counts, too.
    """
    wanted = _grams(question)
    return any(len(wanted & _grams(one)) >= _PASTED * len(wanted) for one in told)


def _grams(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.casefold())
    return {tuple(words[at : at + _GRAM]) for at in range(max(1, len(words) - _GRAM + 1))}
