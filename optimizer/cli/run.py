"""`run CONFIG`: begin a run, or go on with it."""

from typing import Annotated

import typer

from optimizer.cli.options import AsJson, ConfigFile, NoProgress, OutFolder, Overrides


def command(
    config: ConfigFile,
    out: OutFolder = None,
    overrides: Overrides = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Start over in DIR with a changed config: paid calls that still fit are used again. With the same config, or another "
            "budget, a run goes on without this.",
        ),
    ] = False,
    require_improvement: Annotated[
        bool, typer.Option("--require-improvement", help="Exit with 5 unless the best is surely better than the seed.")
    ] = False,
    as_json: AsJson = False,
    no_progress: NoProgress = False,
) -> None:
    """Search for better prompts. The same command again goes on where the run was."""
    from optimizer.cli.sitting import sit
    from optimizer.configfile import load_config
    from optimizer.rundir import folder_of

    loaded = load_config(config, overrides or ())
    with loaded.placing():
        sit(
            loaded.config,
            loaded.folder,
            out or folder_of(loaded.config.name),
            allow_changes=resume,
            require_improvement=require_improvement,
            as_json=as_json,
            quiet=no_progress,
        )
