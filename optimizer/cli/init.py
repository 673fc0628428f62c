"""`init [FOLDER]`: a project to start from."""

from pathlib import Path
from typing import Annotated

import typer

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="Made where there is none.")]


def command(folder: Folder = Path()) -> None:
    """Write a config, data and a scorer that run as they are."""
    import json
    import shlex
    from importlib.resources import files

    from optimizer.configfile import schema
    from optimizer.errors import ConfigError
    from optimizer.report.words import from_here

    starter = {file.name: file.read_text(encoding="utf-8") for file in (files("optimizer") / "starter").iterdir() if file.is_file()}
    starter["schema.json"] = json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"
    there = sorted(name for name in starter if (folder / name).exists())
    if there:
        raise ConfigError(f"{folder} has {', '.join(there)} already, and nothing was written; give another folder")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in starter.items():
        (folder / name).write_text(text, encoding="utf-8")
    way_on = f"run it: python -m optimizer run {shlex.quote(from_here(str(folder / 'config.yaml')))}"
    where = "" if folder == Path() else f" to {from_here(str(folder))}"
    typer.echo(f"wrote {', '.join(sorted(starter))}{where}\n{way_on}", err=True)
