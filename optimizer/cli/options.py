"""Options and arguments that several commands share, and how data leaves a command."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from optimizer.cli.output import stdout

ConfigFile = Annotated[Path, typer.Argument(metavar="CONFIG", help="The config, a YAML file.", show_default=False)]
RunFolder = Annotated[Path, typer.Argument(metavar="DIR", help="The directory of a run.", show_default=False)]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY.PATH=VALUE", help="Change a value of the config, as in budget.rollouts=400; may be repeated."),
]
OutFolder = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="The run's directory; without it runs/<name>.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print data as JSON on stdout.")]
EvaluationFolder = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="Where all evaluations of the config are kept; without it evaluations/<name>.")
]
Split = Annotated[Literal["train", "val", "test"], typer.Option("--split", help="Which examples; a look at test is noted, and counts.")]
ModelIds = Annotated[str | None, typer.Option("--models", metavar="ID,ID", help="Some of the config's models; without it all.")]
Repeats = Annotated[int, typer.Option("--repeats", min=1, max=20, help="How often each example is run with each model.")]
NoProgress = Annotated[bool, typer.Option("--no-progress", help="Show nothing but warnings and the result.")]


def named(metavar: str) -> Any:
    """The argument of a command that names a candidate."""
    return typer.Argument(metavar=metavar, help="The beginning of an id, or seed, or best.", show_default=False)


def emit(data: Mapping[str, Any] | Sequence[Any]) -> None:
    """Data for other programs, on stdout."""
    typer.echo(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False), file=stdout())
