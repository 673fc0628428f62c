"""`resume DIR`: go on with a run, with the config that its directory keeps."""

from optimizer.cli.options import AsJson, NoProgress, RunFolder


def command(folder: RunFolder, as_json: AsJson = False, no_progress: NoProgress = False) -> None:
    """Go on with a run where it was, from its directory alone."""
    from optimizer.cli.sitting import recorded, sit

    config, start = recorded(folder)
    sit(config, start, folder, as_json=as_json, quiet=no_progress)
