"""JSON schemas, made ready to check values."""

from collections.abc import Iterator, Mapping
from typing import Any


class SchemaError(ValueError):
    """A JSON schema that no value could be checked against. Says where, and what is wrong with it."""


def schema_validator(schema: Mapping[str, Any]) -> Any:
    """jsonschema's validator, which fetches nothing from elsewhere. Raises SchemaError."""
    # Importing jsonschema takes a fourteenth of a second: only where it is used.
    from jsonschema import exceptions, validators  # noqa: PLC0415
    from referencing.jsonschema import EMPTY_REGISTRY  # noqa: PLC0415

    schema = dict(schema)
    kind = validators.validator_for(schema, default=validators.Draft202012Validator)
    try:
        kind.check_schema(schema)
    except exceptions.SchemaError as error:
        raise SchemaError(f"no JSON schema: {error.json_path}: {error.message}") from None
    _check_references(schema, kind.META_SCHEMA["$schema"])
    # This registry fetches nothing; the default one would follow an address in a schema.
    return kind(schema, registry=EMPTY_REGISTRY)


def _check_references(schema: dict[str, Any], dialect: str) -> None:
    """Raises SchemaError for a `$ref` that leads nowhere inside the schema."""
    from referencing import Registry  # noqa: PLC0415
    from referencing.exceptions import Unresolvable  # noqa: PLC0415
    from referencing.jsonschema import specification_with  # noqa: PLC0415

    resolver = Registry[Any]().resolver_with_root(specification_with(dialect).create_resource(schema))
    for reference in _references(schema):
        try:
            resolver.lookup(reference)
        except Unresolvable:
            raise SchemaError(f"the JSON schema has no {reference!r} in it; nothing is fetched from elsewhere") from None


def _references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        for key, value in part.items():
            if key == "$ref" and isinstance(value, str):
                yield value
            yield from _references(value)
    elif isinstance(part, list):
        for item in part:
            yield from _references(item)
