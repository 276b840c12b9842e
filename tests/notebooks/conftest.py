"""What the tests of notebooks share."""

import pytest


@pytest.fixture(scope="module", autouse=True)
def _quick(quick_java):
    """Cases are small, whichever way a test runs its notebook."""
