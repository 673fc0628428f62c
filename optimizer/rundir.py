"""The run directory: its lock, its manifest, and the files that hold the result."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from shlex import quote
from typing import Any

from filelock import FileLock, Timeout

from optimizer.configfile import changes
from optimizer.errors import JournalError, LockedError

MANIFEST, RESULT, BEST, LOCK = "manifest.json", "result.json", "best", "lock"

EVALUATION = {"purpose": "evaluation"}
"""What tells the directory of evaluations from that of a run, in the manifest's `data`."""

FREE = re.compile(
    r"name|concurrency|budget\..+|failures\..+|(models\.\d+|proposers\.reflection)\.(concurrency|timeout|attempts|api_key_env)"
)
"""What may change between two sittings of a run without making it another run: how far it goes, how fast, and where its keys are."""


def folder_of(name: str) -> Path:
    """The directory of the run with this name, where none is given."""
    return Path("runs") / name


@contextmanager
def locked(out: Path) -> Iterator[None]:
    """The directory, made where there is none, for this process alone. LockedError where another has it, JournalError where it is none
    to write a run into."""
    lock = FileLock(out / LOCK, timeout=0)
    try:
        out.mkdir(parents=True, exist_ok=True)
        _check_ours(out)
        lock.acquire()
    except FileExistsError as error:
        raise JournalError(f"{out} is a file; give a directory with --out.") from error
    except Timeout as error:
        raise LockedError(f"{out} is in use by another run. Wait for it to end, or give another directory with --out.") from error
    except OSError as error:
        raise _unwritable(out, error) from error
    try:
        yield
    finally:
        lock.release()


def _check_ours(out: Path) -> None:
    """A run writes and removes files in its directory, so that must hold nothing of anybody else's."""
    ours = (LOCK, f"{MANIFEST}.new")  # the second where a run was killed while it wrote its first manifest
    foreign = sorted(path.name for path in out.iterdir() if path.name not in ours and not path.name.startswith("journal.sqlite"))
    if foreign and not (out / MANIFEST).exists():
        raise JournalError(f"{out} is no run directory, and not empty: it has {foreign[0]!r}. Give a directory of its own with --out.")


def manifest(config: Mapping[str, Any], folder: Path, data: Mapping[str, str]) -> dict[str, Any]:
    """What a run was made from. `data`: what its examples and scorers are, as hashes.

    Holds no secret: a config only names environment variables."""
    packages = {name: version(name) for name in ("promptfront", "litellm", "numpy", "pydantic")}
    return {"config": dict(config), "folder": str(folder), "data": dict(data), "versions": packages}


def holds_another_run(out: Path, new: Mapping[str, Any], *, allow_changes: bool) -> bool:
    """Whether the directory's manifest describes another run than `new`. JournalError where it does, unless `allow_changes`, and where one
    of them describes evaluations and the other a run."""
    old = read_manifest(out) if (out / MANIFEST).exists() else new
    if is_evaluation(old) != is_evaluation(new):
        kept = "evaluations" if is_evaluation(old) else "a run"
        raise JournalError(f"{out} is the directory of {kept}; runs and evaluations are kept apart. Give another directory with --out.")
    differ = different(old, new)
    if differ and not allow_changes:
        raise JournalError(
            f"{out} holds a run with another config (what differs: {', '.join(differ[:5])}). Give another directory with --out, or use "
            "`run CONFIG --resume` to start over with the changed config here: paid calls that still fit are used again."
        )
    return bool(differ)


def has_ended(out: Path, config: Mapping[str, Any]) -> bool:
    """Whether the directory holds the result of a run with just this config: a result goes when its manifest does."""
    return (out / RESULT).is_file() and (out / MANIFEST).is_file() and bool(read_manifest(out)["config"] == config)


def is_evaluation(manifest: Mapping[str, Any]) -> bool:
    return all(manifest["data"].get(name) == value for name, value in EVALUATION.items())


