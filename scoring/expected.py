"""What scorers have in common that compare an answer with the example's acceptable ones."""

from collections.abc import Sequence

from adapters.answer import TracedAnswer
from adapters.example import Example
from scoring.score import Score, show
from scoring.scorer import TEMPLATE, ScorerError
from scoring.text import plain_number


def acceptable(scorer: str, example: Example) -> list[str]:
    """The acceptable answers, one or a list, as texts without the white space around them: numbers in plain digits, true and
    false as JSON spells them. Raises ScorerError for none, and for one that is no text, number or truth value."""
    expected = example.expected
    members = expected if isinstance(expected, list | tuple) else [expected]
    if expected is None or not members:
        problem = "there is no expected answer to compare with; give the example one, or leave this scorer out"
        raise ScorerError(scorer, example.id, problem)
    return [_spelled(scorer, example, member) for member in members]


def judged(answer: TracedAnswer, kind: str | None, wanted: str, got: str, value: float | None = None, *, secret: bool = True) -> Score:
    """The score of an answer that is right where `kind` is None; a kind that the adapter saw comes before. `wanted`: as the
    feedback says it. `value`: between 0 and 1 for an answer that is partly right. `secret`: `wanted` tells the expected answer."""
    own = answer.failure_kind or kind
    correct = own is None
    share = float(correct) if value is None or answer.failure_kind else value
    verdict = "Wrong" if own == "wrong" else f"Failed ({own})"
    feedback = "Right." if correct else f"{verdict}: expected {wanted}, got {show(got)}."
    discreet = f"{verdict}: got {show(got)}." if secret and not correct else None
    return Score({TEMPLATE: share}, correct, own, got, feedback, discreet=discreet)


def either(texts: Sequence[str]) -> str:
    """The acceptable answers, as feedback says them."""
    return " or ".join(map(show, texts))


def on(dimension: str, score: Score) -> Score:
    """The same value on another dimension, which says nothing about correctness."""
    if dimension == TEMPLATE:
        return score
    return Score({dimension: score.values[TEMPLATE]}, feedback=score.feedback, discreet=score.discreet)


def _spelled(scorer: str, example: Example, member: object) -> str:
    if isinstance(member, str):
        return member.strip()
    if isinstance(member, bool):
        return str(member).lower()
    if isinstance(member, int | float):
        try:
            return plain_number(member)
        except ValueError as error:
            raise ScorerError(scorer, example.id, f"the expected answer {error}") from None
    hint = "the scorer fields compares those" if isinstance(member, dict) else "write it as text"
    raise ScorerError(scorer, example.id, f"the expected answer {show(member)} is neither text nor a number; {hint}")
