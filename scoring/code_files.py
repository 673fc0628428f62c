"""Finding users' code by `file.py:attribute` or `module:attribute`. It runs here, and only where a config names it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType

from adapters.digest import digest
from adapters.nearest import nearest
from scoring.scorer import ScorerConfigError
from scoring.user_code import users_code


def load_attribute(path: object, folder: Path) -> object:
    """What `path` names. `folder`: where relative paths start; it, and the folder of a file that is loaded, can be imported from
    while the file or module is being loaded. Raises ScorerConfigError."""
    where, _, attribute = path.rpartition(":") if isinstance(path, str) else ("", "", "")
    if not where or not attribute:
        raise ScorerConfigError(f"the scorer {{python: {path!r}}} cannot be read; write 'file.py:attribute' or 'module:attribute'")
    module = _file(folder / where) if where.endswith(".py") else _module(where, folder)
    names = [name for name in vars(module) if not name.startswith("_")]
    if not hasattr(module, attribute):
        raise ScorerConfigError(f"{where} has no {attribute!r}{nearest(attribute, names)}")
    return getattr(module, attribute)


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
