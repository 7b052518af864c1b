"""A matrix of askers and tables: what is hidden is in no list, count, page, suggestion or error.

Every question is asked of a deployment with all tables, and of one that never had those that the
asker may not see. What is told must be the same.
"""

import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest

from pneuma_assets import ConfigError, IndexFilter, QueryError, Workspace, open_workspace
from pneuma_assets.core.service.catalog_types import Facets
from pneuma_assets.core.store.access import Access
from tests.support.catalog_rows import link, own, update
from tests.support.doors import here as here  # noqa: PLC0414 (a fixture of this module)
from tests.support.indexed_home import make_home

pytestmark = pytest.mark.integration

TABLES: Mapping[str, tuple[tuple[str, ...] | None, str]] = {
    "open/rivers": (None, "danube,rhine_length\nvolga,7\nloire,9\n"),
    "open/lakes": (None, "ladoga,onega_depth\nvanern,3\nvattern,4\n"),
    "hr/salaries": (("hr",), "payslip,zloty_wages\nmonthly,5\nyearly,6\n"),
    "hr/salaries_2019": (("hr",), "payslip,zloty_wages\nweekly,5\ndaily,8\n"),
    "hr/salaries_2020": (("hr", "ana"), "payslip,zloty_wages\nweekly,1\ndaily,2\n"),
    "vault/keys": ((), "passphrase,xylophone\nquagga,1\nokapi,2\n"),
}
ASKERS: Mapping[str, tuple[str, ...] | None] = {"all": None, "hr": ("hr",), "ana": ("ana",), "": ()}
WORDS = [
    "danube",
    "ladoga",
    "payslip",
    "zloty",
    "xylophone",
    "passphrase",
    "quagga",
    "salaries",
    "keys",
    "vault",
    "wages",
]


def seen_by(readers: tuple[str, ...] | None) -> list[str]:
    return [
        f"lake/{name}"
        for name, (may, _) in TABLES.items()
        if readers is None or may is None or set(may) & set(readers)
    ]


def grant(workspace: Workspace) -> None:
    """Let the source's grants be those of `TABLES`, and say things that name hidden tables."""
    store = workspace.store
    there = {one for one in seen_by(None) if one in store.tables.listed()}
    for table_id in there:
        may = TABLES[table_id.removeprefix("lake/")][0]
        update(store, table_id, readers=may)
        own(store, table_id, f"team:{table_id.split('/')[1]}", text=f"A table of {table_id}.")
    known = Access(store._db).of_tables()
    workspace.search_index.set_facts(known)
    pairs = [
        ("lake/open/rivers", "lake/hr/salaries"),
        ("lake/hr/salaries", "lake/open/lakes"),
        ("lake/vault/keys", "lake/open/lakes"),
        ("lake/open/rivers", "lake/vault/keys"),
    ]
    link(store, *(pair for pair in pairs if there.issuperset(pair)))


@pytest.fixture
def deployment(here) -> Callable[[str, tuple[str, ...] | None], Workspace]:
    def open_it(name: str, readers: tuple[str, ...] | None) -> Workspace:
        texts = {one: TABLES[one.removeprefix("lake/")][1] for one in seen_by(readers)}
        file = make_home(here / name, {f"{one}.csv": text for one, text in texts.items()})
        workspace = open_workspace(config=file)
        grant(workspace)
        shutil.rmtree(here / name / "lake")
        return workspace

    return open_it


def told(workspace: Workspace, readers: tuple[str, ...] | None) -> dict[str, Any]:
    """Return all that a deployment tells somebody."""
    where = IndexFilter(readers=readers)
    found: dict[str, Any] = {
        "list": workspace.browse(readers=readers),
        "part": workspace.browse(limit=1, sort="rows", readers=readers),
        "known": workspace.known_tables(readers=readers),
        "joins": workspace.judged_joins(readers=readers),
        "corrections": workspace.descriptions(readers=readers),
    }
    for facets in (
        Facets(schemas=("hr",)),
        Facets(schemas=("vault",)),
        Facets(owners=("team:hr",)),
    ):
        try:
            found[f"facets {facets}"] = workspace.browse(facets=facets, readers=readers)
            asked = workspace.search("payslip keys", facets=facets, where=where)
            found[f"search {facets}"] = replace(asked, seconds=0.0)
        except QueryError as error:  # of a value that none of the tables has
            found[f"search {facets}"] = str(error)
    for word in (*WORDS, " ".join(WORDS)):
        found[f"suggest {word}"] = workspace.suggest(word[:4], readers=readers)
        found[f"text {word}"] = workspace.browse(text=word, readers=readers)
        for words_only in (False, True):
            answer = workspace.search(word, words_only=words_only, where=where)
            found[f"search {word} {words_only}"] = replace(answer, seconds=0.0)
    for table_id in seen_by(readers):
        found[f"page {table_id}"] = workspace.table(table_id, readers=readers)
        found[f"rows {table_id}"] = workspace.sample_rows(table_id, readers=readers)
        found[f"joins {table_id}"] = workspace.joins(table_id, readers=readers)
        found[f"lineage {table_id}"] = workspace.lineage(table_id, readers=readers)
    return found


