"""Content hashes: the same content has the same name in every process, on every machine."""

import hashlib
import json
from collections.abc import Mapping
from typing import TypeAlias

Json: TypeAlias = str | int | float | bool | list["Json"] | dict[str, "Json"] | None


def canonical(content: object) -> str:
    """JSON with sorted keys and no spaces. Values that JSON lacks (dates, decimals) are written as text with their type."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_spell)


def digest(*parts: object, length: int = 16) -> str:
    """`length` hex digits that depend on nothing but the parts' content."""
    return hashlib.blake2b(canonical(parts).encode(), digest_size=32).hexdigest()[:length]


def _spell(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, tuple | list | set | frozenset):
        return sorted(map(canonical, value)) if isinstance(value, set | frozenset) else list(value)
    return f"{type(value).__name__}:{value}"
