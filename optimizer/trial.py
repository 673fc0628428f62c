"""A trial of the scorers, before anything is paid for: what they make of the expected answer and of an empty one."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

from adapters.answer import TracedAnswer, Usage
from adapters.clients.client import Capabilities, Completion, Request
from adapters.demonstrations import demonstration_of
from adapters.digest import Json
from adapters.example import Example
from optimizer.build import Prepared, no_dimension
from scoring.score import Score
from scoring.scorer import AskingScorer, Scorer, ScorerError
from scoring.suite import Suite

EXAMPLES = 2


@dataclass(frozen=True)
class Trial:
    """One scorer on one example. `expected` and `empty`: its values for these answers; None where the example has no expected answer, and
    where the scorer failed. `seconds`: for one answer. `repeatable`: whether it said the same twice. `problem`: its failure, if any.
    `place`: the example's file and line."""

    scorer: str
    example: str
    expected: Mapping[str, float] | None
    empty: Mapping[str, float] | None
    seconds: float
    repeatable: bool
    problem: str = ""
    place: str = ""


async def try_scorers(prepared: Prepared) -> list[Trial]:
    """Every scorer that asks no model, on the first train examples. Raises ScorerError where one fails that would end the run."""
    tried = [(scorer, example) for scorer in prepared.suite.scorers for example in prepared.data.train[:EXAMPLES]]
    return [await _try(scorer, example, prepared) for scorer, example in tried if not _asks(scorer, example)]


def _asks(scorer: Scorer, example: Example) -> bool:
    return isinstance(scorer, AskingScorer) and bool(scorer.requests(example))


async def check_dimensions(prepared: Prepared) -> None:
    """Where objectives are named and some scorer does not declare what it gives, a trial tells. Raises PlacedError for an objective that
    nothing gives, and as `try_scorers` does."""
    wanted = prepared.config.objectives.dimensions
    if wanted is None or prepared.suite.dimensions is not None:
        return
    tried = [dimension for trial in await try_scorers(prepared) for dimension in {**(trial.empty or {}), **(trial.expected or {})}]
    declared = [dimension for scorer in prepared.suite.scorers for dimension in scorer.dimensions or ()]
    given = list(dict.fromkeys([*declared, *tried]))
    for name in wanted:
        if name not in given:
            raise no_dimension(name, given, "What a scorer gives for some answers only has to be declared: @scorer(dimensions=[...])")


async def _try(scorer: Scorer, example: Example, prepared: Prepared) -> Trial:
    alone, right = Suite([scorer]), demonstration_of(example)  # in a suite, whatever it raises is told with its line
    problems: list[str] = []

    async def score(answer: TracedAnswer) -> Score | None:
        try:
            return await alone.score(example, answer)
        except ScorerError as error:
            if prepared.config.scoring.on_error == "stop":
                raise
            problems.append(str(error))
            return None

    empty = await prepared.adapter.run(prepared.seed, example, _Says(""))
    start = time.perf_counter()
    first = await score(empty)
    seconds = time.perf_counter() - start
    repeatable = first == await score(empty)
    told = None if right is None else await score(await prepared.adapter.run(prepared.seed, example, _Says(right.answer)))
    return Trial(scorer.name, example.id, _values(told), _values(first), seconds, repeatable, next(iter(problems), ""), example.place)


def _values(score: Score | None) -> Mapping[str, float] | None:
    return None if score is None else score.values


class _Says:
    """A model client that calls nobody and always says the same: so the answer is read as the adapter reads a model's."""

    model = "nobody"
    identity: Mapping[str, Json] = {"model": "nobody"}
    capabilities = Capabilities()

    def __init__(self, text: str) -> None:
        self._text = text

    def ceiling(self, request: Request) -> Usage:  # noqa: ARG002
        return Usage()

    async def complete(self, request: Request) -> Completion:  # noqa: ARG002
        return Completion(self._text, "stop", Usage(), 0.0)

    async def close(self) -> None:
        """There is nothing to close."""
