"""token_f1: words in common, by the rules of SQuAD."""

import string
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.answer import TracedAnswer
from adapters.example import Example
from scoring.scorer import ScorerError
from scoring.token_f1 import TokenF1, f1


@pytest.mark.parametrize(
    ("said", "wanted", "value"),
    [
        ("Paris", "paris", 1),
        ("The city of Paris!", "Paris, city of", 1),
        ("Paris London Rome Berlin", "Paris", 0.4),
        ("Paris Paris", "Paris", 2 / 3),
        ("London", "Paris", 0),
        ("", "Paris", 0),
        ("the", "Paris", 0),
        ("a", "the", 1),
        ("1,204", "1204", 1),
    ],
)
def test_values(said: str, wanted: str, value: float) -> None:
    assert f1(said, wanted) == pytest.approx(value)


words = st.lists(st.sampled_from(["x", "Y", "zig", "the", "an", "q."]), max_size=6)


@given(words, words)
def test_it_is_the_mean_of_precision_and_recall(said: list[str], wanted: list[str]) -> None:
    """Counted by hand, pair by pair."""
    left, right = ([w.lower().strip(string.punctuation) for w in ws if w not in ("the", "an")] for ws in (said, wanted))
    common = sum(min(n, Counter(right)[w]) for w, n in Counter(left).items())
    if not left or not right:
        value = float(left == right)
    elif not common:
        value = 0.0
    else:
        precision, recall = common / len(left), common / len(right)
        value = 2 * precision * recall / (precision + recall)
    assert f1(" ".join(said), " ".join(wanted)) == pytest.approx(value)


async def test_the_best_of_the_acceptable_answers() -> None:
    scorer = TokenF1()
    score = await scorer.score(Example("e1", {}, ["New York City", "NYC"]), TracedAnswer("New York"))
    assert (dict(score.values), score.correct, score.failure_kind) == ({"template": 0.8}, False, "wrong")
    assert score.feedback == "Wrong: expected 'New York City' or 'NYC', got 'New York'."
    right = await scorer.score(Example("e1", {}, ["New York City", "NYC"]), TracedAnswer("the NYC"))
    assert (dict(right.values), right.correct, right.failure_kind) == ({"template": 1.0}, True, None)


async def test_an_own_failure_is_kept_and_worth_nothing() -> None:
    score = await TokenF1().score(Example("e1", {}, "New York"), TracedAnswer("York", failure_kind="refusal"))
    assert (dict(score.values), score.correct, score.failure_kind) == ({"template": 0.0}, False, "refusal")


async def test_examples_that_cannot_be_scored() -> None:
    with pytest.raises(ScorerError, match="scorer 'token_f1', example 'e1': there is no expected answer"):
        await TokenF1().score(Example("e1", {}), TracedAnswer("x"))
