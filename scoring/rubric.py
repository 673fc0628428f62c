"""The scorer `rubric`: traits of an answer, each a dimension of its own; a judge, patterns and users' functions tell them."""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any, ClassVar

from adapters.answer import TracedAnswer
from adapters.clients.client import ModelClient, Request
from adapters.example import Example
from adapters.nearest import nearest
from scoring.agreement import RUBRIC, agreement
from scoring.asking import Asking
from scoring.code_files import load_attribute
from scoring.functions import FunctionScorer
from scoring.items import Items
from scoring.judge import PROMPT_VERSION, Judge
from scoring.score import Score, show
from scoring.scorer import ScorerConfigError, ScorerError
from scoring.settings import check_flag
from scoring.timed import PatternError, TimedPattern
from scoring.traits import Classes, Grade, Judged, Reading, Trait, TraitError, YesNo, check_type
from scoring.user_code import source_version

LEAST_BYTES, MOST_BYTES = 200, 1_000_000
"""What `max_bytes` may be."""
MOST_VOTES = 100


@dataclass(frozen=True, kw_only=True)
class Pattern(Trait):
    """1 where `pattern` is found in the answer, otherwise 0; `invert`: the other way round."""

    pattern: str
    invert: bool = False

    kind: ClassVar[str] = "regex"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_type(self, "pattern", str, "a regular expression")
        check_type(self, "invert", bool, "true or false")
        if self.invert and not self.higher_is_better:
            raise TraitError("invert: true and higher_is_better: false take each other back; leave one out")
        _ = self._compiled

    @cached_property
    def _compiled(self) -> TimedPattern:
        try:
            return TimedPattern(self.pattern)
        except PatternError as error:
            raise TraitError(str(error)) from None

    def reading(self, answer: TracedAnswer) -> Reading:
        """Raises TraitError for a pattern that takes too long."""
        try:
            found = self._compiled.found(answer.text)
        except PatternError as error:
            raise TraitError(f"the trait {self.name!r}: {error}") from None
        said = f"{self.pattern!r} is {'' if found else 'not '}found"
        return Reading({self.name: float(found is not self.invert)}, said, self.description)


@dataclass(frozen=True, kw_only=True)
class Function(Trait):
    """What the function at `python` (`file.py:function`) gives for (example, answer): True, False, a number from 0 to 1, or such a
    value with a reason."""

    python: str

    kind: ClassVar[str] = "callable"

    def scorer(self, folder: Path) -> FunctionScorer:
        """Raises ScorerConfigError."""
        thing = load_attribute(self.python, folder)
        if hasattr(thing, "score"):
            raise TraitError(f"{self.python} is a scorer of its own; name it under scorers, or take off its decorator")
        return FunctionScorer(thing, name=self.name, dimensions=[self.name])  # type: ignore[arg-type]


KINDS: Mapping[str, type[Trait]] = {kind.kind: kind for kind in (YesNo, Grade, Classes, Pattern, Function, Items)}


@dataclass(frozen=True)
class _Measured:
    """One trait of one answer: the readings, or why there are none, and what becomes of them. `votes`: None where one is not valid."""

    trait: Trait
    readings: Sequence[Reading | TraitError]

    @cached_property
    def valid(self) -> list[Reading]:
        return [reading for reading in self.readings if isinstance(reading, Reading)]

    @cached_property
    def values(self) -> dict[str, float]:
        """The median of the votes: what most of them say, where most of them say the same."""
        found: dict[str, float] = {}
        for dimension in self.trait.dimensions:
            votes = [reading.values[dimension] for reading in self.valid if dimension in reading.values]
            if votes:
                found[dimension] = median(votes) if self.trait.higher_is_better else 1 - median(votes)
        return found

    @property
    def details(self) -> dict[str, object]:
        votes = [dict(reading.values) if isinstance(reading, Reading) else None for reading in self.readings]
        told = [reading.said if isinstance(reading, Reading) else str(reading) for reading in self.readings]
        return {"votes": votes, "said": told, "reason": self.reason, "agreement": agreement(votes)}

    @property
    def reason(self) -> str:
        """Of the vote that is nearest to what became of them."""
        middle = {name: value if self.trait.higher_is_better else 1 - value for name, value in self.values.items()}
        nearest_one = min(
            self.valid, key=lambda each: sum(abs(each.values.get(name, 0.0) - value) for name, value in middle.items()), default=None
        )
        return nearest_one.reason if nearest_one else ""

    def feedback(self, reveal: bool) -> list[tuple[float, str]]:
        """(how far below the best, the line that says so), for each dimension that is, or that could not be measured. `reveal`: say
        also what is wrong and why, even where somebody who knew the expected answer has said so."""
        said = "; ".join(dict.fromkeys(reading.said for reading in self.valid))
        reason = f": {self.reason}" if self.reason else ""
        why = f" ({said}){reason}" if reveal or not isinstance(self.trait, Judged) else ""
        lines = [
            (1 - value, f"{name}: {value:.2f}, {1 - value:.2f} below the best{why}") for name, value in self.values.items() if value < 1
        ]
        problem = next((str(reading) for reading in self.readings if isinstance(reading, TraitError)), said)
        problem = f" ({problem})" if reveal or not isinstance(self.trait, Judged) else ""
        return lines + [(0.0, f"{name}: not measured{problem}") for name in self.trait.dimensions if name not in self.values]


