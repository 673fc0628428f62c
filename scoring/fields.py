"""The scorer `fields`: the answer is JSON, verified field by field against the expected object."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from adapters import plain, schema
from adapters.answer import TracedAnswer
from adapters.digest import canonical
from adapters.example import Example
from scoring import compare as compare_module
from scoring import numbers, parsing, text, verify, whole
from scoring import template as template_module
from scoring.code_files import load_attribute
from scoring.compare import Comparison, read_comparisons
from scoring.parsing import UnreadableError, read_object
from scoring.score import Score, show
from scoring.scorer import TEMPLATE, ScorerConfigError, ScorerError
from scoring.settings import check_amount, check_flag
from scoring.template import Template, read_template
from scoring.user_code import source_version
from scoring.verify import FieldsError, FieldsResult, verify_fields

LONGEST_WHY = 200
"""Characters of why an answer could not be read: a key in it may be long."""


@dataclass(frozen=True)
class Fields:
    """Right when every expected field has its expected value: texts without the white space around them, numbers by value,
    lists and objects part by part; fields that nobody expected are ignored. The answer is what the adapter parsed, or the text
    as JSON, or the one fenced block in it.

    `partial`: the value is the share of the fields that are right, instead of 1 for all and 0 for fewer; `weights`: fields that
    count more or less than 1 in it. `compare`: other comparisons, by field, see scoring.compare; `address.city` is a part of an
    object. `template`: a pydantic model or a JSON schema that says which fields every answer has to fill, see scoring.template;
    a text is `file.py:Model` or `module:Model`, and `folder` is where such paths start. `anywhere`: the one
    JSON object may also stand in other text.

    `details` of a score: `verify_result`, `field_results` and `field_scores`, as in scoring.result."""

    partial: bool = False
    compare: Mapping[str, object] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    template: object = None
    anywhere: bool = False
    folder: Path = field(default=Path(), compare=False)

    name: ClassVar[str] = "fields"
    dimensions: ClassVar[tuple[str, ...]] = (TEMPLATE,)

    def __post_init__(self) -> None:
        for name in ("partial", "anywhere"):
            check_flag(self.name, name, getattr(self, name))
        self._check_weights()
        names = self._comparisons
        if self._template is not None:
            self._template.check_names(names)

    @cached_property
    def version(self) -> str:
        model: list[object] = [self._named] if isinstance(self._named, type) else []
        settings = {name: getattr(self, name) for name in ("partial", "compare", "weights", "anywhere")}
        settings["template"] = None if model else self._named
        parts: list[object] = [compare_module, numbers, parsing, plain, text, verify, whole, *model]
        if self._template is not None:
            parts += [schema, template_module, type(self._template)]
        return source_version(type(self), *parts, settings=settings)

    async def score(self, example: Example, answer: TracedAnswer) -> Score:
        """Raises ScorerError for an example whose expected answer is not an object with fields, and as `verify_fields` does."""
        why, got = "", None
        try:
            got = None if answer.failure_kind else read_object(answer, anywhere=self.anywhere)
        except UnreadableError as error:
            why = f" ({str(error)[:LONGEST_WHY]})"
        try:
            result = verify_fields(example.expected, got, self._comparisons, template=self._template)
        except FieldsError as error:
            raise ScorerError(self.name, example.id, str(error)) from None
        if got is None:
            kind = answer.failure_kind or "parse_failure"
            feedback = f"Failed ({kind}): expected JSON with {', '.join(result.fields)}, got {show(answer.text)}{why}."
            return Score({TEMPLATE: 0.0}, False, kind, None, feedback, _details(result))
        return self._judged(result, {name: got[name] for name in example.expected if name in got})

    def _judged(self, result: FieldsResult, got: Mapping[str, Any]) -> Score:
        correct = result.verify_result
        value = result.share(self.weights) if self.partial else float(correct)
        if correct:
            return Score({TEMPLATE: value}, True, None, canonical(got), "Every field is right.", _details(result))
        feedback, discreet = ("\n".join(["Wrong fields:", *result.complaints(reveal_expected=reveal)]) for reveal in (True, False))
        return Score({TEMPLATE: value}, False, "wrong", canonical(got), feedback, _details(result), discreet)

    @cached_property
    def _comparisons(self) -> Mapping[str, Comparison]:
        """Also of fields that only have a weight."""
        if not isinstance(self.compare, Mapping):
            raise ScorerConfigError(f"fields: compare is {show(self.compare)}; it has to be a mapping, as in {{price: numeric}}")
        try:
            return read_comparisons({**dict.fromkeys(self.weights, "exact"), **self.compare})
        except ScorerConfigError as error:
            raise ScorerConfigError(f"fields: compare: {error}") from None

    @cached_property
    def _template(self) -> Template | None:
        return None if self._named is None else read_template(self._named)

    @cached_property
    def _named(self) -> object:
        """The model or the schema itself."""
        return load_attribute(self.template, self.folder) if isinstance(self.template, str) else self.template

    def _check_weights(self) -> None:
        if not isinstance(self.weights, Mapping):
            raise ScorerConfigError(f"fields: weights is {show(self.weights)}; it has to be a mapping, as in {{price: 2}}")
        if self.weights and not self.partial:
            raise ScorerConfigError("fields: weights are of use with `partial: true` only")
        for name, weight in self.weights.items():
            check_amount(self.name, f"the weight of {name!r}", weight)
            if weight == 0:
                raise ScorerConfigError(
                    f"fields: the weight of {name!r} is {show(weight)}; leave fields that count nothing out of the expected answers"
                )


def _details(result: FieldsResult) -> dict[str, object]:
    return {name: getattr(result, name) for name in ("verify_result", "field_results", "field_scores")}
