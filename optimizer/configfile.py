"""The config's file: reading it with its line numbers, changing single values, and writing it into a manifest."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from adapters.nearest import nearest
from optimizer.complaints import Complaint, complaints, spoken
from optimizer.config import Config
from optimizer.errors import ConfigError, PlacedError
from optimizer.yamlsource import KeyPath, YamlSource, read_yaml

VERSION = 1
"""The version of the config's format that this code reads."""


@dataclass(frozen=True)
class LoadedConfig:
    """`folder`: where the config's relative paths start."""

    config: Config
    path: Path
    draft: "_Draft" = field(repr=False)

    @property
    def folder(self) -> Path:
        return self.path.parent

    @contextmanager
    def placing(self) -> Iterator[None]:
        """Inside, mistakes in the config that are found late are told with their lines, as those that are found at once."""
        try:
            yield
        except PlacedError as error:
            path = tuple(int(part) if part.isdecimal() else part for part in error.place.split("."))
            raise ConfigError(f"{self.draft.place(path)[1]}: {error}") from error


def load_config(path: Path, overrides: Sequence[str] = ()) -> LoadedConfig:
    """`overrides`: `key.path=value` with the value in YAML; a number or a model's id leads into a list.

    Raises ConfigError with a line for every mistake in the file and the overrides: where it is, what is wrong, what is near.
    """
    text = _read(path)
    source = read_yaml(text, str(path))
    if source.data is None:
        raise ConfigError(f"{path}: the file is empty; `python -m optimizer init` writes a config to start from")
    if not isinstance(source.data, dict):
        raise ConfigError(f"{path}: a config is a mapping of keys to values; `python -m optimizer init` writes one to start from")
    return _loaded(path, _Draft(str(path), source, _unshared(source.data)), overrides)


def config_of(content: Mapping[str, Any], overrides: Sequence[str] = ()) -> LoadedConfig:
    """The same of what a file would hold. Relative paths start in the working directory."""
    return _loaded(Path("config"), _Draft("config", YamlSource(None, None), _unshared(dict(content))), overrides)


def _loaded(path: Path, draft: "_Draft", overrides: Sequence[str]) -> LoadedConfig:
    for override in overrides:
        draft.override(override)
    try:
        return LoadedConfig(Config.model_validate(draft.content), path.absolute(), draft)
    except ValidationError as error:
        raise ConfigError("\n".join(draft.lines(error))) from None


def resolved(config: Config) -> dict[str, Any]:
    """The whole config with every default, of what JSON can hold: what a manifest keeps."""
    return config.model_dump(mode="json")


def config_from_manifest(content: Mapping[str, Any]) -> Config:
    """The inverse of `resolved`. Raises ConfigError where a manifest's config was edited, or comes from another version."""
    try:
        return Config.model_validate(content)
    except ValidationError as error:
        told = complaints(error, Config, content)
        raise ConfigError("\n".join(f"manifest.json: config: {dotted(c.path)}: {c.message}" for c in told)) from None


def changes(old: object, new: object, path: KeyPath = ()) -> list[str]:
    """The dotted paths at which two resolved configs differ, in the order of the old one's keys."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        keys = dict.fromkeys([*old, *new])
        return [change for key in keys for change in changes(old.get(key, _ABSENT), new.get(key, _ABSENT), (*path, key))]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [change for i, pair in enumerate(zip(old, new, strict=True)) for change in changes(*pair, (*path, i))]
    return [] if old == new and type(old) is type(new) else [dotted(path)]


def schema() -> dict[str, Any]:
    """The JSON schema of a config file, for editors."""
    about = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "promptfront config"}
    return about | Config.model_json_schema() | about


def dotted(path: KeyPath) -> str:
    return ".".join(map(str, path))


_ABSENT = object()


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file{_neighbours(path)}") from None
    except IsADirectoryError:
        raise ConfigError(f"{path}: this is a folder; name the config file in it{_neighbours(path / 'config.yaml')}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None


def _neighbours(path: Path) -> str:
    folder = path.parent
    return nearest(path.name, sorted(p.name for p in folder.glob("*.y*ml"))) if folder.is_dir() else ""


@dataclass
class _Draft:
    """A config on its way to being one: the file's content, with overrides put in and remembered."""

    name: str
    source: YamlSource
    content: dict[str, Any]
    overridden: dict[KeyPath, str] = field(default_factory=dict)

    def override(self, text: str) -> None:
        """Raises ConfigError where the text is no `key.path=value`, or its path leads nowhere."""
        origin = f"--set {text}"
        keys, equals, value = text.partition("=")
        parts = keys.strip().split(".")
        if not equals or not all(parts):
            raise ConfigError(f"{origin}: write it as key.path=value, as in budget.rollouts=400")
        inner: Any = self.content
        path: KeyPath = ()
        for part in parts[:-1]:
            key = _key(inner, part, path, origin)
            path = (*path, key)
            if isinstance(inner, dict) and inner.get(key) is None:
                inner[key] = {}
                self.overridden[path] = origin
            inner = inner[key]
        last = _key(inner, parts[-1], path, origin)
        inner[last] = _value(value, origin)
        self.overridden[(*path, last)] = origin

    def lines(self, error: ValidationError) -> list[str]:
        """A line for each mistake, in the file's order. Of another version nothing else is told: its keys may be others."""
        version = self.content.get("version", VERSION)
        if version != VERSION:
            told = [Complaint(("version",), f"this promptfront reads version {VERSION}, not {spoken(version)}")]
        else:
            told = complaints(error, Config, self.content)
        placed = sorted((*self.place(c.path), dotted(c.path), c.message) for c in told)
        return [": ".join(filter(None, words)) for _, *words in placed]

    def place(self, path: KeyPath) -> tuple[int, str]:
        """Where a part of the config comes from: a line to sort by, and words."""
        for end in range(len(path), 0, -1):
            if path[:end] in self.overridden:
                return 0, self.overridden[path[:end]]
        line = self.source.line(path)
        return (line, f"{self.name}:{line}") if line else (0, self.name)


def _value(text: str, origin: str) -> Any:
    """What the YAML says. A constraint such as `>= 0.9` is taken as it is: to YAML it would be the beginning of a folded text."""
    return text.strip() if text.lstrip().startswith(">=") else read_yaml(text, origin).data


def _key(inner: Any, part: str, path: KeyPath, origin: str) -> str | int:
    """The key or index that a part of an override's path stands for."""
    if isinstance(inner, dict):
        return part
    if not isinstance(inner, list):
        raise ConfigError(f"{origin}: {dotted(path)} is {spoken(inner)}: there is no {part!r} in it")
    names = {str(item["id"]) if isinstance(item, dict) and "id" in item else str(i): i for i, item in enumerate(inner)}
    if part in names:
        return names[part]
    if part.isdecimal() and int(part) < len(inner):
        return int(part)
    raise ConfigError(f"{origin}: {dotted(path)} has no {part!r}{nearest(part, names)}")


def _unshared(data: Any) -> Any:
    """A copy in which no two places are the same object, as YAML's aliases make them: an override changes one place."""
    if isinstance(data, dict):
        return {key: _unshared(value) for key, value in data.items()}
    return [_unshared(item) for item in data] if isinstance(data, list) else data
