"""Runs in this process, what their journals hold, and what holds of every run whose scorers ask a model."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from standin import Standin

from optimizer.build import prepare
from optimizer.configfile import load_config
from optimizer.run import replay, run


def sit(config: Path, out: Path, *overrides: str) -> dict[str, Any]:
    loaded = load_config(config, overrides)
    return asyncio.run(run(prepare(loaded.config, loaded.folder), out, lambda _: None))


def rows(out: Path, query: str) -> list[Any]:
    with closing(sqlite3.connect(out / "journal.sqlite")) as db:
        return db.execute(query).fetchall()


def check_a_scorers_model(config: Path, out: Path, result: dict[str, Any], standin: Standin, model: str) -> None:
    """Its calls are in the journal with their role and price, counted, and never made again."""
    ((calls, usd),) = rows(out, f"SELECT count(*), min(usd) FROM calls WHERE role = 'judge' AND model = 'openai/{model}'")
    assert calls == standin.stats()["calls"][model] > 0 and usd > 0
    assert result["spent"]["calls"] == sum(standin.stats()["calls"].values())
    ((everything,),) = rows(out, "SELECT sum(usd) FROM calls")
    assert result["spent"]["usd"] == pytest.approx(everything)
    standin.reset()
    again = sit(config, out)
    assert {**again, "spent": None} == {**result, "spent": None} and again["spent"]["usd"] == result["spent"]["usd"]
    loaded = load_config(config, ())
    assert asyncio.run(replay(prepare(loaded.config, loaded.folder), out)) == []
    assert standin.stats()["calls"] == {}
