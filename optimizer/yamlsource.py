"""YAML with its places: what JSON can hold, and the line that each part came from."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import yaml

from adapters.yamlrows import MOST_COPIES, copies
from optimizer.errors import ConfigError

KeyPath: TypeAlias = tuple[str | int, ...]
"""Keys and indexes, from the root inwards."""

BLOCK_HINT = "text that begins with '>' or '|' needs quotes"
_HINTS = {
    "mapping values are not allowed": "text that holds ': ' needs quotes",
    "'\\t' that cannot start any token": "indent with spaces, not with tabs",
    "indentation indicator": BLOCK_HINT,
    "expected a comment or a line break": BLOCK_HINT,
    "cannot start any token": "text that begins with this character needs quotes",
}


@dataclass(frozen=True)
class YamlSource:
    """`data`: the document, of what JSON can hold; None where it is empty."""

    data: Any
    node: yaml.Node | None

    def line(self, path: KeyPath) -> int | None:
        """The line, from 1, of the innermost part of `path` that is there; None where not even its first part is."""
        node, line = self.node, None
        for token in path:
            found = _step(node, token)
            if found is None:
                break
            line, node = found
        return line


def read_yaml(text: str, name: str) -> YamlSource:
    """`name`: what the source is called in messages. Raises ConfigError with the line where the text is no YAML, has a key
    twice, or holds what JSON cannot."""
    try:
        loader = _JsonLoader(text)
        node = loader.get_single_node()
        if node is None:
            return YamlSource(None, None)
        wrong = _wrong_keys(node)
        if wrong:
            raise ConfigError("\n".join(f"{name}:{key}" for key in wrong))
        if copies(node) > MOST_COPIES:
            raise ConfigError(f"{name}: its aliases stand for more than {MOST_COPIES:,} further parts; write out what is needed")
        return YamlSource(loader.construct_document(node), node)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ConfigError(f"{name}:{line}: not valid YAML: the character U+{error.character:04X} is not allowed") from None
    except yaml.MarkedYAMLError as error:
        raise ConfigError(f"{name}{_spell(error)}") from None
    except RecursionError:
        raise ConfigError(f"{name}: nested too deeply") from None


class _JsonLoader(yaml.SafeLoader):
    """Safe, and with JSON's types only: yes, no, on, off, dates and 007 are texts, as they look."""


def _whole(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> int:
    try:
        return loader.construct_yaml_int(node)
    except ValueError:
        raise yaml.constructor.ConstructorError(None, None, "a whole number has too many digits", node.start_mark) from None


def _finite(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> float:
    number: float = loader.construct_yaml_float(node)
    if not math.isfinite(number):
        raise yaml.constructor.ConstructorError(None, None, f"{node.value} is not a finite number", node.start_mark)
    return number


def _refuse(_: yaml.SafeLoader, node: yaml.Node) -> None:
    raise yaml.constructor.ConstructorError(None, None, f"the type {node.tag} has no place here", node.start_mark)


_TAG = "tag:yaml.org,2002:"
_SCALARS = {
    "null": (r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    "bool": (r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    "int": (r"[-+]?(0|[1-9][0-9]*)", list("-+0123456789")),
    "float": (r"[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?([eE][-+]?[0-9]+)?|\.(inf|Inf|INF))|\.(nan|NaN|NAN)", list("-+.0123456789")),
    "merge": (r"<<", ["<"]),
}
"""Tag → how it looks without quotes, and what it can begin with: YAML 1.2, as far as JSON follows."""

_JsonLoader.yaml_implicit_resolvers = {}
for _kind, (_looks, _begins) in _SCALARS.items():
    _JsonLoader.add_implicit_resolver(_TAG + _kind, re.compile(f"^(?:{_looks})$"), _begins)
_JsonLoader.yaml_constructors = {
    _TAG + kind: yaml.SafeLoader.yaml_constructors[_TAG + kind] for kind in ("null", "bool", "str", "seq", "map")
}
_JsonLoader.add_constructor(_TAG + "int", _whole)
_JsonLoader.add_constructor(_TAG + "float", _finite)
_JsonLoader.add_constructor(None, _refuse)


def _step(node: yaml.Node | None, token: str | int) -> tuple[int, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        # From the end: what a merge (`<<`) brought stands first, and the mapping's own keys win over it.
        for key, value in reversed(node.value):
            if key.value == str(token):
                return key.start_mark.line + 1, value
    elif isinstance(node, yaml.SequenceNode) and isinstance(token, int) and token < len(node.value):
        item = node.value[token]
        return item.start_mark.line + 1, item
    return None


def _wrong_keys(root: yaml.Node) -> list[str]:
    """`line: message` for every key that is no text, or that its mapping has twice."""
    wrong = []
    for mapping in _mappings(root, (), set()):
        first: dict[str, int] = {}
        for key, _ in mapping.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                wrong.append(f"{line}: a key has to be text; text that begins with '{{' or '[' needs quotes")
            elif key.tag not in (_TAG + "str", _TAG + "merge"):
                wrong.append(f"{line}: the key {key.value} is not text; put quotes around it")
            elif key.value in first:
                wrong.append(f"{line}: the key {key.value!r} was given in line {first[key.value]} already")
            else:
                first[key.value] = line
    return wrong


def _mappings(node: yaml.Node, above: tuple[yaml.Node, ...], seen: set[yaml.Node]) -> Iterator[yaml.MappingNode]:
    """Each mapping once, however many aliases lead to it. Raises MarkedYAMLError for one that contains itself."""
    if node in above:
        raise yaml.MarkedYAMLError(problem="an alias contains itself", problem_mark=node.start_mark)
    if node in seen:
        return
    seen.add(node)
    if isinstance(node, yaml.MappingNode):
        yield node
    if isinstance(node, yaml.CollectionNode):
        for item in node.value:
            yield from _mappings(item[1] if isinstance(item, tuple) else item, (*above, node), seen)


def _spell(error: yaml.MarkedYAMLError) -> str:
    """`:line:column: what is wrong; what to do`."""
    problem = error.problem or ""
    if problem.startswith("but "):
        problem = f"{error.context} {problem}"
    mark = error.problem_mark
    place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
    context, start = error.context or "", error.context_mark
    if any(kind in context for kind in ("quoted scalar", "flow mapping", "flow sequence")) and start and mark and start.line < mark.line:
        problem = f"{problem}, in the {context.split(' a ')[-1]} that begins in line {start.line + 1}"
    hint = next((f"; {hint}" for part, hint in _HINTS.items() if part in problem), "")
    return f"{place}: not valid YAML: {problem}{hint}"
