"""The suite: several scorers as one."""

from typing import Any

import pytest

from adapters.answer import TracedAnswer
from adapters.example import Example
from scoring.exact import Exact
from scoring.fields import Fields
from scoring.functions import FunctionScorer
from scoring.score import Score
from scoring.scorer import Scorer, ScorerConfigError, ScorerError
from scoring.suite import Suite

EXAMPLE = Example("e1", {}, "yes")
ANSWER = TracedAnswer("no")


def brevity(example: Example, answer: TracedAnswer) -> tuple[float, str]:
    return 0.5, "a bit long"


def template(example: Example, answer: TracedAnswer) -> bool:
    return True


class Custom:
    """A scorer of a user's own, that gives what it is made with."""

    def __init__(self, given: Any, dimensions: tuple[Any, ...] | None = None, name: str = "custom") -> None:
        self.given, self.dimensions, self.name, self.version = given, dimensions, name, "1"

    async def score(self, example: Example, answer: TracedAnswer) -> Score:
        if isinstance(self.given, BaseException):
            raise self.given
        return self.given  # type: ignore[no-any-return]


async def test_scores_are_merged() -> None:
    suite = Suite([Exact(), FunctionScorer(brevity, dimensions=["brevity"])])
    assert suite.dimensions == ("template", "brevity")
    score = await suite.score(EXAMPLE, ANSWER)
    assert score.values == {"template": 0.0, "brevity": 0.5}
    assert (score.correct, score.failure_kind, score.outcome) == (False, "wrong", "no")
    assert score.feedback == "exact: Wrong: expected 'yes', got 'no'.\nbrevity: a bit long"


async def test_what_a_scorer_changes_reaches_nobody() -> None:
    def careless(example: Example, answer: TracedAnswer) -> bool:
        seen = [*example.inputs.items(), *example.expected, *answer.parsed]
        example.inputs.clear()  # type: ignore[attr-defined]
        example.expected.append("no")
        answer.parsed.clear()
        return seen == [("q", ["?"]), "yes", "no"]

    example, answer = Example("e1", {"q": ["?"]}, ["yes"]), TracedAnswer("no", parsed=["no"])
    score = await Suite([FunctionScorer(careless), FunctionScorer(careless, name="again")]).score(example, answer)
    assert score.values == {"careless": 1.0, "again": 1.0}
    assert (example.inputs, example.expected, answer.parsed) == ({"q": ["?"]}, ["yes"], ["no"])


async def test_one_scorer_stays_as_it_is() -> None:
    suite = Suite([Exact()])
    assert await suite.score(EXAMPLE, ANSWER) == await Exact().score(EXAMPLE, ANSWER)


def test_unknown_dimensions_are_not_guessed() -> None:
    assert Suite([Exact(), FunctionScorer(brevity)]).dimensions is None


def test_the_version_follows_its_scorers() -> None:
    one = Suite([Exact(), FunctionScorer(brevity)])
    assert one.version == Suite([Exact(), FunctionScorer(brevity)]).version
    assert one.version != Suite([Exact()]).version
    assert Suite([Fields()]).version != Suite([Fields(partial=True)]).version


@pytest.mark.parametrize(
    ("scorers", "told"),
    [
        ([], "there is no scorer"),
        ([Exact(), Fields()], "the scorer 'fields': its dimension 'template' is also given by the scorer 'exact'"),
        ([Custom(None, ("a", "a"))], "its dimension 'a' is also given by the scorer 'custom'"),
        ([Custom(None, ("a:b",))], "the scorer 'custom': 'a:b' cannot name a dimension"),
    ],
)
def test_suites_that_cannot_be(scorers: list[Scorer], told: str) -> None:
    with pytest.raises(ScorerConfigError, match=told):
        Suite(scorers)


@pytest.mark.parametrize(
    ("scorers", "told"),
    [
        (
            [Exact(), FunctionScorer(template)],
            "scorer 'template', example 'e1': its dimension 'template' is also given by the scorer 'exact'",
        ),
        ([FunctionScorer(template), Custom(Score({"template": 1.0}), None)], "scorer 'custom'.*also given by the scorer 'template'"),
        ([FunctionScorer(template), Exact()], "scorer 'template'.*also given by the scorer 'exact'"),
        ([Custom(Score({"tonne": 1.0}), ("tone",))], "it gave the dimension 'tonne', which it does not declare; did you mean 'tone'"),
        ([Custom(KeyError("tone"), ("tone",))], r"scorer 'custom', example 'e1': it raised KeyError: 'tone' \(test_suite.py, line \d+\)"),
        ([Custom(RuntimeError(), ("tone",))], "it raised RuntimeError: no message"),
        ([Custom(SystemExit(0), ("tone",))], r"it raised SystemExit: 0 \(test_suite.py, line \d+\)"),
        ([Custom(ScorerError("custom", "e1", "no key"), ("tone",))], "^scorer 'custom', example 'e1': no key$"),
        ([Custom(ScorerConfigError("no setting"), ("tone",))], "^scorer 'custom', example 'e1': no setting$"),
        ([Custom({"tone": 1.0}, ("tone",))], "`score` gave {'tone': 1.0}; it has to give a Score"),
    ],
)
async def test_scorers_that_break_their_word(scorers: list[Scorer], told: str) -> None:
    with pytest.raises(ScorerError, match=told):
        await Suite(scorers).score(EXAMPLE, ANSWER)


async def test_a_declared_dimension_may_be_left_out() -> None:
    suite = Suite([Custom(Score({}), ("tone",)), Exact()])
    assert (await suite.score(EXAMPLE, ANSWER)).values == {"template": 0.0}


def test_a_dimension_that_nobody_declares_and_nothing_gave_before_is_told() -> None:
    suite = Suite([Exact(), FunctionScorer(brevity), Custom(None, name="own")])
    assert suite.stray(EXAMPLE, Score({"template": 1, "words": 1}), ("words", "lines")) is None
    error = suite.stray(EXAMPLE, Score({"words": 1, "linse": 1}), ("words", "lines"))
    told = "scorer 'brevity or own', example 'e1': the dimension 'linse' is new; did you mean 'lines'?; the first answer got words, lines"
    assert str(error).startswith(told) and "@scorer(dimensions=[...])" in str(error)
