"""What conversations reach on needs whose answers are computed, a level of measuring each.

    python -m pneuma_bench.experiments.seek --keep FOLDER [--warehouse FOLDER] [--levels 0,1,2,3]
    PNEUMA_SEEK_ENDPOINT=http://.../v1 python -m pneuma_bench.experiments.seek --keep FOLDER \
        --levels 6 [--model NAME] [--needs life,rain]

The lake is made (of the extra `demo`) and indexed in FOLDER where it is not there; without
--warehouse the needs about it are left out. L0 replays right states, and wrong ones of which a rule
has to tell; L2 lets a person made of rules speak with the pipeline without a model, which is the
floor; L3 counts needed tables that are found. None of these says how well a model converges. L6 is
L2 with a model behind an endpoint as the system; for L4 the variable names a proxy that records.
"""

import argparse
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

import yaml

from pneuma_assets import Workspace, open_workspace
from pneuma_assets.core.config.load import load_deployment
from pneuma_bench.seek.lake import build
from pneuma_bench.seek.levels import ASKER, found_tables, replayed, talked
from pneuma_bench.seek.needs import Need, read_needs
from tests.support.reading import reading_here
from tests.support.stages import run_stages

VARIABLE = "PNEUMA_SEEK_ENDPOINT"
TESTS = Path(__file__).resolve().parents[3] / "tests/integration"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keep", type=Path, required=True)
    parser.add_argument("--warehouse", type=Path)
    parser.add_argument("--levels", default="0,1,2,3")
    parser.add_argument("--model", default="default")
    parser.add_argument("--needs", help="names, with commas; all, if not given")
    options = parser.parse_args()
    levels, endpoint = options.levels.split(","), os.environ.get(VARIABLE, "")
    if not endpoint and "6" in levels:
        parser.error(f"level 6 needs an endpoint: set {VARIABLE}")
    file = deploy(options.keep.resolve(), options.warehouse)
    needs = read_needs(options.keep.resolve(), options.warehouse)
    chosen = options.needs.split(",") if options.needs else [one.name for one in needs]
    if "6" in levels:
        file = with_model(file, endpoint, options.model)
    with reading_here(), open_workspace(file) as workspace:
        print(f"{'':50}{'demo':>10}{'warehouse':>11}{'all':>10}")
        for level in levels:
            LEVELS[level](workspace, [one for one in needs if one.name in chosen])


def deploy(folder: Path, warehouse: Path | None) -> Path:
    """Make the lake and its index where they are not there; returns the deployment's file."""
    file, unfinished = folder / "deployment.yaml", folder / "unfinished.yaml"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        source = {"type": "folder", "name": "lake", "path": str(build(folder, warehouse))}
        described = {"home": str(folder / "home"), "sources": [source], "seek": {"rows": 200}}
        unfinished.write_text(yaml.safe_dump(described))
        run_stages(load_deployment(unfinished, environ={}), {}, "suite")
        unfinished.rename(file)
    return file


def with_model(file: Path, endpoint: str, model: str) -> Path:
    chosen = {"model": model, "endpoint_url": endpoint, "send_values": True}
    described = yaml.safe_load(file.read_text()) | {"seek": {"rows": 200, "model": chosen}}
    here = file.with_name("with_model.yaml")
    here.write_text(yaml.safe_dump(described))
    return here


def line(what: str, needs: Sequence[Need], values: Sequence[float], form: str = "") -> None:
    """Print a figure of the demo's needs, the warehouse's and all: counts, or means in a form."""
    print(f"{what:50}", end="")
    for kept, width in (({False}, 10), ({True}, 11), ({False, True}, 10)):
        some = [v for one, v in zip(needs, values, strict=True) if one.in_warehouse in kept]
        mean = format(sum(some) / max(1, len(some)), form)
        print(f"{mean if form else f'{sum(some)} of {len(some)}':>{width}}", end="", flush=True)
    print()


def names(what: str, needs: Sequence[Need], which: Sequence[bool]) -> None:
    print(what, ", ".join(n.name for n, ok in zip(needs, which, strict=True) if ok) or "none")


def replay(workspace: Workspace, needs: Sequence[Need]) -> None:
    right = [replayed(workspace, one)[0] for one in needs]
    line("L0 right state: the computed answer", needs, right)
    names("   not so:", needs, [not one for one in right])
    traps = [one for one in needs if one.is_trap]
    wrong = [replayed(workspace, one, wrong=True) for one in traps]
    told = [one.said["finds"] in rules for one, (_, rules) in zip(traps, wrong, strict=True)]
    line("L0 state that falls into a trap: a rule tells", traps, told)
    line("   and its rows are the answer", traps, [answered for answered, _ in wrong])


def faults(*_: object) -> None:
    files = sorted(TESTS.glob("test_seek*.py"))
    count = sum(len(re.findall(r"(?m)^def test_", one.read_text())) for one in files)
    print(f"L1 faults: {count} tests in {', '.join(one.name for one in files)}; not run here")


def without_model(workspace: Workspace, needs: Sequence[Need]) -> None:
    converse(workspace, needs, "L2 no model", None)


def by_endpoint(workspace: Workspace, needs: Sequence[Need]) -> None:
    converse(workspace, needs, "L6 model", lambda c, text: [*workspace.seek.say(c, text, ASKER)])


def converse(
    workspace: Workspace, needs: Sequence[Need], what: str, say: Callable[[str, str], object] | None
) -> None:
    found = [talked(workspace, one, say) for one in needs]
    line(f"{what}: T has all after the opening words", needs, [one.complete == 1 for one in found])
    line("   T has all within 15 turns", needs, [one.complete > 0 for one in found])
    line("   answer within 15 turns", needs, [one.answered > 0 for one in found])
    print("   median turns to it:", median([t.answered for t in found if t.answered] or [0]))
    names("   answered:", needs, [one.answered > 0 for one in found])
    names("   T has all, another answer:", needs, [t.complete > t.answered for t in found])
    for one, t in zip(needs, found, strict=True):
        print(f"   {one.name}: {t.error[:200]}\n" if t.error else "", end="")


def retrieve(workspace: Workspace, needs: Sequence[Need]) -> None:
    found = [found_tables(workspace, one) for one in needs]
    for at, name in enumerate(("opening words", "one slot", "two slots", "all slots", "names")):
        last = {3: -2, 4: -1}.get(at)
        shares = [one[min(at, len(one) - 2) if last is None else last] for one in found]
        line(f"L3 {name}: tables in the first ten", needs, [one[0] for one in shares], ".3f")
        line("   in the first set", needs, [one[1] for one in shares], ".3f")


LEVELS = {"0": replay, "1": faults, "2": without_model, "3": retrieve, "6": by_endpoint}

if __name__ == "__main__":
    main()
