"""Plain values: what JSON can hold, and so what an example, a demonstration or a parsed answer may hold."""

import json
import math
from collections import Counter
from collections.abc import Mapping
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

DEEPEST = 100
"""Lists and objects inside one another."""

LONGEST_PATH = 200
"""Characters of a path that messages show."""


class NotPlainError(ValueError):
    """A value that JSON cannot hold. Says where in the value, and what to do."""


def parse_json(text: str) -> Any:
    """The plain value that a JSON text spells. Raises json.JSONDecodeError where it is no JSON, and NotPlainError for what
    Python's parser lets pass: NaN, numbers out of range, a key given twice, half a surrogate pair, nesting without end."""
    try:
        return plain(json.loads(text, object_pairs_hook=_distinct))
    except RecursionError:
        raise NotPlainError(f"nested more than {DEEPEST} levels deep") from None
    except (json.JSONDecodeError, NotPlainError):
        raise
    except ValueError as error:
        raise NotPlainError(f"a whole number has too many digits ({error})") from None


def plain(value: object, path: str = "", depth: int = 0) -> Any:
    """`value` as JSON would hold it; dates and decimals become text. `path`: what it is called in messages."""
    if isinstance(value, float) and not math.isfinite(value):
        raise NotPlainError(f"{_at(path)}{value} is not a number that JSON has; write null, or text")
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return _encodable(value, path)
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    if depth >= DEEPEST:
        raise NotPlainError(f"{_at(path)}nested more than {DEEPEST} levels deep")
    if isinstance(value, Mapping):
        return {_key(key, path): plain(item, _below(path, f".{key}" if path else str(key)), depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, _below(path, f"[{index}]"), depth + 1) for index, item in enumerate(value)]
    raise NotPlainError(f"{_at(path)}a value of type {type(value).__name__} has no form in JSON; write it as text")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        twice = next(key for key, count in counts.items() if count > 1)
        raise NotPlainError(f"the key {twice!r} is given twice in one object")
    return found


def _key(key: object, path: str) -> str:
    if not isinstance(key, str):
        raise NotPlainError(f"{_at(path)}the key {key!r} is not text; put quotes around it")
    return _encodable(key, path)


def _encodable(text: str, path: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise NotPlainError(f"{_at(path)}the text holds half of a surrogate pair, which is no character") from None
    return text


def _below(path: str, step: str) -> str:
    """Of long paths only the beginning: there is one for every value, and a key may be as long as a whole answer."""
    return f"{path}{step}"[:LONGEST_PATH]


def _at(path: str) -> str:
    return f"{path}: " if path else ""
