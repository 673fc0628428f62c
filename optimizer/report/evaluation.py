"""What came of candidates that somebody named: one by itself, or two beside each other. Both are the data that `--json` prints."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from adapters.candidate import Candidate
from adapters.example import Example
from optimizer.measure import Measured, Order
from optimizer.report.pairing import Pairing, known
from optimizer.table import Table, means
from scoring.averages import Average, average, overall_average
from scoring.improvement import Difference, verdict


def evaluation(measured: Measured, candidate: Candidate, order: Order, random_seed: int) -> dict[str, Any]:
    """Means with their 95% intervals: overall, by model and by objective."""
    table, groups = measured.table, [example.group for example in measured.examples]
    wanted, values = table.objectives, table.values(candidate.id, measured.examples)

    def mean(part: slice) -> dict[str, Any]:
        return asdict(overall_average(values[:, part], groups, weights=wanted.weights[part], rng_seed=random_seed))

    single = [average(values[:, k], groups, rng_seed=random_seed) for k in range(len(wanted.names))]
    met = wanted.met(means(values))
    return {
        "candidate": _spelled(candidate),
        "split": order.split,
        "examples": {"met": len(measured.examples), "of": measured.of},
        "repeats": order.repeats,
        "overall": mean(slice(None)),
        "models": {model: mean(wanted.columns(model)) for model in wanted.models if len(wanted.models) > 1},
        "objectives": {
            name: asdict(_raw(each) if lower else each)
            for name, each, lower in zip(wanted.names, single, wanted.lower_is_better, strict=True)
        },
        "lower_is_better": _lower(table),
        "constraints": {name: {"constraint": text, "met": met.get(name)} for name, text in wanted.constraints.items()},
        **_account(measured),
    }


def comparison(measured: Measured, named: Mapping[str, Candidate], order: Order, random_seed: int) -> dict[str, Any]:
    """Two candidates that were measured together, by the names they were asked for with: a and b, see `paired`."""
    sides = {key: {"name": name, **_spelled(who)} for key, (name, who) in zip("ab", named.items(), strict=True)}
    a, b = (who.id for who in named.values())
    met = len(measured.examples)
    return {
        **sides,
        "split": order.split,
        "examples": {"common": met, "a": met, "b": met},
        "optimistic": False,
        "repeats": order.repeats,
        **paired(a, b, measured.examples, measured.table, random_seed),
        **_account(measured),
    }


def paired(a: str, b: str, examples: Sequence[Example], table: Table, random_seed: int) -> dict[str, Any]:
    """The verdict on b beside a, and their differences b − a: overall, by model and by objective."""
    pairing = Pairing(a, dict.fromkeys(table.objectives.models, b), examples, table, random_seed)
    overall, models, objectives = pairing.overall(), pairing.models(), pairing.objectives()
    lower = _lower(table)
    return {
        "verdict": verdict(overall),
        "overall": _named(overall),
        "models": {model: _named(each) for model, each in models.items()},
        "objectives": {name: _named(each, lower_is_better=name in lower) for name, each in objectives.items()},
        "lower_is_better": lower,
    }


def _named(found: Difference, *, lower_is_better: bool = False) -> dict[str, Any]:
    """A difference between a and b, where none is the seed."""
    fields = asdict(found)
    sides = {"a": fields.pop("seed"), "b": fields.pop("best")}
    return {**sides, **fields, "verdict": verdict(found, lower_is_better=lower_is_better)}


def _raw(oriented: Average) -> Average:
    """In the units of a scorer whose values are better when lower."""
    if oriented.n == 0:
        return oriented
    return Average(1 - known(oriented.mean), 1 - known(oriented.high), 1 - known(oriented.low), oriented.n)


def _lower(table: Table) -> list[str]:
    wanted = table.objectives
    return [name for name, lower in zip(wanted.names, wanted.lower_is_better, strict=True) if lower]


def _spelled(candidate: Candidate) -> dict[str, Any]:
    return {"id": candidate.id, "components": dict(candidate.components)}


def _account(measured: Measured) -> dict[str, Any]:
    return {
        "look": measured.look,
        "spent": asdict(measured.spent),
        "made": measured.made,
        "failed_cells": dict(measured.failed),
    }
