"""The example with two models and three dimensions, configs/multi_model.yaml. That it passes its check is in test_configs.py."""

import json
from collections import Counter
from pathlib import Path

import pytest
from commands import commander

from adapters.answer import TracedAnswer
from adapters.dataset import load_dataset
from adapters.example import Example
from scoring.loading import load_scorer

CONFIGS = Path(__file__).parents[2] / "configs"
MESSAGES = CONFIGS / "multi_model/messages.jsonl"
SPLITS = {"train": 136, "val": 48, "test": 64}


def test_no_message_comes_twice_and_half_of_every_split_is_spam() -> None:
    rows = load_dataset(MESSAGES)
    texts = {" ".join(str(row.example.inputs["message"]).lower().split()) for row in rows}
    assert len({row.example.id for row in rows}) == len(texts) == len(rows)
    counts = Counter((row.split, row.example.expected) for row in rows)
    assert counts == {(split, label): size // 2 for split, size in SPLITS.items() for label in ("wanted", "spam")}


@pytest.mark.parametrize(
    ("expected", "text", "value"), [("wanted", "spam", 0), ("wanted", "wanted", 1), ("spam", "spam", 1), ("spam", "wanted", 1)]
)
async def test_only_a_wanted_message_can_be_lost(expected: str, text: str, value: float) -> None:
    scorer = load_scorer({"python": "multi_model/scorers.py:kept"}, CONFIGS)
    score = await scorer.score(Example("e", {"message": "Hello"}, expected), TracedAnswer(text))
    assert score.values == {"kept": value}
    assert ("thrown away" in score.feedback) == (value == 0)


def test_it_runs_on_the_embedded_model(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A small part of it: on fewer examples, with fewer demonstrations."""
    pytest.importorskip("xllamacpp")
    pytest.importorskip("gguf")
    lines = [(json.loads(line)["split"], line) for line in MESSAGES.read_text(encoding="utf-8").splitlines()]
    kept = [line for split, size in (("train", 10), ("val", 4), ("test", 4)) for line in [x for s, x in lines if s == split][:size]]
    folder = tmp_path / "multi_model"
    folder.mkdir()
    (folder / "messages.jsonl").write_text("\n".join(kept) + "\n", encoding="utf-8")
    (folder / "scorers.py").write_text((CONFIGS / "multi_model/scorers.py").read_text())
    config = tmp_path / "multi_model.yaml"
    config.write_text((CONFIGS / "multi_model.yaml").read_text())
    command, out = commander(capsys, monkeypatch), tmp_path / "run"
    small = ("--set", "budget.rollouts=48", "--set", "proposers.demos={max: 2}", "--no-progress")
    ran = command("run", config, *small, "--out", out, "--json")
    assert ran.code == 0, ran.err
    result = json.loads(ran.out)
    assert result["stopped_by"] == "rollouts" and 30 <= result["spent"]["rollouts"] <= 48
    assert list(result["objectives"]) == [f"{model}:{aim}" for model in ("steady", "warm") for aim in ("template", "kept", "tokens")]
    # Both models met the same prompts.
    assert result["objectives"]["steady:tokens"]["seed"] == pytest.approx(result["objectives"]["warm:tokens"]["seed"], abs=0.01)
    assert command("replay", out).code == 0
