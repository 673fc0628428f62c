"""Templates that are pydantic models."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError, create_model
from pydantic.errors import PydanticInvalidForJsonSchema

from scoring.scorer import ScorerConfigError
from scoring.template import Misfit, Template, no_template


class ModelTemplate(Template):
    """Field by field, the values are read by models with that one field: with its type and limits and the model's config, but
    without the validators of the whole model, which decide only on what fits."""

    def __init__(self, model: type) -> None:
        """Raises ScorerConfigError for a class that is no pydantic model, and for one without fields."""
        if not issubclass(model, BaseModel):
            raise no_template(model)
        self._model = model
        self._fields: dict[str, type[BaseModel]] = {}
        required = []
        for name, field in model.model_fields.items():
            alias = name if field.validation_alias is None else field.validation_alias
            if not isinstance(alias, str):
                raise ScorerConfigError(f"fields: {model.__name__}.{name} has several aliases; give it one, or none")
            single: Any = {name: (field.annotation, field)}
            self._fields[alias] = create_model(name, __config__=model.model_config, **single)
            if field.is_required():
                required.append(alias)
        if not self._fields:
            raise ScorerConfigError(f"fields: the template {model.__name__} has no fields")
        self.names, self.required = tuple(self._fields), tuple(required)

    @property
    def schema(self) -> Mapping[str, Any]:
        try:
            return self._model.model_json_schema()
        except PydanticInvalidForJsonSchema as error:
            problem = f"{self._model.__name__} has no JSON schema, which a parser is told: {error.message}"
            raise ScorerConfigError(f"fields: the template {problem}") from None

    def read(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {alias: self._value(alias, value) for alias, value in values.items()}

    def _value(self, alias: str, value: Any) -> Any:
        if alias not in self._fields:
            return value
        try:
            filled = self._fields[alias].model_validate_json(json.dumps({alias: value}))
        except ValidationError:
            return value
        (read,) = filled.model_dump(mode="json", by_alias=True).values()
        return read

    def _misfits(self, values: Mapping[str, Any]) -> Iterator[Misfit]:
        try:
            self._model.model_validate_json(json.dumps(values))
        except ValidationError as error:
            for misfit in error.errors(include_url=False, include_context=False, include_input=False):
                yield misfit["loc"], misfit["msg"]
