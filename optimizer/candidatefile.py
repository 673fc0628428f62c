"""A candidate from files that somebody wrote: one text, a mapping of texts, or a folder such as a run's `best/`."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from adapters.candidate import DEMONSTRATIONS, Candidate
from adapters.nearest import near, nearest
from adapters.plain import parse_json
from optimizer.build import Prepared
from optimizer.errors import ConfigError
from optimizer.rundir import BEST, MANIFEST
from optimizer.yamlsource import read_yaml

SEED = "seed"
"""What the config's own candidate is called."""


def named_candidate(name: str, prepared: Prepared) -> Candidate:
    """The seed, or what the file or folder of this name holds.

    A `.txt` (or any other) file is the text of the one component that there is; a `.yaml`, `.yml` or `.json` file is a mapping component →
    text; a folder has `<component>.txt` for each. Texts are taken as they are, but for a byte order mark. Raises ConfigError where
    components are missing, unknown, empty (unless the seed's is too), or lack a placeholder that the seed's have, and AdapterError where
    the candidate cannot be run on every example."""
    path = Path(name)
    if name == SEED and not path.exists():
        return prepared.seed
    needed = prepared.config.seed.keys()
    candidate = Candidate(_complete(name, _texts(path, needed), prepared.seed.components, needed))
    for component in sorted(candidate.components.keys() - {DEMONSTRATIONS}):
        first, text = prepared.seed.components[component], candidate.components[component]
        if first.strip() and not text.strip():
            raise ConfigError(
                f"{name}: the text of component {component!r} is empty; write the prompt there, or give `seed` for the config's own"
            )
        lost = prepared.guards.lost(first, text)
        if lost is not None:
            raise ConfigError(f"{name}: component {component!r}: {lost}")
    return candidate


def _texts(path: Path, needed: Collection[str]) -> dict[str, str]:
    if path.is_dir():
        return _folder(path)
    if path.suffix in (".yaml", ".yml", ".json"):
        return _mapping(path)
    if len(needed) > 1:
        raise ConfigError(
            f"{path}: this is one text, and a candidate has the components {', '.join(needed)}; give a folder with a <component>.txt for "
            "each, such as a run's best/, or a YAML or JSON file with a mapping of them"
        )
    return dict.fromkeys(needed, _read(path))


def _folder(path: Path) -> dict[str, str]:
    if (path / MANIFEST).exists():
        raise ConfigError(f"{path}: this is the directory of a run; the texts of its best candidate are in {path / BEST}")
    texts = {unquote(file.stem): _read(file) for file in sorted(path.glob("*.txt"))}
    if not texts:
        raise ConfigError(f"{path}: the folder has no <component>.txt")
    return texts


def _mapping(path: Path) -> dict[str, str]:
    text = _read(path)
    if not text.strip():
        raise ConfigError(f"{path}: the file is empty; write a mapping of components to their texts")
    content = _json(path, text) if path.suffix == ".json" else read_yaml(text, str(path)).data
    if not isinstance(content, Mapping) or not content:
        raise ConfigError(f"{path}: expected a mapping of components to their texts")
    for name, value in content.items():
        if not isinstance(value, str):
            raise ConfigError(f"{path}: the component {name!r} is no text; write one, in quotes where it looks like something else")
    return dict(content)


def _json(path: Path, text: str) -> Any:
    try:
        return parse_json(text)
    except ValueError as error:
        raise ConfigError(f"{path}: no JSON that holds texts: {error}") from None


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")  # not read_text: line ends stay as they are
    except FileNotFoundError:
        names = sorted(each.name for each in path.parent.iterdir()) if path.parent.is_dir() else []
        meant = near(path.name, names)
        raise ConfigError(f"{path}: no such file or folder{'' if meant is None else nearest(path.name, [meant])}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None


def _complete(name: str, texts: Mapping[str, str], known: Mapping[str, str], needed: Collection[str]) -> dict[str, str]:
    """The texts, one for each of the seed's components. Room for demonstrations that the config's seed does not have itself may be left
    out."""
    for component in texts:
        if component not in known:
            raise ConfigError(f"{name}: the seed has no component {component!r}{nearest(component, known)}")
    missing = [component for component in needed if component not in texts]
    if missing:
        raise ConfigError(f"{name}: the component {missing[0]!r} is missing; there is {', '.join(texts)}")
    return {**dict.fromkeys(known, ""), **texts}
