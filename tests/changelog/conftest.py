import asyncio

import pytest
from tests.changelog.reader import Reader


@pytest.fixture(scope="module")
def reader() -> Reader:
    """A reader of Acme's public changelog, which all tests of a file share, because they change nothing."""
    return asyncio.run(Reader.made())
