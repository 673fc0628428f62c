"""Texts that are written anew: when they are asked for, and that nobody takes them for rewrites."""

import asyncio
from pathlib import Path

import pytest
from standin import Standin, write_project

from adapters.candidate import Candidate
from adapters.example import Example
from optimizer import Block, Lesson, Study
from optimizer.build import prepare
from optimizer.configfile import load_config
from optimizer.order import OPENING
from optimizer.pool import Pool
from optimizer.propose.proposer import Proposal, Task
from optimizer.propose.reflection import Reflection
from optimizer.run import run
from optimizer.schedule import ANEW_EVERY

Added = dict[Candidate, Candidate | None]
"""Candidate → what it was taken for a rewrite of."""


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> Added:
    found: Added = {}
    add = Pool.add

    def spy(pool: Pool, candidate: Candidate, rewrite_of: Candidate | None = None) -> None:
        found.setdefault(candidate, rewrite_of)
        add(pool, candidate, rewrite_of)

    monkeypatch.setattr(Pool, "add", spy)
    return found


def test_one_in_so_many_of_the_first_lessons_is_to_be_written_anew(added: Added) -> None:
    data = [Example(f"e{n}", {"ask": f"number {n}"}, "yes") for n in range(80)]
    study = Study({"text": "Do it."}, data[:40], data[40:])
    lessons: list[Lesson] = []
    while study.rollouts < 200 and (asked := study.ask()) is not None:
        if isinstance(asked, Block):
            for spot in asked.spots:
                study.tell(asked.candidate, spot.example, 0.0)
        else:
            lessons.append(asked)
            assert study.propose({"text": f"Do it well, {len(lessons)}."}, asked) is None
    assert len(lessons) > OPENING >= ANEW_EVERY
    assert [lesson.anew for lesson in lessons] == [n <= OPENING and n % ANEW_EVERY == ANEW_EVERY - 1 for n in range(1, len(lessons) + 1)]
    assert all(lesson.parent == study.seed for lesson in lessons[:OPENING])
    for n, lesson in enumerate(lessons, 1):
        assert added[Candidate({"text": f"Do it well, {n}."})] == (None if lesson.anew else lesson.parent)


def test_a_run_asks_for_them_too(added: Added, tmp_path: Path, standin: Standin, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[Task, Candidate]] = []
    propose = Reflection.propose

    async def spy(reflection: Reflection, task: Task) -> Proposal:
        proposal = await propose(reflection, task)
        if proposal.child is not None:
            made.append((task, proposal.child))
        return proposal

    monkeypatch.setattr(Reflection, "propose", spy)
    project = write_project(tmp_path, standin.api_base, budget={"rollouts": 120}, sizes={"train": 20, "val": 12, "test": 16})
    loaded = load_config(project)
    asyncio.run(run(prepare(loaded.config, loaded.folder), tmp_path / "run", lambda _: None))
    assert {task.anew for task, child in made if child in added} == {False, True}
    for task, child in made:
        if child in added:
            assert added[child] == (None if task.anew else task.parent)
