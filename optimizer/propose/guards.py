"""Guards: a broken proposal is refused before it costs a rollout (invariant I7)."""

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from adapters.candidate import DEMONSTRATIONS, Candidate
from adapters.example import Example
from optimizer.propose.copies import Copies
from optimizer.propose.overlap import Overlap
from optimizer.units import Unit

REPEATS = "the text repeats an example nearly word for word; state rules that hold for examples never seen"
"""Does not say which one, nor of which split: it is told to proposers, and they may know nothing of val."""
NO_OVERLAP = Overlap((), ())
NOTHING = Candidate({})


@dataclass(frozen=True)
class Guards:
    """`placeholders` finds the example inputs that a text names; `max_bytes` is the longest text of a component, in UTF-8 bytes. Proposers
    hold guards, so there is nothing of val in them that could be read."""

    placeholders: Callable[[str], frozenset[str]]
    max_bytes: int
    train: Sequence[Example]
    overlap: Overlap = NO_OVERLAP

    def problem(self, parent: Candidate, child: Candidate, known: Set[str], shown: Sequence[Example] = ()) -> str | None:
        """What is wrong with the child, in words for the proposer, or None. `known`: ids of candidates that were there before;
        `shown`: the train examples that the proposer has seen for it."""
        if all(text.strip() == parent.components[name].strip() for name, text in child.components.items()):
            return "the text is the same as before"
        if child.id in known:
            return "this text was tried before"
        changed = [name for name, text in child.components.items() if text != parent.components[name] and name != DEMONSTRATIONS]
        pairs = [(parent.components[name], child.components[name]) for name in changed]
        problem = next(filter(None, (self._text(old, new) or self._copied(old, new, shown) for old, new in pairs)), None)
        return problem or (REPEATS if self.overlap.copied(parent, child) else None)

    def offered(self, demonstrations: Sequence[Unit]) -> list[Unit]:
        """Those that may be shown: with one that val has too, a candidate would be told answers that it is judged by."""
        return [each for each in demonstrations if not self.overlap.copied(NOTHING, Candidate({each.component: each.text}))]

    def room(self, old: str) -> int:
        """The longest text that may take the place of `old`, in bytes: a text may grow, but not without end."""
        size = len(old.encode())
        return max(size, min(self.max_bytes, max(2 * size, size + 4000)))

    def lost(self, old: str, new: str) -> str | None:
        """The placeholder that `old` has and `new` lacks, in words; None where there is none."""
        missing = sorted(self.placeholders(old) - self.placeholders(new))
        return f"the placeholder {{{missing[0]}}} is missing; every placeholder has to stay" if missing else None

    def _text(self, old: str, new: str) -> str | None:
        if not new.strip():
            return "the text is empty"
        lost = self.lost(old, new)
        if lost is not None:
            return lost
        gained = sorted(self.placeholders(new) - self.placeholders(old))
        if gained:
            return f"the placeholder {{{gained[0]}}} is new; use only those that the text had"
        # A placeholder that stands there once more is a whole input more in every prompt.
        repeated = [mark for mark in (f"{{{name}}}" for name in sorted(self.placeholders(old))) if new.count(mark) > old.count(mark)]
        if repeated:
            return f"the placeholder {repeated[0]} stands there more often than before; use it as often as the text did"
        if len(new.encode()) > self.room(old):
            return f"the text is too long: {len(new.encode())} bytes, at most {self.room(old)} are allowed"
        return None

    def _copied(self, old: str, new: str, shown: Sequence[Example]) -> str | None:
        copied = self._copies.found(old, new, shown)
        if not copied:
            return None
        what = f"example {copied[0]!r}" if len(copied) == 1 else f"examples {', '.join(map(repr, copied))}"
        return f"the text copies the training {what}; state rules that hold for examples never seen"

    @cached_property
    def _copies(self) -> Copies:
        return Copies(self.train)
