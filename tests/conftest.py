"""Fixtures that tests of every package share."""

from collections.abc import Iterator

import pytest
from hypothesis import settings
from standin import Standin, running

# How long an example takes says more of a busy machine than of the code.
settings.register_profile("house", deadline=None)
settings.load_profile("house")


@pytest.fixture(scope="session")
def standin_process() -> Iterator[Standin]:
    with running() as standin:
        yield standin


@pytest.fixture
def standin(standin_process: Standin, monkeypatch: pytest.MonkeyPatch) -> Standin:
    """A stand-in API with no faults and fresh counts; its key is in the variable STANDIN_KEY."""
    monkeypatch.setenv("STANDIN_KEY", "stand-in-key")
    standin_process.reset()
    return standin_process
