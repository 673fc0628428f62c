"""`check CONFIG`: everything that can be found wrong without a call, and what a run can cost."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from optimizer.cli.options import AsJson, ConfigFile, OutFolder, Overrides, emit
from optimizer.cli.output import stdout

if TYPE_CHECKING:
    from optimizer.config import Config
    from optimizer.plan import Plan
    from optimizer.preflight import Expected, Preflight, RoleCalls
    from optimizer.trial import Trial


def command(
    config: ConfigFile,
    overrides: Overrides = None,
    estimate: Annotated[
        bool,
        typer.Option("--estimate", help="Make a few of the run's first calls, which it then uses, and say what it will take by these."),
    ] = False,
    out: OutFolder = None,
    as_json: AsJson = False,
) -> None:
    """Check a config and all that it names, and what the run costs. Its data, templates, scorers and models; the cost at most."""
    import asyncio

    from optimizer.build import prepare
    from optimizer.configfile import load_config
    from optimizer.errors import BudgetError, ConfigError
    from optimizer.outlook import outlook, powered, proof
    from optimizer.plan import plan
    from optimizer.preflight import preflight
    from optimizer.rundir import folder_of
    from optimizer.trial import check_dimensions, try_scorers

    if out is not None and not estimate:
        raise ConfigError("--out is where an estimate keeps its calls; without --estimate nothing is kept")
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
    warnings = [*prepared.warnings, *(_short(found, limit) for limit in found.short)]
    _tell([f"warning: {each}" for each in warnings], sys.stderr)
    folder = out or folder_of(loaded.config.name)
    looked = asyncio.run(preflight(prepared, folder)) if estimate else None
    shown = outlook(proof(prepared)) if looked is None else looked.outlook
    advice = [*shown.advice, *([] if looked is None else [_widths(looked, loaded.config)])]
    if as_json:
        emit({**_data(found, trials, warnings, looked), "outlook": asdict(shown), "advice": advice, "run": shown.run})
        return
    models = ", ".join(f"{model.id} ({model.model})" for model in loaded.config.models)
    lines = [f"{config}: no mistakes found", f"models: {models}", *_spelled(found), *map(_tried, trials)]
    lines += [] if looked is None else _estimated(looked, folder)
    _tell([*lines, *powered(shown), *(f"advice: {each}" for each in advice)], stdout())


def _tell(lines: Sequence[str], to: TextIO) -> None:
    from optimizer.report.words import folded, from_here, visible

    for line in lines:
        typer.echo(folded(visible(from_here(line))), file=to)


def _data(found: "Plan", trials: "Sequence[Trial]", warnings: Sequence[str], looked: "Preflight | None") -> dict[str, Any]:
    estimate = None if looked is None else {name: each for name, each in asdict(looked).items() if name != "outlook"}
    return {
        **asdict(found),
        "usd": found.usd,
        "rollouts_usd": found.rollouts_usd,
        "scorers": [asdict(each) for each in trials],
        "warnings": list(warnings),
        **({} if estimate is None else {"estimate": estimate}),
    }


def _spelled(plan: "Plan") -> list[str]:
    from optimizer.report.words import count, money

    limits = ", ".join(_limit(name, limit) for name, limit in plan.limits.items())
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


def _limit(name: str, limit: float) -> str:
    from optimizer.report.words import money

    return money(limit) if name == "usd" else f"{limit:,g} {name}" if name == "minutes" else f"{limit:,} {name}"


def _short(plan: "Plan", limit: str) -> str:
    has, needs = (_limit(limit, limits[limit]) for limits in (plan.limits, plan.short))
    return (
        f"budget.{limit}: {has} may not be enough to compare anything: about {needs} are claimed for {plan.least} rollouts. "
        "Raise it, set a smaller max_tokens (a claim counts all of it), or use fewer examples"
    )


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


def _estimated(told: "Preflight", folder: Path) -> list[str]:
    from optimizer.pace import GOOD_WIDTHS
    from optimizer.report.noise import KEY, noise_line
    from optimizer.report.words import count, duration

    lines = [f"estimate: {count(told.made, 'call')} made now and kept in {folder}, where the run uses them again"]
    lines += map(_measured, told.measured)
    if told.failed:
        failed = ", ".join(f"{n} failed with {kind}" for kind, n in told.failed.items())
        lines.append(f"of the seed's cells {failed}; the run tries them again")
    if told.assumed:
        lines.append("proposals: none made yet, so how long one takes is a guess; look again when the run has begun")
    if told.seconds:
        widths = ", ".join(f"{duration(seconds)} with {width}" for width, seconds in told.seconds.items())
        lines.append(f"time, for calls alone, by in_flight: {widths}; more than {GOOD_WIDTHS[-1]} cost quality")
    for role, each in told.expected.items():
        lines.append(f"expected of {role}: {count(each.calls, 'call')}, {_taken(each)}")
    return [*lines, *_seen(told), *noise_line({KEY: {model: asdict(each) for model, each in told.noise.items()}})]


def _taken(each: "Expected") -> str:
    from optimizer.report.words import count, duration, money

    if each.tokens is None or each.seconds is None:
        return "tokens, price and time not known yet"
    return f"{count(each.tokens, 'token')}, {money(each.usd)}, {duration(each.seconds)} one after the other"


def _seen(told: "Preflight") -> list[str]:
    from optimizer.report.words import count, points

    seen, batch = told.outlook.seen, told.minibatch
    if seen is None:
        return []
    interval = f"{points(seen.share)}%, 95% interval {points(seen.low)} to {points(seen.high)}%"
    lines = [f"seed: loses points in {seen.lost} of {count(seen.n, 'answer')} ({interval}); its mean is {points(seen.mean)}"]
    if batch is not None and batch.enough is not None:
        lines.append(
            f"minibatch: of {count(batch.size, 'train example')} at random, as many as a proposal reads, one at least makes it lose some "
            f"in {batch.holds:.0%} of draws, of {batch.enough} in 95%; those where points were lost are read first"
        )
    return lines


def _measured(each: "RoleCalls") -> str:
    from optimizer.report.words import count, duration, money

    return (
        f"{each.role}, {each.model}: {count(each.calls, 'call')} answered, half of them within {duration(each.median)}, 95 in 100 within "
        f"{duration(each.p95)}; on average {count(round(each.tokens), 'token')}, {money(each.usd)}"
    )


def _widths(told: "Preflight", config: "Config") -> str:
    from optimizer.pace import GOOD_WIDTHS

    enough = told.in_flight <= config.in_flight <= GOOD_WIDTHS[-1] and config.concurrency >= told.concurrency
    now = "as it is" if enough else f"now {config.in_flight} and {config.concurrency}"
    return f"in_flight {told.in_flight}, and concurrency {told.concurrency}, the most calls that the search can use then ({now})"
