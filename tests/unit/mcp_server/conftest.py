import anyio
import pytest
from mcp import Client

from pneuma_assets.core.access_names import Asker
from pneuma_assets.mcp_server.server import build_server
from pneuma_assets.workspace import open_workspace
from tests.support.tools_lake import make_tools_lake


@pytest.fixture(scope="session")
def indexed(tmp_path_factory):
    return make_tools_lake(tmp_path_factory.mktemp("tools"))


@pytest.fixture(scope="module")
def lake(indexed, small_encoder, read_here):
    """The deployment file of an indexed lake; the word encoder is in use."""
    return indexed


@pytest.fixture(scope="module")
def desk(lake):
    with open_workspace(lake) as workspace:
        yield workspace


@pytest.fixture
def call(desk):
    """Calls a tool in this process, as somebody who sees all or as these names."""

    def run(tool, *, readers=None, **arguments):
        async def asked():
            server = build_server(desk, lambda _: Asker("ann", readers))
            async with Client(server) as client:
                return await client.call_tool(tool, arguments)

        return anyio.run(asked)

    return run
