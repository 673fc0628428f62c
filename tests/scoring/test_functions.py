"""Plain functions as scorers: what they may return, and what they are told when it is something else."""

import asyncio
import math
import re
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest

from adapters.answer import TracedAnswer
from adapters.example import Example
from scoring.functions import FunctionScorer, as_scorer, scorer
from scoring.score import Score
from scoring.scorer import LONGEST_PROBLEM, ScorerConfigError, ScorerError
from scoring.user_code import users_code

EXAMPLE = Example("e1", {"q": "?"}, "yes")
ANSWER = TracedAnswer("yes")


def returning(value: object) -> FunctionScorer:
    def brevity(example: Example, answer: TracedAnswer) -> Any:
        return value

    return FunctionScorer(brevity)


@pytest.mark.parametrize(
    ("returned", "score"),
    [
        (True, Score({"brevity": 1.0})),
        (False, Score({"brevity": 0.0})),
        (0.25, Score({"brevity": 0.25})),
        (1, Score({"brevity": 1.0})),
        ((0.5, "half"), Score({"brevity": 0.5}, feedback="half")),
        (Score({"x": 0.5}, True), Score({"x": 0.5}, True)),
        ({"a": True, "b": (0.5, "half")}, Score({"a": 1.0, "b": 0.5}, feedback="b: half")),
        ({"a": Score({"a": 0.5}, False, "wrong"), "b": 1}, Score({"a": 0.5, "b": 1.0}, False, "wrong")),
        ({"template": True}, Score({"template": 1.0}, True)),
        ({"template": (0.5, "half")}, Score({"template": 0.5}, False, "wrong", feedback="half")),
    ],
)
async def test_what_a_function_may_return(returned: object, score: Score) -> None:
    assert await returning(returned).score(EXAMPLE, ANSWER) == score


async def later() -> float:
    return 1.0


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: 7, "it returned 7: 7 is not in 0..1"),
        (lambda: -0.1, "-0.1 is not in 0..1"),
        (lambda: math.nan, "nan is not in 0..1"),
        (lambda: None, "None is not a number"),
        (lambda: "1", "'1' is not a number"),
        (lambda: [1], r"\[1\] is not a number"),
        (later, "nobody awaited it; write the function as `async def`"),
        (lambda: (0.5, "a", "b"), "a tuple has to be"),
        (lambda: (0.5, None), "a tuple has to be"),
        (dict, "an empty dict names no dimension"),
        (lambda: {"a:b": 1}, "'a:b' cannot name a dimension"),
        (lambda: {"": 1}, "'' cannot name a dimension"),
        (lambda: {"a": None}, "None is not a number"),
        (lambda: {"a": {"b": 1}}, "is not a number"),
        (lambda: {"a": Score({"b": 1.0})}, "the Score under 'a' has to hold the dimension 'a'"),
        (lambda: (0.5, "\ud800"), "surrogate"),
    ],
)
async def test_what_a_function_may_not_return(make: Callable[[], object], told: str) -> None:
    with pytest.raises(ScorerError, match=told) as caught:
        await returning(make()).score(EXAMPLE, ANSWER)
    message = str(caught.value)
    assert message.startswith("scorer 'brevity', example 'e1': it returned ")
    assert message.endswith("a pair (value, 'reason'), a Score, or a dict dimension → any of these")


async def test_a_function_that_raises_is_told_with_its_line() -> None:
    def broken(example: Example, answer: TracedAnswer) -> float:
        return 1 / len(example.metadata)

    line = broken.__code__.co_firstlineno + 1
    told = f"scorer 'broken', example 'e1': it raised ZeroDivisionError: division by zero (test_functions.py, line {line})"
    with pytest.raises(ScorerError, match=re.escape(told)):
        await FunctionScorer(broken).score(EXAMPLE, ANSWER)


class Panic(BaseException):
    """As compiled libraries raise it."""


class Speechless(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (Panic("index out of range"), "it raised Panic: index out of range (test_functions.py"),
        (SystemExit(0), "it raised SystemExit: 0 (test_functions.py"),
        (asyncio.CancelledError("mine"), "it raised CancelledError: mine (test_functions.py"),
        (BaseExceptionGroup("all", [KeyboardInterrupt()]), "it raised BaseExceptionGroup: all (1 sub-exception) (test_functions.py"),
        (Speechless(), "it raised Speechless: no message, for that raises RuntimeError (test_functions.py"),
        (ValueError("half \ud83d of it"), r"it raised ValueError: half \ud83d of it (test_functions.py"),
    ],
)
async def test_whatever_a_function_raises_is_its_failure(error: BaseException, told: str) -> None:
    def broken(example: Example, answer: TracedAnswer) -> float:
        raise error

    with pytest.raises(ScorerError, match=re.escape(told)) as caught:
        await FunctionScorer(broken).score(EXAMPLE, ANSWER)
    caught.value.problem.encode()  # a journal can hold it


async def test_an_endless_message_is_cut_the_same_way_every_time() -> None:
    def broken(example: Example, answer: TracedAnswer) -> float:
        raise ValueError("x" * 5_000_000)

    with pytest.raises(ScorerError, match=r"it raised ValueError: xx.* … x+ \(test_functions.py, line \d+\)$") as caught:
        await FunctionScorer(broken).score(EXAMPLE, ANSWER)
    problem = caught.value.problem
    assert LONGEST_PROBLEM <= len(problem) < LONGEST_PROBLEM + 10
    assert ScorerError("broken", "e1", problem).problem == problem


