"""The seal: nothing that the search is made of leads to the test split, and what a proposer is handed leads to neither test nor val."""

import asyncio
import gc
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import FrameType, FunctionType, ModuleType
from typing import Any

import pytest
import yaml
from parcels import rows
from standin import Standin, write_project

from adapters.example import Example
from adapters.split import SealedTest
from optimizer.build import Prepared, prepare
from optimizer.configfile import load_config
from optimizer.journal import OPENED, Journal
from optimizer.loop import Found, Search
from optimizer.propose.proposer import Proposal, Task
from optimizer.propose.reflection import Reflection
from optimizer.run import run

SIZES = {"train": 40, "val": 30, "test": 20}
OF_TEST = re.compile(r"Parcel 70\d\d|test-70\d\d")
"""Text or ids of test examples, as parcels.py makes them."""
TEXT_OF_VAL = re.compile(r"Parcel 40\d\d")
TEXT_OF_TRAIN = re.compile(r"Parcel 10\d\d")
OUTSIDE = (type, ModuleType, FrameType, asyncio.AbstractEventLoop, asyncio.Future)
"""What everything in the process can be reached from."""


def reachable(start: object) -> Iterator[object]:
    """All objects that can be got at from one, whatever is private. A function leads to what it holds itself: its closure and its defaults,
    not the module around it."""
    met: dict[int, object] = {}
    left = [start]
    while left:
        one = left.pop()
        if id(one) in met or isinstance(one, OUTSIDE):
            continue
        met[id(one)] = one  # kept, so that no other object gets its id
        yield one
        held = (one.__closure__, one.__defaults__, one.__kwdefaults__, one.__dict__) if isinstance(one, FunctionType) else None
        left += gc.get_referents(one) if held is None else held


def leaks(start: object, secret: re.Pattern[str]) -> set[str]:
    texts = (one.decode(errors="replace") if isinstance(one, bytes) else one for one in reachable(start) if isinstance(one, str | bytes))
    return {found for text in texts for found in secret.findall(text)}


def project(folder: Path, standin: Standin, *, inline: bool) -> Path:
    """`inline`: with the rows in the config itself."""
    path = write_project(folder, standin.api_base, budget={"rollouts": 110}, sizes=SIZES)
    if inline:
        config = yaml.safe_load(path.read_text())
        config["data"] = {"rows": [row for split, size in SIZES.items() for row in rows(split, size)]}
        path.write_text(yaml.safe_dump(config))
    return path


def prepared(config: Path, *overrides: str) -> Prepared:
    loaded = load_config(config, overrides)
    return prepare(loaded.config, loaded.folder)


def sit(made: Prepared, out: Path) -> dict[str, Any]:
    return asyncio.run(run(made, out, lambda _: None))


def test_nothing_in_the_search_leads_to_the_test_split(tmp_path: Path, standin: Standin, monkeypatch: pytest.MonkeyPatch) -> None:
    config = project(tmp_path / "project", standin, inline=True)
    made = prepared(config)
    assert len({found for found in leaks(made, OF_TEST) if found.startswith("Parcel")}) == SIZES["test"], "the walk finds what is there"
    searched, take_in, looked = Search.run, Search._take_in, 0

    def look(search: Search) -> None:
        nonlocal looked
        looked += 1
        assert leaks(search, OF_TEST) == set()
        assert leaks(search, TEXT_OF_VAL)

    async def run_watched(search: Search) -> Found:
        look(search)
        found = await searched(search)
        look(search)
        assert leaks(found, OF_TEST) == set()
        return found

    async def taken_in_watched(search: Search, *job: Any) -> None:
        await take_in(search, *job)
        look(search)

    monkeypatch.setattr(Search, "run", run_watched)
    monkeypatch.setattr(Search, "_take_in", taken_in_watched)
    sit(made, tmp_path / "run")
    sit(prepared(config), tmp_path / "run")
    assert looked > 3


def test_what_a_proposer_is_handed_leads_to_train_alone(tmp_path: Path, standin: Standin, monkeypatch: pytest.MonkeyPatch) -> None:
    propose, seen = Reflection.propose, 0

    async def watched(proposer: Reflection, task: Task) -> Proposal:
        nonlocal seen
        seen += 1
        for thing in (proposer, task):
            assert leaks(thing, OF_TEST) == leaks(thing, TEXT_OF_VAL) == set()
        assert leaks(task, TEXT_OF_TRAIN)
        return await propose(proposer, task)

    monkeypatch.setattr(Reflection, "propose", watched)
    sit(prepared(project(tmp_path / "project", standin, inline=True)), tmp_path / "run")
    assert seen


def test_the_search_reads_no_cells_of_a_former_report(tmp_path: Path, standin: Standin, monkeypatch: pytest.MonkeyPatch) -> None:
    """The journal holds them; a run that goes on asks it for outcomes by the hashes of what was asked, and for nothing of the report."""
    config, out = project(tmp_path / "project", standin, inline=False), tmp_path / "run"
    assert sit(prepared(config), out)["look"] == 1
    asked: set[str] = set()
    searched, searching = Search.run, False

    async def run_watched(search: Search) -> Found:
        nonlocal searching
        searching = True
        found = await searched(search)
        searching = False
        return found

    monkeypatch.setattr(Search, "run", run_watched)
    for name in ("_one", "_all"):
        original = getattr(Journal, name)

        def noted(journal: Journal, query: str, *values: object, original: Any = original) -> Any:
            if searching:
                asked.add(query)
            return original(journal, query, *values)

        monkeypatch.setattr(Journal, name, noted)
    sit(prepared(config, "budget.rollouts=130"), out)
    assert any("FROM calls WHERE key = ?" in query for query in asked)
    assert not [query for query in asked if "FROM cells" in query or "FROM decisions WHERE ? IS NULL" in query]


def test_it_is_opened_once_after_that_was_noted(tmp_path: Path, standin: Standin, monkeypatch: pytest.MonkeyPatch) -> None:
    config, out = project(tmp_path / "project", standin, inline=False), tmp_path / "run"
    unsealed, opened = SealedTest.open, []

    def open_noted(sealed: SealedTest, reason: str) -> tuple[Example, ...]:
        with closing(Journal.read(out)) as journal:
            opened.append([kind.removeprefix(OPENED) for _, kind, _ in journal.decisions() if kind.startswith(OPENED)])
        return unsealed(sealed, reason)

    monkeypatch.setattr(SealedTest, "open", open_noted)
    made = prepared(config)
    best = sit(made, out)["best"]["id"]
    assert opened == [[best]] and made.test.opened_for == f"the report on {best}"
    sit(prepared(config), out)
    assert opened == [[best], [best]], "another sitting opens it anew, for the same candidate, and that is no further look"
