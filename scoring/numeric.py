"""The scorer `numeric`: the answer's number is the expected one, or near enough."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from functools import cached_property
from typing import ClassVar, Literal

from adapters.answer import TracedAnswer
from adapters.example import Example
from scoring import expected, numbers, text, whole
from scoring.expected import acceptable, either, judged
from scoring.numbers import near, number
from scoring.score import Score, show
from scoring.scorer import TEMPLATE, ScorerError
from scoring.settings import check_amount, check_word
from scoring.text import fold, spoken
from scoring.user_code import source_version
from scoring.whole import one_dash


@dataclass(frozen=True)
class Numeric:
    """Right when the number in the answer differs from the expected one, or from one of a list, by `tolerance` at most, or by
    `relative` × the expected one. Numbers are read as scoring.numbers says: `1,204.50`, `-$3`, `1e5`, `45 million`; units are
    not. No number is a parse_failure. `pick`: of several different ones, "only" takes none, and the answer is hedged; "last"
    takes the last."""

    tolerance: float = 0.0
    relative: float = 0.0
    pick: Literal["only", "last"] = "only"

    name: ClassVar[str] = "numeric"
    dimensions: ClassVar[tuple[str, ...]] = (TEMPLATE,)

    def __post_init__(self) -> None:
        check_amount(self.name, "tolerance", self.tolerance)
        check_amount(self.name, "relative", self.relative)
        check_word(self.name, "pick", self.pick, ("only", "last"))

    @cached_property
    def version(self) -> str:
        return source_version(type(self), expected, numbers, text, whole, settings=asdict(self))

    async def score(self, example: Example, answer: TracedAnswer) -> Score:
        """Raises ScorerError for an example whose expected answer is not a number, or a list of numbers."""
        wanted, said = acceptable(self.name, example), spoken(answer)
        values = [self._value(example, label) for label in wanted]
        found = [one.value for one in numbers.numbers(one_dash(fold(said)))]
        return judged(answer, self._fault(values, found), either(wanted), said)

    def _fault(self, wanted: Sequence[Decimal], found: Sequence[Decimal]) -> str | None:
        if not found:
            return "parse_failure"
        if self.pick == "only" and len(set(found)) > 1:
            return "hedged"
        return None if any(near(value, found[-1], self.tolerance, self.relative) for value in wanted) else "wrong"

    def _value(self, example: Example, label: str) -> Decimal:
        value = number(one_dash(fold(label)))
        if value is None:
            raise ScorerError(
                self.name, example.id, f"the expected answer {show(label)} is no number; write it without unit and sign of currency"
            )
        return value
