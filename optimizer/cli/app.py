"""The app that all commands belong to. What a command needs is imported when it runs."""

from typing import Annotated

import typer

from optimizer.cli import check, compare, diff, evaluate, front, init, replay, resume, run, schema, show
from optimizer.cli.output import kept_apart

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"promptfront {version('promptfront')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which version this is.")] = False,
) -> None:
    """Improve prompts by measured search."""


for _command in (run, resume, replay, front, show, diff, evaluate, compare, check, schema, init):
    app.command(_command.__name__.rpartition(".")[2])(kept_apart(_command.command))
