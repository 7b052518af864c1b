"""What conversations reach on needs whose answers are computed, a level of measuring each.

    python -m pneuma_bench.experiments.seek --keep FOLDER [--warehouse FOLDER] [--levels 0,2,3]
    python -m pneuma_bench.experiments.seek --keep FOLDER --levels 5 --model FILE.gguf --small \
        --minutes 40
    python -m pneuma_bench.experiments.seek --keep FOLDER --levels 6 --model NAME --person NAME

The lake is made (of the extra `demo`) and indexed in FOLDER where it is not there; without
--warehouse the needs about it are left out. L0 replays right states, and wrong ones of which a rule
has to tell; L2 lets a person made of rules speak with the pipeline without a model, which is the
floor; L3 counts needed tables that are found. None of these says how well a model converges. L5 is
L2 with a model as the system: a file, which gets the short form of prompts, or one behind the
endpoint in PNEUMA_BENCH_ENDPOINT. L6 is the paper's own experiment (section 4.1): a person played
by a model, behind the endpoint in PNEUMA_BENCH_PERSON, asks such a system.
"""

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import yaml

from pneuma_assets import Workspace, open_workspace
from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.core.seek.conversation import Kind, Spent
from pneuma_assets.core.store.conversations import SavedEvent
from pneuma_bench.experiments.support.models import add_models, open_person
from pneuma_bench.models import model_keys, with_sections
from pneuma_bench.seek.lake import build
from pneuma_bench.seek.levels import ASKER, MOST_TURNS, found_tables, has_answer, replayed, talked
from pneuma_bench.seek.needs import Need, read_needs
from pneuma_bench.seek.person import PASTED, Played, played
from tests.support.reading import reading_here
from tests.support.stages import run_stages

SHORT = {"prompt_tokens": 1_500, "reply_tokens": 400}
"""What is asked of a model on this machine at once."""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keep", type=Path, required=True)
    parser.add_argument("--warehouse", type=Path)
    parser.add_argument("--levels", default="0,2,3")
    add_models(parser, person=True)
    parser.add_argument("--needs", help="names, with commas; all, if not given")
    parser.add_argument("--small", action="store_true", help="needs of one table and one step")
    parser.add_argument("--minutes", type=float, default=1e9, help="then no need is begun")
    options = parser.parse_args(arguments)
    levels = options.levels.split(",")
    system = model_keys(options.model) if {"5", "6"} & {*levels} else None
    file = deploy(options.keep.resolve(), options.warehouse)
    needs = read_needs(options.keep.resolve(), options.warehouse)
    chosen = options.needs.split(",") if options.needs else [one.name for one in needs]
    needs = [one for one in needs if one.name in chosen and (one.is_small or not options.small)]
    if system:
        file = with_sections(file, {"seek": conducting(system)})
    with reading_here(), open_workspace(file) as workspace:
        print(f"{'':50}{'demo':>10}{'warehouse':>11}{'all':>10}")
        for level in levels:
            LEVELS[level](workspace, needs, options)


def deploy(folder: Path, warehouse: Path | None) -> Path:
    """Make the lake and its index where they are not there; returns the deployment's file."""
    return indexed(folder, lambda: build(folder, warehouse))


def indexed(folder: Path, lake: Callable[[], Path]) -> Path:
    """Index a folder where no index is kept; returns the deployment's file.

    Args:
        folder: Keeps the deployment and its index.
        lake: Returns what is indexed; called where it has to be.
    """
    file, unfinished = folder / "deployment.yaml", folder / "unfinished.yaml"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        source = {"type": "folder", "name": "lake", "path": str(lake())}
        described = {"home": str(folder / "home"), "sources": [source], "seek": {"rows": 200}}
        unfinished.write_text(yaml.safe_dump(described))
        run_stages(load_deployment(unfinished, environ={}), {}, "suite")
        unfinished.rename(file)
    return file


