"""The suite: all scorers of a run, as one."""

from collections.abc import Collection, Sequence
from copy import deepcopy

from adapters.answer import TracedAnswer
from adapters.clients.client import ModelClient, Request
from adapters.digest import digest
from adapters.example import Example
from adapters.nearest import nearest
from scoring.score import Score, check_dimension, merge, show
from scoring.scorer import AskingScorer, Scorer, ScorerConfigError, ScorerError
from scoring.user_code import source_file, users_code


class Suite:
    """Runs every scorer on an example and its answer and merges what they say, see scoring.score.merge. Itself a scorer."""

    name = "suite"

    def __init__(self, scorers: Sequence[Scorer]) -> None:
        """Raises ScorerConfigError for no scorers, and for two that declare the same dimension."""
        if not scorers:
            raise ScorerConfigError("there is no scorer; name at least one, for example exact")
        self.scorers = tuple(scorers)
        owners: dict[str, str] = {}
        for scorer in self.scorers:
            for dimension in scorer.dimensions or ():
                _check_declared(scorer.name, dimension, owners)
                owners[dimension] = scorer.name
        whole = all(scorer.dimensions is not None for scorer in self.scorers)
        self.dimensions = tuple(owners) if whole else None
        self.version = digest([(scorer.name, scorer.version) for scorer in self.scorers])

    def requests(self, example: Example) -> list[tuple[ModelClient, Request]]:
        """All that scoring one answer to the example can ask of models."""
        return [pair for scorer in self.scorers if isinstance(scorer, AskingScorer) for pair in scorer.requests(example)]

    def stray(self, example: Example, score: Score, known: Collection[str]) -> ScorerError | None:
        """What is to be said of a score with a dimension that is neither declared nor `known`, if it has one."""
        declared = [dimension for scorer in self.scorers for dimension in scorer.dimensions or ()]
        undeclared = " or ".join(scorer.name for scorer in self.scorers if scorer.dimensions is None)
        for dimension in score.values:
            if dimension not in declared and dimension not in known:
                there = ", ".join(known)
                problem = f"the dimension {dimension!r} is new{nearest(dimension, known)}; the first answer got {there}"
                hint = "spell it alike, or declare them all: @scorer(dimensions=[...])"
                return ScorerError(undeclared, example.id, f"{problem}; {hint}", example.place)
        return None

    async def score(self, example: Example, answer: TracedAnswer) -> Score:
        """Raises ModelError where a scorer's model could not be asked.

        Raises ScorerError where a scorer does, where one raises anything else or gives a dimension that is not its own."""
        owners = {dimension: scorer.name for scorer in self.scorers for dimension in scorer.dimensions or ()}
        parts: list[tuple[str, Score]] = []
        for scorer in self.scorers:
            try:
                score = await _scored(scorer, example, answer)
            except ScorerError as error:
                raise ScorerError(error.scorer, error.example, error.problem, example.place) from error
            for dimension in score.values if scorer.dimensions is None else ():
                if dimension in owners:
                    raise ScorerError(scorer.name, example.id, _shared(dimension, owners[dimension]), example.place)
                owners[dimension] = scorer.name
            parts.append((scorer.name, score))
        return merge(parts)


async def _scored(scorer: Scorer, example: Example, answer: TracedAnswer) -> Score:
    def blame(problem: str) -> ScorerError:
        return ScorerError(scorer.name, example.id, problem)

    try:
        with users_code(lambda text: blame(f"it raised {text}"), source_file(scorer)):
            # Its own copies: what it changes in them must reach neither the next scorer nor the next prompt.
            score = await scorer.score(*deepcopy((example, answer)))
    except ScorerConfigError as error:  # found this late it is a failure like all others
        raise blame(str(error)) from error
    if not isinstance(score, Score):
        raise blame(f"`score` gave {show(score)}; it has to give a Score")
    for dimension in score.values:
        if scorer.dimensions is not None and dimension not in scorer.dimensions:
            raise blame(f"it gave the dimension {dimension!r}, which it does not declare{nearest(dimension, scorer.dimensions)}")
    return score


def _check_declared(name: str, dimension: object, owners: dict[str, str]) -> None:
    try:
        check_dimension(dimension)
    except ValueError as error:
        raise ScorerConfigError(f"the scorer {name!r}: {error}") from None
    if dimension in owners:
        raise ScorerConfigError(f"the scorer {name!r}: {_shared(dimension, owners[dimension])}")


def _shared(dimension: object, owner: str) -> str:
    return f"its dimension {dimension!r} is also given by the scorer {owner!r}; rename one of them, or leave it out"
