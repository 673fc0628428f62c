"""Example: one thing that a candidate is tried on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from adapters.digest import digest


@dataclass(frozen=True)
class Example:
    """`expected` may be anything, or None where no answer is known. Examples of one `group` are never spread over splits,
    and intervals are clustered by it. `place`: file and line that it comes from, for messages; no part of what it is."""

    id: str
    inputs: Mapping[str, Any]
    expected: Any = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    group: str | None = None
    place: str = field(default="", compare=False)

    @cached_property
    def digest(self) -> str:
        """A hash of the content without the id: edited data never meets an older score."""
        return digest(self.inputs, self.expected, self.metadata)

    @property
    def spoken(self) -> str:
        """What messages call it: its id, and its place, since an id may be a hash."""
        return f"{self.id!r} ({self.place})" if self.place else repr(self.id)

    def __hash__(self) -> int:
        return hash(self.id)
