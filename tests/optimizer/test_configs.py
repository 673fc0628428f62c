"""The examples in configs/ can be used as they are."""

import json
from pathlib import Path

import pytest
from commands import commander

CONFIGS = Path(__file__).parents[2] / "configs"


@pytest.mark.parametrize("config", sorted(CONFIGS.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_config_passes_its_check_without_a_key(
    config: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    checked = commander(capsys, monkeypatch)("check", config, "--json")
    assert checked.code == 0, checked.err
    plan = json.loads(checked.out)
    if config.stem == "hosted":
        assert any("OPENAI_API_KEY is not set" in warning for warning in plan["warnings"])
    examples = plan["examples"]
    assert examples["train"] >= 20 and examples["val"] >= 10 and examples["test"] >= 10


def test_the_quickstart_runs_on_the_embedded_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A small part of it: on fewer examples, with demonstrations that are shorter to read."""
    pytest.importorskip("xllamacpp")
    pytest.importorskip("gguf")
    rows = [json.loads(line) for line in (CONFIGS / "quickstart/dates.jsonl").read_text().splitlines()]
    kept = [row for part, size in (("train", 20), ("val", 8), ("test", 8)) for row in [r for r in rows if r["split"] == part][:size]]
    folder = tmp_path / "quickstart"
    folder.mkdir()
    (folder / "dates.jsonl").write_text("".join(json.dumps(row) + "\n" for row in kept))
    config = tmp_path / "quickstart.yaml"
    config.write_text((CONFIGS / "quickstart.yaml").read_text())
    command = commander(capsys, monkeypatch)
    small = ("--set", "budget.rollouts=64", "--set", "proposers.demos={max: 2}", "--out", tmp_path / "run", "--no-progress")
    ran = command("run", config, *small, "--json")
    assert ran.code == 0, ran.err
    result = json.loads(ran.out)
    assert result["stopped_by"] == "rollouts" and 40 <= result["spent"]["rollouts"] <= 64
    assert result["overall"]["n"] == 8 and result["spent"]["usd"] == 0
    assert command("replay", tmp_path / "run").code == 0
