"""Config files: what is read, and what a person is told of every mistake."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.configfile import changes, config_from_manifest, load_config, resolved, schema
from optimizer.errors import ConfigError, PlacedError

GOOD = """\
version: 1
name: tickets
seed: {instructions: "Classify."}
adapter:
  kind: prompt
  user: "{ticket}"
models:
  - {id: small, model: local/smollm2}
  - id: large
    model: openai/large
data:
  path: tickets.jsonl
scoring: {scorers: [exact, {python: "scorers.py:brevity"}]}
proposers: {demos: {max: 2}}
budget: {rollouts: 100}
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "c.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def complaint(folder: Path, text: str, *overrides: str) -> str:
    """The error's message, without the folder."""
    path = write(folder, text)
    with pytest.raises(ConfigError) as caught:
        load_config(path, overrides)
    return str(caught.value).replace(f"{folder}/", "")


def test_a_config_is_read_with_the_folder_that_its_paths_start_from(tmp_path: Path) -> None:
    loaded = load_config(write(tmp_path, GOOD))
    assert loaded.folder == tmp_path
    assert loaded.config.models[1].model == "openai/large"
    assert loaded.config.scoring.scorers == ["exact", {"python": "scorers.py:brevity"}]


def test_a_relative_path_gives_an_absolute_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, GOOD)
    monkeypatch.chdir(tmp_path)
    assert load_config(Path("c.yaml")).folder == tmp_path


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("rollouts: 100", "rolouts: 100", "c.yaml:15: budget.rolouts: unknown key; did you mean 'rollouts'?"),
        ("max: 2", "qqq: 2", "c.yaml:14: proposers.demos.qqq: unknown key; there is max"),
        ("rollouts: 100", "rollouts: -1", "c.yaml:15: budget.rollouts: must be at least 1, not -1"),
        ("rollouts: 100", f"rollouts: {10**400}", f"c.yaml:15: budget.rollouts: must be at most 1e+15, not {10**400}"),
        ('user: "{ticket}"', 'user: "{ticket} \\ud83d"',
         "c.yaml:4: adapter: the text holds half of a surrogate pair, which is no character"),
        ("rollouts: 100", "rollouts: many", "c.yaml:15: budget.rollouts: expected a whole number, not the text 'many'"),
        ("rollouts: 100", "rollouts: 1.5", "c.yaml:15: budget.rollouts: expected a whole number, not the number 1.5"),
        ("rollouts: 100", "", "c.yaml:15: budget: set at least one limit: rollouts, calls, tokens, usd or minutes"),
        ("rollouts: 100", "rollouts: true", "c.yaml:15: budget.rollouts: expected a whole number, not true"),
        ("rollouts: 100", "rollouts: '7'", "c.yaml:15: budget.rollouts: expected a whole number, not the text '7'"),
        ("id: large", "id: large\n    api_key_env: sk-ant-7",
         "c.yaml:10: models.1.api_key_env: does not fit the pattern ^[A-Za-z_][A-Za-z0-9_]*$"),
        ("rollouts: 100", "usd: 0", "c.yaml:15: budget.usd: must be more than 0, not 0"),
        ("kind: prompt", "kind: promt",
         "c.yaml:5: adapter.kind: expected 'prompt', not the text 'promt'; did you mean 'prompt'?"),
        ("kind: prompt", "kind: zzz", "c.yaml:5: adapter.kind: expected 'prompt', not the text 'zzz'"),
        ("version: 1", "version: 2", "c.yaml:1: version: this promptfront reads version 1, not the number 2"),
        ("version: 1\n", "", "c.yaml: version: this key is missing"),
        ("id: small, ", "", "c.yaml:8: models.0.id: this key is missing"),
        ("id: large", "id: a b", r"c.yaml:9: models.1.id: does not fit the pattern ^[^:\s]+$"),
        ("id: large", f"id: {61 * 'x'}", "c.yaml:9: models.1.id: must have at most 60 characters"),
        ("name: tickets", "name: ''", "c.yaml:2: name: must not be empty"),
        ("name: tickets", "name: 12", "c.yaml:2: name: expected text, not the number 12; put quotes around it"),
        ("name: tickets", "name:", "c.yaml:2: name: expected text, not nothing"),
        ('user: "{ticket}"', "user: {ticket}",
         "c.yaml:6: adapter.user: expected text, not a mapping; text that begins with '{' needs quotes"),
        ('user: "{ticket}"', "user: [a]", "c.yaml:6: adapter.user: expected text, not a list"),
        ("instructions:", "5:", "c.yaml:3: the key 5 is not text; put quotes around it"),
        ("kind: prompt", "true: prompt", "c.yaml:5: the key true is not text; put quotes around it"),
        ("exact,", "5,", "c.yaml:13: scoring.scorers.0: expected text or a mapping, not the number 5"),
        ('[exact, {python: "scorers.py:brevity"}]', "5", "c.yaml:13: scoring.scorers: expected a list, not the number 5"),
        ("path: tickets.jsonl", "path: []", "c.yaml:12: data.path: expected text, not a list"),
        ("data:\n  path: tickets.jsonl", "data: tickets.jsonl",
         "c.yaml:11: data: expected a mapping, not the text 'tickets.jsonl'"),
        ("demos: {max: 2}", "demos: {max: 90}", "c.yaml:14: proposers.demos.max: must be at most 64, not 90"),
        ("demos: {max: 2}", "", "c.yaml:14: proposers: name at least one proposer: reflection (with a model) or demos"),
        ("kind: prompt", "answer: {labels: [true, 1, maybe]}",
         "c.yaml:5: adapter.answer.labels.0: expected text, not true; put quotes around it\n"
         "c.yaml:5: adapter.answer.labels.1: expected text, not the number 1; put quotes around it"),
        ("kind: prompt", "answer: {labels: [a]}", "c.yaml:5: adapter.answer.labels: needs at least 2, has 1"),
        ("kind: prompt", "answer: {lables: [a, b]}", "c.yaml:5: adapter.answer.lables: unknown key; did you mean 'labels'?"),
        ("kind: prompt", "answer: {}", "c.yaml:5: adapter.answer: expected a mapping with labels or json_schema"),
        ("kind: prompt", "answer: json", "c.yaml:5: adapter.answer: expected a mapping, not the text 'json'"),
        ("path: tickets.jsonl", "path: t\n  split: {train: 0.5, val: 0.2}",
         "c.yaml:13: data.split: train, val and test add up to 0.7; they have to add up to 1"),
        ("path: tickets.jsonl", "path: t\n  split: {train: 1.0, val: 0.2}",
         "c.yaml:13: data.split.train: must be less than 1, not 1.0"),
        ("path: tickets.jsonl", "path: t\n  split: {train: 0.5, val: 0.5, stratify: maybe}",
         "c.yaml:13: data.split.stratify: expected true or false, not the text 'maybe'"),
        ("id: large", "id: small", "c.yaml:7: models: the id 'small' is used twice; every model needs its own"),
        ("id: large", "id: large\n    price: cheap", "c.yaml:10: models.1.price: expected a mapping, not the text 'cheap'"),
        ("id: large", "id: large\n    price: {input: .inf, output: 1}",
         "c.yaml:10:20: not valid YAML: .inf is not a finite number"),
        ("id: large", "id: large\n    id: other", "c.yaml:10: the key 'id' was given in line 9 already"),
        ("id: large", "id: a: b",
         "c.yaml:9:10: not valid YAML: mapping values are not allowed here"
         "; text that holds ': ' needs quotes"),
        ('user: "{ticket}"', "user: {{ticket}}",
         "c.yaml:6: a key has to be text; text that begins with '{' or '[' needs quotes"),
        ("  path", "\tpath",
         "c.yaml:12:1: not valid YAML: found character '\\t' that cannot start any token"
         "; indent with spaces, not with tabs"),
        ("id: large", "id: @x",
         "c.yaml:9:9: not valid YAML: found character '@' that cannot start any token"
         "; text that begins with this character needs quotes"),
        ("id: large", "id: [large", "c.yaml:10:10: not valid YAML: expected ',' or ']', but got ':'"),
        ("id: large", "id: *x", "c.yaml:9:9: not valid YAML: found undefined alias 'x'"),
        ("id: large", "id: &x [*x]", "c.yaml:9:9: not valid YAML: an alias contains itself"),
        ("id: large", "id: !!python/object:os.x y",
         "c.yaml:9:9: not valid YAML: the type tag:yaml.org,2002:python/object:os.x has no place here"),
        ("id: large", "id: \x01", "c.yaml:9: not valid YAML: the character U+0001 is not allowed"),
        ("budget:", "---\nbudget:",
         "c.yaml:15:1: not valid YAML: expected a single document in the stream but found another document"),
    ],
)  # fmt: skip
def test_every_mistake_is_told_with_its_place_and_the_way_out(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in GOOD
    assert message in complaint(tmp_path, GOOD.replace(old, new, 1))


def test_all_mistakes_are_told_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = GOOD.replace("name:", "nmae:").replace("rollouts: 100", "rollouts: 0").replace("max: 2", "max: x").replace("version: 1\n", "")
    assert complaint(tmp_path, text).splitlines() == [
        "c.yaml: version: this key is missing",
        "c.yaml:1: nmae: unknown key; did you mean 'name'?",
        "c.yaml:13: proposers.demos.max: expected a whole number, not the text 'x'",
        "c.yaml:14: budget.rollouts: must be at least 1, not 0",
    ]


def test_of_another_version_only_the_version_is_told(tmp_path: Path) -> None:
    text = GOOD.replace("version: 1", "version: 2").replace("rollouts", "runs")
    assert complaint(tmp_path, text).splitlines() == ["c.yaml:1: version: this promptfront reads version 1, not the number 2"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("# nothing\n", "the file is empty"),
        ("- a\n- b\n", "a config is a mapping"),
        ("tickets", "a config is a mapping"),
        ("[" * 3000, "nested too deeply"),
    ],
)
def test_what_is_no_mapping_is_refused(tmp_path: Path, text: str, message: str) -> None:
    assert message in complaint(tmp_path, text)


