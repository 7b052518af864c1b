"""The commands that need no model: usage, status, sources, contexts, failures."""

import json
import socket
from pathlib import Path

import pytest

from pneuma_assets.core.errors import SourceError
from pneuma_assets.core.store import Store
from pneuma_assets.core.tables import Column, Problem, Table, TableRef
from tests.support.doors import fails, run, succeeds
from tests.support.index_blocks import index_texts

HOSTILE = "lake/\x1b[31mred\u202e[bold]x"


@pytest.fixture
def home(here) -> Path:
    """A state folder with two tables known, one of which failed."""
    refs = [
        TableRef(table_id, "lake", f"/x/{table_id}", "csv", "1")
        for table_id in ("lake/sub/penguins", "lake/economy", HOSTILE)
    ]
    with Store(here / ".pneuma" / "state.db") as store, store.runs.alive("run"):
        store.runs.begin("run")
        store.listings.sync("lake", refs)
        store.queue.claim("run", 1, 3, ["lake"])
        store.queue.save_profiles(
            "run", [Table("lake/economy", (Column("gdp", "DOUBLE"),), 7, "/x/lake/economy")]
        )
        store.queue.fail(Problem(HOSTILE, "profile", "the \x1b[2J file is empty"))
    return here / ".pneuma"


@pytest.mark.parametrize(
    ("args", "wanted"),
    [
        (["--hlp"], "--help"),
        (["serch", "x"], "'serch'; did you mean 'search'? 'pneuma-assets --help' lists"),
        (["search", "-5 degrees"], "; put -- before words that begin with -; "),
        (["search", "--jsn", "x"], "--json"),
        (["search"], "QUESTION"),
        (["search", "x", "--questions", "f"], "QUESTION"),
        (["search", "--questions", "none.txt"], "check --questions"),
        (["search", "-k", "many", "x"], "'-k' / '--k': must be a whole number; "),
        (["search", "--kind", "Rows", "x"], "schema, rows and context"),
        (["index", "a", "b"], "pneuma-assets index --help"),
        (["index", "a", "--source", "b"], "not both"),
        (["context"], "pneuma-assets context --help"),
        (["context", "add", "lake/economy", "n", "--file", "a", "--text", "b"], "not both"),
        (["--home"], "--home"),
        (["\x1b[31m"], "[31m"),
    ],
)
def test_bad_usage_is_one_line_and_code_2(here, home, args, wanted):
    assert wanted in fails(2, *args)


def test_help_and_version(here):
    assert "context" in succeeds("--help")
    assert "--rebuild" in succeeds("index", "-h")
    assert succeeds("--version").startswith("pneuma-assets ")
    assert run().exit_code == 2
    assert "Commands:" in run().stderr


def test_nothing_indexed_yet(here):
    assert "nothing is indexed yet; run: pneuma-assets index FOLDER" in succeeds("status")
    assert json.loads(succeeds("status", "--json"))["tables"] == []
    assert succeeds("status", "--problems") == "no problems\n"
    assert "no sources yet" in succeeds("sources")
    assert json.loads(succeeds("sources", "--json")) == []
    assert "run: pneuma-assets index FOLDER" in fails(1, "search", "anything")
    assert "run: pneuma-assets index FOLDER" in fails(1, "index")
    assert "run: pneuma-assets index FOLDER" in fails(1, "context", "list", "t")
    assert "does not exist" in fails(1, "index", "nowhere")
    assert not list(here.iterdir()), "asking leaves nothing behind"


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize(
    ("options", "named"),
    [
        ((), ""),
        (("--home", "my home"), " --home 'my home'"),
        (("--home", "h", "--config", "my.yaml"), " --home h --config my.yaml"),
    ],
)
def test_a_hint_names_the_deployment_that_was_asked(here, options, named, before):
    (here / "my.yaml").write_text("home: h\n")
    hint = f"run: pneuma-assets{named} index FOLDER"
    commands = [("status",), ("sources",)]
    for one in commands:
        assert hint in succeeds(*(*options, *one) if before else (*one, *options))
    for one in [("search", "x"), ("context", "list", "t")]:
        assert hint in fails(1, *(*options, *one) if before else (*one, *options))
    assert "'pneuma-assets status --help'" in fails(2, "status", "--nothing")


def test_a_wrong_file_is_a_line_a_finding(here):
    (here / "pneuma.yaml").write_text("query: {trust: 2, min_confidence: 2}\n")
    result = run("status")
    assert (result.exit_code, result.stdout) == (1, "")
    assert [line[:7] for line in result.stderr.splitlines()] == ["error: "] * 2


def test_what_ones_own_file_does_not_list_is_not_indexed(here):
    (here / "pneuma.yaml").write_text("sources: [{type: folder, name: lake, path: lake}]\n")
    (here / "lake").mkdir()
    (here / "other").mkdir()
    assert "is not a source of" in fails(1, "index", "other")


