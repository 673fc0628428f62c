"""`check CONFIG`: everything that can be found wrong without a call, and what a run can cost."""

from typing import TYPE_CHECKING

import typer

from optimizer.cli.options import AsJson, ConfigFile, Overrides, emit

if TYPE_CHECKING:
    from optimizer.plan import Plan


def command(config: ConfigFile, overrides: Overrides = None, as_json: AsJson = False) -> None:
    """Check a config with its data, templates, scorers and models, and say what the run will cost at most."""
    from dataclasses import asdict

    from optimizer.build import prepare
    from optimizer.configfile import load_config
    from optimizer.plan import plan

    loaded = load_config(config, overrides or ())
    with loaded.placing():
        prepared = prepare(loaded.config, loaded.folder)
    found = plan(prepared)
    for warning in prepared.warnings:
        typer.echo(f"warning: {warning}", err=True)
    if as_json:
        emit({**asdict(found), "usd": found.usd, "warnings": list(prepared.warnings)})
        return
    models = ", ".join(f"{model.id} ({model.model})" for model in loaded.config.models)
    typer.echo(f"{config}: no mistakes found\nmodels: {models}\n{_spelled(found)}")


def _spelled(plan: "Plan") -> str:
    from optimizer.report.words import count, money

    limits = ", ".join(f"{limit:,} {name}" for name, limit in plan.limits.items())
    tokens = plan.rollout.input_tokens + plan.rollout.output_tokens
    cost = "no limit bounds it" if plan.usd is None else f"{money(plan.usd)}"
    if plan.rollout.usd is None:
        cost = "a price is unknown"
    unsealed = "" if plan.examples["test"] else ": the result will be on val, which flatters it"
    return "\n".join(
        [
            f"examples: {', '.join(f'{n} {split}' for split, n in plan.examples.items())}{unsealed}",
            f"limits: {limits}",
            f"rollouts: {plan.seed} for the seed, {plan.report} for the report, the rest for the search",
            f"a rollout: {count(tokens, 'token')} and {money(plan.rollout.usd)} at most, with the seed",
            f"cost at most: {cost}",
        ]
    )
