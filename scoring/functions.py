"""Plain functions as scorers.

A function `(example, answer)` returns a value, a pair (value, "reason"), a Score, or a dict dimension → any of these. A value
is True, False or a number in 0..1. The function's name is the dimension of a single value. Sync functions are called in line,
never in a thread, so they need not be thread-safe; one that waits (for a model, for a file over a network) should be async.
"""

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, TypeAlias, overload

from adapters.answer import TracedAnswer
from adapters.example import Example
from adapters.nearest import nearest
from scoring.score import Score, ScoreError, check_dimension, merge, show, unit_value
from scoring.scorer import TEMPLATE, Scorer, ScorerConfigError, ScorerError
from scoring.user_code import source_file, source_version, users_code

Value: TypeAlias = bool | float
Part: TypeAlias = Value | tuple[Value, str] | Score
Returned: TypeAlias = Part | Mapping[str, Part]
Function: TypeAlias = Callable[[Example, TracedAnswer], Returned] | Callable[[Example, TracedAnswer], Awaitable[Returned]]

ALLOWED = "True, False, a number from 0 to 1, a pair (value, 'reason'), a Score, or a dict dimension → any of these"
_MEMBERS = ("name", "dimensions", "version", "score")


class FunctionScorer:
    """A function, or an object that can be called like one, as a scorer.

    `dimensions`: what it emits; one that is left out counts as not measured. Undeclared, they are whatever it gives; a run holds all
    its scores to those of the first one. A value of the dimension `template` also says whether the answer is
    correct: it is where the value is 1. `settings`: what a callable object was made with, as a part of the version.
    """

    def __init__(
        self,
        function: Function,
        *,
        name: str | None = None,
        dimensions: Sequence[str] | None = None,
        settings: Mapping[str, object] | None = None,
    ) -> None:
        """Raises ScorerConfigError for what cannot be called with (example, answer), has no source or no usable name."""
        self._function = self.__wrapped__ = function  # what `inspect.unwrap` finds
        self.name = name or str(getattr(function, "__name__", type(function).__name__))
        self.dimensions = None if dimensions is None else tuple(dimensions)
        self._settings = {"name": self.name, "dimensions": self.dimensions, "settings": settings}
        self._check()

    def __call__(self, example: Example, answer: TracedAnswer) -> Returned | Awaitable[Returned]:
        """What the function itself returns."""
        return self._function(example, answer)

    @cached_property
    def version(self) -> str:
        """A hash of the whole file that the function is written in: not of what it imports, nor of what it closes over."""
        return source_version(self._function, settings=self._settings)

    async def score(self, example: Example, answer: TracedAnswer) -> Score:
        """Raises ScorerError where the function raises, or returns something that is not a score."""
        with users_code(lambda text: ScorerError(self.name, example.id, f"it raised {text}"), source_file(self._function)):
            returned: Any = self._function(example, answer)
            if _is_async(self._function):
                returned = await returned
        try:
            score = as_score(returned, self.name)
            self._check_names(score)
        except ValueError as error:
            stop = "" if str(error).endswith("?") else "."
            raise ScorerError(self.name, example.id, f"it returned {show(returned)}: {error}{stop} Allowed: {ALLOWED}") from None
        return score

    def _check(self) -> None:
        what = f"the scorer {self.name!r}"
        if self.name == "<lambda>":
            raise ScorerConfigError("a lambda has no name to call its dimension by; write a function, or scorer(name=...)(lambda ...)")
        if isinstance(self._function, partial):
            raise ScorerConfigError(f"{what} is a functools.partial, whose source cannot be read; write a function")
        try:
            for dimension in (self.name, *(self.dimensions or ())):
                check_dimension(dimension)
        except ValueError as error:
            raise ScorerConfigError(f"{what}: {error}") from None
        if not callable(self._function):
            raise ScorerConfigError(f"{what} cannot be called; a scorer is a function (example, answer)")
        _ = self.version
        try:
            inspect.signature(self._function).bind(None, None)
        except TypeError as error:
            raise ScorerConfigError(f"{what} cannot be called with (example, answer): {error}") from None

    def _check_names(self, score: Score) -> None:
        known = score.values.keys() if self.dimensions is None else self.dimensions
        for name in score.values:
            if name not in known:
                raise ScoreError(f"the dimension {name!r} is not declared{nearest(name, known)}")


@overload
def scorer(function: Function, /) -> FunctionScorer: ...


@overload
def scorer(*, name: str | None = None, dimensions: Sequence[str] | None = None) -> Callable[[Function], FunctionScorer]: ...


def scorer(
    function: Function | None = None, /, *, name: str | None = None, dimensions: Sequence[str] | None = None
) -> FunctionScorer | Callable[[Function], FunctionScorer]:
    """Decorates a function `(example, answer)`; `@scorer`, or `@scorer(name="brevity", dimensions=["words", "lines"])`.
    The function can still be called as before."""
    if function is not None:
        return FunctionScorer(function)
    return lambda function: FunctionScorer(function, name=name, dimensions=dimensions)


def as_scorer(thing: object, settings: Mapping[str, object] | None = None) -> Scorer:
    """A scorer as it is, a function or an object that can be called as a FunctionScorer. Raises ScorerConfigError."""
    if not hasattr(thing, "score"):
        return FunctionScorer(thing, settings=settings)  # type: ignore[arg-type]
    missing = [member for member in _MEMBERS if not hasattr(thing, member)]
    if missing:
        raise ScorerConfigError(f"{show(thing)} has `score` but no `{missing[0]}`; a scorer has {', '.join(_MEMBERS)}")
    return thing  # type: ignore[return-value]


def _is_async(function: Function) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def as_score(returned: object, name: str) -> Score:
    """What a function has returned, as a score; `name`: the dimension of a single value. Raises ScoreError."""
    if not isinstance(returned, Mapping):
        return _part(returned, name)
    if not returned:
        raise ScoreError("an empty dict names no dimension")
    parts = [(dimension, _part(part, dimension)) for dimension, part in returned.items()]
    for dimension, score in parts:
        if list(score.values) != [dimension]:
            raise ScoreError(f"the Score under {dimension!r} has to hold the dimension {dimension!r} and no other")
    return merge(parts)


def _part(part: object, dimension: str) -> Score:
    if isinstance(part, Score):
        return part
    if inspect.isawaitable(part):
        if inspect.iscoroutine(part):
            part.close()
        raise ScoreError("nobody awaited it; write the function as `async def`")
    reason: object = ""
    if isinstance(part, tuple):
        if len(part) != 2 or not isinstance(part[1], str):
            raise ScoreError("a tuple has to be (value, 'reason')")
        part, reason = part
    value = unit_value(part)
    correct = value == 1 if dimension == TEMPLATE else None
    return Score({dimension: value}, correct, "wrong" if correct is False else None, feedback=str(reason))