class Rubric:
    """`traits`: mappings with a `kind`, see KINDS, a `name` and the kind's settings. `judge`: the model that tells those which need
    one. `votes`, `show_expected`, `max_bytes`: see scoring.judge.Judge. Says nothing about correctness.
    What the judge says is left out of the discreet feedback where it has seen the expected answer, or items."""

    name: ClassVar[str] = RUBRIC
    models: ClassVar[tuple[str, ...]] = ("judge",)

    def __init__(
        self,
        traits: Sequence[Mapping[str, Any]],
        judge: ModelClient | None = None,
        votes: int = 1,
        show_expected: bool = False,
        max_bytes: int = 20_000,
        folder: Path = Path(),
    ) -> None:
        """`folder`: where relative paths start. Raises ScorerConfigError."""
        self._traits = read_traits(traits)
        self.dimensions = _dimensions(self._traits)
        self._judged = [trait for trait in self._traits if isinstance(trait, Judged)]
        check_flag(RUBRIC, "show_expected", show_expected)
        if type(votes) is not int or not 1 <= votes <= MOST_VOTES:
            raise ScorerConfigError(f"rubric: votes is {show(votes)}; it has to be a whole number, 1 to {MOST_VOTES}")
        _check_judge(self._judged, judge, votes, max_bytes)
        self._has_seen = show_expected or any(isinstance(trait, Items) for trait in self._traits)
        self._judge = None if judge is None else Judge(judge, self._judged, votes, show_expected, max_bytes)
        self._functions = {trait.name: _function(trait, folder) for trait in self._traits if isinstance(trait, Function)}
        self._settings = {
            "traits": [dict(trait) for trait in traits],
            "judge": None if judge is None else {"model": dict(judge.identity), "prompt": PROMPT_VERSION},
            "votes": votes,
            "show_expected": show_expected,
            "max_bytes": max_bytes,
            "functions": [function.version for function in self._functions.values()],
        }

    @cached_property
    def version(self) -> str:
        return source_version(Rubric, Judge, Asking, YesNo, Items, TimedPattern, settings=self._settings)

    def requests(self, example: Example) -> list[tuple[ModelClient, Request]]:
        """None where the example lacks what a trait needs: then `score` raises before it asks."""
        try:
            return self._judge.requests(example) if self._judge else []
        except TraitError:
            return []

    async def score(self, example: Example, answer: TracedAnswer) -> Score:
        """Raises ModelError where the judge could not be asked; ScorerError where a function fails, a pattern takes too long, or the
        example lacks the items of a metric trait."""
        try:
            # First what costs nothing: where that fails, nobody has to be paid.
            readings = {trait.name: await self._reading(trait, answer, example) for trait in self._traits if not isinstance(trait, Judged)}
            votes = await self._judge.ask(example, answer) if self._judge else []
        except TraitError as error:
            raise ScorerError(self.name, example.id, str(error)) from None
        told = {trait.name: [vote[trait.name] for vote in votes] for trait in self._judged} | readings
        measured = [_Measured(trait, told[trait.name]) for trait in self._traits]
        feedback, discreet = (_lines(measured, reveal) for reveal in (True, False))
        details: dict[str, object] = {"traits": {each.trait.name: each.details for each in measured}}
        if self._judge is not None:
            details |= {"judge": self._judge.client.model, "prompt": PROMPT_VERSION, "cut": self._judge.cuts(answer)}
        values = {name: value for each in measured for name, value in each.values.items()}
        return Score(values, feedback=feedback, details=details, discreet=discreet if self._has_seen else None)

    async def _reading(self, trait: Trait, answer: TracedAnswer, example: Example) -> list[Reading | TraitError]:
        """Of a trait that no judge tells."""
        if isinstance(trait, Pattern):
            return [trait.reading(answer)]
        score = await self._functions[trait.name].score(example, answer)
        given = score.values.get(trait.name)
        return [TraitError("the function gave no value") if given is None else Reading(score.values, f"{given:g}", score.feedback)]


