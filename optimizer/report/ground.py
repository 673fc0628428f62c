"""The examples of val that a report is made on, where there is no test split.

What the search has seen of the best flatters it: that is why it is the best. Examples on which neither side was run before the choice
flatter nobody, so the report is made on these alone, as long as there are enough.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from adapters.candidate import Candidate
from adapters.example import Example
from optimizer.table import Table

ENOUGH = 10
"""Examples that can make a report of their own."""
FRESH, OPTIMISTIC = "fresh", "optimistic"
"""Examples on which no side was run before the choice; all of val, and so those too that the choice was made by."""


def ground(table: Table, sides: Iterable[Candidate], val: Sequence[Example]) -> tuple[list[Example], str]:
    """The examples, in the order in which the budget is to be spent on them, and what kind they are. `table`: the search's."""
    met = Counter(cell.example.id for who in sides for cell in table.cells(who.id, val))
    fresh = [example for example in val if not met[example.id]]
    if len(fresh) >= ENOUGH:
        return fresh, FRESH
    # First the examples that the sides have mostly met: there a pair costs least.
    return sorted(val, key=lambda example: -met[example.id]), OPTIMISTIC