def conducting(model: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of the section `seek` with a model as the system."""
    return {"model": model, **({} if "endpoint_url" in model else SHORT)}


def line(what: str, needs: Sequence[Need], values: Sequence[float], form: str = "") -> None:
    """Print a figure of the demo's needs, the warehouse's and all: counts, or means in a form."""
    print(f"{what:50}", end="")
    for kept, width in (({False}, 10), ({True}, 11), ({False, True}, 10)):
        some = [v for one, v in zip(needs, values, strict=True) if one.in_warehouse in kept]
        mean = format(sum(some) / max(1, len(some)), form)
        print(f"{mean if form else f'{sum(some)} of {len(some)}':>{width}}", end="", flush=True)
    print()


def replay(workspace: Workspace, needs: Sequence[Need], _: argparse.Namespace) -> None:
    right = [replayed(workspace, one)[0] for one in needs]
    line("L0 right state: the computed answer", needs, right)
    traps = [one for one in needs if one.is_trap]
    wrong = [replayed(workspace, one, wrong=True) for one in traps]
    told = [one.said["finds"] in rules for one, (_, rules) in zip(traps, wrong, strict=True)]
    line("L0 state that falls into a trap: a rule tells", traps, told)
    line("   and its rows are the answer", traps, [answered for answered, _ in wrong])


def without_model(workspace: Workspace, needs: Sequence[Need], options: argparse.Namespace) -> None:
    converse(workspace, needs, options, "L2 no model", None)


def by_model(workspace: Workspace, needs: Sequence[Need], options: argparse.Namespace) -> None:
    def say(conversation: str, text: str) -> None:
        said.extend(workspace.seek.say(conversation, text, ASKER))

    said: list[SavedEvent] = []
    converse(workspace, needs, options, "L5 model", say)
    print_spent(said)


def print_spent(said: Sequence[SavedEvent]) -> None:
    """Print what the system's model did in conversations, and what that took."""
    acts = (one for one in said if one.kind == Kind.ACTION and one.data["reply"])
    failed = Counter(one.data.get("failed") for one in acts)
    unread, all_ = failed["shape"], failed.total()
    print(f"   {all_} actions, {unread} had another form, {all_ - unread - failed[None]} refused")
    spent = sum((Spent(**one.data["spent"]) for one in said if "spent" in one.data), Spent())
    prompts = sum(one.kind == Kind.ASSISTANT for one in said)
    print(f"   {prompts} prompts of {spent.seconds / max(1, prompts):.1f} s;", end="")
    print(f" {spent.read:,} tokens read, {spent.written:,} written")


def by_person(workspace: Workspace, needs: Sequence[Need], options: argparse.Namespace) -> None:
    person, found = open_person(options), list[Played]()
    for one in tried(needs, options):
        question = f"{one.told['say']}; {one.question}"
        is_right = partial(has_answer, need=one)
        t = played(workspace.seek, person, question, is_right, opening=one.told["say"])
        found.append(t)
        told = f"converged in {t.converged}, answer in {t.answered} of {t.turns} turns"
        print(f"   {one.name}: {told}, {t.pasted:.2f} given away {t.problem[:200]}", flush=True)
    print_played("L6 person played", found)
    person.close()


def print_played(what: str, found: Sequence[Played]) -> None:
    """Print the paper's two figures of conversations with a played person, and what lacks."""
    heard = [t for t in found if not t.problem]
    turns = [t.converged for t in heard if t.converged]
    pasted = sum(t.pasted >= PASTED for t in heard if t.converged)
    print(f"{what}: {len(turns)} of {len(heard)} converged within {MOST_TURNS} turns", end="")
    print(f" (median {median(turns or [0])}); {pasted} of them gave {PASTED:.0%} of the", end="")
    print(f" question away at once; {sum(t.answered > 0 for t in heard)} got the right answer")
    silent = [t.problem[:200] for t in found if t.problem]
    print(f"   not counted: {len(silent)}, no reply of the person can be read", *silent[:1])
    print(f"   {sum(t.unanswered for t in found)} turns had no reply of the system's model")
    print_spent([one for t in found if t.now for one in t.now.events])


def converse(
    workspace: Workspace,
    needs: Sequence[Need],
    options: argparse.Namespace,
    what: str,
    say: Callable[[str, str], None] | None,
) -> None:
    found = [talked(workspace, one, say) for one in tried(needs, options)]
    needs = needs[: len(found)]
    line(f"{what}: T has all after the opening words", needs, [one.complete == 1 for one in found])
    line("   T has all within 15 turns", needs, [one.complete > 0 for one in found])
    line("   answer within 15 turns", needs, [one.answered > 0 for one in found])
    print("   median turns to it:", median([t.answered for t in found if t.answered] or [0]))
    for one, t in zip(needs, found, strict=True):
        print(f"   {one.name}: T in {t.complete}, answer in {t.answered} turns {t.error[:200]}")


def tried(needs: Sequence[Need], options: argparse.Namespace) -> Iterator[Need]:
    """Yield needs as long as there is time."""
    ends = time.monotonic() + 60 * options.minutes
    for one in needs:
        if time.monotonic() > ends:
            return
        yield one


def retrieve(workspace: Workspace, needs: Sequence[Need], _: argparse.Namespace) -> None:
    found = [found_tables(workspace, one) for one in needs]
    for at, name in enumerate(("opening words", "one slot", "two slots", "all slots", "names")):
        last = {3: -2, 4: -1}.get(at)
        shares = [one[min(at, len(one) - 2) if last is None else last] for one in found]
        line(f"L3 {name}: tables in the first ten", needs, [one[0] for one in shares], ".3f")
        line("   in the first set", needs, [one[1] for one in shares], ".3f")


LEVELS: dict[str, Callable[[Workspace, Sequence[Need], argparse.Namespace], None]] = {
    "0": replay, "2": without_model, "3": retrieve, "5": by_model, "6": by_person
}  # fmt: skip

if __name__ == "__main__":
    main()