def _lines(measured: Sequence[_Measured], reveal: bool) -> str:
    """The worst first."""
    lines = sorted((line for each in measured for line in each.feedback(reveal)), key=lambda line: -line[0])
    return "\n".join(text for _, text in lines)


def read_traits(traits: object) -> list[Trait]:
    """The traits as a config gives them. Raises ScorerConfigError."""
    if not isinstance(traits, list | tuple) or not traits:
        raise ScorerConfigError(f"rubric: traits is {show(traits)}; it has to be a list of one trait or more")
    return [_read_trait(index, settings) for index, settings in enumerate(traits, 1)]


def _read_trait(index: int, settings: object) -> Trait:
    what = f"rubric: trait {index}"
    if not isinstance(settings, Mapping):
        raise ScorerConfigError(f"{what} is {show(settings)}; it has to be a mapping with a name and a kind")
    what = f"rubric: the trait {settings['name']!r}" if "name" in settings else what
    given = {key: value for key, value in settings.items() if key != "kind"}
    kind = settings.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        told = f"has no kind {kind!r}{nearest(str(kind), KINDS)}" if "kind" in settings else f"has no kind; there is {', '.join(KINDS)}"
        raise ScorerConfigError(f"{what} {told}")
    known = {field.name: field.default is MISSING for field in fields(KINDS[kind])}
    for key in given:
        if key not in known:
            raise ScorerConfigError(f"{what}: a {kind} trait has no setting {key!r}{nearest(str(key), known)}")
    for key, required in known.items():
        if required and key not in given:
            raise ScorerConfigError(f"{what}: a {kind} trait needs {key}")
    try:
        return KINDS[kind](**given)
    except TraitError as error:
        raise ScorerConfigError(f"{what}: {error}") from None


def _dimensions(traits: Sequence[Trait]) -> tuple[str, ...]:
    """Raises ScorerConfigError where two traits have a name or a dimension in common."""
    names = [trait.name for trait in traits]
    owners: dict[str, str] = {}
    for trait in traits:
        if names.count(trait.name) > 1:
            raise ScorerConfigError(f"rubric: two traits are called {trait.name!r}; rename one")
        for dimension in trait.dimensions:
            if dimension in owners:
                raise ScorerConfigError(f"rubric: the traits {owners[dimension]!r} and {trait.name!r} both give {dimension!r}; rename one")
            owners[dimension] = trait.name
    return tuple(owners)


def _check_judge(judged: Sequence[Judged], judge: ModelClient | None, votes: int, max_bytes: object) -> None:
    if judged and judge is None:
        raise ScorerConfigError(f"rubric: the trait {judged[0].name!r} is told by a judge; give judge: {{model: provider/model}}")
    if judge is not None and not judged:
        raise ScorerConfigError("rubric: no trait is told by the judge; leave it out")
    if type(max_bytes) is not int or not LEAST_BYTES <= max_bytes <= MOST_BYTES:
        raise ScorerConfigError(f"rubric: max_bytes is {show(max_bytes)}; it has to be a whole number, {LEAST_BYTES} to {MOST_BYTES}")
    if judge is not None and votes > 1 and judge.identity.get("temperature") == 0:
        raise ScorerConfigError("rubric: several votes at temperature 0 are one vote, paid several times; give the judge a temperature")


def _function(trait: Function, folder: Path) -> FunctionScorer:
    try:
        return trait.scorer(folder)
    except (ScorerConfigError, TraitError) as error:
        raise ScorerConfigError(f"rubric: the trait {trait.name!r}: {error}") from None
