"""`check CONFIG`: everything that can be found wrong without a call, and what a run can cost."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import typer

from optimizer.cli.options import AsJson, ConfigFile, Overrides, emit

if TYPE_CHECKING:
    from optimizer.plan import Plan
    from optimizer.trial import Trial


def command(config: ConfigFile, overrides: Overrides = None, as_json: AsJson = False) -> None:
    """Check a config with its data, templates, scorers and models, and say what the run will cost at most."""
    import asyncio
    from dataclasses import asdict

    from optimizer.build import prepare
    from optimizer.configfile import load_config
    from optimizer.errors import BudgetError
    from optimizer.plan import plan
    from optimizer.report.words import visible
    from optimizer.trial import check_dimensions, try_scorers

    loaded = load_config(config, overrides or ())
    with loaded.placing():
        prepared = prepare(loaded.config, loaded.folder)
        asyncio.run(check_dimensions(prepared))
    found = plan(prepared)
    if found.limits.get("rollouts", found.least) < found.least:
        raise BudgetError(
            f"the limit on rollouts would come before the first comparison, which takes {found.least}. Raise budget.rollouts to that at "
            "least, or use fewer examples."
        )
    trials = asyncio.run(try_scorers(prepared))
    for warning in prepared.warnings:
        typer.echo(visible(f"warning: {warning}"), err=True)
    if as_json:
        emit(
            {
                **asdict(found),
                "usd": found.usd,
                "rollouts_usd": found.rollouts_usd,
                "scorers": [asdict(each) for each in trials],
                "warnings": list(prepared.warnings),
            }
        )
        return
    models = ", ".join(f"{model.id} ({model.model})" for model in loaded.config.models)
    typer.echo("\n".join(map(visible, (f"{config}: no mistakes found", f"models: {models}", *_spelled(found), *map(_tried, trials)))))


def _spelled(plan: "Plan") -> list[str]:
    from optimizer.report.words import count, money

    limits = ", ".join(f"{limit:,} {name}" for name, limit in plan.limits.items())
    tokens = plan.rollout.input_tokens + plan.rollout.output_tokens
    if plan.usd is not None:
        cost = f"cost at most: {money(plan.usd)}"
    elif plan.rollout.usd is None:
        cost = "cost: a price is unknown"
    elif plan.rollouts_usd is None:
        cost = "cost: no limit bounds it; set budget.usd"
    else:
        cost = f"cost: {money(plan.rollouts_usd)} at most for rollouts like the seed's; what comes on top only budget.usd bounds"
    unsealed = "" if plan.examples["test"] else ": the result will be on val, which flatters it"
    return [
        f"examples: {', '.join(f'{n} {split}' for split, n in plan.examples.items())}{unsealed}",
        f"limits: {limits}",
        f"rollouts: {plan.seed} for the seed, {plan.report} for the report, the rest for the search; {plan.least} to compare anything",
        f"a rollout: {count(tokens, 'token')} and {money(plan.rollout.usd)} at most, with the seed",
        cost,
    ]


def _tried(trial: "Trial") -> str:
    from optimizer.report.words import points

    def spelled(values: Mapping[str, float] | None) -> str:
        if values is None:
            return "no score"
        return ", ".join(f"{dimension} {points(value)}" for dimension, value in values.items()) or "nothing"

    right = "" if trial.expected is None else f"{spelled(trial.expected)} for the expected answer, "
    unsteady = "" if trial.repeatable else "; it does not say the same twice"
    failed = f"; it failed, and such cells have no score: {trial.problem}" if trial.problem else ""
    return (
        f"scorer {trial.scorer} on example {trial.example} ({trial.place}): {right}{spelled(trial.empty)} for an empty one, "
        f"in {1000 * trial.seconds:.1f} ms{unsteady}{failed}"
    )
