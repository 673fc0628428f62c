"""What the loop hands to a proposer: what the pool's other members did, and guards that know what it was shown."""

from contextlib import closing
from pathlib import Path

from pieces import candidate, example
from test_endings import CHILD, SEED, Always, search

from optimizer.journal import Journal
from optimizer.propose.proposer import Proposal, Task

TRAIN = [example(f"t{n}", name) for n, name in enumerate(["yes", "yes", "Oslo", "Lima", "Kyiv", "Bern", "Rome"])]


class Watching(Always):
    minibatch = 5

    def __init__(self) -> None:
        super().__init__(CHILD)
        self.tasks: list[Task] = []

    async def propose(self, task: Task) -> Proposal:
        self.tasks.append(task)
        return await super().propose(task)


async def watched(folder: Path) -> list[Task]:
    with closing(Journal.write(folder)) as journal:
        seeker = search(journal, train=TRAIN)
        proposer = Watching()
        seeker._schedule._proposers = [proposer]
        await seeker.run()
    return proposer.tasks


async def test_a_proposer_learns_what_the_other_members_did_where_it_reads(tmp_path: Path) -> None:
    first, *later = await watched(tmp_path)
    assert first.others == []
    for task in later:
        for other in task.others:
            assert {other.candidate, task.parent} == {SEED, CHILD}
            assert {cell.example.id for cell in other.cells} <= {each.example.id for each in task.cells}
    assert any(task.others for task in later)


async def test_the_guards_know_what_was_shown(tmp_path: Path) -> None:
    task = (await watched(tmp_path))[0]
    shown = sorted({each.example.expected for each in task.cells})
    hidden = {each.expected for each in TRAIN} - {*shown}
    assert hidden
    assert "copies the training examples" in (task.problem(candidate(f"Say {shown}.")) or "")
    assert task.problem(candidate(f"Say {[*shown[:2], *hidden]}.")) is None
