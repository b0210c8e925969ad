import asyncio

import pytest
from tests.changelog.reader import Reader


@pytest.fixture(scope="module")
def reader() -> Reader:
    """Somebody who reads what Acme has published; the same for all tests of a file, which change nothing."""
    return asyncio.run(Reader.made())
