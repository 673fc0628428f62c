"""The app that all commands belong to. What a command needs is imported when it runs."""

import typer

from optimizer.cli import check, diff, front, init, replay, resume, run, schema, show

app = typer.Typer(
    help="Improve prompts by measured search.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for _command in (run, resume, replay, front, show, diff, check, schema, init):
    app.command(_command.__name__.rpartition(".")[2])(_command.command)
