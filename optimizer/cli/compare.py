"""`compare A B`: what two runs have found, or what two prompts do, as a paired difference."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from optimizer.cli.options import AsJson, EvaluationFolder, ModelIds, NoProgress, Overrides, Repeats, Split, emit
from optimizer.cli.output import console

WHAT = "The directory of a run, for its best candidate; DIR:CANDIDATE for another one; with --config a prompt, as in evaluate --candidate."
One = Annotated[str, typer.Argument(metavar="A", help=WHAT, show_default=False)]
Other = Annotated[str, typer.Argument(metavar="B", help="As A.", show_default=False)]


def command(
    context: typer.Context,
    a: One,
    b: Other,
    config: Annotated[
        Path | None,
        typer.Option("--config", metavar="CONFIG", help="Run A and B, which are prompts, with this config. Without it nothing is run."),
    ] = None,
    split: Split = "val",
    models: ModelIds = None,
    repeats: Repeats = 1,
    out: EvaluationFolder = None,
    overrides: Overrides = None,
    as_json: AsJson = False,
    no_progress: NoProgress = False,
) -> None:
    """Compare two candidates on the examples that both meet. Tells the difference B - A, its 95% interval and p."""
    from optimizer.report.measured import show_comparison

    folder = None
    if config is None:
        _check_unused(context)
        told = _runs(a, b)
    else:
        told, folder = _prompts(config, (a, b), split, models, repeats, out, overrides, quiet=no_progress)
    if as_json:
        emit(told)
    else:
        show_comparison(told, console(), folder)


def _check_unused(context: typer.Context) -> None:
    from optimizer.errors import ConfigError

    given = [name for name in ("split", "models", "repeats", "out", "overrides", "no_progress") if _is_given(context, name)]
    if given:
        option = {"overrides": "set"}.get(given[0], given[0]).replace("_", "-")
        raise ConfigError(f"--{option} goes with --config CONFIG: without it nothing is run, and what two runs have measured is compared")


def _is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _runs(a: str, b: str) -> dict[str, Any]:
    from optimizer.cli.sides import shared, side_of
    from optimizer.report.evaluation import paired

    sides = side_of(a), side_of(b)
    found = shared(*sides)
    names = {
        key: {"name": side.name, "id": side.candidate.id, "components": dict(side.candidate.components)}
        for key, side in zip("ab", sides, strict=True)
    }
    return {
        **names,
        "split": found.split,
        "examples": {"common": len(found.examples), "a": found.met[0], "b": found.met[1]},
        "optimistic": found.split == "val",
        **paired("a", "b", found.examples, found.table, sides[0].config.random_seed),
    }


def _prompts(
    config: Path,
    names: tuple[str, str],
    split: Literal["train", "val", "test"],
    models: str | None,
    repeats: int,
    out: Path | None,
    overrides: list[str] | None,
    *,
    quiet: bool,
) -> tuple[dict[str, Any], Path]:
    from optimizer.cli.byhand import measured_by_hand
    from optimizer.configfile import load_config
    from optimizer.report.evaluation import comparison

    loaded = load_config(config, overrides or ())
    done = measured_by_hand(loaded, names, split, models, repeats, out, quiet=quiet)
    return comparison(done.measured, dict(zip(names, done.candidates, strict=True)), done.order, loaded.config.random_seed), done.folder
