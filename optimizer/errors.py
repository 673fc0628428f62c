"""What a run can end in, short of its result: each error says what to do, and has the command's exit code."""

from typing import ClassVar


class PromptfrontError(Exception):
    """Its message is all that a user is shown: the place, the cause and the way out."""

    exit_code: ClassVar[int] = 1


class ConfigError(PromptfrontError):
    """A config or an argument that cannot be used. A line for each mistake."""

    exit_code = 2


class PlacedError(ConfigError):
    """A mistake in a config, found by the part that uses it. `place`: the dotted path of what is wrong, as in models.0.model."""

    def __init__(self, place: str, problem: str) -> None:
        super().__init__(f"{place}: {problem}")
        self.place = place


class JournalError(PromptfrontError):
    """A run directory that cannot be read, or that belongs to another run."""

    exit_code = 2


class LockedError(PromptfrontError):
    """Another process is writing to the run directory."""

    exit_code = 2


class ProviderError(PromptfrontError):
    """A provider that refuses, or fails too often to go on. What was paid for is kept."""

    exit_code = 3


class BudgetError(PromptfrontError):
    """A limit came before the first comparison."""

    exit_code = 4


class RequirementError(PromptfrontError):
    """The run ended well, but not as `--require-improvement` asks."""

    exit_code = 5


class ReplayError(PromptfrontError):
    """The journal does not lead to the result that it is said to have led to."""


class StoppedError(PromptfrontError):
    """Stopped by the user. What was paid for is kept."""

    exit_code = 130
