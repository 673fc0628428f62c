"""The conformance kit: what every scorer has to keep to, as one call in a test of its author's."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from adapters.answer import TracedAnswer
from adapters.digest import digest
from adapters.example import Example
from adapters.nearest import nearest
from scoring.functions import as_scorer
from scoring.score import Score, check_dimension, show
from scoring.scorer import TEMPLATE, Scorer, ScorerError
from scoring.user_code import source_file, users_code

Case: TypeAlias = tuple[Example, TracedAnswer]

ODD_ANSWERS: Mapping[str, TracedAnswer] = {
    "nothing": TracedAnswer(""),
    "white space": TracedAnswer(" \t\r\n\u00a0\u2028"),
    "a long text": TracedAnswer("so it is, " * 10_000),
    "strange characters": TracedAnswer("\x00\x1b[31m\u202e\ufffd🙂e\u0301"),
    "enormous numbers": TracedAnswer("1e9999 " + "9" * 5_000),
    "nested lists": TracedAnswer("[" * 20_000),
    "null": TracedAnswer("null"),
    "an object": TracedAnswer('{"answer": {"answer": null}}'),
    "a parsed object": TracedAnswer("{}", parsed={}),
    "a parsed list": TracedAnswer("[]", parsed=[]),
    "a parsed 0": TracedAnswer("0", parsed=0),
    "a parsed False": TracedAnswer("no", parsed=False),
    "a parsed NaN": TracedAnswer("NaN", parsed=float("nan")),
    "an answer that a limit cut off": TracedAnswer("It is", partial=True, notes={"cost_cap_reached": 5}),
    "a refusal": TracedAnswer("I cannot help with that.", failure_kind="refusal"),
}
"""What models do say. Each has a score, whatever the example."""


class ConformanceError(AssertionError):
    """A rule that a scorer does not keep to. Names the scorer, the example and the rule."""


def check_scorer(thing: object, *, good: Sequence[Case], bad: Sequence[Case], unscorable: Sequence[Case] = ()) -> None:
    """Raises ConformanceError where the scorer, or the function that is to be one, breaks a rule:

    - it has a name, a version that stays the same, and dimensions that it gives, all of them and no others;
    - good and bad answers get a value for each dimension, a zero where they are worth nothing; and every one of ODD_ANSWERS to
      their examples gets a Score, which says whether it is correct if the scorer ever does;
    - good answers get more than bad ones, on average: higher is better; and `correct` says the same as the value of `template`;
    - what is unscorable (an example without what the scorer compares with, an answer without what it measures) raises
      ScorerError or gets no value: what is missing is no zero;
    - the same example and answer get the same score, in any order and at the same time, and stay as they are.

    At least one good and one bad case are needed, else ValueError. Raises ScorerConfigError for what can be no scorer at all.
    For tests without a running event loop."""
    if not good or not bad:
        raise ValueError("check_scorer needs a good and a bad case at least, each (example, answer)")
    asyncio.run(_Check(as_scorer(thing)).all(good, bad, unscorable))


@dataclass(frozen=True)
class _Check:
    scorer: Scorer

    async def all(self, good: Sequence[Case], bad: Sequence[Case], unscorable: Sequence[Case]) -> None:
        self._members()
        cases = [*good, *bad]
        scores = [await self._scored(case) for case in cases]
        names = self.scorer.dimensions or tuple(scores[0].values) or ("its dimension",)
        for case, score in zip(cases, scores, strict=True):
            missing = set(names) - set(score.values)
            self._need(not missing, case, f"there is no value for {', '.join(sorted(missing))}; a zero is a score")
            self._sound(case, score, names)
        self._higher_is_better(scores[: len(good)], scores[len(good) :])
        await self._same_again(cases, scores)
        for case, said in _odd(cases):
            self._sound(case, await self._scored(case, said), names, said)
        for case in unscorable:
            await self._not_zero(case)

    def _members(self) -> None:
        for member in ("name", "version"):
            value = getattr(self.scorer, member)
            self._need(isinstance(value, str) and bool(value.strip()), None, f"its {member} is {show(value)}; it has to be text")
            self._need(value == getattr(self.scorer, member), None, f"its {member} is another one each time")
        names: object = self.scorer.dimensions
        if names is None:
            return
        if not isinstance(names, tuple) or not names:
            raise self._broken(None, f"its dimensions are {show(names)}; it takes a tuple of names, or None")
        for name in names:
            try:
                check_dimension(name)
            except ValueError as error:
                raise self._broken(None, str(error)) from None
        self._need(len(set(names)) == len(names), None, f"its dimensions {show(names)} hold one twice")

    async def _scored(self, case: Case, said: str = "an answer") -> Score:
        before = _content(case)
        needed = f"{said} has to get a score, even if it is 0"
        try:
            with users_code(lambda text: self._broken(case, f"{needed}; it raised {text}"), source_file(self.scorer)):
                score = await self.scorer.score(*case)
        except ScorerError as error:
            raise self._broken(case, f"{needed}; {error.problem}") from error
        self._need(isinstance(score, Score), case, f"{said} got {show(score)}; it has to be a Score")
        self._need(_content(case) == before, case, "it changed the example or the answer")
        return score

    def _sound(self, case: Case, score: Score, names: Sequence[str], said: str = "an answer") -> None:
        """`names`: the dimensions, as declared or as the first case got them."""
        for name in score.values:
            self._need(name in names, case, f"{said} got a value for {name!r}, which is not declared{nearest(name, names)}")
        silent = TEMPLATE in names and TEMPLATE not in score.values
        self._need(not silent, case, f"{said} got no value for {TEMPLATE!r}: to say that is no way out of being wrong")
        correct, value = score.correct, score.values.get(TEMPLATE)
        agree = value is None or (correct is not None and correct == (value == 1))
        self._need(agree, case, f"{said} got template {value}, and correct is {correct}: they have to say the same")
        self._need(correct is not False or score.failure_kind is not None, case, f"{said} is not correct; failure_kind has to say how")
        self._need(
            correct is not True or score.failure_kind is None, case, f"{said} is correct, and has failure_kind {score.failure_kind!r}"
        )

    def _higher_is_better(self, good: Sequence[Score], bad: Sequence[Score]) -> None:
        high, low = _mean(good), _mean(bad)
        self._need(high > low, None, f"good answers got {high:g} on average and bad ones {low:g}; higher has to be better")

    async def _not_zero(self, case: Case) -> None:
        def blame(text: str) -> Exception:
            return self._broken(case, f"it raised {text}; raise ScorerError(name, example.id, problem)")

        try:
            with users_code(blame, source_file(self.scorer)):
                score = await self.scorer.score(*case)
        except ScorerError:
            return
        missing = not score.values if self.scorer.dimensions is None else set(score.values) < set(self.scorer.dimensions)
        self._need(missing, case, f"it cannot be scored, and got {show(score.values)}: leave the dimension out, or raise ScorerError")

    async def _same_again(self, cases: Sequence[Case], scores: Sequence[Score]) -> None:
        backwards = [await self._scored(case) for case in reversed(cases)]
        at_once = await asyncio.gather(*(self._scored(case) for case in cases))
        for case, first, second, third in zip(cases, scores, reversed(backwards), at_once, strict=True):
            self._need(first == second, case, f"the second time it got {show(second)}, the first time {show(first)}")
            self._need(first == third, case, f"beside others it got {show(third)}, alone {show(first)}")

    def _need(self, kept: bool, case: Case | None, problem: str) -> None:
        if not kept:
            raise self._broken(case, problem)

    def _broken(self, case: Case | None, problem: str) -> ConformanceError:
        where = "" if case is None else f", example {case[0].id!r}"
        return ConformanceError(f"scorer {self.scorer.name!r}{where}: {problem}")


def _odd(cases: Sequence[Case]) -> Iterator[tuple[Case, str]]:
    for example in {example.id: example for example, _ in cases}.values():
        for said, answer in ODD_ANSWERS.items():
            yield (example, answer), said


def _content(case: Case) -> tuple[str, str]:
    example, answer = case
    return digest(example.inputs, example.expected, example.metadata), answer.digest


def _mean(scores: Sequence[Score]) -> float:
    values = [value for score in scores for value in score.values.values()]
    return sum(values) / len(values)
