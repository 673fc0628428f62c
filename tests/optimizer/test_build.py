"""From a config to live objects: what cannot work is said before the first call."""

import json
from pathlib import Path
from typing import Any

import pytest
from standin import write_project

from adapters.candidate import DEMONSTRATIONS
from optimizer.build import Prepared, prepare
from optimizer.configfile import load_config
from optimizer.errors import ConfigError, PlacedError
from optimizer.propose.demos import offers

SIZES = {"train": 10, "val": 6, "test": 6}


def project(folder: Path, **changes: Any) -> Path:
    return write_project(folder, "http://127.0.0.1:9/v1", budget={"rollouts": 60}, sizes=SIZES, **changes)


def built(config: Path, *overrides: str) -> Prepared:
    loaded = load_config(config, overrides)
    return prepare(loaded.config, loaded.folder)


@pytest.mark.parametrize(
    "setting", ["api_base=http://127.0.0.1:9/v1", "api_key_env=SOME_NAME", "price={input: 1, output: 1}", "params={top_p: 0.5}"]
)
def test_what_an_embedded_model_would_not_heed_is_refused(tmp_path: Path, setting: str) -> None:
    config = project(tmp_path)
    local = ["models.a={id: a, model: local/smollm2, temperature: 0.5}", f"models.0.{setting}"]
    with pytest.raises(PlacedError, match=rf"models\.0\.model: {setting.partition('=')[0]} is for hosted models.*remove it"):
        built(config, *local)
    assert [model.sampled for model in built(config, local[0]).models] == [True]


DEMOS = {"demos": {"max": 4}}


def test_demonstrations_and_withheld_answers_exclude_each_other(tmp_path: Path) -> None:
    config = project(tmp_path, proposers=DEMOS)
    with pytest.raises(PlacedError, match=r"proposers\.demos: demonstrations put expected answers into prompts"):
        built(config, "scoring.reveal_expected=false")


def test_every_train_example_is_offered_as_a_demonstration(tmp_path: Path) -> None:
    prepared = built(project(tmp_path, proposers=DEMOS))
    assert list(prepared.composing.offers) == offers(prepared.data.train) and len(prepared.composing.offers) == 10
    assert prepared.seed.components[DEMONSTRATIONS] == "" and prepared.proposers == []


def test_without_demonstrations_nothing_is_offered(tmp_path: Path) -> None:
    reflection = {"model": "openai/parcel-a", "api_base": "http://127.0.0.1:9/v1", "minibatch": 7}
    prepared = built(project(tmp_path, proposers={"reflection": reflection}))
    assert list(prepared.composing.offers) == [] and DEMONSTRATIONS not in prepared.seed.components
    assert [(each.name, each.minibatch) for each in prepared.proposers] == [("reflection", 7)]


def test_what_the_seed_shows_is_not_offered_once_more(tmp_path: Path) -> None:
    prepared = built(project(tmp_path, proposers=DEMOS))
    first, *others = prepared.data.train
    by_hand = json.dumps({"inputs": dict(first.inputs), "answer": "by hand"})
    again = built(project(tmp_path, proposers=DEMOS, seed={**prepared.config.seed, DEMONSTRATIONS: by_hand}))
    assert list(again.composing.offers) == offers(others)
    everything = "\n".join(unit.text for unit in prepared.composing.offers)
    full = built(project(tmp_path, proposers=DEMOS, seed={**prepared.config.seed, DEMONSTRATIONS: everything}))
    assert list(full.composing.offers) == []


def test_with_no_answer_to_show_demonstrations_are_refused(tmp_path: Path) -> None:
    config = project(tmp_path, proposers=DEMOS)
    for path in tmp_path.glob("*.jsonl"):
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        path.write_text("".join(json.dumps({**row, "expected": None}) + "\n" for row in rows))
    with pytest.raises(PlacedError, match=r"proposers\.demos: no train example has an expected answer to show; add some, or leave"):
        built(config)


def test_what_is_composed_has_to_pass_the_guards(tmp_path: Path) -> None:
    for proposers in (DEMOS, {"reflection": {"model": "openai/parcel-a", "api_base": "http://127.0.0.1:9/v1"}}):
        prepared = built(project(tmp_path, proposers=proposers))
        seed, problem = prepared.seed, prepared.composing.problem
        assert problem(seed, seed) == "the text is the same as before"
        assert problem(seed, seed.replace(instructions="")) == "the text is empty"
        assert problem(seed, seed.replace(instructions="Say it.")) is None


def test_a_seed_that_holds_what_it_is_measured_on_is_warned_of(tmp_path: Path) -> None:
    ask = "Parcel {}: the driver says that it was wet when it came out of the van, and heavy. Is that carrier, colour?"

    def warnings(seed: str) -> list[str]:
        config = project(tmp_path, seed={"instructions": f"Give the codes. {seed}"})
        path = tmp_path / "parcels.jsonl"
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        rows[-1]["inputs"]["question"] = ask.format("700")
        rows[0]["inputs"]["question"] = "Parcel 9: what about this one, which nobody has seen since it left the harbour of Rotterdam?"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return [each for each in built(config).warnings if "the seed holds" in each]

    assert warnings("Parcel 9: what about this one, which nobody has seen since it left the harbour of Rotterdam?") == [], "train"
    (told,) = warnings(f"For example: {ask.format('700')}")
    assert told.startswith("the seed holds 1 of the examples of val and test nearly word for word ('test-7005' (") and "jsonl:22" in told


@pytest.mark.parametrize(
    ("name", "told"),
    [("opnai/gpt-4.1", r"did you mean openai/…\?"), ("gpt", "write provider/model"), ("xyzzyx/q", "write provider/model")],
)
def test_a_provider_that_nobody_knows_is_named_before_the_first_call(tmp_path: Path, name: str, told: str) -> None:
    for place, override in (
        ("models.0.model", f"models.a.model={name}"),
        ("proposers.reflection.model", f"proposers.reflection.model={name}"),
    ):
        with pytest.raises(PlacedError, match=rf"{place}: LiteLLM knows no provider for '{name}'; {told}"):
            built(project(tmp_path), override)
    for known in ("anthropic/claude-haiku-4-5", "gpt-4o", "openai/whatever"):
        assert built(project(tmp_path), f"models.a.model={known}").models[0].client.model == known


@pytest.mark.parametrize("address", ["not a url", "localhost:8000", "ftp://x/v1", "http://"])
def test_an_address_that_is_none_is_refused(tmp_path: Path, address: str) -> None:
    with pytest.raises(ConfigError, match=r"models\.0\.api_base: .*is no address of a server"):
        built(project(tmp_path), f"models.a.api_base={address}")


@pytest.mark.parametrize("role", ["expected", "id", "group"])
def test_a_column_that_no_row_has_is_told_with_its_place_in_the_config(tmp_path: Path, role: str) -> None:
    with pytest.raises(PlacedError, match=rf"^data\.{role}: .*parcels\.jsonl: no row has the column 'expcted'; did you mean 'expected'\?"):
        built(project(tmp_path), f"data.{role}=expcted")