NOT_COMPARED = ("updated_at", "said_at", "indexed_at", "row_counts")


def plain(value: Any, *, rounded: bool = False) -> Any:
    """Return plain values without when things happened."""
    if isinstance(value, float) and rounded:
        return pytest.approx(value, rel=1e-4, abs=1e-5)
    if is_dataclass(value):
        value = {one.name: getattr(value, one.name) for one in fields(value)}
    if isinstance(value, dict):
        left = {key: one for key, one in value.items() if key not in NOT_COMPARED}
        return {key: plain(one, rounded=rounded) for key, one in left.items()}
    if isinstance(value, list | tuple):
        return [plain(one, rounded=rounded) for one in value]
    return value


@pytest.mark.parametrize(
    "asker",
    ["hr", pytest.param("ana", marks=pytest.mark.slow), pytest.param("", marks=pytest.mark.slow)],
)
def test_what_is_told_is_that_of_a_deployment_without_the_hidden_tables(deployment, asker):
    readers = ASKERS[asker]
    with deployment("full", None) as full, deployment("part", readers) as part:
        full.describe("lake/vault/keys", None, "xylophone", author="x")
        full.describe("lake/hr/salaries", "payslip", "quagga", author="x")
        if "lake/hr/salaries" in seen_by(readers):
            part.describe("lake/hr/salaries", "payslip", "quagga", author="x")
        ours, theirs = told(full, readers), told(part, readers)
        for key, value in theirs.items():
            assert ours[key] is not None
            assert plain(ours[key]) == plain(value, rounded=True), key


ABOUT_ONE_TABLE: list[Callable[..., object]] = [
    lambda desk, i, readers: desk.table(i, readers=readers),
    lambda desk, i, readers: desk.sample_rows(i, readers=readers),
    lambda desk, i, readers: desk.joins(i, readers=readers),
    lambda desk, i, readers: desk.lineage(i, readers=readers),
    lambda desk, i, readers: desk.descriptions(i, readers=readers),
    lambda desk, i, readers: desk.contexts(i, readers=readers),
    lambda desk, i, readers: desk.add_context(i, "n", "t", readers=readers),
    lambda desk, i, readers: desk.remove_context(i, "n", readers=readers),
    lambda desk, i, readers: desk.describe(i, None, "t", author="a", readers=readers),
    lambda desk, i, readers: desk.describe(i, "payslip", "t", author="a", readers=readers),
    lambda desk, i, readers: desk.reject(i, None, author="a", readers=readers),
    lambda desk, i, readers: desk.withdraw(i, None, readers=readers),
    lambda desk, i, readers: desk.judge_join(
        i, ["a"], "lake/open/lakes", ["a"], holds=True, author="a", readers=readers
    ),
    lambda desk, i, readers: desk.judge_join(
        "lake/open/lakes", ["a"], i, ["a"], holds=None, author="a", readers=readers
    ),
]


def test_a_hidden_table_is_refused_in_the_words_for_one_that_there_is_not(deployment):
    with deployment("full", None) as desk:
        desk.add_context("lake/vault/keys", "n", "t")
        desk.describe("lake/vault/keys", None, "t", author="a")
        for readers in ASKERS.values():
            for hidden in set(seen_by(None)) - set(seen_by(readers)):
                for call in ABOUT_ONE_TABLE:
                    words = []
                    for table_id in (hidden, f"{hidden[:-1]}~"):
                        with pytest.raises(ConfigError) as refused:
                            call(desk, table_id, readers)
                        words.append(str(refused.value).replace(f"'{table_id}'", "'?'"))
                    first, other = (one.partition("did you mean")[0] for one in words)
                    assert first == other
                    assert set(re.findall(r"lake/[\w/]+", words[0])) <= set(seen_by(readers))
                with pytest.raises(QueryError, match="unknown table"):
                    desk.search("keys", where=IndexFilter(tables=(hidden,), readers=readers))
        assert [one.text for one in desk.contexts("lake/vault/keys")] == ["t"], (
            "nothing was changed"
        )
