"""The conformance kit: every built-in scorer keeps to it, and every way of breaking it is told."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from adapters.answer import Step, TracedAnswer, Usage
from adapters.example import Example
from scoring.answer import NOT_IN_DOCUMENT
from scoring.functions import scorer
from scoring.loading import BUILT_IN, load_scorer
from scoring.score import Score
from scoring.scorer import ScorerConfigError, ScorerError
from scoring.testing import ConformanceError, check_scorer

EXAMPLE = Example("e1", {"q": "?"}, "yes")
GOOD = [(EXAMPLE, TracedAnswer("yes"))]
BAD = [(EXAMPLE, TracedAnswer("no"))]
NOTHING = [(Example("none", {}), TracedAnswer("yes"))]
NUMBER = Example("n", {}, 12)
OBJECT = Example("o", {}, {"a": 1})


def step(**spent: Any) -> tuple[Step, ...]:
    return (Step("model", "m", (), "", **spent),)


BUILT = [
    ("exact", GOOD, BAD, NOTHING),
    ("answer_contains", GOOD, BAD, NOTHING),
    ("answer_contains", [(Example("u", {}, NOT_IN_DOCUMENT), TracedAnswer("Not in document."))], BAD, []),
    (
        {
            "answer_contains": {
                "numeric": True,
                "whole_words": True,
                "case": "fold",
                "hide_after_letters": True,
                "max_characters": 99,
                "last_characters": 50,
                "rivals": ["or"],
                "one_number": True,
            }
        },
        [(NUMBER, TracedAnswer("12.0"))],
        [(NUMBER, TracedAnswer("11 or 12"))],
        NOTHING,
    ),
    ("numeric", [(NUMBER, TracedAnswer("12"))], [(NUMBER, TracedAnswer("13"))], [*NOTHING, *GOOD]),
    ({"numeric": {"pick": "last", "relative": 0.1}}, [(NUMBER, TracedAnswer("1 12.5"))], [(NUMBER, TracedAnswer("14"))], NOTHING),
    ({"choice": {"options": ["yes", "no"]}}, GOOD, BAD, [*NOTHING, (NUMBER, TracedAnswer("yes"))]),
    ({"regex": {"pattern": "yes"}}, GOOD, BAD, []),
    ({"regex": {"pattern": "(?P<answer>yes|no)"}}, GOOD, BAD, NOTHING),
    ({"regex": {"pattern": "yes", "dimension": "form"}}, GOOD, BAD, []),
    ("token_f1", GOOD, BAD, NOTHING),
    ("fields", [(OBJECT, TracedAnswer('{"a": 1}'))], [(OBJECT, TracedAnswer('{"a": 2}'))], [*NOTHING, *GOOD]),
    ({"fields": {"partial": True}}, [(OBJECT, TracedAnswer('{"a": 1}'))], [(OBJECT, TracedAnswer('{"a": 2}'))], NOTHING),
    ({"json_schema": {"schema": {"type": "array"}}}, [(EXAMPLE, TracedAnswer("[1]"))], BAD, []),
    ({"json_schema": {"schema": {"type": "array"}, "dimension": "form"}}, [(EXAMPLE, TracedAnswer("[1]"))], BAD, []),
    (
        {"cost": {"limit": 1}},
        [(EXAMPLE, TracedAnswer("yes", steps=step(usage=Usage(usd=0.1))))],
        [(EXAMPLE, TracedAnswer("yes", steps=step(usage=Usage(usd=2))))],
        [(EXAMPLE, TracedAnswer("yes", steps=step(usage=Usage(usd=None))))],
    ),
    ({"latency": {"limit": 1}}, GOOD, [(EXAMPLE, TracedAnswer("yes", steps=step(seconds=2.0)))], []),
    ({"length": {"limit": 5}}, GOOD, [(EXAMPLE, TracedAnswer("yes, yes"))], []),
    ({"tokens": {"limit": 5}}, GOOD, [(EXAMPLE, TracedAnswer("yes", steps=step(usage=Usage(output_tokens=9))))], []),
]
ELSEWHERE = {"rubric"}
"""Built in too, but a test of its own has the models that it asks."""


@pytest.mark.parametrize("case", BUILT, ids=lambda case: str(case[0]))
def test_built_in_scorers(case: tuple[Any, Any, Any, Any], tmp_path: Path) -> None:
    spec, good, bad, unscorable = case
    check_scorer(load_scorer(spec, tmp_path), good=good, bad=bad, unscorable=unscorable)


def test_every_built_in_scorer_is_checked() -> None:
    assert {spec if isinstance(spec, str) else next(iter(spec)) for spec, *_ in BUILT} == set(BUILT_IN) - ELSEWHERE


def brevity(example: Example, answer: TracedAnswer) -> float:
    return 1 / (1 + len(answer.text.split()))


@scorer(dimensions=["words", "lines"])
def sizes(example: Example, answer: TracedAnswer) -> Mapping[str, float]:
    return {"words": brevity(example, answer), "lines": float("\n" not in answer.text)}


LONG = [(EXAMPLE, TracedAnswer("one two\nthree"))]


def test_functions() -> None:
    check_scorer(brevity, good=GOOD, bad=LONG)
    check_scorer(sizes, good=GOOD, bad=LONG)


class Custom:
    """Right where the answer is yes; subclasses break one rule each."""

    name: Any = "custom"
    version: Any = "1"
    dimensions: Any = ("template",)

    async def score(self, example: Example, answer: TracedAnswer) -> Any:
        return self.judge(example, answer)

    def judge(self, example: Example, answer: TracedAnswer) -> Any:
        right = answer.text == "yes"
        return Score({"template": right}, right, None if right else "wrong")


class Nameless(Custom):
    name = " "


class Restless(Custom):
    count = 0

    @property
    def version(self) -> str:
        self.count += 1
        return str(self.count)


class Undimensioned(Custom):
    dimensions = ()


class Colon(Custom):
    dimensions = ("a:b",)


class Twice(Custom):
    dimensions = ("template", "template")


class Number(Custom):
    def judge(self, example: Example, answer: TracedAnswer) -> Any:
        return 0.5


class OutOfRange(Custom):
    def judge(self, example: Example, answer: TracedAnswer) -> Any:
        return Score({"template": 7}, True)


class Raising(Custom):
    def judge(self, example: Example, answer: TracedAnswer) -> Any:
        answer.text.index("e")
        return super().judge(example, answer)


class Misspelt(Custom):
    def judge(self, example: Example, answer: TracedAnswer) -> Any:
        return Score({"templte": 1})


class Surplus(Custom):
    def judge(self, example: Example, answer: TracedAnswer) -> Any:
        return Score({"template": 1, "templte": 1}, True)


class SilenceLeftOut(Custom):
    def judge(self, example: Example, answer: TracedAnswer) -> Any:
        return super().judge(example, answer) if answer.text else Score({})


class ZeroLeftOut(Custom):
    def judge(self, example: Example, answer: TracedAnswer) -> Any:
        return super().judge(example, answer) if answer.text == "yes" else Score({}, False, "wrong")


class ZeroLeftOutUndeclared(ZeroLeftOut):
    dimensions = None


class MissingIsZero(Custom):
    def judge(self, example: Example, answer: TracedAnswer) -> Any:
        return super().judge(example, answer) if example.expected else Score({"template": 0}, False, "wrong")


class MissingIsZeroUndeclared(MissingIsZero):
    dimensions = None


class MissingRaises(Custom):
    def judge(self, example: Example, answer: TracedAnswer) -> Any:
        example.inputs["q"]
        return super().judge(example, answer)


class Silent(Custom):
    def judge(self, example: Example, answer: TracedAnswer) -> Any:
        return Score({"template": answer.text == "yes"})


class Contradicting(Custom):
    def judge(self, example: Example, answer: TracedAnswer) -> Any:
        return Score({"template": answer.text == "yes"}, True)


class Kindless(Custom):
    def judge(self, example: Example, answer: TracedAnswer) -> Any:
        return Score({"template": answer.text == "yes"}, answer.text == "yes")


class KindOfRight(Custom):
    def judge(self, example: Example, answer: TracedAnswer) -> Any:
        return Score({"template": answer.text == "yes"}, answer.text == "yes", "wrong")


class LowerIsBetter(Custom):
    dimensions = ("words",)

    def judge(self, example: Example, answer: TracedAnswer) -> Any:
        return Score({"words": answer.text != "yes"})


class Counting(Custom):
    count = 0
    dimensions = ("share",)

    def judge(self, example: Example, answer: TracedAnswer) -> Any:
        self.count += 1
        return Score({"share": 1 / self.count})


class Busy(Custom):
    """Another score while others wait."""

    waiting = 0

    async def score(self, example: Example, answer: TracedAnswer) -> Any:
        import asyncio

        self.waiting += 1
        await asyncio.sleep(0)
        score, alone = self.judge(example, answer), self.waiting == 1
        self.waiting -= 1
        return score if alone else Score({"template": 0}, False, "busy")


class Meddling(Custom):
    def judge(self, example: Example, answer: TracedAnswer) -> Any:
        example.inputs["seen"] = True  # type: ignore[index]
        return super().judge(example, answer)


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        (Nameless, "its name is ' '; it has to be text"),
        (Restless, "its version is another one each time"),
        (Undimensioned, "its dimensions are"),
        (Colon, "'a:b' cannot name a dimension"),
        (Twice, "hold one twice"),
        (Number, "example 'e1': an answer got 0.5; it has to be a Score"),
        (OutOfRange, "it raised ScoreError: 7 is not in 0..1"),
        (Raising, "example 'e1': an answer has to get a score, even if it is 0; it raised ValueError"),
        (Misspelt, "there is no value for template; a zero is a score"),
        (Surplus, "an answer got a value for 'templte', which is not declared; did you mean 'template'"),
        (ZeroLeftOut, "there is no value for template; a zero is a score"),
        (ZeroLeftOutUndeclared, "there is no value for template; a zero is a score"),
        (SilenceLeftOut, "nothing got no value for 'template'"),
        (MissingIsZero, "example 'none': it cannot be scored, and got {'template': 0.0}"),
        (MissingIsZeroUndeclared, "it cannot be scored, and got"),
        (
            MissingRaises,
            r"example 'none': it raised KeyError: 'q' \(test_testing.py, line \d+\); raise ScorerError\(name, example.id, problem\)",
        ),
        (Silent, "got template 1.0, and correct is None: they have to say the same"),
        (Contradicting, "got template 0.0, and correct is True"),
        (Kindless, "an answer is not correct; failure_kind has to say how"),
        (KindOfRight, "is correct, and has failure_kind 'wrong'"),
        (LowerIsBetter, "good answers got 0 on average and bad ones 1; higher has to be better"),
        (Counting, "the second time it got"),
        (Busy, "beside others it got"),
        (Meddling, "it changed the example or the answer"),
    ],
)
def test_broken_rules_are_told(broken: type[Custom], told: str) -> None:
    example = Example("e1", {"q": "?"}, "yes")
    with pytest.raises(ConformanceError, match=told):
        check_scorer(
            broken(),
            good=[(example, TracedAnswer("yes"))],
            bad=[(example, TracedAnswer("no"))],
            unscorable=[(Example("none", {}), TracedAnswer("yes"))],
        )


def test_what_models_say_that_nobody_thought_of() -> None:
    @scorer
    def first_word(example: Example, answer: TracedAnswer) -> bool:
        return answer.text.split()[0] == "yes"

    with pytest.raises(ConformanceError, match=r"'first_word', example 'e1': nothing has to get a score.*IndexError"):
        check_scorer(first_word, good=GOOD, bad=BAD)


def test_undeclared_dimensions_are_those_of_the_first_case() -> None:
    def giving(good: str, bad: str, odd: str) -> Custom:
        class Undeclared(Custom):
            dimensions = None

            def judge(self, example: Example, answer: TracedAnswer) -> Any:
                given = {"yes": good, "no": bad}.get(answer.text, odd)
                return Score(dict.fromkeys(given.split(), float(answer.text == "yes")))

        return Undeclared()

    check_scorer(giving("words lines", "words lines", "words"), good=GOOD, bad=BAD)
    for given, told in {
        ("words lines", "words", "words"): "there is no value for lines",
        ("words lines", "words lines", "linse"): "nothing got a value for 'linse', which is not declared; did you mean 'lines'",
        ("", "", ""): "there is no value for its dimension",
    }.items():
        with pytest.raises(ConformanceError, match=told):
            check_scorer(giving(*given), good=GOOD, bad=BAD)


def test_what_is_unscorable_may_have_no_value() -> None:
    class Choosy(Custom):
        def judge(self, example: Example, answer: TracedAnswer) -> Any:
            return super().judge(example, answer) if example.expected else Score({})

    class Strict(Custom):
        def judge(self, example: Example, answer: TracedAnswer) -> Any:
            if example.expected is None:
                raise ScorerError(self.name, example.id, "there is nothing to compare with")
            return super().judge(example, answer)

    for kind in (Choosy, Strict):
        check_scorer(kind(), good=GOOD, bad=BAD, unscorable=NOTHING)


def test_cases_are_needed() -> None:
    with pytest.raises(ValueError, match="needs a good and a bad case"):
        check_scorer(Custom(), good=GOOD, bad=[])
    with pytest.raises(ScorerConfigError):
        check_scorer("exact", good=GOOD, bad=BAD)


def test_the_manuals_example() -> None:
    manual = (Path(__file__).parents[2] / "docs" / "scoring.md").read_text(encoding="utf-8")
    (code,) = [block for block in manual.split("```python\n")[1:] if "check_scorer" in block.split("```")[0]]
    names: dict[str, Any] = {"brevity": brevity}
    exec(code.split("```")[0], names)
    names["test_brevity"]()
