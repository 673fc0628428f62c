"""`evaluate CONFIG`: one candidate on one split, with the interval of every mean."""

from typing import Annotated

import typer

from optimizer.cli.options import (
    AsJson,
    ConfigFile,
    EvaluationFolder,
    ModelIds,
    NoProgress,
    Overrides,
    Repeats,
    Split,
    emit,
)
from optimizer.cli.output import console


def command(
    config: ConfigFile,
    candidate: Annotated[
        str,
        typer.Option(
            "--candidate",
            metavar="FILE|DIR",
            help="A file with the one component's text, a YAML or JSON mapping of components to texts, a folder of <component>.txt such as "
            "a run's best/, or seed.",
        ),
    ] = "seed",
    split: Split = "val",
    models: ModelIds = None,
    repeats: Repeats = 1,
    out: EvaluationFolder = None,
    overrides: Overrides = None,
    as_json: AsJson = False,
    no_progress: NoProgress = False,
) -> None:
    """Score any prompt as a run would, with 95% intervals. What was paid for is kept: the same command again costs nothing."""
    from optimizer.cli.byhand import measured_by_hand
    from optimizer.configfile import load_config
    from optimizer.report.evaluation import evaluation
    from optimizer.report.measured import show_evaluation

    loaded = load_config(config, overrides or ())
    done = measured_by_hand(loaded, [candidate], split, models, repeats, out, quiet=no_progress)
    told = evaluation(done.measured, done.candidates[0], done.order, loaded.config.random_seed)
    if as_json:
        emit(told)
    else:
        show_evaluation(told, done.folder, console())
