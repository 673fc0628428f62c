"""The scorer `fields`: the answer is JSON, verified field by field against the expected object."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from adapters import plain, schema
from adapters.answer import TracedAnswer
from adapters.clients.client import ModelClient, Request
from adapters.digest import canonical
from adapters.example import Example
from scoring import compare as compare_module
from scoring import numbers, parsing, text, verify, whole
from scoring import template as template_module
from scoring.asking import Asking
from scoring.code_files import load_attribute
from scoring.compare import Comparison, read_comparisons
from scoring.parser import PROMPT_VERSION, Parser, asked_of
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
    JSON object may also stand in other text. `parser`: a model that is asked for the fields where the answer holds no such object, see
    scoring.parser.

    `details` of a score: `verify_result`, `field_results` and `field_scores`, as in scoring.result; `parser` where
    one has read the answer."""

    partial: bool = False
    compare: Mapping[str, object] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    template: object = None
    anywhere: bool = False
    parser: ModelClient | None = None
    folder: Path = field(default=Path(), compare=False)

    name: ClassVar[str] = "fields"
    dimensions: ClassVar[tuple[str, ...]] = (TEMPLATE,)
    models: ClassVar[tuple[str, ...]] = ("parser",)

    def __post_init__(self) -> None:
        for name in ("partial", "anywhere"):
            check_flag(self.name, name, getattr(self, name))
        self._check_weights()
        names = self._comparisons
        if self._template is not None:
            self._template.check_names(names)
            if self.parser is not None:
                asked_of({}, self._template)

    @cached_property
    def version(self) -> str:
        model: list[object] = [self._named] if isinstance(self._named, type) else []
        settings = {name: getattr(self, name) for name in ("partial", "compare", "weights", "anywhere")}
        settings["template"] = None if model else self._named
        settings["parser"] = None if self.parser is None else {"model": dict(self.parser.identity), "prompt": PROMPT_VERSION}
        parts: list[object] = [compare_module, numbers, parsing, plain, text, verify, whole, *model]
        if self._template is not None:
            parts += [schema, template_module, type(self._template)]
        if self.parser is not None:
            parts += [Parser, Asking]
        return source_version(type(self), *parts, settings=settings)

    def requests(self, example: Example) -> list[tuple[ModelClient, Request]]:
        """None without a parser, and where the example has no expected fields: then `score` raises before it asks."""
        if self.parser is None or not isinstance(example.expected, Mapping) or not example.expected:
            return []
        return self._asked(self.parser, example.expected).requests()

    async def score(self, example: Example, answer: TracedAnswer) -> Score:
        """Raises ScorerError for an example whose expected answer is not an object with fields, and as `verify_fields` does; ModelError
        where the parser could not be asked, or could not be understood."""
        why, got = "", None
        more: dict[str, object] = {}
        try:
            if not answer.failure_kind:
                got, more = await self._read(example, answer)
        except UnreadableError as error:
            why = f" ({str(error)[:LONGEST_WHY]})"
        result = self._verified(example, got)
        if got is None:
            kind = answer.failure_kind or "parse_failure"
            feedback = f"Failed ({kind}): expected JSON with {', '.join(result.fields)}, got {show(answer.text)}{why}."
            return Score({TEMPLATE: 0.0}, False, kind, None, feedback, _details(result))
        return self._judged(result, {name: got[name] for name in example.expected if name in got}, more)

    async def _read(self, example: Example, answer: TracedAnswer) -> tuple[Mapping[str, Any], dict[str, object]]:
        """The answer's fields, and details of how they have come about. Raises UnreadableError."""
        try:
            return read_object(answer, anywhere=self.anywhere), {}
        except UnreadableError as error:
            if self.parser is None:
                raise
            self._verified(example, example.expected)  # against itself: a mistake in the data costs no call
            parser = self._asked(self.parser, example.expected)
            try:
                found = await parser.read(answer.text)
            except UnreadableError as second:
                raise UnreadableError(f"{error}, and {second}") from None
        optional = set() if self._template is None else {*self._template.names} - {*self._template.required}
        told = {name: value for name, value in found.items() if value is not None or name not in optional}
        return told, {"parser": parser.details(answer.text)}

    def _asked(self, client: ModelClient, expected: Mapping[str, Any]) -> Parser:
        return Parser(client, asked_of(expected, self._template))

    def _verified(self, example: Example, got: Mapping[str, Any] | None) -> FieldsResult:
        try:
            return verify_fields(example.expected, got, self._comparisons, template=self._template)
        except FieldsError as error:
            raise ScorerError(self.name, example.id, str(error)) from None

    def _judged(self, result: FieldsResult, got: Mapping[str, Any], more: Mapping[str, object]) -> Score:
        correct, details = result.verify_result, {**_details(result), **more}
        value = result.share(self.weights) if self.partial else float(correct)
        if correct:
            return Score({TEMPLATE: value}, True, None, canonical(got), "Every field is right.", details)
        feedback, discreet = ("\n".join(["Wrong fields:", *result.complaints(reveal_expected=reveal)]) for reveal in (True, False))
        return Score({TEMPLATE: value}, False, "wrong", canonical(got), feedback, details, discreet)

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
