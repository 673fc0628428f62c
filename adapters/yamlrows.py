"""Rows in YAML, each with its line.

A scalar without quotes is read as JSON would read it: a number, true, false or null; all else is text. So a date stays the
text it was written as, and the answers yes, no, on, off and 007 stay what they are.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import yaml
from yaml.constructor import ConstructorError

try:  # the same loader, many times as fast, where PyYAML was built with libyaml
    from yaml import CSafeLoader as SafeLoader
except ImportError:
    from yaml import SafeLoader  # type: ignore[assignment]

_TAG = "tag:yaml.org,2002:"
MOST_COPIES = 1_000_000
"""What aliases may add to a document: a few lines of them can spell out more than any memory holds."""


class YamlRowsError(ValueError):
    """What is wrong, beginning with the place in the text where it is known: `3:7: ...`."""


def yaml_rows(text: str) -> Iterator[tuple[int, Any]]:
    """Line, from 1, and value of each item of a list, or of the list under the key `examples`. Raises YamlRowsError."""
    try:
        loader = _Loader(text)
        root = loader.get_single_node()
        if root is not None and copies(root) > MOST_COPIES:
            raise YamlRowsError(f" its aliases stand for more than {MOST_COPIES:,} further parts; write out what is needed")
        for node in [] if root is None else _items(root):
            yield node.start_mark.line + 1, loader.construct_object(node, deep=True)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        problem = f"{error.context} {error.problem}" if str(error.problem).startswith("but ") else error.problem
        place = f"{mark.line + 1}:{mark.column + 1}:" if mark else ""
        raise YamlRowsError(f"{place} not YAML that can be read: {problem}") from None
    except yaml.YAMLError as error:
        raise YamlRowsError(f" not YAML that can be read: {error}") from None
    except RecursionError:
        raise YamlRowsError(" nested too deeply") from None


def copies(root: yaml.Node) -> int:
    """How many nodes there would be more, were every alias written out."""
    sizes: dict[yaml.Node, int] = {}

    def size(node: yaml.Node) -> int:
        if node not in sizes:
            sizes[node] = 1  # in the meantime: a node that contains itself is found by who constructs it
            if isinstance(node, yaml.CollectionNode):
                sizes[node] += sum(size(part) for item in node.value for part in (item if isinstance(item, tuple) else (item,)))
        return sizes[node]

    return size(root) - len(sizes)


def _items(root: yaml.Node) -> list[yaml.Node]:
    if isinstance(root, yaml.MappingNode):
        root = next((value for key, value in root.value if key.value == "examples"), root)
    if not isinstance(root, yaml.SequenceNode):
        raise YamlRowsError(" expected a list of rows, or a mapping whose key `examples` holds one")
    return list(root.value)


class _Loader(SafeLoader):
    """Knows the types of JSON only, and takes no key twice."""

    yaml_implicit_resolvers = {}  # noqa: RUF012  (PyYAML's own place)
    yaml_constructors = {  # noqa: RUF012
        _TAG + kind: SafeLoader.yaml_constructors[_TAG + kind] for kind in ("str", "seq", "map")
    }

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [(key.tag, key.value) for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        if len(set(keys)) < len(keys):
            twice = next(value for tag, value in keys if keys.count((tag, value)) > 1)
            raise ConstructorError(None, None, f"the key {twice!r} is given twice in one mapping", node.start_mark)
        return super().construct_mapping(node, deep)


def _scalar(loader: SafeLoader, node: yaml.ScalarNode) -> Any:
    if loader.resolve(yaml.ScalarNode, node.value, (True, False)) != node.tag:  # type: ignore[no-untyped-call]
        raise ConstructorError(None, None, f"{node.value!r} is not of the type {node.tag}", node.start_mark)
    if node.tag == _TAG + "null":
        return None
    try:
        return json.loads(node.value.lower())
    except ValueError as error:
        raise ConstructorError(None, None, str(error), node.start_mark) from None


def _refuse(_: SafeLoader, node: yaml.Node) -> Any:
    raise ConstructorError(None, None, f"the type {node.tag} has no form in JSON", node.start_mark)


for _kind, _pattern, _first in (
    ("null", r"(?:~|null|Null|NULL|)", ["~", "n", "N", ""]),
    ("bool", r"(?:true|True|TRUE|false|False|FALSE)", list("tTfF")),
    ("int", r"-?(?:0|[1-9][0-9]*)", list("-0123456789")),
    ("float", r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?", list("-0123456789")),
    ("merge", r"<<", ["<"]),
):
    _Loader.add_implicit_resolver(_TAG + _kind, re.compile(f"{_pattern}\\Z"), _first)
for _kind in ("null", "bool", "int", "float"):
    _Loader.add_constructor(_TAG + _kind, _scalar)
_Loader.add_constructor(None, _refuse)