def test_a_missing_file_is_told_with_the_nearest_in_its_folder(tmp_path: Path) -> None:
    write(tmp_path, GOOD).rename(tmp_path / "tickets.yaml")
    with pytest.raises(ConfigError, match=r"ticket\.yml: no such file; did you mean 'tickets\.yaml'\?"):
        load_config(tmp_path / "ticket.yml")
    with pytest.raises(ConfigError, match=r"no such file$"):
        load_config(tmp_path / "nowhere" / "ticket.yml")


def test_a_folder_and_other_encodings_are_refused(tmp_path: Path) -> None:
    write(tmp_path, GOOD)
    with pytest.raises(ConfigError, match=r"this is a folder; name the config file in it; did you mean 'c\.yaml'\?"):
        load_config(tmp_path)
    (tmp_path / "c.yaml").write_bytes(GOOD.replace("tickets", "tïckets").encode("latin-1"))
    with pytest.raises(ConfigError, match=r"not UTF-8 text \(byte 18\)"):
        load_config(tmp_path / "c.yaml")
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config(tmp_path / "c.yaml" / "inner.yaml")


def test_dates_stay_text(tmp_path: Path) -> None:
    loaded = load_config(write(tmp_path, GOOD.replace("Classify.", "x").replace('"x"', "2024-01-02")))
    assert loaded.config.seed == {"instructions": "2024-01-02"}


