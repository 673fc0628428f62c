"""Candidate: what is optimized."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from adapters.digest import digest

DEMONSTRATIONS = "demonstrations"
"""The component that holds worked examples, as JSON Lines of `{"inputs": {...}, "answer": "..."}`; may be empty."""


@dataclass(frozen=True)
class Candidate:
    """Named prompt texts. Immutable; its id is a hash of its content, so the same text is never two candidates."""

    components: Mapping[str, str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "components", MappingProxyType(dict(sorted(self.components.items()))))

    @cached_property
    def id(self) -> str:
        """Twelve hex digits."""
        return digest(dict(self.components), length=12)

    def replace(self, **texts: str) -> "Candidate":
        """The candidate with some components' texts exchanged. KeyError where it has no such component."""
        for name in texts:
            if name not in self.components:
                raise KeyError(name)
        return Candidate({**self.components, **texts})

    def __hash__(self) -> int:
        return hash(self.id)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Candidate) and self.components == other.components
