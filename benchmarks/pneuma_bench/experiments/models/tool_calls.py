"""Whether a small language model finds the right table by one call of a tool.

    python -m pneuma_bench.experiments.models.tool_calls TABLES QUESTIONS FOLDER

TABLES and QUESTIONS are the files of `pneuma-bench run` (such as those of `experiments.warehouse`).
FOLDER keeps the tables as a lake of CSV files, and its index; it is made once. The model is told of
all tools as the server lists them, and answers with one call as JSON, which is read strictly and
made at the server. A sampler that only lets JSON of the tools' schemas pass is used unless --free;
even so arguments may be nonsense, and any tool may be chosen.
"""

import argparse
import asyncio
import csv
import json
import random
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mcp import Client
from mcp_types import CallToolResult, Tool

from pneuma_assets.core.access_names import Asker
from pneuma_assets.core.models.language.llamacpp import LlamaCppModel
from pneuma_assets.core.models.language.smollm2 import find_gguf
from pneuma_assets.mcp_server.server import INSTRUCTIONS, build_server
from pneuma_assets.workspace import Workspace, open_workspace

_PROMPT = """{instructions}

Tools:
{tools}

Answer with one JSON object that calls one tool: {{"tool": NAME, "arguments": {{...}}}}
Copy the whole question into the arguments.

Question: {question}"""
_SOURCE = "wh"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", type=Path, help="a GGUF file; SmolLM2-135M if not given")
    parser.add_argument("--limit", type=int, default=100, help="questions, drawn at random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--shuffle", action="store_true", help="tools in an order drawn by --seed")
    parser.add_argument("--free", action="store_true", help="let the model write any text")
    parser.add_argument("--out", type=Path, help="write each question, call and result here")
    options = parser.parse_args()
    asked = [json.loads(line) for line in options.questions.read_text().splitlines()]
    asked = [one for one in asked if one["tables"]]
    chosen = random.Random(options.seed).sample(asked, min(options.limit, len(asked)))
    model = LlamaCppModel("local", lambda: options.model or find_gguf(), device="cpu", window=4096)
    with open_workspace(make_lake(options.tables, options.folder)) as desk:
        if not desk.known_tables():
            desk.index()
        order = random.Random(options.seed) if options.shuffle else None
        tried = asyncio.run(try_all(desk, model, chosen, order, free=options.free))
    if options.out:
        options.out.write_text("".join(json.dumps(one) + "\n" for one in tried))
    report(tried)


def make_lake(tables: Path, folder: Path) -> Path:
    """Write each table as a CSV file in the folder of its schema; returns the deployment file."""
    for line in tables.read_text().splitlines():
        table = json.loads(line)
        path = folder / "lake" / f"{table['id'].replace('.', '/')}.csv"
        if path.exists():
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream).writerows([table["columns"], *table["rows"]])
    file = folder / "pneuma.yaml"
    source = {"type": "folder", "name": _SOURCE, "path": "lake"}
    file.write_text(json.dumps({"home": "home", "sources": [source]}))
    return file


async def try_all(
    desk: Workspace,
    model: LlamaCppModel,
    asked: list[dict[str, Any]],
    order: random.Random | None,
    *,
    free: bool,
) -> list[dict[str, Any]]:
    """Let the model make one call for each question; returns what became of each."""
    async with Client(build_server(desk, lambda _: Asker("bench"))) as client:
        tools = (await client.list_tools()).tools
        if order is not None:
            order.shuffle(tools)
        tried = list(calls_of(model, tools, asked, free=free))
        for one in tried:
            if one["call"] is not None:
                call = one["call"]
                result = await client.call_tool(call["tool"], call["arguments"])
                one["found"] = tables_in(result)
                one["error"] = result.is_error
    return tried


def calls_of(
    model: LlamaCppModel, tools: list[Tool], asked: list[dict[str, Any]], *, free: bool
) -> Iterator[dict[str, Any]]:
    """Yield each question with the model's answer, and the call that it is, or None."""
    told = "\n".join(
        json.dumps({"name": t.name, "description": t.description, "parameters": t.input_schema})
        for t in tools
    )
    prompts = [
        _PROMPT.format(instructions=INSTRUCTIONS, tools=told, question=one["question"])
        for one in asked
    ]
    schema = {"anyOf": [_call_schema(tool) for tool in tools]}
    only = {} if free else {"response_format": {"type": "json_object", "schema": schema}}
    names = {tool.name for tool in tools}
    began = time.monotonic()
    for at, choice in model._ask(prompts, max_tokens=300, **only):
        text = choice["message"]["content"] or ""
        yield {**asked[at], "said": text, "call": call_in(text, names), "found": []}
    print(f"{len(prompts)} prompts of {len(prompts[0]):,} characters, "
          f"{time.monotonic() - began:.0f} s")  # fmt: skip


def _call_schema(tool: Tool) -> dict[str, Any]:
    properties = {"tool": {"const": tool.name}, "arguments": tool.input_schema}
    return {"type": "object", "properties": properties, "required": ["tool", "arguments"]}


def call_in(text: str, names: set[str]) -> dict[str, Any] | None:
    """Return the call that a text is: JSON and nothing else, a known tool, an object."""
    try:
        call = json.loads(text)
    except ValueError:
        return None
    if not isinstance(call, dict) or set(call) != {"tool", "arguments"}:
        return None
    return call if call["tool"] in names and isinstance(call["arguments"], dict) else None


def tables_in(result: CallToolResult) -> list[str]:
    """Return the ids of tables in a result, in order, as the questions have them."""
    found: dict[str, None] = {}

    def look(value: Any, key: str = "") -> None:
        if isinstance(value, dict):
            for name, inner in value.items():
                look(inner, name)
        elif isinstance(value, list):
            for inner in value:
                look(inner, key)
        elif key in ("table", "tables", "nearest") and isinstance(value, str):
            found[value.removeprefix(f"{_SOURCE}/").replace("/", ".")] = None

    look(result.structured_content or {})
    return list(found)


def report(tried: list[dict[str, Any]]) -> None:
    """Print how many calls could be read, and how often the right tables were found."""
    called = [one for one in tried if one["call"] is not None]
    kept = [sum(1 for w in one["question"].split() if w in json.dumps(one["call"]["arguments"]))
            / len(one["question"].split()) for one in called]  # fmt: skip
    first = [one for one in tried if one["found"][:1] and one["found"][0] in one["tables"]]
    within = [one for one in tried if set(one["found"][:10]) & set(one["tables"])]
    every = [one for one in tried if set(one["tables"]) <= set(one["found"][:10])]
    print(f"questions {len(tried)}, calls that parsed {len(called)}, "
          f"errors {sum(one.get('error', False) for one in called)}, "
          f"words of the question kept {sum(kept) / max(1, len(kept)):.2f}")  # fmt: skip
    print(dict(Counter(one["call"]["tool"] for one in called)))
    print(f"a right table first {len(first)}, one in ten {len(within)}, all in ten {len(every)}")


if __name__ == "__main__":
    main()
