"""Demonstrations: worked examples from the train split are added, swapped, dropped and reordered. Calls no model."""

import random
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from adapters.candidate import DEMONSTRATIONS, Candidate
from adapters.demonstrations import Demonstration, demonstration_of, dump_demonstrations, parse_demonstrations
from adapters.digest import canonical
from adapters.example import Example
from adapters.plain import plain
from adapters.template import spell
from optimizer.budget import Claim
from optimizer.propose.proposer import Proposal, Task

T = TypeVar("T")

MOVES = {"swap": 0.4, "add": 0.2, "fresh": 0.2, "drop": 0.1, "reorder": 0.1}
"""How often each change is tried, among those that the parent allows."""
TRIES = 20
"""Changes drawn before giving up on finding one that is new."""


class Demos:
    """Which examples are shown, how many and in what order decides how much they help, so that is what is searched."""

    name = "demos"
    needs_failures = False

    def __init__(self, train: Sequence[Example], most: int, minibatch: int) -> None:
        known = [shown for shown in map(demonstration_of, train) if shown is not None]
        self._train = {_identity(shown.inputs): shown for shown in known}
        self._most, self.minibatch = most, minibatch

    def claim(self, parent: Candidate, priced: bool) -> Claim:  # noqa: ARG002
        return Claim()

    def largest(self, parent: Candidate) -> Candidate:
        """Made up field by field, since only the adapter knows which fields a prompt shows: the longest values of each input, and the
        longest answers."""
        now = shown_by(parent)
        pool = [*now, *(shown for shown in self._train.values() if shown not in now)]
        names = sorted({name for shown in pool for name in shown.inputs})
        columns = [_longest([shown.inputs.get(name) for shown in pool])[: self._most] for name in names]
        answers = _longest([shown.answer for shown in pool])[: self._most]
        rows = zip(answers, *columns, strict=True)
        longest = [Demonstration(dict(zip(names, values, strict=True)), answer) for answer, *values in rows]
        return parent.replace(**{DEMONSTRATIONS: dump_demonstrations(longest)})

    async def propose(self, task: Task) -> Proposal:
        now = shown_by(task.parent)[: self._most]
        taken = {_identity(inputs) for inputs in (*(e.inputs for e in task.batch), *(shown.inputs for shown in now))}
        others = [shown for identity, shown in self._train.items() if identity not in taken]
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


def unshown(candidate: Candidate, examples: Sequence[Example]) -> list[Example]:
    """Those of the examples that the candidate does not demonstrate: on the others it would be told the answer."""
    shown = {_identity(demonstration.inputs) for demonstration in shown_by(candidate)}
    return [example for example in examples if _identity(example.inputs) not in shown] if shown else list(examples)


def _identity(inputs: Mapping[str, Any]) -> str:
    """Examples with the same inputs are the same to a model, whatever their ids."""
    return canonical(plain(dict(inputs)))


def _longest(values: list[T]) -> list[T]:
    return sorted(values, key=lambda value: len(spell(value).encode()), reverse=True)


def shown_by(candidate: Candidate) -> tuple[Demonstration, ...]:
    """The candidate's demonstrations; none where it has no such component."""
    return parse_demonstrations(candidate.components.get(DEMONSTRATIONS, ""))