def test_home_and_config_before_and_after_the_command(here, home):
    moved = home.rename(here / "moved")
    for args in (
        ["--home", str(moved), "status", "--json"],
        ["status", "--json", "--home", str(moved)],
        ["--home", "wrong", "status", "--json", "--home", "moved"],
    ):
        assert json.loads(succeeds(*args))["home"] == str(moved)
    assert json.loads(succeeds("status", "--json", env={"PNEUMA_HOME": "moved"}))["counts"]
    (here / "my.yaml").write_text("home: moved\n")
    assert json.loads(succeeds("status", "--config", "my.yaml", "--json"))["counts"]


def test_status_shows_the_sources_and_the_last_run(here, home):
    (here / "pneuma.yaml").write_text(
        "sources: [{type: folder, name: lake, path: lake}, {type: folder, name: new, path: new}]\n"
    )
    shown = succeeds("status")
    whole = json.loads(succeeds("status", "--json"))
    lake, new = whole["sources"]
    assert (lake["name"], lake["type"], lake["tables"]) == ("lake", "folder", 3)
    assert lake["where"] == str(here / "lake")
    assert lake["listed_at"] in shown
    assert (new["tables"], new["listed_at"]) == (0, None)
    assert "never" in shown
    assert whole["last_run"]["outcome"] == "ended"
    began, ended = whole["last_run"]["started_at"], whole["last_run"]["ended_at"]
    assert f"last run: began {began}, ended {ended}" in shown
    with Store(home / "state.db") as store:
        with store.runs.alive("second"):
            store.runs.begin("second")
            assert ", running" in succeeds("status")
        with store.runs.alive("third"):
            pass  # its process is gone, and it never ended
        store.runs.begin("third")
    assert ", died" in succeeds("status")


def test_serve_gives_no_address_that_another_program_has(home, capfd):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        result = run("serve", "--port", port)
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"cannot listen on 127.0.0.1:{port}" in result.stderr
    assert "--port" in result.stderr


def test_status(home):
    shown = succeeds("status")
    assert "1 failed, 2 pending" in shown
    assert "the [2J file is empty" in shown
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    whole = json.loads(succeeds("status", "--json"))
    assert whole["problems"] == [
        {"table": HOSTILE, "stage": "profile", "cause": "the \x1b[2J file is empty"}
    ]
    assert {table["table_id"]: table["state"] for table in whole["tables"]}[HOSTILE] == "failed"
    assert json.loads(succeeds("status", "--json", "--problems")) == whole["problems"]
    assert "profile" in succeeds("status", "--problems")


def test_what_is_known_but_not_indexed_is_neither_searched_nor_made(home):
    assert "nothing is indexed in" in fails(1, "search", "penguins")
    assert not (home / "index").exists()


QUESTIONS = (
    b"\xef\xbb\xbfpenguins\r\n"
    b"\r\n"
    b"???\n"
    b"caf\xe9 prices\n"
    b"  gross product \r" + b"x" * 10_001 + "\nyear\u2028of gdp".encode()
)


@pytest.fixture
def asked_for(home):
    texts = {"lake/economy": "gross product gdp of a year", "lake/sub/penguins": "penguins"}
    index_texts(home, texts)
    return home


def test_a_line_that_cannot_be_asked_fails_no_other(asked_for, here):
    (here / "asked.txt").write_bytes(QUESTIONS)
    result = run("search", "--questions", "asked.txt", "-k", "1", "--json")
    assert result.exit_code == 1
    answers = json.loads(result.stdout)
    assert [answer["question"] for answer in answers[:4]] == [
        "penguins",
        "???",
        "",
        "gross product",
    ]
    assert [len(answer["question"]) for answer in answers[4:]] == [201, len("year of gdp")]
    assert [[found["table_id"] for found in answer["results"]] for answer in answers] == [
        ["lake/sub/penguins"],
        [],
        [],
        ["lake/economy"],
        [],
        ["lake/economy"],
    ]
    assert ["error" in answer for answer in answers] == [False, True, True, False, True, False]
    assert [answer["line"] for answer in answers] == [1, 3, 4, 5, 6, 7]
    errors = result.stderr.splitlines()
    assert [line.split(":")[1] for line in errors] == [
        f" asked.txt, line {number}" for number in (3, 4, 6)
    ]
    for line, words in zip(errors, ("no words", "not UTF-8", "10,001 characters"), strict=True):
        assert line.startswith("error: ")
        assert words in line


