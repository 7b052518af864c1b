"""A correction of a hidden column does not tell its name where names are hidden, at any door."""

import json

import pytest

from pneuma_assets import ConfigError, open_workspace
from pneuma_assets.core.store.queue import Finished
from pneuma_assets.core.tables import Column, Problem, Table, TableRef
from tests.support.doors import succeeds as run

RULES = {"hidden_columns": ["voucher_code"], "hide_names": True}
SALES = "lake/sales"


@pytest.fixture(params=["deployment", "source", "gone"])
def workspace(here, request):
    """A table whose column was corrected before it was hidden, by the rules of either."""
    source = {"type": "folder", "name": "lake", "path": "lake"}
    by_source = request.param == "source"
    whole = {"sources": [source | ({"privacy": RULES} if by_source else {})]}
    whole |= {} if by_source else {"privacy": RULES}
    (here / "pneuma.yaml").write_text(json.dumps(whole))
    with open_workspace() as opened:
        store = opened.store
        for names in ("amount", "voucher_code"), ("amount", "hidden_2"):
            store.listings.sync("lake", [TableRef(SALES, "lake", "s.csv", "csv", names[1])])
            store.queue.claim("run", 9, 3, ["lake"])
            columns = (Column(n, "VARCHAR", hidden=n == "hidden_2") for n in names)
            table = Table(SALES, tuple(columns), 2, "s.csv")
            store.queue.save_profiles("run", [table])
            store.queue.finish("run", [Finished(SALES, "h", 1)])
            if names[1] == "voucher_code":
                opened.describe(SALES, "voucher_code", "What a guest hands in", author="Ann")
                opened.describe(SALES, "amount", "In euros", author="Ann")
        if request.param == "gone":
            store.listings.sync("lake", [], rule=None)
        yield opened


def test_no_door_tells_the_name_of_a_hidden_column(workspace):
    with pytest.raises(ConfigError) as refused:
        workspace.withdraw(SALES, "other")
    told = [
        *map(repr, (workspace.descriptions(SALES), workspace.descriptions())),
        json.dumps(workspace.status().to_dict()),
        *(run("describe", *of, *how) for of in ([SALES], []) for how in ([], ["--json"])),
        run("status", "--json"),
        str(refused.value),
    ]
    assert not [one for one in told if "voucher" in one]
    assert all("hidden" in one for one in told)
    assert "What a guest hands in" in run("describe", SALES)
    workspace.withdraw(SALES, "voucher_code")
    assert "guest" not in run("describe", SALES)


@pytest.mark.parametrize("workspace", ["deployment"], indirect=True)
@pytest.mark.parametrize("attempts", [1, 3])
def test_status_tells_which_attempt_failed(workspace, attempts):
    store = workspace.store
    for number in range(attempts):
        ref = TableRef("lake/torn", "lake", "t.csv", "csv", "1")
        store.listings.sync("lake", [ref], rule=None)
        store.queue.claim(str(number), 9, 9, ["lake"])
        store.queue.fail(Problem("lake/torn", "profile", "torn"))
    (table,) = (one for one in workspace.status().tables if one.table_id == "lake/torn")
    ends = "or by a run that is started by hand" if attempts == 3 else " UTC"
    assert table.notes[0].startswith(f"failed {attempts} of 3 times since it changed or ")
    assert table.notes[0].endswith(ends)
    assert run("describe", "lake/torn").endswith("lake/torn is not indexed: torn\n")
    assert "is not indexed" not in run("describe", SALES)
