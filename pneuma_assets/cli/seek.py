"""`pneuma-assets seek`: conversations that end in the table somebody needed."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pneuma_assets.cli.errors import UsageError
from pneuma_assets.cli.options import JsonOption, command, read_input
from pneuma_assets.cli.output import (
    counted,
    print_indented,
    print_json,
    print_line,
    print_table,
    showing_progress,
)
from pneuma_assets.core.errors import ModelError, SqlFailedError

if TYPE_CHECKING:
    from pneuma_assets.core.access_names import Asker
    from pneuma_assets.core.seek.conversation import Conversation
    from pneuma_assets.workspace import Workspace

app = typer.Typer(
    rich_markup_mode=None, help="Work out which table you need, in a conversation, and make it."
)

Id = Annotated[str, typer.Argument(metavar="ID", help="As `seek list` shows it.")]
_MOST_STATE = 300_000
_CELL = 40
_LINES = 60


@app.command(name="list")
@command
def list_(
    workspace: "Workspace",
    asker: "Asker",
    as_json: JsonOption = False,
) -> None:
    """List your conversations, the latest first."""
    from pneuma_assets.core.service.seek import wall_clock

    found = workspace.seek.list(asker)
    if as_json:
        print_json(found)
        return
    rows = [[one.conversation_id, wall_clock(one.updated_at), one.title] for one in found]
    print_table(["id", "last", "title"], rows) if rows else print_line("No conversations.")


@app.command()
@command
def start(
    workspace: "Workspace",
    asker: "Asker",
    text: Annotated[list[str] | None, typer.Argument(help="What you need to know.")] = None,
    title: Annotated[str, typer.Option(metavar="TEXT", help="What it is called.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Begin a conversation, with its first words or a title alone."""
    from pneuma_assets.core.service.seek import check_message

    if text:
        check_message(" ".join(text))
    begun = workspace.seek.start(asker, title).conversation_id
    if text:
        _turn(workspace.seek.say(begun, " ".join(text), asker))
    _answered(workspace.seek.get(begun, asker), as_json=as_json)


