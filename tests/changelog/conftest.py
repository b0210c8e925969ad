import asyncio

import pytest
from tests.changelog.reader import Reader


@pytest.fixture(scope="module")
def reader() -> Reader:
    """A reader of Acme's public changelog; shared by all tests of a file, which change nothing."""
    return asyncio.run(Reader.made())
