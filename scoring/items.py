"""The metric trait: which of the items that an answer should hold are in it, and which that it should not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from adapters.digest import Json, canonical
from adapters.example import Example
from adapters.nearest import nearest
from scoring.score import show
from scoring.traits import Judged, Reading, TraitError

METRICS = ("precision", "recall", "f1", "specificity", "accuracy")
NEEDS_UNWANTED = frozenset({"specificity", "accuracy"})


@dataclass(frozen=True)
class Counts:
    """`present`: wanted items in the answer; `absent`: wanted ones that are not; `extra`: what is in it and should not be;
    `spared`: unwanted items that are not in it."""

    present: int
    absent: int
    extra: int
    spared: int = 0

    def metric(self, name: str) -> float | None:
        """None where it is a share of nothing. An answer that holds nothing of what is wanted has the precision 0."""
        tp, fn, fp, tn = self.present, self.absent, self.extra, self.spared
        if name == "precision" and not tp and not fp and fn:
            return 0.0
        part, whole = {
            "precision": (tp, tp + fp),
            "recall": (tp, tp + fn),
            "f1": (2 * tp, 2 * tp + fp + fn),
            "specificity": (tn, tn + fp),
            "accuracy": (tp + tn, tp + tn + fp + fn),
        }[name]
        return part / whole if whole else None


@dataclass(frozen=True, kw_only=True)
class Items(Judged):
    """Dimensions `name_metric`. `items`: the texts, or where an example has them: `expected`, `metadata.drugs`, `expected.drugs`.

    `unwanted`: likewise, items that should not be in the answer; without it, whatever else of the kind is in it counts as such.
    """

    items: list[str] | str
    unwanted: list[str] | str | None = None
    metrics: tuple[str, ...] = ("f1",)

    kind: ClassVar[str] = "metric"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_source("items", self.items)
        if self.unwanted is not None:
            _check_source("unwanted", self.unwanted)
        _check_metrics(self.metrics, self.unwanted is not None)

    @property
    def dimensions(self) -> tuple[str, ...]:
        return tuple(f"{self.name}_{metric}" for metric in self.metrics)

    @property
    def answers(self) -> Mapping[str, Json]:
        numbers: Json = {"type": "array", "items": {"type": "integer"}}
        if self.unwanted is None:
            return {"found": numbers, "extra": {"type": "array", "items": {"type": "string"}}}
        return {"found": numbers, "found_unwanted": numbers}

    @property
    def question(self) -> str:
        found = "found: the numbers of those of its items that are in the answer, in whatever words; "
        if self.unwanted is None:
            return found + "extra: what else of this kind the answer gives that is none of the items"
        return found + "found_unwanted: the numbers of those of its unwanted items that are in the answer"

    def material(self, example: Example, /) -> str:
        parts = [("item", _listed("items", self.items, example))]
        if self.unwanted is not None:
            parts.append(("unwanted item", _listed("unwanted", self.unwanted, example)))
        # As JSON, so that an item is one line whatever it holds.
        return "\n".join(f"{what} {number}: {canonical(item)}" for what, items in parts for number, item in enumerate(items, 1))

    def read(self, said: Mapping[str, Any], example: Example, /) -> Reading:
        wanted = _listed("items", self.items, example)
        found = _numbers("found", said, len(wanted))
        missing = [item for number, item in enumerate(wanted, 1) if number not in found]
        told = f"{len(found)} of {len(wanted)} found"
        if self.unwanted is None:
            extra = _texts(said)
            counts = Counts(len(found), len(missing), len(extra))
        else:
            unwanted = _listed("unwanted", self.unwanted, example)
            wrong = _numbers("found_unwanted", said, len(unwanted))
            extra = [unwanted[number - 1] for number in sorted(wrong)]
            counts = Counts(len(found), len(missing), len(wrong), len(unwanted) - len(wrong))
        values = {f"{self.name}_{metric}": counts.metric(metric) for metric in self.metrics}
        for what, items in (("missing", missing), ("too much", extra)):
            told += f"; {what}: {', '.join(map(_short, items))}" if items else ""
        return Reading({name: value for name, value in values.items() if value is not None}, told)


def _check_metrics(metrics: object, has_unwanted: bool) -> None:
    if not isinstance(metrics, list | tuple) or not metrics or len(set(map(str, metrics))) < len(metrics):
        raise TraitError(f"metrics is {show(metrics)}; it has to be a list of one or more of {', '.join(METRICS)}")
    for metric in metrics:
        if metric not in METRICS:
            raise TraitError(f"metrics: there is no {show(metric)}{nearest(str(metric), METRICS)}")
        if metric in NEEDS_UNWANTED and not has_unwanted:
            raise TraitError(f"metrics: {metric} takes items that should not be in the answer; give unwanted")


def _check_source(name: str, source: object) -> None:
    if isinstance(source, str):
        if source.partition(".")[0] not in ("expected", "metadata"):
            raise TraitError(f"{name} is {source!r}; it has to be a list of texts, or expected, expected.NAME or metadata.NAME")
    elif not isinstance(source, list) or not source or not all(isinstance(item, str) and item.strip() for item in source):
        raise TraitError(f"{name} is {show(source)}; it has to be a list of texts, or the place where an example has one")


def _listed(name: str, source: Sequence[str] | str, example: Example) -> list[str]:
    """Raises TraitError where the example has no such list."""
    if not isinstance(source, str):
        return list(source)
    head, *path = source.split(".")
    found = example.expected if head == "expected" else example.metadata
    for key in path:
        found = found.get(key) if isinstance(found, Mapping) else None
    if not isinstance(found, list | tuple) or not all(isinstance(item, str | int | float) for item in found):
        raise TraitError(f"{name}: the example's {source} is {show(found)}; it has to be a list of texts")
    return [str(item) for item in found]


def _numbers(name: str, said: Mapping[str, Any], most: int) -> set[int]:
    value = said.get(name)
    if not isinstance(value, list) or not all(type(number) is int and 1 <= number <= most for number in value):
        raise TraitError(f"the judge said {name} {show(value)}, which is not a list of numbers from 1 to {most}")
    return set(value)


def _texts(said: Mapping[str, Any]) -> list[str]:
    value = said.get("extra")
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise TraitError(f"the judge said extra {show(value)}, which is not a list of texts")
    return list({text.strip().casefold(): text.strip() for text in value if text.strip()}.values())


def _short(text: str) -> str:
    return show(text, 80)
