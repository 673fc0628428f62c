"""Demonstrations: worked examples from the train split. Each is a line that candidates may be made of."""

from collections.abc import Mapping, Sequence
from typing import Any

from adapters.candidate import DEMONSTRATIONS, Candidate
from adapters.demonstrations import Demonstration, demonstration_of, dump_demonstrations, parse_demonstrations
from adapters.digest import canonical
from adapters.example import Example
from adapters.plain import plain
from optimizer.units import Unit

OFFERED = 300
"""Demonstrations that are offered at most."""


def offers(train: Sequence[Example]) -> list[Unit]:
    """A line for each example whose answer is known; of examples with the same inputs, for the last. Of many only some, spread evenly:
    no budget tells thousands apart."""
    shown = [demonstration for demonstration in map(demonstration_of, train) if demonstration is not None]
    distinct = list({_identity(each.inputs): each for each in shown}.values())
    some = [distinct[k * len(distinct) // OFFERED] for k in range(OFFERED)] if len(distinct) > OFFERED else distinct
    return [Unit(DEMONSTRATIONS, dump_demonstrations([each])) for each in some]


def unshown(candidate: Candidate, examples: Sequence[Example]) -> list[Example]:
    """Those of the examples that the candidate does not demonstrate: on the others it would be told the answer."""
    shown = {_identity(demonstration.inputs) for demonstration in shown_by(candidate)}
    return [example for example in examples if _identity(example.inputs) not in shown] if shown else list(examples)


class Shown:
    """Which of some examples a candidate demonstrates: asked at every job for every candidate, so what can be looked up is."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self._alike: dict[str, set[str]] = {}
        for example in examples:
            self._alike.setdefault(_identity(example.inputs), set()).add(example.id)
        self._known: dict[str, frozenset[str]] = {}

    def by(self, candidate: Candidate) -> frozenset[str]:
        """Their ids."""
        if candidate.id not in self._known:
            found = (self._alike.get(_identity(each.inputs), set()) for each in shown_by(candidate))
            self._known[candidate.id] = frozenset[str]().union(*found)
        return self._known[candidate.id]


def _identity(inputs: Mapping[str, Any]) -> str:
    """Examples with the same inputs are the same to a model, whatever their ids."""
    return canonical(plain(dict(inputs)))


def shown_by(candidate: Candidate) -> tuple[Demonstration, ...]:
    """The candidate's demonstrations; none where it has no such component."""
    return parse_demonstrations(candidate.components.get(DEMONSTRATIONS, ""))
