"""What `evaluate` and `compare` have in common: candidates that are named on the command line are run while somebody watches."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from adapters.candidate import Candidate
from adapters.nearest import nearest
from adapters.split import Part
from optimizer.build import Prepared
from optimizer.candidatefile import named_candidate
from optimizer.cli.sitting import attended
from optimizer.config import Config
from optimizer.configfile import LoadedConfig
from optimizer.errors import ConfigError
from optimizer.measure import Measured, Order, measure
from optimizer.report.progress import Watcher
from optimizer.rundir import MANIFEST, folder_of


@dataclass(frozen=True)
class ByHand:
    """What came of it. `folder`: where it is kept."""

    candidates: Sequence[Candidate]
    order: Order
    measured: Measured
    folder: Path


def measured_by_hand(
    loaded: LoadedConfig, names: Sequence[str], split: Part, models: str | None, repeats: int, out: Path | None, *, quiet: bool
) -> ByHand:
    """`names`: as `named_candidate` reads them; `models`: ids with commas between them, None for all."""
    config, folder = loaded.config, out or Path("evaluations") / loaded.config.name
    order = Order(split, _chosen(config, models), repeats)

    async def work(prepared: Prepared, watcher: Watcher) -> ByHand:
        candidates = [named_candidate(name, prepared) for name in names]
        if len(set(candidates)) < len(candidates):
            raise ConfigError(f"{' and '.join(names)} are the same, so there is nothing to compare")
        measured = await measure(prepared, folder, candidates, order, watcher, folder_of(config.name))
        return ByHand(candidates, order, measured, folder)

    with loaded.placing():
        return attended(config, loaded.folder, work, lambda: _way_back(folder), Console(stderr=True, highlight=False), quiet=quiet)


def _chosen(config: Config, models: str | None) -> list[str]:
    known = [model.id for model in config.models]
    if models is None:
        return known
    wanted = [name.strip() for name in models.split(",")]
    for name in wanted:
        if name not in known:
            raise ConfigError(f"--models: no model has the id {name!r}{nearest(name, known)}")
    return [model for model in known if model in wanted]


def _way_back(folder: Path) -> str:
    if not (folder / MANIFEST).exists():
        return "interrupted before the evaluation began"
    return f"interrupted: what was paid for is kept in {folder}; the same command goes on from there"
