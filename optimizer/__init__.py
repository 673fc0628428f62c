"""The search.

The names here are loaded when they are first used, so that `import optimizer` stays fast. docs/api.md shows how they are used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adapters.candidate import Candidate as Candidate
    from adapters.example import Example as Example
    from optimizer.api import optimize as optimize
    from optimizer.api import optimize_async as optimize_async
    from optimizer.asktell import Block as Block
    from optimizer.asktell import Lesson as Lesson
    from optimizer.asktell import Level as Level
    from optimizer.asktell import Study as Study
    from optimizer.config import Config as Config
    from optimizer.config import ObjectivesConfig as ObjectivesConfig
    from optimizer.errors import BudgetError as BudgetError
    from optimizer.errors import ConfigError as ConfigError
    from optimizer.errors import JournalError as JournalError
    from optimizer.errors import LockedError as LockedError
    from optimizer.errors import PromptfrontError as PromptfrontError
    from optimizer.errors import ProviderError as ProviderError
    from optimizer.events import CellFilled as CellFilled
    from optimizer.events import Event as Event
    from optimizer.events import JobCommitted as JobCommitted
    from optimizer.events import Observer as Observer
    from optimizer.events import StageStarted as StageStarted
    from optimizer.events import Warned as Warned
    from optimizer.given import StudyError as StudyError
    from optimizer.runresult import RunResult as RunResult

_HOMES = {
    "adapters.candidate": ("Candidate",),
    "adapters.example": ("Example",),
    "optimizer.api": ("optimize", "optimize_async"),
    "optimizer.asktell": ("Block", "Lesson", "Level", "Study"),
    "optimizer.config": ("Config", "ObjectivesConfig"),
    "optimizer.errors": ("BudgetError", "ConfigError", "JournalError", "LockedError", "PromptfrontError", "ProviderError"),
    "optimizer.events": ("CellFilled", "Event", "JobCommitted", "Observer", "StageStarted", "Warned"),
    "optimizer.given": ("StudyError",),
    "optimizer.runresult": ("RunResult",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Block",
    "BudgetError",
    "Candidate",
    "CellFilled",
    "Config",
    "ConfigError",
    "Event",
    "Example",
    "JobCommitted",
    "JournalError",
    "Lesson",
    "Level",
    "LockedError",
    "ObjectivesConfig",
    "Observer",
    "PromptfrontError",
    "ProviderError",
    "RunResult",
    "StageStarted",
    "Study",
    "StudyError",
    "Warned",
    "optimize",
    "optimize_async",
]


if not TYPE_CHECKING:  # to a type checker it would say that every name exists

    def __getattr__(name):
        if name not in _HOME:
            raise AttributeError(f"module 'optimizer' has no attribute {name!r}")
        return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *_HOME]
