"""What a study is given and told, checked: whatever cannot be is answered in words, with what would do."""

from collections import Counter
from collections.abc import Mapping, Sequence
from numbers import Integral

from adapters.candidate import DEMONSTRATIONS, Candidate
from adapters.demonstrations import DemonstrationError
from adapters.example import Example
from adapters.nearest import nearest
from adapters.plain import NotPlainError, plain
from optimizer.config import ObjectivesConfig
from optimizer.errors import PromptfrontError
from optimizer.propose.demos import shown_by
from scoring.score import check_dimension, show


class StudyError(PromptfrontError):
    """Something that a study was given or told cannot be: says what, and what would do."""


def candidate_of(given: Candidate | Mapping[str, str], demos: int) -> Candidate:
    """With room for demonstrations where they are to be searched."""
    components = given.components if isinstance(given, Candidate) else given
    if not isinstance(components, Mapping):
        raise StudyError(f"a candidate is a mapping of component names to their texts, not {show(components)}")
    for name, text in components.items():
        if not isinstance(name, str):
            raise StudyError(f"a component is called {show(name)}; its name has to be text")
        if not isinstance(text, str):
            raise StudyError(f"the component {name!r} is {show(text)}; it has to be text")
        try:
            plain(text)
        except NotPlainError as error:
            raise StudyError(f"the component {name!r}: {error}") from None
    if not components:
        raise StudyError("a candidate has at least one component, name → text")
    candidate = Candidate({**({DEMONSTRATIONS: ""} if demos else {}), **components})
    try:
        shown_by(candidate)
    except DemonstrationError as error:
        raise StudyError(f"the component {DEMONSTRATIONS!r}: {error}") from None
    return candidate


def check_is(what: str, value: object, kind: type, way_out: str) -> None:
    """`way_out`: what would do."""
    if not isinstance(value, kind):
        raise StudyError(f"{what} cannot be {show(value)}; {way_out}")


def check_examples(train: Sequence[Example], val: Sequence[Example]) -> None:
    for what, given in (("train", train), ("val", val)):
        _check_part(what, given)
        check_names(f"{what} examples", [each.id for each in given])
    check_names("examples of train and val", [each.id for each in (*train, *val)])


def _check_part(what: str, given: object) -> None:
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise StudyError(f"{what} has to be a list of Example(id, inputs, expected), not {show(given)}")
    for place, example in enumerate(given):
        _check_example(f"{what}[{place}]", example)


def _check_example(place: str, example: object) -> None:
    if not isinstance(example, Example):
        raise StudyError(f"{place} is {show(example)}; make it Example(id, inputs, expected)")
    check_is(f"the id of {place}", example.id, str, "it has to be text")
    check_is(f"the inputs of {place}", example.inputs, Mapping, "they are a mapping, name → value")
    try:
        plain(example.inputs)
    except NotPlainError as error:
        raise StudyError(f"the inputs of {place}: {error}") from None


def check_names(what: str, names: Sequence[str]) -> None:
    if isinstance(names, str):
        raise StudyError(f"the {what} are to be a list of names, not the text {names!r}")
    if not isinstance(names, Sequence):
        raise StudyError(f"the {what} are to be a list of names, not {show(names)}")
    if not names:
        raise StudyError(f"there are no {what}; a study needs some")
    for name in names:
        if not isinstance(name, str):
            raise StudyError(f"{show(name)} is among the {what}; a name has to be text")
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise StudyError(f"{name!r} is there {times} times among the {what}; each needs a name of its own")


def check_objectives(objectives: ObjectivesConfig, models: Sequence[str], dimensions: Sequence[str]) -> None:
    check_is("objectives", objectives, ObjectivesConfig, "make it ObjectivesConfig(...), or leave it out")
    try:
        for name in (*models, *dimensions):
            check_dimension(name)
    except ValueError as error:
        raise StudyError(str(error)) from None
    for what, asked, names in (("dimension", objectives.dimensions or (), dimensions), ("model", objectives.models, models)):
        for name in asked:
            if name not in names:
                raise StudyError(f"objectives: there is no {what} {name!r}{nearest(name, names)}")


def check_counts(**given: int) -> None:
    for name, n in given.items():
        if isinstance(n, bool) or not isinstance(n, Integral) or n < 0:
            raise StudyError(f"{name} cannot be {show(n)}; it is a whole number from 0 on")