def test_lines_are_answered_in_their_order(asked_for, here):
    result = run("search", "--questions", "-", "-k", "1", stdin="penguins\n???\ngdp\n")
    assert result.exit_code == 1
    first, _, _, _, _, second, why, _, third, *_ = result.stdout.splitlines()
    assert [first, second, third] == ["penguins", "???", "gdp"]
    assert why.startswith("not asked: The question has no words")
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: standard input, line 2: ")
    result = run("search", "--questions", "-", "--json", stdin="???\n!\n")
    assert [answer["results"] for answer in json.loads(result.stdout)] == [[], []]
    assert (result.exit_code, len(result.stderr.splitlines())) == (1, 2)


def test_a_file_of_another_encoding_is_named(asked_for, here):
    (here / "asked.txt").write_text("penguins", encoding="utf-16")
    assert "asked.txt is UTF-16; save it as UTF-8" in fails(2, "search", "--questions", "asked.txt")
    assert "holds no question" in fails(2, "search", "--questions", "-", stdin=" \r\n\n")


def test_contexts(home):
    table = "lake/economy"
    assert "nothing was added" in succeeds("context", "list", table)
    said = succeeds("context", "add", table, "note", "--text", "Gross product")
    assert "Run pneuma-assets index" in said
    succeeds("context", "add", table, "from-stdin", stdin="typed\n")
    page = home.parent / "page.html"
    page.write_text("<p>Read <b>me</b></p><script>no()</script>")
    succeeds("context", "add", table, "page", "--file", str(page))
    listed = {
        c["name"]: c["text"] for c in json.loads(succeeds("context", "list", table, "--json"))
    }
    assert listed["note"] == "Gross product"
    assert listed["from-stdin"].strip() == "typed"
    assert "Read me" in listed["page"]
    assert "no()" not in listed["page"]
    assert "Gross product" in succeeds("context", "list", table)
    assert "did you mean" in fails(1, "context", "add", "lake/econmy", "n", "--text", "x")
    assert "lake/economy" in fails(1, "context", "list", "economy")
    assert "it has: note" in fails(1, "context", "remove", table, "notes")
    assert "removed 'note'" in succeeds("context", "remove", table, "note")
    assert "give both" in fails(1, "context", "add", table, "n", "--text", " ")
    page.write_bytes(bytes(range(256)) * 20)
    assert "cannot be taken as text" in fails(2, "context", "add", table, "n", "--file", str(page))


def test_sources(here):
    (here / "lake").mkdir()
    (here / "lake" / "a.csv").write_text("x,y\n1,2\n")
    (here / "pneuma.yaml").write_text(
        "sources:\n- {type: folder, name: lake, path: lake}\n"
        "- {type: folder, name: gone, path: gone}\n"
        "- {type: s3, name: cloud, bucket: some-bucket, prefix_env: ONLY_HALF}\n"
    )
    half = {"ONLY_HALF_ACCESS_KEY_ID": "x"}
    result = run("sources", env=half)
    assert result.exit_code == 1
    assert str(here / "lake") in result.stdout
    checks = {
        check["name"]: check for check in json.loads(run("sources", "--json", env=half).stdout)
    }
    assert (checks["lake"]["reachable"], checks["lake"]["tables"]) == (True, 1)
    assert checks["gone"]["reachable"] is False
    assert checks["gone"]["cause"]
    assert "ONLY_HALF_SECRET_ACCESS_KEY" in checks["cloud"]["cause"]
    assert checks["cloud"]["where"] == "s3://some-bucket/"


def test_unexpected_failures_say_how_to_see_more(here, monkeypatch):
    def explode(*_args):
        raise RuntimeError("line one\nline two \x1b[31m")

    monkeypatch.setattr("pneuma_assets.core.config.load.load_deployment", explode)
    line = fails(1, "status")
    assert "unexpected RuntimeError: line one line two" in line
    assert "PNEUMA_DEBUG=1" in line
    shown = run("status", env={"PNEUMA_DEBUG": "1"})
    assert shown.exit_code == 1
    assert "Traceback" in shown.stderr


@pytest.mark.parametrize(
    ("error", "code"),
    [(KeyboardInterrupt(), 130), (SourceError("gone; mount it"), 1), (MemoryError(), 1)],
)
def test_exit_codes_of_failures(here, monkeypatch, error, code):
    def explode(*_args):
        raise error

    monkeypatch.setattr("pneuma_assets.core.config.load.load_deployment", explode)
    said = fails(code, "status")
    assert "Traceback" not in said
    # Not every command keeps something as it goes: what is told is true of those that do not, too.
    assert "what was finished" not in said
    assert code != 130 or "the same command does the rest" in said


@pytest.mark.parametrize(
    "command", [["status"], ["context", "list", "lake/economy"], ["search", "x", "--table", "y"]]
)
def test_damage_is_told_with_its_folder(asked_for, here, command):
    (asked_for / "state.db").write_bytes(b"not a database, " * 1000)
    line = fails(1, *command)
    assert "run `pneuma-assets restore`" in line
    assert f"the state folder is {asked_for} (--home)" in line
