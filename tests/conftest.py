"""Fixtures that tests of every package share."""

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings
from standin import Standin, running

# How long an example takes says more of a busy machine than of the code. On a developer's machine every run tries other examples; what is
# found there is no reason for a check of some other change to fail, so that one tries the same examples every time.
settings.register_profile("house", deadline=None, derandomize="CI" in os.environ)
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
