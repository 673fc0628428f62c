"""Templates: texts with `{name}` in them. Values are filled in once and never read again as templates."""

import json
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

_TOKEN = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


class TemplateError(ValueError):
    """A template that cannot be read. Names line and column."""


class Template:
    """`{name}` stands for a value, `{{` and `}}` for braces. A name is any text without braces and double quotes.
    Raises TemplateError."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._texts: list[str] = [""]
        """What stands around the names: one more than there are names."""
        self._names: list[str] = []
        end = 0
        for token in _TOKEN.finditer(source):
            self._texts[-1] += source[end : token.start()]
            end = token.end()
            if token[0] in ("{{", "}}"):
                self._texts[-1] += token[0][0]
            else:
                self._names.append(_checked(token, source))
                self._texts.append("")
        self._texts[-1] += source[end:]
        self.names = frozenset(self._names)

    def render(self, values: Mapping[str, object]) -> str:
        """The text with each name's value in its place, see `spell`. KeyError for a name that has none."""
        parts = [self._texts[0]]
        for name, text in zip(self._names, self._texts[1:], strict=True):
            parts += (spell(values[name]), text)
        return "".join(parts)


def fill(text: str, inputs: Mapping[str, object]) -> str:
    """`text` with each `{name}` of an input replaced by its value; every other brace stays as it is, doubled ones too.

    This is how a component is filled: it is free text, and may hold JSON.
    """
    return _pattern(frozenset(inputs)).sub(lambda match: spell(inputs[match[1]]), text) if "{" in text else text


def placeholders(text: str, names: Iterable[str]) -> frozenset[str]:
    """Those of `names` that `fill` would replace in `text`."""
    return frozenset(_pattern(frozenset(names)).findall(text))


def braced(text: str) -> frozenset[str]:
    """All that stands in braces in `text` and looks like a name, be it one or not."""
    return frozenset(re.findall(r"\{(\w[\w .-]*)\}", text))


def spell(value: object) -> str:
    """A value as a prompt shows it: text as it is, a number plainly, None as nothing, true, false, lists and objects as JSON."""
    match value:
        case str():
            return value
        case None:
            return ""
        case bool() | Mapping() | list() | tuple():
            return json.dumps(value, ensure_ascii=False, default=lambda v: dict(v) if isinstance(v, Mapping) else str(v))
    return str(value)


def _checked(token: re.Match[str], source: str) -> str:
    name = token[1]
    if name and name == name.strip() and not {'"', "\n"} & set(name):
        return name
    line = source.count("\n", 0, token.start()) + 1
    column = token.start() - source.rfind("\n", 0, token.start())
    if name is None:
        problem = f"a single {token[0]!r}; write {token[0] * 2!r} for a literal brace"
    else:
        problem = f"{token[0]!r} holds no name; write {{name}} without spaces at the ends, or {{{{ and }}}} for literal braces"
    raise TemplateError(f"line {line}, column {column}: {problem}")


@lru_cache(maxsize=256)
def _pattern(names: frozenset[str]) -> re.Pattern[str]:
    either = "|".join(re.escape(name) for name in sorted(names) if name)
    return re.compile(r"\{(" + (either or "(?!)") + r")\}")
