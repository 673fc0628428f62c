"""What a result has numbers of, in the order in which people read them."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class Row(NamedTuple):
    """`fields`: the numbers, as the result's JSON has them; `lower`: whether lower is better there."""

    name: str
    fields: Mapping[str, Any]
    lower: bool = False

    @property
    def title(self) -> str:
        return f"{self.name} (lower is better)" if self.lower else self.name


def rows(told: Mapping[str, Any]) -> list[Row]:
    """The whole, each of several models, each objective. `told`: a run's result, an evaluation or a comparison."""
    models = [Row(f"{name} (mean)", fields) for name, fields in told["models"].items()]
    objectives = [Row(name, fields, name in told["lower_is_better"]) for name, fields in told["objectives"].items()]
    return [Row("overall", told["overall"]), *models, *objectives]
