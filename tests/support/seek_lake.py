"""A small lake of which conversations are had: purchases, tariffs, beaches of three years, pay."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from pneuma_assets import Workspace, open_workspace
from pneuma_assets.core.access_names import Asker
from tests.support import deployment_files
from tests.support.deployment_files import folder_source
from tests.support.scripted_model import act
from tests.support.stages import run_stages

ANA = Asker("ana", ("buyers",))
BO = Asker("bo", ("buyers",))
ALL = Asker("root", None, is_operator=True)

PURCHASES = "item,supplier,country,price\n" + "".join(
    f"item {n},supplier {n % 4},{'DE' if n % 2 else 'FR'},{10 + n}\n" for n in range(8)
)
TARIFFS = "country,previous_tariff,new_tariff\nDE,0.10,0.15\nFR,0.08,0.12\n"
BEACHES = {
    f"testing-{year}": "beach,tested,level\n"
    + "".join(f"beach {n},{year}-07-0{n + 1},{year - 2000 + n}\n" for n in range(4))
    for year in (2021, 2022, 2023)
}
LAKE = {"trade": {"purchases": PURCHASES, "tariffs": TARIFFS}, "water": BEACHES}
PAY = {"staff": {"salaries": "employee,salary\nEve,91234\nMallory,87654\n"}}

JOINED = "SELECT p.item, p.price, t.previous_tariff, t.new_tariff FROM purchases p JOIN tariffs t USING (country)"  # noqa: E501
COST = "SELECT round(sum(price * (new_tariff - previous_tariff)), 2) AS more FROM costs"
COLUMNS = [("item", "text"), ("price", "number"), ("previous_tariff", "number")]
COLUMNS += [("new_tariff", "number")]
EXPECTED = 4.88
"""What `COST` gives: 56 of DE times 0.05, and 52 of FR times 0.04."""

FOUND = act("search", query="purchases of items and tariffs of countries")
CHANGE = act(
    "change",
    reason="cost by tariff",
    sources=[
        {"name": "purchases", "of": ["lake/trade/purchases"]},
        {"name": "tariffs", "of": ["lake/trade/tariffs"]},
    ],
    tables=[{"name": "costs", "columns": [{"name": n, "type": t} for n, t in COLUMNS]}],
    queries=[{"name": "more", "sql": COST}],
    assumptions=[{"text": "Tariffs are shares of the price."}],
)
STEP = {"operator": "sql", "reads": ["purchases", "tariffs"], "makes": "costs", "code": JOINED}
STEPS = {"steps": [STEP]}
STATE = {
    "sources": [
        {"name": "purchases", "table_ids": ["lake/trade/purchases"]},
        {"name": "tariffs", "table_ids": ["lake/trade/tariffs"]},
    ],
    "tables": [
        {"name": "costs", "columns": [{"name": n, "type": t} for n, t in COLUMNS], "steps": [STEP]}
    ],
    "queries": [{"name": "more", "sql": COST}],
}


def write_lake(folder: Path, files: Mapping[str, Mapping[str, str]]) -> None:
    for place, tables in files.items():
        (folder / place).mkdir(parents=True, exist_ok=True)
        for name, text in tables.items():
            (folder / place / f"{name}.csv").write_text(text, encoding="utf-8")


def deploy(folder: Path, **keys: Any) -> Path:
    """Index the lake, and beside it what only `hr` may read; returns the deployment's file."""
    write_lake(folder / "lake", keys.pop("files", LAKE))
    for name, text in keys.pop("documents", {}).items():
        (folder / "lake" / name).write_text(text, encoding="utf-8")
    write_lake(folder / "pay", PAY)
    pay = folder_source(folder / "pay", "pay", readers=["hr"])
    loaded = deployment_files.deploy(folder, folder_source(folder / "lake"), pay, **keys)
    run_stages(loaded)
    return loaded.file


def model_at(url: str, **seek: Any) -> dict[str, Any]:
    """Return the section `seek` of a model behind an endpoint that may be shown everything."""
    model = {"model": "m", "endpoint_url": url, "send_values": True, "read_price": 1_000.0}
    return {"model": model, **seek}


@contextmanager
def opened(file: Path, seek: Mapping[str, Any] | None = None) -> Iterator[Workspace]:
    """Open a deployment with this section `seek`, kept in a file beside its own."""
    described = yaml.safe_load(file.read_text())
    here = file.with_name("with_seek.yaml")
    here.write_text(yaml.safe_dump(described | {"seek": dict(seek or {})}))
    with open_workspace(here) as workspace:
        yield workspace


def kinds(conversation: Any) -> list[str]:
    return [str(one.kind) for one in conversation.events]


def actions(conversation: Any) -> list[tuple[str, str]]:
    """Return the actions of a conversation that a model asked for, and why each failed."""
    return [
        (one.data["action"]["action"], one.data.get("failed", ""))
        for one in conversation.events
        if one.kind == "action" and one.data["reply"]
    ]


Talk = Callable[..., Any]


def rows_of(event: Any) -> Any:
    return json.loads(json.dumps(event.cells["rows"]))
