"""The two commands of a newcomer as real processes: index a folder, then ask.

Narration is off, so that the only model is the small encoder that is installed as a package.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.waiting import LONGEST

pytestmark = pytest.mark.integration
COMMAND = [sys.executable, "-m", "pneuma_assets.cli"]
LIMIT_S = LONGEST


def command(*args, cwd: Path, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PNEUMA_", "DAGSTER_"))}
    return subprocess.run(
        [*COMMAND, *args],
        cwd=cwd,
        env=env,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


def make_lake(root: Path) -> Path:
    (root / "lake" / "eu").mkdir(parents=True)
    (root / "lake" / "penguins.csv").write_text(
        "species,island,bill_length_mm\nAdelie,Torgersen,39.1\nGentoo,Biscoe,47.2\n"
    )
    (root / "lake" / "eu" / "economy.csv").write_text("country;year;gdp\nFrance;2020;2.6\n")
    (root / "lake" / "rain.jsonl").write_text('{"station":"Kiel","rain_mm":3.2}\n')
    (root / "lake" / "empty.csv").write_text("")
    (root / "pneuma.yaml").write_text("sources: [{type: folder, name: lake, path: lake}]\n")
    return root


@pytest.fixture(scope="module")
def lake(tmp_path_factory) -> Path:
    root = make_lake(tmp_path_factory.mktemp("cli"))
    done = command("index", "lake", "--json", cwd=root)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["indexed"], report["failed"]) == (3, 1)
    assert [(p["table"], p["stage"]) for p in report["problems"]] == [("lake/empty", "profile")]
    assert "3 of 3" in done.stderr
    return root


def test_search(lake):
    done = command("search", "gdp", "of", "a", "country", cwd=lake)
    assert (done.returncode, done.stderr) == (0, "")
    heading, first, text, *_ = done.stdout.splitlines()
    assert heading.split() == ["sure", "score", "words", "meaning", "judge", "table"]
    assert first.split()[0] == "1"
    assert first.split()[-1] == "lake/eu/economy"
    assert "gdp" in text
    assert all(len(line) <= 100 for line in done.stdout.splitlines())


def test_search_for_programs(lake):
    done = command("search", "--json", "-k", "2", "rain at a weather station", cwd=lake)
    results = json.loads(done.stdout)
    assert [set(result) >= {"table_id", "score", "parts", "text"} for result in results] == [
        True
    ] * 2
    assert results[0]["table_id"] == "lake/rain"
    assert results[0]["score"] >= results[1]["score"]
    asked = "gdp\n\n  penguin species\n"
    done = command("search", "--json", "--questions", "-", "-k", "1", cwd=lake, stdin=asked)
    answers = json.loads(done.stdout)
    assert [answer["question"] for answer in answers] == ["gdp", "penguin species"]
    assert answers[1]["results"][0]["table_id"] == "lake/penguins"


def test_status_shows_the_problem(lake):
    whole = json.loads(command("status", "--json", cwd=lake).stdout)
    assert whole["counts"] == {"indexed": 3, "failed": 1}
    assert whole["index"]["tables"] == 3
    assert [problem["table"] for problem in whole["problems"]] == ["lake/empty"]


def test_a_reader_that_leaves_is_no_drama(lake):
    done = subprocess.run(
        f"'{sys.executable}' -m pneuma_assets.cli status --json | true",
        shell=True,
        cwd=lake,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.stderr == ""


def test_a_run_without_any_searchable_table_fails(tmp_path):
    (tmp_path / "lake").mkdir()
    (tmp_path / "lake" / "a.csv").write_text("")
    done = command("index", "lake", cwd=tmp_path)
    assert done.returncode == 1
    assert "lake/a" in done.stdout
    assert "Traceback" not in done.stderr
    remembered = (tmp_path / ".pneuma" / "pneuma.yaml").read_text()
    assert str(tmp_path / "lake") in remembered


@pytest.mark.slow
def test_ctrl_c(tmp_path):
    root = make_lake(tmp_path)
    many = root / "lake" / "many"  # so many that it is at work for long, whoever is slow
    many.mkdir()
    for number in range(1000):
        (many / f"t{number}.csv").write_text("id,name\n1,one\n")
    process = subprocess.Popen(
        [*COMMAND, "index"], cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    said = process.stderr.readline()  # the run has begun
    process.send_signal(signal.SIGINT)
    shown, error = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 130, said + error
    assert shown == ""
    assert error.splitlines()[-1].startswith("error: interrupted")
    assert "Traceback" not in error
    shutil.rmtree(many)
    gone = command("index", "--accept-removals", cwd=root)
    assert gone.returncode == 0, "the next run goes on"