def test_merged_keys_are_read_and_placed(tmp_path: Path) -> None:
    base = GOOD.replace("- {id: small,", "- &small {id: small, temperature: 9,").replace("id: large", "<<: *small\n    id: large")
    assert complaint(tmp_path, base).splitlines() == [
        "c.yaml:8: models.0.temperature: must be at most 2, not 9",
        "c.yaml:8: models.1.temperature: must be at most 2, not 9",
    ]


@pytest.mark.parametrize(
    ("override", "path", "value"),
    [
        ("budget.rollouts=400", ("budget", "rollouts"), 400),
        ("models.0.temperature=1", ("models", 0, "temperature"), 1.0),
        ("models.large.temperature=0.5", ("models", 1, "temperature"), 0.5),
        ("models.large.params.top_k=[1, x]", ("models", 1, "params", "top_k"), [1, "x"]),
        ("proposers.reflection.model=openai/x", ("proposers", "reflection", "model"), "openai/x"),
        ("scoring.scorers.1=fields", ("scoring", "scorers", 1), "fields"),
        ("data.split={train: 0.5, val: 0.5}", ("data", "split", "train"), 0.5),
        ("proposers.demos=", ("proposers", "demos"), None),
        ("seed.instructions='a = b'", ("seed", "instructions"), "a = b"),
        ("objectives.dimensions.a.constraint=>= 0.9", ("objectives", "dimensions", "a", "constraint"), ">= 0.9"),
        ('objectives.dimensions.a.constraint=">= 0.9"', ("objectives", "dimensions", "a", "constraint"), ">= 0.9"),
    ],
)
def test_an_override_changes_one_value(tmp_path: Path, override: str, path: tuple[str | int, ...], value: object) -> None:
    extra = ["proposers.reflection.model=m"] if override == "proposers.demos=" else []
    inner: Any = resolved(load_config(write(tmp_path, GOOD), [*extra, override]).config)
    for key in path:
        inner = inner[key]
    assert inner == value


