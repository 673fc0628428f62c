"""How long a run takes beside gepa's default adapter, on a stand-in server (tests/standin.py) whose answers take their time.

    python tests/benchmarks/wall_clock.py ours [--in-flight 2,4,8,16] [--concurrency 32] [--budget 600] [--seeds 0,1,2]
    python tests/benchmarks/wall_clock.py gepa [--workers 32] [--budget 600] [--seeds 0,1,2]     # gepa 0.1.4 has to be installed
    python tests/benchmarks/wall_clock.py same [--in-flight 2,8]     # the same result with one call at a time?

All take --latency 0.3 --spread 0.5 --reflect-latency 2 (seconds, sigma of the log-normal). Prints JSON Lines: `wall`, from the start of
the process to its end; `busy`, the seconds of all answers by the server's count; `calls_in_flight`, the one divided by the other; `cpu`,
the seconds that the process itself computed. Needs a machine that does nothing else.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from parcels import SEED_TEXT, rows
from standin import Behaviour, Standin, running, write_project

SIZES = {"train": 60, "val": 60}
KEY = {"STANDIN_KEY": "no key that anybody knows", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
"""The second keeps LiteLLM from asking the network for prices, which it waits for where there is none."""


def say(**fields: object) -> None:
    print(json.dumps(fields), flush=True)


def timed(command: list[str], standin: Standin, how: Behaviour) -> dict[str, float]:
    """Run a command against a server that has forgotten all before; what it took."""
    standin.reset(how)
    before, start = _cpu(), time.perf_counter()
    ran = subprocess.run(command, env={**os.environ, **KEY}, capture_output=True, text=True, check=False)
    wall = time.perf_counter() - start
    if ran.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {ran.returncode}:\n{ran.stderr[-3000:]}")
    stats = standin.stats()
    calls = {model.removeprefix("parcel-"): n for model, n in stats["calls"].items()}
    told = {"wall": wall, "busy": stats["busy"], "calls_in_flight": stats["busy"] / wall, "cpu": _cpu() - before}
    return {name: round(value, 2) for name, value in told.items()} | {"peak": stats["peak"], **calls}


def _cpu() -> float:
    """Seconds that all processes started from here have computed, as far as they have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@contextmanager
def project(standin: Standin, options: argparse.Namespace) -> Iterator[tuple[Path, Path]]:
    """A config, and a folder for runs of it."""
    with tempfile.TemporaryDirectory() as folder:
        yield write_project(Path(folder) / "config", standin.api_base, budget={"rollouts": options.budget}, sizes=SIZES), Path(folder)


def run(config: Path, out: Path, standin: Standin, how: Behaviour, **settings: int) -> tuple[dict[str, float], dict[str, Any]]:
    """What it took, and its result."""
    changes = [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]
    command = [sys.executable, "-m", "optimizer", "run", str(config), "--out", str(out), "--no-progress", *changes]
    took = timed(command, standin, how)
    return took, json.loads((out / "result.json").read_text())


def ours(standin: Standin, how: Behaviour, options: argparse.Namespace) -> None:
    with project(standin, options) as (config, folder):
        for seed in options.seeds:
            for width in options.in_flight:
                settings = {"concurrency": options.concurrency, "in_flight": width, "random_seed": seed}
                took, result = run(config, folder / f"{seed}-{width}", standin, how, **settings)
                say(who="ours", **settings, **took, rollouts=result["spent"]["rollouts"], stopped_by=result["stopped_by"])


def same(standin: Standin, how: Behaviour, options: argparse.Namespace) -> None:
    """Slow answers come in another order than quick ones; with one call at a time there is only one order."""
    with project(standin, options) as (config, folder):
        for width in options.in_flight:
            results: dict[int, Mapping[str, Any]] = {}
            for concurrency in (1, options.concurrency):
                out, calm = folder / f"{width}-{concurrency}", Behaviour() if concurrency == 1 else how
                _, result = run(config, out, standin, calm, concurrency=concurrency, in_flight=width)
                result["spent"].pop("seconds")
                results[concurrency] = result
            say(who="same", in_flight=width, concurrency=[*results], equal=results[1] == results[options.concurrency])


def gepa(standin: Standin, how: Behaviour, options: argparse.Namespace) -> None:
    for seed in options.seeds:
        inner = ["gepa-alone", "--api-base", standin.api_base, "--seeds", str(seed), "--budget", str(options.budget)]
        command = [sys.executable, __file__, *inner, "--workers", str(options.workers)]
        say(who="gepa", workers=options.workers, random_seed=seed, **timed(command, standin, how))


def gepa_alone(options: argparse.Namespace) -> None:
    """gepa.optimize with its own adapter and all its defaults, in a process of its own."""
    try:
        gepa, lm, default = map(import_module, ("gepa", "gepa.lm", "gepa.adapters.default_adapter.default_adapter"))
    except ImportError as error:
        raise SystemExit("gepa is not installed; pip install gepa==0.1.4") from error

    def judged(data: Mapping[str, Any], response: str) -> Any:
        given, expected = json.loads(response), json.loads(data["answer"])
        wrong = [aspect for aspect, code in expected.items() if given.get(aspect) != code]
        feedback = "; ".join(data["additional_context"][aspect] for aspect in wrong) or "all right"
        return default.EvaluationResult(1 - len(wrong) / len(expected), feedback)

    def examples(split: str) -> list[dict[str, Any]]:
        return [
            {"input": row["inputs"]["question"], "answer": json.dumps(row["expected"]), "additional_context": row["metadata"]["hints"]}
            for row in rows(split, SIZES[split])
        ]

    endpoint = {"api_base": options.api_base, "api_key": KEY["STANDIN_KEY"]}
    adapter = default.DefaultAdapter(
        "openai/parcel-a", judged, max_litellm_workers=options.workers, litellm_batch_completion_kwargs=endpoint
    )
    gepa.optimize(
        seed_candidate={"instructions": SEED_TEXT},
        trainset=examples("train"),
        valset=examples("val"),
        adapter=adapter,
        reflection_lm=lm.LM("openai/parcel-reflect", temperature=1.0, **endpoint),
        max_metric_calls=options.budget,
        seed=options.seeds[0],
    )


def numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["ours", "gepa", "same", "gepa-alone"])
    parser.add_argument("--latency", type=float, default=0.3)
    parser.add_argument("--spread", type=float, default=0.5)
    parser.add_argument("--reflect-latency", type=float, default=2.0)
    parser.add_argument("--budget", type=int, default=600)
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--in-flight", type=numbers, default=[2, 4, 8, 16])
    parser.add_argument("--workers", type=int, default=32)
    parser.add_argument("--seeds", type=numbers, default=[0])
    parser.add_argument("--api-base", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.what == "gepa-alone":
        gepa_alone(options)
        return
    how = Behaviour(options.latency, options.reflect_latency, options.spread)
    with running() as standin:
        {"ours": ours, "gepa": gepa, "same": same}[options.what](standin, how, options)


if __name__ == "__main__":
    main()
