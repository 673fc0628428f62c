"""`schema`: the JSON schema of configs."""

from optimizer.cli.options import emit


def command() -> None:
    """Print the JSON schema of configs, for editors."""
    from optimizer.configfile import schema

    emit(schema())
