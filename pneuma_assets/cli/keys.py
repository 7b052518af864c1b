"""`pneuma-assets keys`: by which programs and people ask over HTTP."""

from typing import TYPE_CHECKING, Annotated

import typer

from pneuma_assets.cli.errors import UsageError
from pneuma_assets.cli.options import JsonOption, command
from pneuma_assets.cli.output import counted, print_json, print_line, print_table
from pneuma_assets.core.errors import ConfigError

if TYPE_CHECKING:
    from pneuma_assets.core.store.keys import AccessKey
    from pneuma_assets.workspace import Workspace

app = typer.Typer(rich_markup_mode=None, help="Make, list or revoke keys for the HTTP interface.")


@app.command()
@command
def create(
    workspace: "Workspace",
    name: Annotated[str, typer.Argument(metavar="NAME", help="Who holds it.")],
    reader: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="User, group or role whose tables it shows (warehouse/analyst); repeat it. "
            "[default: only what everybody may see]",
        ),
    ] = None,
    editor: Annotated[
        bool, typer.Option("--editor", help="It may correct, confirm and add documents.")
    ] = False,
    operator: Annotated[
        bool, typer.Option("--operator", help="It sees all tables, and what operators see.")
    ] = False,
    days: Annotated[
        float | None, typer.Option(min=0.001, max=36_500, help="How long it is valid.")
    ] = None,
) -> None:
    """Make a key and print it, this once."""
    from pneuma_assets.core.service.access_keys import create_key

    if operator and reader:
        raise UsageError("an operator sees all tables; give --operator or --reader")
    given = {"may_edit": editor, "is_operator": operator, "days": days}
    _, text = create_key(workspace.store, name, tuple(reader or ()), **given)  # type: ignore[arg-type]
    print_line(text)


@app.command(name="list")
@command
def list_(workspace: "Workspace", as_json: JsonOption = False) -> None:
    """List the keys, without what they are."""
    keys = workspace.store.keys.all()
    if as_json:
        print_json([_shown(one) for one in keys])
    elif not keys:
        print_line("There are no keys. Make one by: pneuma-assets keys create NAME --reader NAME")
    else:
        now = workspace.store.now()
        headings = ("id", "name", "readers", "may", "made", "ends", "used", "")
        print_table(headings, [_row(one, now) for one in keys])


@app.command()
@command
def revoke(
    workspace: "Workspace",
    name: Annotated[str, typer.Argument(metavar="NAME_OR_ID", help="As the list shows it.")],
) -> None:
    """Revoke a key; servers refuse it within five seconds."""
    ids = workspace.store.keys.revoke(name)
    if not ids:
        raise ConfigError(f"no valid key is called {name}; see: pneuma-assets keys list")
    print_line(f"revoked {counted(len(ids), 'key', 'keys')}: {', '.join(ids)}")


def _shown(key: "AccessKey") -> dict[str, object]:
    from pneuma_assets.core.service.describe import moment

    times = ("created_at", "expires_at", "revoked_at", "used_at")
    return {
        **{one: getattr(key, one) for one in ("key_id", "name", "readers", "may_edit")},
        "is_operator": key.is_operator,
        **{one: moment(getattr(key, one)) for one in times},
    }


def _row(key: "AccessKey", now: float) -> tuple[str, ...]:
    shown = _shown(key)
    may = "operate" if key.is_operator else "edit" if key.may_edit else "read"
    days = (str(shown[one] or "-")[:10] for one in ("created_at", "expires_at", "used_at"))
    state = "" if key.is_valid(now) else "revoked" if key.revoked_at else "ended"
    readers = "all" if key.is_operator else ", ".join(key.readers) or "-"
    return key.key_id, key.name, readers, may, *days, state
