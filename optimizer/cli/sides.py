"""Two candidates of finished runs beside each other, on the examples that both have met. No code of the user's is imported."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from adapters.dataset import data_hash
from adapters.example import Example
from optimizer.cli.reading import Listed, RunRecord, read_cell, read_run
from optimizer.config import Config
from optimizer.configfile import config_from_manifest
from optimizer.data import rows_of
from optimizer.errors import ConfigError, JournalError
from optimizer.journal import REPORTED, UNSEALED, CellRow
from optimizer.policy import Objectives
from optimizer.rundir import MANIFEST, read_manifest
from optimizer.table import Table

BEST = "best"
SPLITS = {"test": (REPORTED,), "val": ("val", UNSEALED)}
"""Where both may be known, the split to be preferred first, and what its cells are noted under."""
SAME = ("model", "temperature", "max_tokens", "params")
"""What has to be the same of two models with one id."""


@dataclass(frozen=True)
class Side:
    """A candidate of a run. `name`: as it was asked for."""

    name: str
    run: RunRecord
    candidate: Listed
    config: Config

    @cached_property
    def hashes(self) -> Mapping[str, str]:
        found: Mapping[str, str] = read_manifest(self.run.folder)["data"]
        return found

    @cached_property
    def examples(self) -> dict[str, Example]:
        """By id. JournalError where the data is not what it was when the run began."""
        rows = rows_of(self.config.data, Path(read_manifest(self.run.folder)["folder"]))
        if data_hash(row.example for row in rows) != self.hashes.get("examples"):
            raise JournalError(
                f"the data that {self.run.folder} was made with has changed since, so it cannot be told which examples are the same, and "
                "which belong together. Put it back as it was."
            )
        return {row.example.id: row.example for row in rows}

    def cells(self, split: str) -> list[CellRow]:
        return [cell for cell in self.run.cells(self.candidate) if cell.split in SPLITS[split]]


@dataclass(frozen=True)
class Shared:
    """`table` holds the cells of both on the common `examples`, as those of the candidates `a` and `b`. `met`: on how many each was run."""

    table: Table
    examples: Sequence[Example]
    split: str
    met: tuple[int, int]


def side_of(name: str) -> Side:
    """`DIR`, for its best candidate, or `DIR:CANDIDATE`. Raises JournalError where that is no run, ConfigError where it has no such
    candidate."""
    folder, candidate = Path(name), BEST
    if not folder.exists() and ":" in name:
        before, _, candidate = name.rpartition(":")
        folder = Path(before)
    if not (folder / MANIFEST).is_file():
        raise ConfigError(
            f"{name}: no directory of a run. Give two of them, each with or without :CANDIDATE, or --config CONFIG to run two prompts"
        )
    run = read_run(folder)
    return Side(name, run, run.find(candidate), config_from_manifest(read_manifest(folder)["config"]))


def shared(a: Side, b: Side) -> Shared:
    """Raises ConfigError where the runs measured different things, or have nothing in common."""
    _check_alike(a, b)
    wanted, examples = _objectives(a, b), _common(a, b)
    for split in SPLITS:
        rows = [side.cells(split) for side in (a, b)]
        met = [{row.example for row in each} for each in rows]
        both = {name: examples[name] for name in sorted(met[0] & met[1] & examples.keys())}
        if both:
            table = Table(list(both.values()), wanted)
            for who, each in zip("ab", rows, strict=True):
                table.add(
                    replace(read_cell(row, both[row.example]), candidate=who)
                    for row in each
                    if row.example in both and row.model in wanted.models
                )
            return Shared(table, list(both.values()), split, (len(met[0]), len(met[1])))
    raise ConfigError(f"{a.name} and {b.name} have no test or val example in common that both were run on")


def _check_alike(a: Side, b: Side) -> None:
    if a.hashes.get("scorers") != b.hashes.get("scorers"):
        raise ConfigError(f"{a.name} and {b.name} were scored by different scorers, so their scores do not compare")
    theirs = {model.id: model for model in b.config.models}
    for model in a.config.models:
        for field in SAME if model.id in theirs else ():
            one, other = getattr(model, field), getattr(theirs[model.id], field)
            if one != other:
                raise ConfigError(f"the model {model.id!r} has {field} {one!r} in {a.name} and {other!r} in {b.name}, so it is another one")


def _objectives(a: Side, b: Side) -> Objectives:
    """Those that both runs have."""
    ours, theirs = a.run.wanted, b.run.wanted
    models = [model for model in ours.models if model in theirs.models]
    dimensions = [name for name in ours.dimensions if name in theirs.dimensions]
    if not models or not dimensions:
        told = (", ".join(each.names) or "none" for each in (ours, theirs))
        raise ConfigError(f"{a.name} and {b.name} have no objective in common: {' and '.join(told)}")
    found, same = (Objectives(models, dimensions, each.config) for each in (ours, theirs))
    if not ((found.weights == same.weights).all() and (found.lower_is_better == same.lower_is_better).all()):
        raise ConfigError(f"{a.name} and {b.name} have objectives with other weights or directions, so there is no overall to compare")
    return found


def _common(a: Side, b: Side) -> dict[str, Example]:
    """The examples that are the same in both: by id, content and group."""
    if a.hashes.get("examples") == b.hashes.get("examples"):
        return a.examples
    ours, theirs = a.examples, b.examples
    return {name: each for name, each in ours.items() if name in theirs and _same(each, theirs[name])}


def _same(one: Example, other: Example) -> bool:
    return (one.digest, one.group) == (other.digest, other.group)
