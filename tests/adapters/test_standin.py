"""The stand-in API itself: what other tests rely on."""

import asyncio
import json
import urllib.request
from pathlib import Path

import httpx
import pytest
import yaml
from parcels import ASPECTS, SEED_TEXT, chance, rows
from standin import Behaviour, Standin, running, write_project

import adapters
from optimizer.config import Config


async def ask(standin: Standin, model: str, text: str, **more: object) -> httpx.Response:
    body = {"model": model, "messages": [{"role": "user", "content": text}], **more}
    async with httpx.AsyncClient(timeout=1.0, verify=False) as client:
        return await client.post(standin.api_base + "/chat/completions", json=body)


def content(reply: httpx.Response) -> str:
    text: str = reply.json()["choices"][0]["message"]["content"]
    return text


def test_the_test_folder_does_not_shadow_the_package() -> None:
    assert adapters.__file__ is not None


async def test_rules_make_answers_right(standin: Standin) -> None:
    rules = " ".join(f"rule-{aspect}" for aspect in ASPECTS)
    shares = []
    for prompt in ("", rules):
        right = asked = 0
        for row in rows("train", 20):
            given = json.loads(content(await ask(standin, "parcel-a", prompt + row["inputs"]["question"])))
            right += sum(given[aspect] == code for aspect, code in row["expected"].items())
            asked += len(row["expected"])
        shares.append(right / asked)
    assert shares[0] < 0.35
    assert shares[1] > 0.9


async def test_answers_depend_on_the_request_alone(standin: Standin) -> None:
    question = rows("val", 1)[0]["inputs"]["question"]
    cold = {content(await ask(standin, "parcel-b", question, seed=seed)) for seed in range(4)}
    warm = [content(await ask(standin, "parcel-b", question, temperature=1, seed=seed)) for seed in (1, 2, 3, 1)]
    assert len(cold) == 1
    assert warm[0] == warm[3]
    assert len(set(warm)) > 1


async def test_reflection_reads_clues_and_keeps_rules(standin: Standin) -> None:
    texts = [content(await ask(standin, "parcel-reflect", "rule-zone clue-shelf", temperature=1, seed=n)) for n in range(30)]
    assert sum("rule-zone" in text for text in texts) > 24
    assert 9 < sum("rule-shelf" in text for text in texts) < 27
    assert all(text.count("```") == 2 for text in texts)


def test_models_disagree_and_examples_teach_a_little() -> None:
    assert chance("parcel-a", "zone", "rule-zone rule-shelf") > 0.9 > chance("parcel-b", "zone", "rule-zone rule-shelf")
    assert chance("parcel-a", "zone", "") < chance("parcel-a", "zone", '{"zone": "01af"}') < chance("parcel-a", "zone", "rule-zone")
    assert chance("null-a", "zone", "") == chance("null-a", "zone", "rule-zone")


async def test_counts_tell_repeated_and_abandoned_calls(standin: Standin) -> None:
    standin.reset(Behaviour(latency=0.3))
    await asyncio.gather(*(ask(standin, "parcel-a", text) for text in ("one", "two", "two")))
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(ask(standin, "parcel-a", "gone"), 0.2)
    await asyncio.sleep(0.4)
    stats = standin.stats()
    assert stats["calls"] == {"parcel-a": 4}
    assert (stats["answered"], stats["distinct"], stats["repeated"], stats["abandoned"]) == (3, 2, 1, 1)
    assert stats["peak"] == 3
    assert stats["in_flight"] == 0


async def test_faults_follow_the_plan_and_then_the_shares(standin: Standin) -> None:
    standin.reset(Behaviour(plan=("rate_limit", "ok", "server_error"), faults={"server_error": 0.5}))
    statuses = [(await ask(standin, "parcel-a", "x")).status_code for _ in range(43)]
    assert statuses[:3] == [429, 200, 500]
    assert 10 < statuses[3:].count(500) < 30


async def test_a_key_is_asked_for_and_slots_are_kept(standin: Standin) -> None:
    standin.reset(Behaviour(key="right"))
    assert (await ask(standin, "parcel-a", "x")).status_code == 401
    standin.reset(Behaviour(slots=2, latency=0.1))
    replies = await asyncio.gather(*(ask(standin, "parcel-a", str(n)) for n in range(4)))
    assert sorted(reply.status_code for reply in replies) == [200, 200, 429, 429]


@pytest.mark.parametrize("fault", ["hang", "disconnect"])
async def test_connections_that_go_wrong(standin: Standin, fault: str) -> None:
    standin.reset(Behaviour(plan=(fault,)))
    with pytest.raises((httpx.RemoteProtocolError, httpx.ReadTimeout)):
        await ask(standin, "parcel-a", "x")
    assert (await ask(standin, "parcel-a", "x")).status_code == 200


def test_two_run_side_by_side() -> None:
    with running() as one, running() as two:
        assert one.api_base != two.api_base
        one.reset()
        with pytest.raises(urllib.request.HTTPError, match="404"):
            urllib.request.urlopen(one.api_base, timeout=5)


def test_a_project_is_a_valid_config(tmp_path: Path) -> None:
    path = write_project(tmp_path / "p", "http://127.0.0.1:1/v1", budget={"rollouts": 9}, models=("a", "b"), random_seed=3)
    config = Config.model_validate(yaml.safe_load(path.read_text()))
    lines = (tmp_path / "p" / "parcels.jsonl").read_text().splitlines()
    assert config.random_seed == 3
    assert [model.model for model in config.models] == ["openai/parcel-a", "openai/parcel-b"]
    assert config.seed == {"instructions": SEED_TEXT}
    assert len({json.loads(line)["id"] for line in lines}) == len(lines) == 220
