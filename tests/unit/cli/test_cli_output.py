"""What a command prints cannot be obeyed by a terminal, and fits its lines."""

import json
import os
import pty
import subprocess
import sys

import pytest

from pneuma_assets.assets.stages import described
from pneuma_assets.cli import output
from pneuma_assets.cli.status import print_index
from pneuma_assets.core.index.base import IndexInfo
from pneuma_assets.core.progress import report, working


def test_tables_take_text_literally_and_stay_in_the_width(capsys):
    output.print_table(
        ["name", "count", "\x1b[31mtext\x9b2J\u202e"],
        [["[bold]a[/bold]", "1", "x" * 250], ["\x1b[2Jb", "12,345", ":smile: [link=x]y"]],
        numbers=["count"],
    )
    printed = capsys.readouterr().out
    assert "[bold]a[/bold]" in printed
    assert ":smile: [link=x]y" in printed
    assert not {"\x1b", "\x9b", "\u202e"} & set(printed)
    assert max(len(line) for line in printed.splitlines()) <= output.MAX_WIDTH
    assert printed.count("x") >= 250, "long text continues, it is not cut"


def test_indented_text_is_cut_at_its_lines(capsys):
    output.print_indented("word " * 100, margin=4, most_lines=2)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert all(line.startswith("    word") and len(line) <= output.MAX_WIDTH for line in lines)
    assert lines[1].endswith(" …")
    output.print_indented("short", margin=2, most_lines=2)
    assert capsys.readouterr().out == "  short\n"


def test_json_is_ascii(capsys):
    output.print_json({"a": "Größe \x1b \ud800"})
    printed = capsys.readouterr().out
    assert printed.isascii()
    assert "\x1b" not in printed
    assert json.loads(printed) == {"a": "Größe \x1b \ud800"}


def test_progress_lines_are_few(capsys, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(output.time, "monotonic", lambda: now[0])
    with output.showing_progress():
        for done in range(101):
            now[0] += 0.5
            report("narrating \x1b[31mcolumns", done, 100)
        report("other", 1, 1)
    printed = capsys.readouterr()
    assert printed.out == ""
    lines = printed.err.splitlines()
    assert lines[-2:] == ["narrating [31mcolumns: 100 of 100", "other: 1 of 1"]
    assert lines[0] == "narrating [31mcolumns: 0 of 100", "it is said what begins"
    assert len(lines) == 7
    with output.showing_progress(lasting=False):
        report("searching", 1, 1)
    assert capsys.readouterr().err == ""


def test_what_cannot_be_counted_is_named_when_it_begins_and_when_it_ends(capsys):
    with output.showing_progress(), working("loading m (269 MB)"):
        assert capsys.readouterr().err == "loading m (269 MB) ...\n"
    assert capsys.readouterr().err == "loading m (269 MB): done\n"
    broken = pytest.raises(ValueError, match="broken")
    with output.showing_progress(), broken, working("loading m"):
        raise ValueError("broken")
    assert capsys.readouterr().err == "loading m ...\n"


def test_progress_bars_on_a_terminal(capfd, monkeypatch):
    monkeypatch.setattr(output.sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    with output.showing_progress():
        report("reading [red]profiles", 1, 2)
        report("reading [red]profiles", 2, 2)
        with working("loading m (269 MB)"):
            pass
    printed = capfd.readouterr()
    assert printed.out == ""
    assert "reading [red]profiles" in printed.err
    assert "2/2" in printed.err
    assert "loading m (269 MB)" in printed.err


_WORK = """
import os, sys
from pneuma_assets.cli.output import showing_progress
from pneuma_assets.core.progress import report
with showing_progress():
    sys.stdin.readline()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # as Dagster does while a step runs
    report("reading", 1, 3)
    sys.stdin.readline()
    report("reading", 2, 3)
    sys.stdin.readline()
"""


def test_bars_are_seen_and_refreshed_while_a_step_works(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    ours, theirs = pty.openpty()
    work = subprocess.Popen(
        [sys.executable, "-c", _WORK], stdin=subprocess.PIPE, stderr=theirs, text=True
    )
    os.close(theirs)
    try:
        for expected in ("starting", "1/3", "2/3"):
            seen = ""
            while expected not in seen:
                seen += os.read(ours, 65536).decode(errors="replace")
            work.stdin.write("go on\n")  # it waits until this was seen
            work.stdin.flush()
    finally:
        work.kill()
        work.communicate()
        os.close(ours)


@pytest.mark.parametrize(
    ("columns", "numbers", "cell"),
    [(1, 0, "x" * 250), (12, 0, "some text"), (13, 12, "12,345"), (60, 0, "a"), (60, 0, "value")],
)
def test_a_width_that_is_asked_for_holds_and_nothing_is_cut(
    capsys, monkeypatch, columns, numbers, cell
):
    monkeypatch.setenv("COLUMNS", "80")
    headings = [f"column_{number}" for number in range(columns)]
    rows = [[cell] * columns] * 2
    output.print_table(headings, rows, numbers=headings[columns - numbers :])
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 80
    letters = [sign for row in rows for one in row for sign in one if sign not in " ,_"]
    for sign in set(letters):
        assert printed.count(sign) >= letters.count(sign)
    if numbers:
        assert printed.count(cell) == columns * len(rows), "a number is not parted"


@pytest.mark.parametrize(("size", "told"), [(0, "unknown"), (1, "1 B"), (2048, "2.0 KiB")])
def test_a_size_that_is_not_known_is_none_of_nothing(capsys, size, told):
    print_index(IndexInfo("elasticsearch", "words", 8, 2, 4, size, "green"))
    assert told in capsys.readouterr().out.splitlines()[1]
    metadata = described(IndexInfo("elasticsearch", "words", 8, 2, 4, size, "green"))
    assert ("size (MB)" in metadata) is bool(size)
