"""A conversation by the command line, without a model and with one."""

import json

import pyarrow.parquet as pq
import pytest
import yaml

from tests.support.doors import fails, run, succeeds
from tests.support.scripted_model import act, say, scripted_model
from tests.support.seek_lake import EXPECTED, STATE, deploy, model_at

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("small_encoder", "read_here")]


@pytest.fixture(scope="module")
def lake(tmp_path_factory, small_encoder, read_here):
    return deploy(tmp_path_factory.mktemp("seek_cli"))


@pytest.fixture
def seek(lake):
    def run(*args, to=succeeds, config=lake, **options):
        return to("--config", config, "seek", *args, "--author", "ana", **options)

    return run


@pytest.mark.parametrize(
    ("text", "said"), [(" ", "The message is empty"), ("x" * 10_001, "in at most 10,000")]
)
def test_a_message_that_is_refused_begins_no_conversation(seek, text, said):
    before = seek("list")
    assert said in seek("start", text, to=lambda *a: fails(1, *a))
    assert seek("list") == before


def test_without_a_model_a_table_is_proposed_edited_made_accepted_and_exported(seek, tmp_path):
    shown = seek("start", "purchases by country and tariffs")
    begun = shown.split()[0]
    assert "is proposed" in shown
    assert begun in seek("list")
    state = tmp_path / "state.json"
    seek("export", begun, "--what", "state", "-o", state)
    assert json.loads(state.read_text())["sources"]
    half = STATE | {"queries": [{"name": "more", "sql": "SELECT price FROM purchases"}]}
    state.write_text(json.dumps(half))
    told = seek("edit", begun, state)
    assert "error: more:" in told
    assert "'purchases'" in told, "a query reads tables of T alone"
    assert "is proposed" not in told, "what was said was of another state"
    state.write_text(json.dumps(STATE))
    assert "error: " not in seek("edit", begun, state)
    made = seek("run", begun)
    assert str(EXPECTED) in made
    assert "8 rows" in made
    assert "is proposed" in seek("show", begun)
    assert "version 2 by ana" in seek("show", begun, "--versions")
    assert "Accepted." in seek("accept", begun)
    assert "Version 3 is accepted." in seek("show", begun)
    assert "there are: costs, more" in seek(
        "export", begun, "--what", "cost", to=lambda *a: fails(1, *a)
    )
    assert seek("export", begun, "--what", "more").split() == ["more", str(EXPECTED)]
    seek("export", begun, "--what", "costs", "-o", tmp_path / "costs.parquet")
    assert pq.read_table(tmp_path / "costs.parquet").num_rows == 8
    assert seek("export", begun, "--what", "costs").splitlines()[0].count(",") == 3
    assert "DATABASE" in seek("export", begun, "--what", "script")
    whole = json.loads(seek("export", begun))
    assert whole["events"][0]["text"] == "purchases by country and tariffs"
    state.write_text(json.dumps(half))
    assert "error: more:" in seek("edit", begun, state), "also where T is made"
    assert seek("run", begun, to=run).exit_code == 1
    seek("undo", begun)
    own = tmp_path / "rates.csv"
    own.write_text("country,rate\nDE,1\n")
    assert "file_rates" in seek("add", begun, own)
    assert "file_rates" not in seek("undo", begun)
    seek("grant", begun)
    seek("rename", begun, "Costs")
    assert "Costs" in seek("show", begun)
    known = seek("knowledge", "--from", begun, "--text", "Tariffs are shares.").split()[-1]
    assert "Tariffs are shares." in seek("knowledge")
    seek("knowledge", "--correct", known, "--text", "Tariffs are parts.")
    seek("knowledge", "--forget", known)
    assert "Nothing was shared." in seek("knowledge")
    told = "made anew by the schedule 0 6 * * *"
    assert told in seek("save", begun, "costs", "--schedule", "0 6 * * *")
    assert told in seek("save", begun, "costs", "--replace")
    assert "when somebody asks" in seek("save", begun, "costs", "--replace", "--schedule", "")
    seek("delete", begun)
    assert "No conversations." in seek("list")
    assert "no conversation" in seek("show", begun, to=lambda *a: fails(1, *a))


def test_the_script_that_is_exported_runs_by_itself(seek, tmp_path):
    import subprocess
    import sys

    begun = seek("start", "--title", "Script").split()[0]
    state = tmp_path / "state.json"
    state.write_text(json.dumps(STATE))
    seek("edit", begun, state)
    seek("export", begun, "--what", "script", "-o", tmp_path / "made.py")
    done = subprocess.run(
        [sys.executable, "-I", tmp_path / "made.py"], capture_output=True, text=True, check=True
    )
    assert str(EXPECTED) in done.stdout


def test_with_a_model_words_are_answered_and_what_is_done_is_told(seek, lake):
    script = [act("search", query="tariffs"), say("Which tariffs?", questions=["Which year?"])]
    with scripted_model(*script) as (endpoint, _):
        described = yaml.safe_load(lake.read_text()) | {"seek": model_at(endpoint.url)}
        file = lake.with_name("with_model.yaml")  # beside its home
        file.write_text(yaml.safe_dump(described))
        shown = seek("start", "What do tariffs cost?", config=file)
        assert "Which tariffs?" in shown
        assert "- Which year?" in shown
        begun = shown.split()[0]
        assert "ended" in seek("say", begun, "2024", config=file)
        assert "ended" in seek("say", begun, config=file), "no turn is open, and nothing happens"
        found = json.loads(seek("show", begun, "--json", config=file))
        assert [one["kind"] for one in found["events"]].count("person") == 2