def write_manifest(out: Path, new: Mapping[str, Any]) -> None:
    """Where it changes, the result of the sitting before goes: it belongs to the manifest that it was made with."""
    path = out / MANIFEST
    if path.exists() and read_manifest(out) != new:
        (out / RESULT).unlink(missing_ok=True)
    write_json(path, new)


def different(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """The fields in which two manifests describe different runs."""
    paths = changes(old["config"], new["config"])
    found = [path for path in paths if not FREE.fullmatch(path)]
    return found + [f"the {part}" for part in {**old["data"], **new["data"]} if old["data"].get(part) != new["data"].get(part)]


def read_manifest(out: Path) -> dict[str, Any]:
    """JournalError where the directory is none of a run."""
    if not (out / MANIFEST).is_file():
        raise JournalError(f"{out} is no run directory: it has no {MANIFEST}. Give the directory that `run` wrote to.")
    content = read_json(out / MANIFEST)
    for name, kind in (("config", dict), ("folder", str), ("data", dict)):
        if not isinstance(content.get(name), kind):
            raise JournalError(f"{out / MANIFEST} has no {name!r}, so it is none of a run. Start in another directory with --out.")
    return content


def read_result(out: Path) -> dict[str, Any]:
    """JournalError where the run has not ended, or its result was edited beyond use."""
    if not (out / RESULT).is_file():
        raise JournalError(f"{out} has no {RESULT}: the run has not ended. Continue it with: python -m optimizer resume {quote(str(out))}")
    content = read_json(out / RESULT)
    best, spent, front = content.get("best"), content.get("spent"), content.get("frontier")
    if not (isinstance(best, dict) and isinstance(best.get("id"), str) and isinstance(spent, dict) and isinstance(front, list)):
        raise JournalError(f"{out / RESULT} is no result of a run. Running the same command again writes it anew, for nothing.")
    return content


def read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise JournalError(f"{path} cannot be read ({error}). Start in another directory with --out.") from error
    if not isinstance(content, dict):
        raise JournalError(f"{path} holds no JSON object. Start in another directory with --out.")
    return content


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    _write(path, json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def write_best(out: Path, components: Mapping[str, str], own: Mapping[str, Mapping[str, str]]) -> None:
    """`best/<component>.txt`, each text as it is, and `best/<model>/<component>.txt` for the models with a best of their `own`; files of an
    earlier best go."""
    texts: dict[tuple[str, ...], str] = {(name,): text for name, text in components.items()}
    texts |= {(model, name): text for model, each in own.items() for name, text in each.items()}
    files = {out.joinpath(BEST, *map(_file_name, path[:-1]), f"{_file_name(path[-1])}.txt"): text for path, text in texts.items()}
    folder = out / BEST
    try:
        for path in (folder / "any", *files):
            path.parent.mkdir(exist_ok=True)
        for path in [*folder.glob("*.txt"), *folder.glob("*/*.txt")]:
            if path not in files:
                path.unlink()
    except OSError as error:
        raise _unwritable(folder, error) from error
    for path, text in files.items():
        _write(path, text)


def _file_name(name: str) -> str:
    """A component or a model may have any name; what could lead out of the folder, is no part of a file's name somewhere, or would give a
    model's folder the name of a component's file, is spelled `%2F`."""
    return re.sub(r'^\.|\.(?=(?i:txt)$)|[\x00-\x1f"%*/:<>?\\|]', lambda match: f"%{ord(match[0]):02X}", name)


def _write(path: Path, text: str) -> None:
    """Whole or not at all: whoever reads meets the old file or the new one."""
    draft = path.with_name(path.name + ".new")
    try:
        draft.write_text(text, encoding="utf-8", newline="")
        draft.replace(path)
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> JournalError:
    return JournalError(
        f"{path} cannot be written ({error.strerror}). Mend that and give the same command again, or give another directory with --out: "
        "what was paid for is kept."
    )
