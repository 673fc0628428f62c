"""From a config to live objects: what cannot work is said before the first call."""

from pathlib import Path
from typing import Any

import pytest
from standin import write_project

from optimizer.build import prepare
from optimizer.configfile import load_config
from optimizer.errors import PlacedError

SIZES = {"train": 10, "val": 6, "test": 6}


def project(folder: Path, **changes: Any) -> Path:
    return write_project(folder, "http://127.0.0.1:9/v1", budget={"rollouts": 60}, sizes=SIZES, **changes)


def built(config: Path, *overrides: str) -> object:
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
    assert built(config, local[0])


def test_demonstrations_and_withheld_answers_exclude_each_other(tmp_path: Path) -> None:
    config = project(tmp_path, proposers={"demos": {"max": 4, "minibatch": 5}})
    assert built(config)
    with pytest.raises(PlacedError, match=r"proposers\.demos: demonstrations put expected answers into prompts"):
        built(config, "scoring.reveal_expected=false")


def test_a_minibatch_leaves_examples_to_show(tmp_path: Path) -> None:
    config = project(tmp_path, proposers={"demos": {"max": 4}})
    with pytest.raises(PlacedError, match=r"demos\.minibatch: a minibatch of 10 leaves none of the 10 train examples to show; lower it"):
        built(config)
    assert built(config, "proposers.demos.minibatch=9")
