"""Loading scorers by what a config calls them."""

import inspect
from collections.abc import Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from adapters.nearest import nearest
from scoring.answer import AnswerContains
from scoring.choice import Choice
from scoring.code_files import load_attribute
from scoring.exact import Exact
from scoring.fields import Fields
from scoring.functions import as_scorer
from scoring.json_schema import JsonSchema
from scoring.measures import Cost, Latency, Length, Tokens
from scoring.numeric import Numeric
from scoring.pattern import Regex
from scoring.rubric import Rubric
from scoring.score import show
from scoring.scorer import MakeModel, Scorer, ScorerConfigError
from scoring.token_f1 import TokenF1
from scoring.user_code import users_code

_KINDS: tuple[type[Any], ...] = (
    *(Exact, AnswerContains, Numeric, Choice, Regex, TokenF1),
    *(Fields, JsonSchema, Rubric, Cost, Latency, Length, Tokens),
)
BUILT_IN: Mapping[str, type] = {kind.name: kind for kind in _KINDS}
ENTRY_POINTS = "promptfront.scorers"
FOLDER = "folder"
"""The setting by which a class with a default for it is told where its relative paths start."""

_FORMS = "name, {name: {settings}}, {python: 'file.py:attribute'} or {python: 'module:attribute', settings: {...}}"


def load_scorer(spec: str | Mapping[str, Any], folder: Path, model: MakeModel | None = None) -> Scorer:
    """The scorer that `spec` names: a built-in one or an installed plug-in by its name, with or without settings, or users'
    code by `python`. A class is made with the settings; a function takes none.

    `folder`: where relative paths start, in the spec and for a class that has a setting `folder`. `model`: makes the clients of
    those settings that are models, see AskingScorer. Raises ScorerConfigError."""
    if isinstance(spec, str):
        return _named(spec, {}, folder, model)
    if "python" in spec:
        return _users(spec, folder, model)
    if len(spec) != 1:
        raise ScorerConfigError(f"the scorer {show(dict(spec))} cannot be read; a scorer is {_FORMS}")
    ((name, settings),) = spec.items()
    return _named(name, settings, folder, model)


def _named(name: str, settings: object, folder: Path, model: MakeModel | None) -> Scorer:
    if name in BUILT_IN:
        return _made(BUILT_IN[name], settings, f"the scorer {name!r}", folder, model)
    found = {point.name: point for point in entry_points(group=ENTRY_POINTS)}
    if name not in found:
        hint = f"; for a file or a module write {{python: {name!r}}}" if ":" in name else nearest(name, [*BUILT_IN, *found])
        raise ScorerConfigError(f"there is no scorer {name!r}{hint}")
    what = f"the installed scorer {name!r} ({found[name].value})"
    with users_code(lambda text: ScorerConfigError(f"{what} cannot be loaded: {text}")):
        thing = found[name].load()
    return _made(thing, settings, what, folder, model)


def _users(spec: Mapping[str, Any], folder: Path, model: MakeModel | None) -> Scorer:
    for key in spec:
        if key not in ("python", "settings"):
            raise ScorerConfigError(f"the scorer {show(dict(spec))}: unknown key {key!r}{nearest(str(key), ('python', 'settings'))}")
    path = spec["python"]
    return _made(load_attribute(path, folder), spec.get("settings"), f"the scorer {path!r}", folder, model)


def _made(thing: object, settings: object, what: str, folder: Path, model: MakeModel | None) -> Scorer:
    chosen = {} if settings is None else settings
    if not isinstance(chosen, Mapping):
        raise ScorerConfigError(f"{what}: the settings are {show(settings)}; they have to be a mapping of names and values")
    if inspect.isclass(thing):
        _check_settings(thing, chosen, what)
        given = _with_models(thing, chosen, what, model)
        if FOLDER in inspect.signature(thing).parameters:
            given = {FOLDER: folder, **given}
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
