"""What is counted or computed, of which groups, and what is asked for beside it."""

from dataclasses import replace

from pneuma_assets.core.answers.templates import vocabulary as say
from pneuma_assets.core.answers.templates.fields import Kind, is_when
from pneuma_assets.core.answers.templates.mentions import NameSpan, span_of_table
from pneuma_assets.core.answers.templates.plan import NoPlanError
from pneuma_assets.core.answers.templates.sentence import Sentence, names_table


def read_groups(sentence: Sentence) -> None:
    """Read `each X`, `per X and Y`, `average Z by X`; raises `NoPlanError` without an X."""
    for place in range(len(sentence.words)):
        if place in sentence.reading.used or sentence.at(place + 1) in say.UNITS:
            continue
        each = sentence.at(place) in say.EACH
        if not each and not (sentence.at(place) == "by" and _groups_by(sentence, place)):
            continue
        name = sentence.next(place + 1, 2)
        if name is None:
            raise NoPlanError(f"no column is named behind {sentence.at(place)!r}")
        while name is not None:
            sentence.use(place)
            sentence.reading.groups.append(sentence.take(name))
            more = sentence.at(name.stop) == "and" and sentence.at(name.stop + 1) not in {"how"}
            name = sentence.next(name.stop + 1, 0) if more else None


def _groups_by(sentence: Sentence, place: int) -> bool:
    before = sentence.at(place - 1)
    if before in {"grouped", "group"}:
        sentence.use(place - 1)
        return True
    asked = {sentence.words[n].text for n in range(place)}
    totals = asked & (say.AVERAGE | say.SUM | {"number", "count", "many"})
    return bool(totals) and not before.endswith(("ed", "en"))


def read_measure(sentence: Sentence) -> None:
    """Read `how many X`, `average X`, `total X`; raises `NoPlanError` where no X is there."""
    reading = sentence.reading
    for place in range(len(sentence.words)):
        text = sentence.trigger(place)
        aggregate = aggregate_of(text)
        counts = (text == "many" and sentence.at(place - 1) == "how") or (
            text in {"number", "count", "numbers"}
            and sentence.at(place + 1) in {"of", "distinct", "unique", "different"}
        )
        if reading.how or not (aggregate or counts) or place in reading.used:
            continue
        if aggregate == "sum" and aggregate_of(sentence.at(place + 1)):
            continue  # `The overall average` is no sum.
        name = sentence.next(place + 1, 4, counted=counts)
        name = _what_is_so(sentence, name) if counts and name is not None else name
        if name is None:
            if counts or aggregate == "average":
                what = f"of what it wants the {aggregate}" if aggregate else "what it counts"
                raise NoPlanError(f"{what} is no table or column here")
            continue
        total = sentence.at(place + 1) in {"number", "count", "amount"} and aggregate
        if sentence.at(place + 1) == "amount" and place + 1 in name.words:
            total = ""  # There is a column `amount`, and it is added.
        if counts or (total and aggregate == "sum"):
            reading.how = "count"
        else:
            reading.how = aggregate
        sentence.use_little(place, name.start)
        if {"distinct", "unique", "different"} & {sentence.at(n) for n in range(place, name.start)}:
            reading.distinct = True
        reading.measured = sentence.take(name)


def _what_is_so(sentence: Sentence, name: NameSpan) -> NameSpan | None:
    """Return what is counted: of `active members` and `members joined` members.

    What they are is true of them, or is when it was. None where it is neither: nobody knows which
    cells `open tickets` have.
    """
    behind = next((one for one in sentence.names if one.start == name.stop), None)
    if behind is not None and names_table(behind) and not names_table(name):
        counted, so, first = behind, name, False
    elif (apart := _apart(sentence, name)) is not None:
        counted, so = apart
        first = counted.start < so.start
    else:
        return name
    one = so.options[0].field
    if one is None or (first and not is_when(one)):
        return name  # `customer names` are names.
    if not first and one.kind is not Kind.TRUTH:
        return None
    sentence.names = [span for span in sentence.names if span not in (name, behind)]
    sentence.names.append(counted)
    sentence.use(*so.words)
    if one.kind is Kind.TRUTH:
        sentence.reading.truths.append(so)
        return counted
    compared = sentence.reading.compared
    dated = [at for at, each in enumerate(compared) if each.is_date and each.name is None]
    for at in dated:
        compared[at] = replace(compared[at], name=so)
    return counted if dated else None


def _apart(sentence: Sentence, name: NameSpan) -> tuple[NameSpan, NameSpan] | None:
    """Return the table and the column of a name that says both side by side."""
    option = name.options[0]
    if option.field is None or len(name.words) != 2 or name.stop - name.start != 2:
        return None
    for at, rest in ((name.start, name.start + 1), (name.start + 1, name.start)):
        own = option.table.stems.intersection(sentence.words[at].stems)
        if own and option.field.stems.intersection(sentence.words[rest].stems):
            so = NameSpan(rest, rest + 1, frozenset({rest}), (option,))
            return span_of_table(option.table, (at,)), so
    return None


def read_shown(sentence: Sentence) -> None:
    """Read what is listed: the first name that is left, and what stands beside it."""
    reading = sentence.reading
    for place in range(len(sentence.words)):
        if sentence.at(place) in say.DISTINCT:
            reading.distinct = True
            sentence.use(place)
    for name in list(sentence.names):
        if all(one.field is not None and one.field.kind is Kind.TRUTH for one in name.options):
            reading.truths.append(sentence.take(name))
    if not (sentence.names or reading.how or reading.measured):
        sentence.names += _said_with_another(sentence)
    for name in sentence.names:
        asked = not reading.shown or _asked(sentence, name)
        (reading.shown if asked else reading.context).append(name)


def _said_with_another(sentence: Sentence) -> list[NameSpan]:
    """Return the tables that stand within what is compared: `doctors hired after 2010`."""
    found = []
    for name in (one.name for one in sentence.reading.compared if one.name is not None):
        table = name.options[0].table
        own = [n for n in name.words if table.stems.intersection(sentence.words[n].stems)]
        if own and name.options[0].field is not None:
            found.append(span_of_table(table, own))
    return found


def _asked(sentence: Sentence, name: NameSpan) -> bool:
    """Tell whether a name is asked for beside the one before: `X and Y`, `List Y`."""
    if sentence.at(name.start - 1) in say.OWN and sentence.at(name.start - 2) == "and":
        return True  # `Cities in Spain and their population`.
    beside = False
    for at in range(name.start - 1, -1, -1):
        text = sentence.at(at)
        beside = beside or text == "and" or bool(sentence.words[at].ends)
        if any(at in one.words for one in sentence.reading.shown):
            return beside
        if text in say.ORDERS:
            return True
        if text not in say.FILLING:
            return False
    return False


def aggregate_of(text: str) -> str:
    """Return what a word computes; nothing if it computes nothing."""
    if text in say.AVERAGE:
        return "average"
    if text in say.SUM:
        return "sum"
    return {"maximum": "max", "max": "max", "minimum": "min", "min": "min"}.get(text, "")