@app.command()
@command
def say(
    workspace: "Workspace",
    asker: "Asker",
    conversation: Id,
    text: Annotated[list[str] | None, typer.Argument(help="Your words; none: go on.")] = None,
    agree: Annotated[
        bool | None, typer.Option("--agree/--no-agree", help="Whether you agree to T as it is.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Say something, or without words go on with a turn that was cut off."""
    if text or agree:
        said = " ".join(text or ["Yes, go ahead."])
        _turn(workspace.seek.say(conversation, said, asker, agreed=agree))
    else:
        _turn(workspace.seek.resume(conversation, asker))
    _answered(workspace.seek.get(conversation, asker), as_json=as_json)


@app.command()
@command
def show(
    workspace: "Workspace",
    asker: "Asker",
    conversation: Id,
    versions: Annotated[
        bool, typer.Option("--versions", help="What each version of the state changed.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show what was said last, the state, and what was made."""
    found = workspace.seek.get(conversation, asker)
    if versions and not as_json:
        _show_versions(found)
    else:
        _show(found, as_json=as_json, whole=True)


@app.command()
@command
def edit(
    workspace: "Workspace",
    asker: "Asker",
    conversation: Id,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The state as JSON; - for input.")],
    as_json: JsonOption = False,
) -> None:
    """Let the state be what a file says; `seek export --what state` writes it."""
    name, data = read_input(file, _MOST_STATE, "FILE")
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise UsageError(f"{name} is not UTF-8") from None
    _show(workspace.seek.edit(conversation, text, asker), as_json=as_json)


@app.command()
@command
def add(
    workspace: "Workspace",
    asker: "Asker",
    conversation: Id,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="CSV, JSON Lines or Parquet.")],
    as_json: JsonOption = False,
) -> None:
    """Add a file of your own as a source of the state."""
    most = workspace.loaded.deployment.seek.file_megabytes * 1_000_000
    _, data = read_input(file, most, "FILE")
    found = workspace.seek.add_file(conversation, file.name, data, asker)
    _show(found, as_json=as_json)


_DONE = {
    "accept": "Accepted. Next: pneuma-assets seek export {0}, or pneuma-assets seek save {0} NAME",
    "cancel": "No turn goes on.",
    "grant": "As much again is granted.",
}


def _plain(name: str, help_: str) -> None:
    """Add a command that calls the method of `Workspace.seek` of its name, and shows the result."""

    def run(
        workspace: "Workspace",
        asker: "Asker",
        conversation: Id,
        as_json: JsonOption = False,
    ) -> None:
        with showing_progress(lasting=False):
            found = getattr(workspace.seek, name)(conversation, asker)
        _show(found, as_json=as_json)
        if name in _DONE and not as_json:
            print_line(_DONE[name].format(conversation))
        if name == "run" and any(one["rule"] == "query" for one in found.findings):
            raise SqlFailedError("a query does not run; see what was found")

    run.__name__, run.__doc__ = name, help_
    app.command(name=name)(command(run))


for _name, _help in {
    "undo": "Take the last change of the state back.",
    "materialize": "Make the tables of T, from what their sources hold now.",
    "run": "Run the queries of Q; T is made before where it is not.",
    "accept": "Say that the state as it is now is what you needed.",
    "cancel": "End a turn that another process is at.",
    "grant": "Let the model take as much again as seek.requests, tokens, seconds and cost say.",
}.items():
    _plain(_name, _help)


@app.command()
@command
def export(
    workspace: "Workspace",
    asker: "Asker",
    conversation: Id,
    what: Annotated[
        str,
        typer.Option(metavar="WHAT", help="state, script, conversation, or a table or query."),
    ] = "conversation",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Else standard output.")
    ] = None,
) -> None:
    """Write the state, a script that makes it all, everything as JSON, or rows as CSV.

    Of a table of T or a query all rows are written, as Parquet where FILE ends so.
    """
    if what in ("state", "conversation"):
        found = workspace.seek.get(conversation, asker)
        _write(_json(found.to_dict()["state"] if what == "state" else found.to_dict()), output)
    elif what == "script":
        _write(workspace.seek.script(conversation, asker).encode(), output)
    else:
        rows = workspace.seek.rows(conversation, what, asker)
        is_parquet = output is not None and output.suffix == ".parquet"
        _write(_packed(rows, parquet=is_parquet), output)


@app.command()
@command
def save(
    workspace: "Workspace",
    asker: "Asker",
    conversation: Id,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of the file, and in Dagster.")],
    schedule: Annotated[
        str | None,
        typer.Option(metavar="CRON", help="When Dagster makes the tables anew; '' for never."),
    ] = None,
    follow: Annotated[
        bool | None,
        typer.Option(
            "--follow/--no-follow", help="Make them anew when one of their tables changes."
        ),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace a file of this name; it keeps its schedule.")
    ] = False,
) -> None:
    """Save the tables as a file, from which Dagster makes them as assets, without a model."""
    from pneuma_assets.core.seek.saved import read

    with showing_progress(lasting=False):
        file = workspace.seek.save(
            conversation, asker, name, schedule=schedule, follow=follow, replace=replace
        )
    saved = read(file)
    when = [f"by the schedule {saved.schedule}"] if saved.schedule else []
    when += ["when one of its tables changes"] if saved.follow else []
    print_line(f"saved to {file}, made anew {' and '.join(when) or 'when somebody asks'}")
    print_line("Dagster shows its assets when it reloads its definitions")


@app.command()
@command
def rename(
    workspace: "Workspace",
    asker: "Asker",
    conversation: Id,
    title: Annotated[str, typer.Argument(metavar="TITLE")],
) -> None:
    """Call a conversation otherwise."""
    workspace.seek.rename(conversation, title, asker)
    print_line("renamed")


@app.command()
@command
def delete(workspace: "Workspace", asker: "Asker", conversation: Id) -> None:
    """Forget a conversation, with its files; it cannot be brought back."""
    workspace.seek.delete(conversation, asker)
    print_line("deleted")


@app.command()
@command
def knowledge(
    workspace: "Workspace",
    asker: "Asker",
    conversation: Annotated[
        str | None, typer.Option("--from", metavar="ID", help="Share a statement of this one.")
    ] = None,
    text: Annotated[str | None, typer.Option(metavar="TEXT", help="What it says.")] = None,
    correct: Annotated[str | None, typer.Option(metavar="KEY", help="Let it say TEXT.")] = None,
    forget: Annotated[str | None, typer.Option(metavar="KEY", help="Forget it.")] = None,
    document: Annotated[
        str | None, typer.Option(metavar="KEY", help="Make it a document of its tables.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List what people shared from conversations; share, correct or forget a statement."""
    seek = workspace.seek
    if conversation is None and correct is None and text is not None:
        raise UsageError("--text is shared --from a conversation, or used to --correct a statement")
    if (conversation is not None or correct is not None) and text is None:
        raise UsageError("say what: --text TEXT")
    if conversation is not None and text is not None:
        print_line(f"shared as {seek.share(conversation, text, asker)}")
    elif correct is not None and text is not None:
        seek.correct_knowledge(correct, text, asker)
    elif forget is not None:
        seek.forget_knowledge(forget, asker)
    elif document is not None:
        seek.document_knowledge(document, asker)
    elif as_json:
        print_json(seek.knowledge(asker))
    else:
        rows = [[k.knowledge_id, k.author, k.text] for k in seek.knowledge(asker)]
        print_table(["key", "by", "says"], rows) if rows else print_line("Nothing was shared.")


def _turn(events: Any) -> None:
    """Take a turn to its end, telling on standard error what is done."""
    for event in events:
        action = event.data.get("action")
        if action is not None:
            from pneuma_assets.core.seek.conversation import outcome_of
            from pneuma_assets.core.text.safe import printable

            told = f"{action.get('action')}: {action.get('text') or outcome_of(event)}"
            print(printable(told)[:200], file=sys.stderr)  # noqa: T201


def _answered(found: "Conversation", *, as_json: bool) -> None:
    """Show a conversation; raises `ModelError` where the model did not answer."""
    _show(found, as_json=as_json)
    if (said := found.message()) is not None and said.data.get("failed"):
        raise ModelError("the model did not answer; why stands above")


def _show(found: "Conversation", *, as_json: bool, whole: bool = False) -> None:
    """Print a conversation; its last message unless something was done since, or if `whole`."""
    from pneuma_assets.core.seek.conversation import Kind
    from pneuma_assets.core.seek.state import State, difference

    if as_json:
        print_json(found.to_dict())
        return
    print_line(f"{found.conversation_id}  {found.saved.title}")
    if (said := found.message(stale=whole)) is not None:
        _show_message({**said.data, **(said.cells or {})})
    for line in difference(State(), found.state)[:_LINES]:
        print_indented(line[1:], margin=2, most_lines=3)
    for kind in (Kind.MADE, Kind.RESULT):
        if (event := found.shown(kind)) is not None:
            _show_rows(event.data, event.cells or {})
    if found.state.tables and found.shown(Kind.MADE) is None:
        by = f"pneuma-assets seek run {found.conversation_id}"
        print_line(f"Nothing is made of it yet; make it by: {by}")
    for finding in found.findings:
        told = f"{finding['severity']}: {finding['subject']}: {finding['text']}"
        print_indented(told, margin=2, most_lines=4)
    if found.accepted is not None:
        print_line(f"Version {found.accepted.number} is accepted.")
    if found.is_open:
        on = f"pneuma-assets seek say {found.conversation_id}"
        print_line(f"The last turn has no answer yet; go on by: {on}")


def _show_message(said: Any) -> None:
    print_indented(str(said.get("text", "")), margin=0, most_lines=_LINES)
    for name in ("questions", "next_steps", "caveats"):
        for line in said.get(name, ()):
            print_indented(f"- {line}", margin=2, most_lines=4)
    for line in said.get("knowledge", ()):
        told = f"worth knowing for others (seek knowledge --from ID --text): {line}"
        print_indented(told, margin=2, most_lines=4)


def _show_versions(found: "Conversation") -> None:
    from pneuma_assets.core.seek.state import difference

    for one in found.versions[1:]:
        print_line(f"version {one.number} by {one.by}: {one.reason}")
        for line in difference(found.versions[one.before].state, one.state):
            print_indented(line, margin=2, most_lines=3)


def _show_rows(data: Any, cells: Any) -> None:
    """Print what was made or what queries gave."""
    parts = [(one, cells.get("samples", {})) for one in data.get("tables", ())]
    parts += [(one, cells.get("rows", {})) for one in data.get("queries", ())]
    for one, rows in parts:
        shown = rows.get(one["name"]) or ()
        more = " and more" if one.get("more") else ""
        more += f", the first {len(shown)}:" if 0 < len(shown) < one["rows"] else ""
        print_line(f"{one['name']}: {counted(one['rows'], 'row', 'rows')}{more}")
        if shown:
            text = [["" if c is None else str(c)[:_CELL] for c in row] for row in shown]
            print_table(one.get("columns") or cells["columns"][one["name"]], text)


def _json(value: Any) -> bytes:
    import json

    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "replace")


def _packed(table: Any, *, parquet: bool) -> bytes:
    import io

    import pyarrow.parquet

    from pneuma_assets.core.text.csv_writing import table_parts

    if not parquet:
        return b"".join(table_parts(table))
    sink = io.BytesIO()
    pyarrow.parquet.write_table(table, sink)
    return sink.getvalue()


def _write(data: bytes, output: Path | None) -> None:
    if output is None:
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
        return
    try:
        output.write_bytes(data)
    except OSError as error:
        raise UsageError(f"cannot write {output} ({error.strerror}); choose another") from error
    print_line(f"written to {output}")
