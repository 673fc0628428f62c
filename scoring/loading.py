"""Loading scorers by what a config calls them. Users' code runs here, and only where the config names it."""

import inspect
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from adapters.digest import digest
from adapters.nearest import nearest
from scoring.answer import AnswerContains
from scoring.choice import Choice
from scoring.exact import Exact
from scoring.fields import Fields
from scoring.functions import as_scorer
from scoring.json_schema import JsonSchema
from scoring.measures import Cost, Latency, Length, Tokens
from scoring.numeric import Numeric
from scoring.pattern import Regex
from scoring.score import show
from scoring.scorer import MakeModel, Scorer, ScorerConfigError
from scoring.token_f1 import TokenF1
from scoring.user_code import users_code

_KINDS: tuple[type[Any], ...] = (
    *(Exact, AnswerContains, Numeric, Choice, Regex, TokenF1),
    *(Fields, JsonSchema, Cost, Latency, Length, Tokens),
)
BUILT_IN: Mapping[str, type] = {kind.name: kind for kind in _KINDS}
ENTRY_POINTS = "promptfront.scorers"

_FORMS = "name, {name: {settings}}, {python: 'file.py:attribute'} or {python: 'module:attribute', settings: {...}}"


def load_scorer(spec: str | Mapping[str, Any], folder: Path, model: MakeModel | None = None) -> Scorer:
    """The scorer that `spec` names: a built-in one or an installed plug-in by its name, with or without settings, or users'
    code by `python`. A class is made with the settings; a function takes none.

    `folder`: where relative paths start. It, and the folder of a file that is loaded, can be imported from while the file or
    module is being loaded. `model`: makes the clients of those settings that are models, see AskingScorer. Raises
    ScorerConfigError."""
    if isinstance(spec, str):
        return _named(spec, {}, model)
    if "python" in spec:
        return _users(spec, folder, model)
    if len(spec) != 1:
        raise ScorerConfigError(f"the scorer {show(dict(spec))} cannot be read; a scorer is {_FORMS}")
    ((name, settings),) = spec.items()
    return _named(name, settings, model)


def _named(name: str, settings: object, model: MakeModel | None) -> Scorer:
    if name in BUILT_IN:
        return _made(BUILT_IN[name], settings, f"the scorer {name!r}", model)
    found = {point.name: point for point in entry_points(group=ENTRY_POINTS)}
    if name not in found:
        hint = f"; for a file or a module write {{python: {name!r}}}" if ":" in name else nearest(name, [*BUILT_IN, *found])
        raise ScorerConfigError(f"there is no scorer {name!r}{hint}")
    what = f"the installed scorer {name!r} ({found[name].value})"
    with users_code(lambda text: ScorerConfigError(f"{what} cannot be loaded: {text}")):
        thing = found[name].load()
    return _made(thing, settings, what, model)


def _users(spec: Mapping[str, Any], folder: Path, model: MakeModel | None) -> Scorer:
    for key in spec:
        if key not in ("python", "settings"):
            raise ScorerConfigError(f"the scorer {show(dict(spec))}: unknown key {key!r}{nearest(str(key), ('python', 'settings'))}")
    path = spec["python"]
    where, _, attribute = path.rpartition(":") if isinstance(path, str) else ("", "", "")
    if not where or not attribute:
        raise ScorerConfigError(f"the scorer {{python: {path!r}}} cannot be read; write 'file.py:attribute' or 'module:attribute'")
    module = _file(folder / where) if where.endswith(".py") else _module(where, folder)
    names = [name for name in vars(module) if not name.startswith("_")]
    if not hasattr(module, attribute):
        raise ScorerConfigError(f"{where} has no {attribute!r}{nearest(attribute, names)}")
    return _made(getattr(module, attribute), spec.get("settings"), f"the scorer {path!r}", model)


def _made(thing: object, settings: object, what: str, model: MakeModel | None) -> Scorer:
    chosen = {} if settings is None else settings
    if not isinstance(chosen, Mapping):
        raise ScorerConfigError(f"{what}: the settings are {show(settings)}; they have to be a mapping of names and values")
    if inspect.isclass(thing):
        _check_settings(thing, chosen, what)
        given = _with_models(thing, chosen, what, model)
        with users_code(lambda text: ScorerConfigError(f"{what} cannot be made: {text}")):
            thing = thing(**given)
    elif chosen:
        raise ScorerConfigError(f"{what} takes no settings: only a class does")
    try:
        return as_scorer(thing, chosen)
    except ScorerConfigError as error:
        raise ScorerConfigError(f"{what}: {error}") from None


def _with_models(kind: type, settings: Mapping[str, Any], what: str, model: MakeModel | None) -> Mapping[str, Any]:
    """The settings, with model clients in the places of those that are models."""
    made = dict(settings)
    for name in getattr(kind, "models", ()):
        if name not in settings:
            continue
        if model is None:
            raise ScorerConfigError(f"{what} asks a model, and there is none to be asked here: only a run provides models")
        if not isinstance(settings[name], Mapping):
            raise ScorerConfigError(f"{what}: {name} is {show(settings[name])}; a model is a mapping, as in {{model: openai/gpt-5}}")
        try:
            made[name] = model(settings[name])
        except ValueError as error:
            raise ScorerConfigError(f"{what}: {name}: {error}") from None
    return made


def _check_settings(kind: type, settings: Mapping[str, Any], what: str) -> None:
    signature = inspect.signature(kind)
    known = signature.parameters
    for name in settings:
        if name not in known and not any(p.kind is p.VAR_KEYWORD for p in known.values()):
            raise ScorerConfigError(f"{what} has no setting {name!r}{nearest(name, known)}")
    try:
        signature.bind(**settings)
    except TypeError as error:
        raise ScorerConfigError(f"{what}: {error}") from None


def _file(path: Path) -> ModuleType:
    """The file as a module, run once for each content that it has."""

    def blame(text: str) -> ScorerConfigError:
        return ScorerConfigError(f"the scorer file {path} cannot be loaded: {text}")

    path = path.resolve()
    try:
        source = path.read_bytes()
    except OSError as error:
        raise ScorerConfigError(f"the scorer file {path} cannot be read: {error.strerror}") from None
    name = f"{path.stem}_{digest(str(path), source.hex())}"
    if name in sys.modules:
        return sys.modules[name]
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module  # dataclasses and others look their module up while it runs
    try:
        with users_code(blame, str(path)), _importable(path.parent):
            exec(compile(source, str(path), "exec"), module.__dict__)
    except ScorerConfigError:
        del sys.modules[name]
        raise
    return module


def _module(name: str, folder: Path) -> ModuleType:
    def blame(text: str) -> ScorerConfigError:
        return ScorerConfigError(f"the module {name!r} cannot be loaded: {text}")

    with users_code(blame), _importable(folder):
        return import_module(name)


@contextmanager
def _importable(folder: Path) -> Iterator[None]:
    entry = str(folder.resolve())
    sys.path.insert(0, entry)
    try:
        yield
    finally:
        if entry in sys.path:
            sys.path.remove(entry)