async def test_a_scoring_that_is_cancelled_is_no_failure_of_the_function() -> None:
    async def slow(example: Example, answer: TracedAnswer) -> float:
        await asyncio.sleep(60)
        return 1.0

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await FunctionScorer(slow).score(EXAMPLE, ANSWER)


def test_an_interruption_is_no_failure_of_the_function() -> None:
    with pytest.raises(KeyboardInterrupt), users_code(ValueError):
        raise KeyboardInterrupt
    with pytest.raises(ValueError, match="CancelledError"), users_code(ValueError):  # without a loop
        raise asyncio.CancelledError


async def test_a_line_in_a_library_is_told_as_the_line_that_called_it() -> None:
    def broken(example: Example, answer: TracedAnswer) -> float:
        return float(re.compile("(").groups)

    line = broken.__code__.co_firstlineno + 1
    with pytest.raises(ScorerError, match=re.escape(f"(test_functions.py, line {line})")):
        await FunctionScorer(broken).score(EXAMPLE, ANSWER)


async def test_async_functions_and_objects() -> None:
    async def slow(example: Example, answer: TracedAnswer) -> float:
        return await later() / 2

    class Called:
        async def __call__(self, example: Example, answer: TracedAnswer) -> float:
            return await later() / 4

    assert await FunctionScorer(slow).score(EXAMPLE, ANSWER) == Score({"slow": 0.5})
    assert await FunctionScorer(Called()).score(EXAMPLE, ANSWER) == Score({"Called": 0.25})


def sequence(*returned: object) -> Callable[[Example, TracedAnswer], Any]:
    values = iter(returned)

    def parts(example: Example, answer: TracedAnswer) -> Any:
        return next(values)

    return parts


async def test_a_misspelt_dimension_is_told_with_the_nearest() -> None:
    declared = FunctionScorer(sequence({"words": 1}, {"words": 1, "linse": 1}), dimensions=["words", "lines"])
    assert await declared.score(EXAMPLE, ANSWER) == Score({"words": 1.0}), "what is left out is not measured"
    with pytest.raises(ScorerError, match="the dimension 'linse' is not declared; did you mean 'lines'"):
        await declared.score(EXAMPLE, ANSWER)


async def test_undeclared_dimensions_are_what_each_score_gives_whatever_came_before() -> None:
    parts = FunctionScorer(sequence({"words": 1, "lines": 1}, {"words": 1}, 0.5, Score({"words": 0.5})))
    given = [await parts.score(EXAMPLE, ANSWER) for _ in range(4)]
    assert [list(score.values) for score in given] == [["words", "lines"], ["words"], ["parts"], ["words"]]


async def test_the_decorator() -> None:
    @scorer
    def brevity(example: Example, answer: TracedAnswer) -> float:
        return 0.5

    @scorer(name="short", dimensions=["words"])
    def other(example: Example, answer: TracedAnswer) -> dict[str, bool]:
        return {"words": True}

    assert (brevity.name, brevity.dimensions) == ("brevity", None)
    assert (other.name, other.dimensions) == ("short", ("words",))
    assert brevity(EXAMPLE, ANSWER) == 0.5
    assert as_scorer(brevity) is brevity
    assert await other.score(EXAMPLE, ANSWER) == Score({"words": 1.0})
    assert brevity.version != other.version


class Limit:
    def __init__(self, words: int) -> None:
        self.words = words

    def __call__(self, example: Example, answer: TracedAnswer) -> bool:
        return len(answer.text.split()) <= self.words


def test_versions_depend_on_source_and_settings() -> None:
    one = FunctionScorer(Limit(3), settings={"words": 3})
    assert one.version == FunctionScorer(Limit(3), settings={"words": 3}).version
    assert one.version != FunctionScorer(Limit(3), settings={"words": 4}).version
    assert one.version != FunctionScorer(Limit(3), name="other", settings={"words": 3}).version


def no_arguments() -> float:
    return 1.0


async def unsourced() -> Any:
    scope: dict[str, Any] = {}
    exec("def typed(example, answer): return 1.0", scope)
    return scope["typed"]


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (lambda example, answer: 1.0, "a lambda has no name"),
        (partial(Limit.__call__, Limit(3)), "functools.partial"),
        (no_arguments, r"the scorer 'no_arguments' cannot be called with \(example, answer\)"),
        (3, "the scorer 'int' cannot be called"),
        (len, "the source of 'len' cannot be read"),
    ],
)
def test_what_is_no_scorer(function: Any, told: str) -> None:
    with pytest.raises(ScorerConfigError, match=told):
        FunctionScorer(function)


async def test_code_without_a_file_has_no_version() -> None:
    with pytest.raises(ScorerConfigError, match="define the scorer in a file"):
        FunctionScorer(await unsourced())


@pytest.mark.parametrize("names", [{"name": "a:b"}, {"dimensions": ["ok", ""]}])
def test_names_that_no_dimension_can_have(names: dict[str, Any]) -> None:
    with pytest.raises(ScorerConfigError, match="cannot name a dimension"):
        FunctionScorer(Limit(3), **names)


def test_half_a_scorer() -> None:
    class Half:
        name = "half"

        def score(self) -> Awaitable[Score]:
            raise AssertionError

    with pytest.raises(ScorerConfigError, match="has `score` but no `dimensions`"):
        as_scorer(Half())
