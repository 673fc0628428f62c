"""Demonstrations: worked examples from the train split. Each is a line that candidates may be made of."""

from collections.abc import Mapping, Sequence
from typing import Any

from adapters.candidate import DEMONSTRATIONS, Candidate
from adapters.demonstrations import Demonstration, demonstration_of, dump_demonstrations, parse_demonstrations
from adapters.digest import canonical
from adapters.example import Example
from adapters.plain import plain
from optimizer.units import Unit


def offers(train: Sequence[Example]) -> list[Unit]:
    """A line for each example whose answer is known; of examples with the same inputs, for the last."""
    shown = [demonstration for demonstration in map(demonstration_of, train) if demonstration is not None]
    return [Unit(DEMONSTRATIONS, dump_demonstrations([each])) for each in {_identity(each.inputs): each for each in shown}.values()]


def unshown(candidate: Candidate, examples: Sequence[Example]) -> list[Example]:
    """Those of the examples that the candidate does not demonstrate: on the others it would be told the answer."""
    shown = {_identity(demonstration.inputs) for demonstration in shown_by(candidate)}
    return [example for example in examples if _identity(example.inputs) not in shown] if shown else list(examples)


def _identity(inputs: Mapping[str, Any]) -> str:
    """Examples with the same inputs are the same to a model, whatever their ids."""
    return canonical(plain(dict(inputs)))


def shown_by(candidate: Candidate) -> tuple[Demonstration, ...]:
    """The candidate's demonstrations; none where it has no such component."""
    return parse_demonstrations(candidate.components.get(DEMONSTRATIONS, ""))
