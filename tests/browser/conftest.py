"""The browser of all these tests."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.offline import chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A real one."""
    with chromium() as browser:
        yield browser
