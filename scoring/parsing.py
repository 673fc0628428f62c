"""The object in an answer."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from adapters.answer import TracedAnswer
from adapters.plain import NotPlainError, parse_json, plain
from scoring.score import show

# The repetitions are possessive, so that the time is linear. The end of a text in quotes may be missing.
_OPENING = re.compile(r'\{\s*+["}]')
_INSIDE = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[{}]', re.DOTALL)


class UnreadableError(ValueError):
    """An answer without one object in it. Says why, as far as that can help."""


def read_object(answer: TracedAnswer, *, anywhere: bool = False) -> Mapping[str, Any]:
    """What the adapter parsed, or the text as JSON, or the one fenced block in it; with `anywhere` also the one object that
    stands in other text. Plain, see adapters.plain. Raises UnreadableError. Linear in the length of the text."""
    if answer.parsed is not None:
        try:
            return _object(plain(answer.parsed))
        except NotPlainError as error:
            raise UnreadableError(str(error)) from None
    why = ""
    for text in (answer.text, fenced(answer.text)):
        try:
            return _object(parse_json(text))
        except NotPlainError as error:
            why = why or str(error)
        except UnreadableError:
            raise
        except ValueError:  # no JSON at all
            continue
    if anywhere and not why:
        return _only(answer.text)
    raise UnreadableError(why or "it is no JSON")


def fenced(text: str, *, alone: bool = False) -> str:
    """What stands in the one fenced block, without the name of its language; nothing where there is none, or several, or with `alone`
    where it is not all of the text."""
    parts = text.strip().split("```")
    if len(parts) != 3 or (alone and (parts[0] or parts[2])):
        return ""
    head, _, rest = parts[1].partition("\n")
    return rest if head.strip().isalnum() else parts[1]


def _object(value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise UnreadableError(f"it is {show(value)}, and not an object")
    return value


def _only(text: str) -> Mapping[str, Any]:
    """Of several objects nobody knows which one is the answer."""
    found: list[Mapping[str, Any]] = []
    for span in _braced(text):
        try:
            found.append(_object(parse_json(span)))
        except NotPlainError as error:
            raise UnreadableError(str(error)) from None
        except ValueError:  # braces that stand for something else
            continue
        if len(found) > 1:
            raise UnreadableError("there are several objects in it; give one")
    if not found:
        raise UnreadableError("there is no object in it")
    return found[0]


def _braced(text: str) -> Iterator[str]:
    """The parts of the text from a brace that can open an object to the one that closes it."""
    opening = _OPENING.search(text)
    while opening is not None:
        start, depth = opening.start(), 0
        for token in _INSIDE.finditer(text, start):
            depth += {"{": 1, "}": -1}.get(token[0], 0)
            if depth == 0:
                break
        else:
            return
        yield text[start : token.end()]
        opening = _OPENING.search(text, token.end())