def test_an_override_leaves_what_an_alias_shared(tmp_path: Path) -> None:
    text = GOOD.replace("model: local/smollm2", "model: m, params: &p {a: 1}").replace("id: large", "id: large\n    params: *p")
    models = load_config(write(tmp_path, text), ["models.large.params.a=2"]).config.models
    assert [model.params["a"] for model in models] == [1, 2]


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("budget.rolouts=4", "--set budget.rolouts=4: budget.rolouts: unknown key; did you mean 'rollouts'?"),
        ("budget={rolouts: 4}", "--set budget={rolouts: 4}: budget.rolouts: unknown key; did you mean 'rollouts'?"),
        ("budget.rollouts=x", "--set budget.rollouts=x: budget.rollouts: expected a whole number, not the text 'x'"),
        ("budget", "--set budget: write it as key.path=value, as in budget.rollouts=400"),
        ("budget..x=1", "--set budget..x=1: write it as key.path=value, as in budget.rollouts=400"),
        ("name.first=x", "--set name.first=x: name is the text 'tickets': there is no 'first' in it"),
        ("models.samll.timeout=1", "--set models.samll.timeout=1: models has no 'samll'; did you mean 'small'?"),
        ("models.7.timeout=1", "--set models.7.timeout=1: models has no '7'; there is small, large"),
        ("name=[", "--set name=[:1:2: not valid YAML"),
        ("proposers.reflection.temperature=1", "--set proposers.reflection.temperature=1: proposers.reflection.model: this key is missing"),
    ],
)
def test_a_wrong_override_is_told_by_its_own_name(tmp_path: Path, override: str, message: str) -> None:
    assert complaint(tmp_path, GOOD, override).startswith(message)


def test_a_manifest_keeps_the_config(tmp_path: Path) -> None:
    config = load_config(write(tmp_path, GOOD), ["models.0.price={input: 1, output: 2}", "models.1.params.x={y: [1, null]}"]).config
    assert config_from_manifest(json.loads(json.dumps(resolved(config)))) == config


def test_a_key_that_was_pasted_in_is_not_repeated(tmp_path: Path) -> None:
    assert "sk-ant-7" not in complaint(tmp_path, GOOD.replace("id: large", "id: large\n    api_key_env: sk-ant-7"))


def test_an_edited_manifest_is_refused(tmp_path: Path) -> None:
    content = resolved(load_config(write(tmp_path, GOOD)).config)
    content["budget"]["rolouts"] = 3
    with pytest.raises(ConfigError, match=r"manifest\.json: config: budget\.rolouts: unknown key; did you mean 'rollouts'\?"):
        config_from_manifest(content)


def test_changes_are_told_by_path() -> None:
    old = {"a": 1, "b": {"c": [1, {"d": 2}], "e": None}, "f": [1], "g": 0}
    assert changes(old, old) == []
    assert changes(old, {"a": 2, "b": {"c": [1, {"d": 3}], "e": None}, "f": [1, 2], "g": 0.0, "h": 1}) == ["a", "b.c.1.d", "f", "g", "h"]
    assert changes(old, {"b": old["b"], "f": [1], "g": 0}) == ["a"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=3),
)


@given(JSON, JSON)
def test_no_change_means_the_same_content(old: object, new: object) -> None:
    assert (changes(old, new) == []) == (json.dumps(old, sort_keys=True) == json.dumps(new, sort_keys=True))


def test_the_schema_describes_every_key() -> None:
    content = schema()
    assert content["title"] == "promptfront config"
    assert content["properties"]["concurrency"]["description"].startswith("Calls in flight")
    assert content["$defs"]["BudgetConfig"]["additionalProperties"] is False
    assert {"version", "name", "budget"} <= set(content["required"])


def test_mistakes_that_are_found_late_are_told_with_their_lines(tmp_path: Path) -> None:
    loaded = load_config(write(tmp_path, GOOD), ["scoring.scorers.1=fields"])
    with pytest.raises(ConfigError, match=r"c\.yaml:10: models\.1\.model: no such model$"), loaded.placing():
        raise PlacedError("models.1.model", "no such model")
    with pytest.raises(ConfigError, match=r"^--set scoring\.scorers\.1=fields: scoring\.scorers\.1: no$"), loaded.placing():
        raise PlacedError("scoring.scorers.1", "no")
