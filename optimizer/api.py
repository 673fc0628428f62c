"""The search from Python: what the command `run CONFIG` does, for whoever has the config as a file, a mapping or an object."""

import asyncio
import inspect
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from optimizer.build import prepare
from optimizer.complaints import spoken
from optimizer.config import Config
from optimizer.configfile import LoadedConfig, config_of, load_config, resolved
from optimizer.errors import ConfigError, PlacedError, PromptfrontError
from optimizer.events import Event, Observer, Warned
from optimizer.run import run
from optimizer.rundir import folder_of
from optimizer.runresult import RunResult, run_result
from optimizer.trial import check_dimensions
from scoring.functions import as_scorer
from scoring.score import show
from scoring.scorer import Scorer, ScorerConfigError
from scoring.user_code import source_file

ConfigSource: TypeAlias = str | Path | Mapping[str, Any] | Config


def warn(event: Event) -> None:
    """The observer where no other is given: warnings are Python's, all else is not looked at."""
    if isinstance(event, Warned):
        warnings.warn(event.message, stacklevel=2)


def optimize(
    config: ConfigSource,
    *,
    out: str | Path | None = None,
    overrides: Sequence[str] = (),
    resume: bool = False,
    on_event: Observer = warn,
) -> RunResult:
    """Search for better prompts; begins a run, or goes on with the one in `out`. The same call again goes on where it was, and a finished
    run gives its result again without a call.

    `config`: the path of a YAML file; or what such a file holds as a mapping, in which `scoring.scorers` may also hold functions
    `(example, answer)` and `data.rows` a list of rows; or a Config. Relative paths start in the file's folder, or in the working directory.
    `out`: the run directory; None: `runs/<name>`. `overrides`: `key.path=value`, as `--set` takes them. `resume`: go on in `out` although
    the config has changed. `on_event`: is told what happens (optimizer.events), from the thread that runs.

    Raises PromptfrontError: ConfigError for what the config gets wrong, JournalError and LockedError for the directory, ProviderError where
    a model is out of reach, BudgetError where a limit comes before the first comparison. Raises ScorerError where a scorer fails,
    DatasetError and AdapterError for data that cannot be used. What was paid for is kept, whatever is raised, KeyboardInterrupt too."""
    if _loop_is_running():
        raise PromptfrontError("an event loop is running here, as in a notebook: write `await optimize_async(...)` with the same arguments")
    return asyncio.run(optimize_async(config, out=out, overrides=overrides, resume=resume, on_event=on_event))


async def optimize_async(
    config: ConfigSource,
    *,
    out: str | Path | None = None,
    overrides: Sequence[str] = (),
    resume: bool = False,
    on_event: Observer = warn,
) -> RunResult:
    """The same where an event loop is running, as in a notebook. Cancelled, it waits a moment for calls under way, which are paid for."""
    loaded, scorers = _loaded(config, overrides)
    with loaded.placing():
        prepared = prepare(loaded.config, loaded.folder, scorers=scorers)
        for warning in prepared.warnings:
            on_event(Warned(warning))
        await check_dimensions(prepared)
        where = folder_of(loaded.config.name) if out is None else Path(out)
        return run_result(await run(prepared, where, on_event, allow_changes=resume), where)


def _loop_is_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _loaded(config: ConfigSource, overrides: Sequence[str]) -> tuple[LoadedConfig, Mapping[int, Scorer]]:
    """The config, and those of its scorers that were given as functions, by their place in it."""
    if isinstance(config, str | Path):
        return load_config(Path(config), overrides), {}
    if not isinstance(config, Mapping | Config):
        raise ConfigError(f"a config is a path, a mapping or a Config, not {spoken(config)}")
    content = resolved(config) if isinstance(config, Config) else dict(config)
    scoring = content.get("scoring")
    specs = scoring.get("scorers") if isinstance(scoring, Mapping) else None
    live = {index: spec for index, spec in enumerate(specs) if _is_live(spec)} if isinstance(specs, list) else {}
    if not live or not isinstance(scoring, Mapping) or specs is None:
        return config_of(content, overrides), {}
    names = {index: _name(spec, f"scoring.scorers.{index}") for index, spec in live.items()}
    content["scoring"] = {**scoring, "scorers": [names.get(index, spec) for index, spec in enumerate(specs)]}
    loaded = config_of(content, overrides)
    kept = loaded.config.scoring.scorers  # an override may have put others in their places
    made = {index: _scorer(spec, f"scoring.scorers.{index}") for index, spec in live.items() if kept[index : index + 1] == [names[index]]}
    return loaded, made


def _is_live(spec: object) -> bool:
    return callable(spec) or hasattr(spec, "score")


def _name(thing: object, place: str) -> dict[str, str]:
    """What a config file calls the function, so that the run directory tells where it is, and `resume` finds it there."""
    function = inspect.unwrap(thing) if callable(thing) else thing
    if not inspect.isfunction(function) or not function.__qualname__.isidentifier():
        raise PlacedError(
            place,
            f"{show(thing)} is no function at the top level of a file, and only there a run that goes on finds it again; "
            "define it there, or name it as a config file does, a class as {'python': 'file.py:Class', 'settings': {...}}",
        )
    file = source_file(function)
    where = file if function.__module__ == "__main__" and file is not None else function.__module__
    return {"python": f"{where}:{function.__name__}"}


def _scorer(thing: object, place: str) -> Scorer:
    try:
        return as_scorer(thing, {})  # as where it is loaded by its name, so that its version is the same
    except ScorerConfigError as error:
        raise PlacedError(place, str(error)) from None
