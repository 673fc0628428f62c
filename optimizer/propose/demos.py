"""Demonstrations: worked examples from the train split are added, swapped, dropped and reordered. Calls no model."""

import random
from collections.abc import Sequence

from adapters.candidate import DEMONSTRATIONS, Candidate
from adapters.demonstrations import Demonstration, demonstration_of, dump_demonstrations, parse_demonstrations
from adapters.example import Example
from optimizer.budget import Claim
from optimizer.propose.proposer import Proposal, Task

MOVES = {"swap": 0.4, "add": 0.2, "fresh": 0.2, "drop": 0.1, "reorder": 0.1}
"""How often each change is tried, among those that the parent allows."""
TRIES = 20
"""Changes drawn before giving up on finding one that is new."""


class Demos:
    """Which examples are shown, how many and in what order decides how much they help, so that is what is searched."""

    name = "demos"
    needs_failures = False

    def __init__(self, train: Sequence[Example], most: int, minibatch: int) -> None:
        self._train = [shown for shown in map(demonstration_of, train) if shown is not None]
        self._most, self.minibatch = most, minibatch

    def claim(self, parent: Candidate, priced: bool) -> Claim:  # noqa: ARG002
        return Claim()

    def largest(self, parent: Candidate) -> Candidate:
        longest = sorted(self._train, key=lambda shown: len(dump_demonstrations([shown])), reverse=True)[: self._most]
        return parent.replace(**{DEMONSTRATIONS: dump_demonstrations([*longest, *shown_by(parent)][: self._most])})

    async def propose(self, task: Task) -> Proposal:
        now = shown_by(task.parent)
        taken = {example.id for example in task.batch} | {shown.id for shown in now}
        others = [shown for shown in self._train if shown.id not in taken]
        problem: str | None = "the train split has no example left to show"
        for _ in range(TRIES):
            change = self._change(now, others, task.rng)
            if change is None:
                break
            move, shown = change
            child = task.parent.replace(**{DEMONSTRATIONS: dump_demonstrations(shown)})
            problem = task.problem(child)
            if problem is None:
                return Proposal(child, move)
        return Proposal(None, problem or "")

    def _change(
        self, now: Sequence[Demonstration], others: Sequence[Demonstration], rng: random.Random
    ) -> tuple[str, list[Demonstration]] | None:
        """A move and the demonstrations after it, or None where no move is possible."""
        possible = {
            "swap": bool(now and others),
            "add": bool(now and others) and len(now) < self._most,
            "fresh": bool(others),
            "drop": len(now) > 1,
            "reorder": len(now) > 1,
        }
        moves = [move for move in MOVES if possible[move]]
        if not moves:
            return None
        move = rng.choices(moves, [MOVES[m] for m in moves])[0]
        after = list(now)
        if move == "swap":
            after[rng.randrange(len(after))] = rng.choice(others)
        elif move == "add":
            after.insert(rng.randrange(len(after) + 1), rng.choice(others))
        elif move == "drop":
            del after[rng.randrange(len(after))]
        elif move == "reorder":
            rng.shuffle(after)
        else:
            # Many demonstrations mostly help more than few; how many are best is left to the other moves.
            size = rng.randint((self._most + 1) // 2, self._most)
            after = rng.sample(list(others), min(size, len(others)))
        return move, after


def shown_by(candidate: Candidate) -> tuple[Demonstration, ...]:
    """The candidate's demonstrations; none where it has no such component."""
    return parse_demonstrations(candidate.components.get(DEMONSTRATIONS, ""))
