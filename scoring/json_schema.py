"""The scorer `json_schema`: the answer is JSON that fits a schema."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from adapters import plain as plain_module
from adapters import schema as schema_module
from adapters.answer import TracedAnswer
from adapters.example import Example
from adapters.plain import parse_json, plain
from adapters.schema import SchemaError, schema_validator
from scoring import expected, parsing
from scoring.expected import judged, on
from scoring.parsing import fenced
from scoring.score import Score, show
from scoring.scorer import TEMPLATE, ScorerConfigError, ScorerError
from scoring.settings import check_name
from scoring.user_code import source_version


@dataclass(frozen=True)
class JsonSchema:
    """Right when the answer (what the adapter parsed, or the text as JSON, or the one fenced block that it consists of) fits
    `schema`; what is no JSON is a parse_failure. Nothing is fetched for a `$ref`. `dimension`: another one than `template`
    says nothing about correctness."""

    schema: Mapping[str, Any]
    dimension: str = TEMPLATE

    name: ClassVar[str] = "json_schema"

    def __post_init__(self) -> None:
        check_name(self.name, self.dimension)
        if not isinstance(self.schema, Mapping):
            raise ScorerConfigError(f"{self.name}: schema is {show(self.schema)}; it has to be a mapping, the JSON schema itself")
        _ = self._validator

    @property
    def dimensions(self) -> tuple[str, ...]:
        return (self.dimension,)

    @cached_property
    def version(self) -> str:
        settings = {"schema": self.schema, "dimension": self.dimension}
        return source_version(type(self), expected, parsing, plain_module, schema_module, settings=settings)

    async def score(self, example: Example, answer: TracedAnswer) -> Score:
        """Raises ScorerError for a schema that refers to itself without end."""
        from jsonschema.exceptions import best_match  # noqa: PLC0415  (only where it is used)

        try:
            value = plain(answer.parsed) if answer.parsed is not None else parse_json(fenced(answer.text, alone=True) or answer.text)
        except ValueError as error:
            return on(self.dimension, judged(answer, "parse_failure", f"JSON ({error})", answer.text, secret=False))
        try:
            misfit = best_match(self._validator.iter_errors(value))
        except RecursionError:
            raise ScorerError(self.name, example.id, "the JSON schema refers to itself without end") from None
        if misfit is None:
            return on(self.dimension, judged(answer, None, "JSON", answer.text, secret=False))
        wanted = f"JSON that fits the schema ({misfit.json_path}: {misfit.message[:200]})"
        return on(self.dimension, judged(answer, "wrong", wanted, answer.text, secret=False))

    @cached_property
    def _validator(self) -> Any:
        try:
            return schema_validator(self.schema)
        except SchemaError as error:
            raise ScorerConfigError(f"{self.name}: {error}") from None
