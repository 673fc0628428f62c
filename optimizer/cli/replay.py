"""`replay DIR`: derive a run again from its journal, without a single call."""

import typer

from optimizer.cli.options import AsJson, RunFolder, emit


def command(folder: RunFolder, as_json: AsJson = False) -> None:
    """Derive a finished run again from its journal, for nothing. Say whether it comes out the same."""
    import asyncio

    from optimizer.build import prepare
    from optimizer.cli.sitting import recorded
    from optimizer.errors import ReplayError
    from optimizer.report.words import from_here, visible
    from optimizer.run import replay

    differences = asyncio.run(replay(prepare(*recorded(folder)), folder))
    if as_json:
        emit({"same": not differences, "differences": differences})
    if differences:
        raise ReplayError("\n".join(["the run came out differently:", *differences]))
    typer.echo(visible(from_here(f"{folder}: the journal leads to the same result, decision by decision.")), err=True)
