"""Templates: which fields an answer has to fill, and with values of what kind. A pydantic model or a JSON schema says so."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from adapters.nearest import nearest
from adapters.schema import SchemaError, schema_validator
from scoring.score import show
from scoring.scorer import ScorerConfigError

Misfit: TypeAlias = tuple[tuple[str | int, ...], str]
"""Where and why a value does not fit; `()` is where all of them together do not."""

LONGEST_MESSAGE = 200
"""Characters of what is said about one misfit; the validators' own messages may quote the whole value."""


class Template(ABC):
    """`names`: the fields, as answers spell them; `required`: those that every answer has to fill."""

    names: tuple[str, ...]
    required: tuple[str, ...]

    @property
    @abstractmethod
    def schema(self) -> Mapping[str, Any]:
        """As a JSON schema, whose properties are the fields. Raises ScorerConfigError where there is none."""

    @abstractmethod
    def read(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values as the kinds of their fields say, each by itself; those that do not fit, and unknown ones, stay as they are."""

    @abstractmethod
    def _misfits(self, values: Mapping[str, Any]) -> Iterator[Misfit]:
        """The same, with messages of any length."""

    def misfits(self, values: Mapping[str, Any]) -> list[Misfit]:
        """All that is wrong, also required fields that are not there."""
        return [(where, _cut(why)) for where, why in self._misfits(values)]

    def check_names(self, names: Iterable[str]) -> None:
        """Raises ScorerConfigError for the name of a comparison of which the first part is no field."""
        for name in names:
            if name not in self.names and name.partition(".")[0] not in self.names:
                raise ScorerConfigError(f"fields: compare or weights names {name!r}, which the template has not{nearest(name, self.names)}")


def read_template(template: object) -> Template:
    """A template as it is, or that of a pydantic model or a JSON schema. Raises ScorerConfigError for anything else, and for one
    without fields."""
    if isinstance(template, Template):
        return template
    if inspect.isclass(template):
        from scoring.model_template import ModelTemplate  # noqa: PLC0415  (pydantic is slow to import: only where it is used)

        return ModelTemplate(template)
    if isinstance(template, Mapping):
        return _SchemaTemplate(template)
    raise no_template(template)


def no_template(thing: object) -> ScorerConfigError:
    """The error of something that can be no template."""
    return ScorerConfigError(
        f"fields: the template is {show(thing)}; it has to be a pydantic model, as in 'file.py:Model', or a JSON schema with properties"
    )


class _SchemaTemplate(Template):
    """A JSON schema says what fits; values are as JSON has them."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        try:
            self._validator = schema_validator(schema)
        except SchemaError as error:
            raise ScorerConfigError(f"fields: the template: {error}") from None
        if not schema.get("properties"):
            raise ScorerConfigError("fields: the template has no properties; a JSON schema names the fields there")
        self.names = tuple(schema["properties"])
        self.required = tuple(schema.get("required", ()))
        self._schema = schema

    @property
    def schema(self) -> Mapping[str, Any]:
        return self._schema

    def read(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return dict(values)

    def _misfits(self, values: Mapping[str, Any]) -> Iterator[Misfit]:
        try:
            for error in self._validator.iter_errors(values):
                where = tuple(error.absolute_path)
                if error.validator == "required":  # told of the object that lacks it
                    yield from (((*where, name), "Field required") for name in error.validator_value if name not in error.instance)
                else:
                    yield where, error.message
        except RecursionError:
            raise ScorerConfigError("fields: the template, a JSON schema, refers to itself without end") from None


def _cut(message: str) -> str:
    return message if len(message) <= LONGEST_MESSAGE else message[: LONGEST_MESSAGE - 1] + "…"
