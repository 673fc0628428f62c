"""Candidates from files: what is taken for one, and what is not."""

import json
from pathlib import Path
from typing import Any

import pytest

from adapters.candidate import DEMONSTRATIONS
from optimizer.build import Prepared, prepare
from optimizer.candidatefile import named_candidate
from optimizer.configfile import config_of
from optimizer.errors import ConfigError
from optimizer.rundir import write_best

ROWS = [{"id": f"e{n}", "text": f"text {n}", "expected": "yes", "split": split} for n, split in enumerate(("train", "val"))]
ONE = {"instructions": "Say yes."}
TWO = {"instructions": "Say yes to {text}.", "style": "Short."}


def prepared(seed: dict[str, str], **changes: Any) -> Prepared:
    content = {
        "version": 1,
        "name": "made",
        "seed": seed,
        "adapter": {"system": " ".join(f"{{{name}}}" for name in seed), "user": "{text}"},
        "models": [{"id": "m", "model": "openai/none"}],
        "data": {"rows": ROWS},
        "scoring": {"scorers": ["exact"]},
        "proposers": {"demos": {}},
        "budget": {"rollouts": 10},
        **changes,
    }
    return prepare(config_of(content).config, Path())


def test_a_text_is_the_one_component(tmp_path: Path) -> None:
    (tmp_path / "new.txt").write_bytes(b"Say\r\nno. \n")
    found = named_candidate(str(tmp_path / "new.txt"), prepared(ONE))
    assert found.components == {"instructions": "Say\r\nno. \n", DEMONSTRATIONS: ""}, "as it is, and room for demonstrations"


@pytest.mark.parametrize(("name", "content"), [("new.txt", "Say no."), ("new.yaml", "instructions: Say no."), ("new.json", None)])
def test_a_byte_order_mark_is_no_part_of_a_text(tmp_path: Path, name: str, content: str | None) -> None:
    (tmp_path / name).write_text(json.dumps({"instructions": "Say no."}) if content is None else content, encoding="utf-8-sig")
    assert named_candidate(str(tmp_path / name), prepared(ONE)).components["instructions"] == "Say no."


def test_an_empty_file_is_no_prompt(tmp_path: Path) -> None:
    (tmp_path / "instructions.txt").write_text("\n")
    for path in (tmp_path / "instructions.txt", tmp_path):
        with pytest.raises(ConfigError, match="the text of component 'instructions' is empty; write the prompt there, or give"):
            named_candidate(str(path), prepared(ONE))
    emptied = prepared({"instructions": ""}, proposers={"reflection": {"model": "openai/none"}})
    assert named_candidate(str(tmp_path), emptied).components == {"instructions": "\n"}, "as the seed's is"


def test_the_seed_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = prepared(ONE)
    assert named_candidate("seed", made) == made.seed
    monkeypatch.chdir(tmp_path)
    (tmp_path / "seed").write_text("A file of this name.")
    assert named_candidate("seed", made).components["instructions"] == "A file of this name."


@pytest.mark.parametrize("name", ["new.yaml", "new.yml", "new.json"])
def test_a_mapping(tmp_path: Path, name: str) -> None:
    texts = {"instructions": "No to {text}!", "style": "Long.", DEMONSTRATIONS: '{"inputs": {"text": "a"}, "answer": "b"}'}
    (tmp_path / name).write_text(json.dumps(texts))
    assert named_candidate(str(tmp_path / name), prepared(TWO)).components == texts


def test_what_a_run_wrote_is_read_back_whatever_its_names_are(tmp_path: Path) -> None:
    texts = {"a/b": "One.\n", "per%cent": "Two.", DEMONSTRATIONS: ""}
    made = prepared({"a/b": "x", "per%cent": "y"}, adapter={"system": "{a/b} {per%cent}", "user": "{text}"})
    write_best(tmp_path, texts, {"m": {"a/b": "Another's."}})
    assert named_candidate(str(tmp_path / "best"), made).components == texts
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(ConfigError, match=r"directory of a run; .*best"):
        named_candidate(str(tmp_path), made)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.yaml", "instruction: x", "no component 'instruction'; did you mean 'instructions'\\?"),
        ("a.yaml", "instructions: 'to {text}'", "the component 'style' is missing; there is instructions"),
        ("a.yaml", "instructions: 'Say yes.'\nstyle: Short.", "'instructions': the placeholder {text} is missing"),
        ("a.yaml", "- a", "expected a mapping"),
        ("a.json", "{}", "expected a mapping"),
        ("a.json", "", "a.json: the file is empty; write a mapping of components to their texts"),
        ("a.yaml", "\ufeff\n", "a.yaml: the file is empty; write a mapping of components to their texts"),
        ("a.yaml", "instructions: 'to {text}'\nstyle: ' '", "the text of component 'style' is empty; write the prompt there"),
        ("a.json", "{", "no JSON"),
        ("a.json", '{"style": "\\ud83d"}', "style: the text holds half of a surrogate pair"),
        ("a.json", '{"style": "One.", "style": "Two."}', "the key 'style' is given twice"),
        ("a.json", "[" * 100_000, "nested more than 100 levels deep"),
        ("a.yaml", "style: 1", "the component 'style' is no text"),
        ("a.txt", "A text.", "components instructions, style; give a folder"),
    ],
)
def test_what_is_no_candidate_is_refused(tmp_path: Path, name: str, content: str, words: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(ConfigError, match=words):
        named_candidate(str(tmp_path / name), prepared(TWO))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    made = prepared(ONE)
    (tmp_path / "latin.txt").write_bytes(b"\xe9")
    with pytest.raises(ConfigError, match=r"not UTF-8 text \(byte 0\)"):
        named_candidate(str(tmp_path / "latin.txt"), made)
    with pytest.raises(ConfigError, match=r"no such file or folder; did you mean 'latin.txt'\?"):
        named_candidate(str(tmp_path / "latin.tx"), made)
    with pytest.raises(ConfigError, match=r"no such file or folder$"):
        named_candidate(str(tmp_path / "nowhere" / "a.txt"), made)
    with pytest.raises(ConfigError, match="cannot be read"):
        named_candidate(str(tmp_path / "latin.txt" / "a.txt"), made)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match=r"the folder has no <component>\.txt"):
        named_candidate(str(tmp_path / "empty"), made)


def test_more_of_an_input_is_allowed_since_somebody_asks_for_it(tmp_path: Path) -> None:
    """Proposals may not; whoever names a prompt means it."""
    (tmp_path / "a.txt").write_text("{text} and once more {text}")
    assert "once more" in named_candidate(str(tmp_path / "a.txt"), prepared(ONE)).components["instructions"]
