"""`compare`: two runs' candidates as their journals have them, or two prompts that are run."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from commands import Command, Ran, commander
from standin import Standin, write_project

from adapters.dataset import data_hash
from optimizer.config import Config
from optimizer.configfile import resolved
from optimizer.data import rows_of
from optimizer.journal import CandidateRow, CellRow, Journal
from optimizer.rundir import manifest, write_json, write_manifest
from scoring import as_family, overall_difference, paired_difference

ROWS = [
    {"id": f"{split}{n}", "text": f"{split} {n}", "expected": "yes", "split": split}
    for split, size in (("train", 2), ("val", 8), ("test", 8))
    for n in range(size)
]
TEXTS = {"a1": "The seed.", "b2": "Another.", "c3": "A third."}
WEAK, STRONG = [0.0, 1.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 0.5, 1.0, 1.0, 1.0, 0.0, 1.0]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Command:
    monkeypatch.chdir(tmp_path)
    return commander(capsys, monkeypatch)


def cells(who: str, split: str, scores: list[float | None], models: tuple[str, ...] = ("m",), noted: str | None = None) -> list[CellRow]:
    """One cell on each of the split's first examples; None where it failed."""
    return [
        CellRow(
            who, f"{split}{n}", model, 0, noted or split, "timeout" if x is None else None, {} if x is None else {"values": {"template": x}}
        )
        for n, x in enumerate(scores)
        for model in models
    ]


def run_of(
    folder: str,
    made: list[CellRow],
    *,
    best: str = "b2",
    rows: list[dict[str, Any]] = ROWS,
    scorers: str = "s",
    dimensions: tuple[str, ...] = ("template",),
    **changes: Any,
) -> None:
    """The directory of a run that has ended, with these cells."""
    out = Path(folder)
    out.mkdir()
    (out / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    content = {
        "version": 1,
        "name": "made",
        "seed": {"instructions": TEXTS["a1"]},
        "adapter": {"user": "{instructions} {text}"},
        "models": [{"id": "m", "model": "local/smollm2"}],
        "data": {"path": "rows.jsonl"},
        "scoring": {"scorers": ["exact"]},
        "proposers": {"demos": {}},
        "budget": {"rollouts": 100},
        **changes,
    }
    config = Config.model_validate(content)
    hashes = {"examples": data_hash(row.example for row in rows_of(config.data, out)), "scorers": scorers}
    write_manifest(out, manifest(resolved(config), out.absolute(), hashes))
    levels = {who: {f"{model.id}:{name}": 0.5 for model in config.models for name in dimensions} for who in TEXTS}
    with closing(Journal.write(out)) as journal:
        for born, (who, text) in enumerate(TEXTS.items()):
            journal.add_candidate(CandidateRow(who, {"instructions": text}, [], "reflection", born, "proposed" if born else "seed"))
            journal.decide(born, "commit", {"candidate": who, "best": best})
        journal.stand(2, {"best": best, "frontier": [best], "levels": levels, "deviations": levels})
        journal.add_cells(made)
    write_json(out / "result.json", {"best": {"id": best}, "spent": {}, "frontier": []})


def data(ran: Ran) -> dict[str, Any]:
    assert ran.code == 0, ran.err
    told: dict[str, Any] = json.loads(ran.out)
    return told


def numbers(told: dict[str, Any]) -> dict[str, Any]:
    """A side's fields as the statistics call them."""
    fields = {**told, "seed": told["a"], "best": told["b"]}
    return {name: value for name, value in fields.items() if name not in ("a", "b", "verdict")}


def test_the_bests_of_two_runs_on_test_where_both_met_it(command: Command) -> None:
    run_of("one", [*cells("b2", "test", [*WEAK]), *cells("b2", "val", [1.0] * 8)])
    run_of("two", [*cells("c3", "test", [*STRONG]), *cells("c3", "val", [0.0] * 8)], best="c3")
    told = data(command("compare", "one", "two", "--json"))
    assert told["a"] == {"name": "one", "id": "b2", "components": {"instructions": "Another."}}
    assert told["b"] == {"name": "two", "id": "c3", "components": {"instructions": "A third."}}
    assert (told["split"], told["optimistic"], told["examples"]) == ("test", False, {"common": 8, "a": 8, "b": 8})
    expected = paired_difference(WEAK, STRONG, rng_seed=0)
    assert numbers(told["overall"]) == vars(expected) and told["verdict"] == told["overall"]["verdict"] == "improved"
    assert told["objectives"]["m:template"]["p_holm"] == expected.p and told["models"] == {}
    turned = data(command("compare", "two", "one", "--json"))
    assert turned["verdict"] == "worse" and turned["overall"]["difference"] == -told["overall"]["difference"]


def test_two_candidates_of_one_run_where_one_never_met_test(command: Command) -> None:
    run_of("one", [*cells("a1", "test", [0.0] * 8), *cells("a1", "val", [*WEAK[:6]]), *cells("c3", "val", [1.0, *STRONG[1:]])])
    ran = command("compare", "one:seed", "one:c3")
    assert (
        ran.code == 0 and ran.out.splitlines()[-1] == "val is where they were selected, which flatters them: the difference is optimistic"
    )
    assert "compared on 6 val examples that both were run on (A was run on 6, B on 8)" in ran.out
    told = data(command("compare", "one:seed", "one:c3", "--json"))
    assert told["optimistic"] and told["overall"]["difference"] == pytest.approx(sum(STRONG[:6]) / 6 - sum(WEAK[:6]) / 6)


def test_reports_on_val_count_as_val(command: Command) -> None:
    run_of("one", [*cells("a1", "val", [0.0, 0.0]), *cells("b2", "val", [1.0, 1.0], noted="report")])
    told = data(command("compare", "one:seed", "one", "--json"))
    assert (told["split"], told["overall"]["n"], told["overall"]["difference"]) == ("val", 2, 1.0)


def test_failed_cells_are_left_out_in_pairs(command: Command) -> None:
    run_of("one", [*cells("a1", "test", [None, 0.0, 0.5, 1.0]), *cells("b2", "test", [1.0, None, 0.5, 1.0])])
    told = data(command("compare", "one:seed", "one", "--json"))
    assert told["examples"]["common"] == 4 and (told["overall"]["n"], told["overall"]["difference"]) == (2, 0.0)
    run_of("none", [*cells("a1", "test", [None, 0.0]), *cells("b2", "test", [1.0, None])])
    told = data(command("compare", "none:seed", "none", "--json"))
    assert told["overall"]["n"] == 0 and told["overall"]["difference"] is None and told["verdict"] == "not distinguishable"
    assert "Nothing is known: no test example has a score of both." in command("compare", "none:seed", "none").out


def test_groups_are_one_piece_of_evidence(command: Command) -> None:
    grouped = [{**row, "group": f"{row['split']}{int(str(row['id'])[-1]) // 4}"} for row in ROWS]
    run_of("one", [*cells("a1", "test", [*WEAK]), *cells("b2", "test", [*STRONG])], rows=grouped)
    told = data(command("compare", "one:seed", "one", "--json"))
    groups: list[str | None] = [f"g{n // 4}" for n in range(8)]
    assert (
        numbers(told["overall"]) == vars(paired_difference(WEAK, STRONG, groups, rng_seed=0)) and told["verdict"] == "not distinguishable"
    )


def test_several_models_are_families(command: Command) -> None:
    models = [{"id": name, "model": "local/smollm2"} for name in ("m", "n")]
    wanted = {"models": {"n": 3}, "dimensions": {"template": {"direction": "minimize"}}}
    n = ("n",)
    made = [
        *cells("a1", "test", [*WEAK]),
        *cells("a1", "test", [1.0] * 8, n),
        *cells("b2", "test", [*STRONG]),
        *cells("b2", "test", [*WEAK], n),
    ]
    run_of("one", made, models=models, objectives=wanted)
    told = data(command("compare", "one:seed", "one", "--json"))
    first = [[1 - x, 0.0] for x in WEAK]
    second = [[1 - x, 1 - y] for x, y in zip(STRONG, WEAK, strict=True)]
    assert numbers(told["overall"]) == pytest.approx(vars(overall_difference(first, second, weights=[1, 3], rng_seed=0)))
    alone = {name: paired_difference([x[k] for x in first], [x[k] for x in second], rng_seed=0) for k, name in enumerate("mn")}
    family = as_family(alone)
    assert {name: each["p_holm"] for name, each in told["models"].items()} == {name: each.p_holm for name, each in family.items()}
    assert told["objectives"]["m:template"]["difference"] == pytest.approx(sum(STRONG) / 8 - sum(WEAK) / 8), "as its scorer has it"
    assert told["objectives"]["m:template"]["verdict"] == "worse" and told["objectives"]["n:template"]["verdict"] == "improved"
    words = command("compare", "one:seed", "one").out
    assert "m:template (lower is better): A " in words and words.endswith("side by side (Holm)\n")


def test_only_the_same_examples_are_compared(command: Command) -> None:
    other = [{**row, "text": "changed"} if row["id"] in ("test1", "test2") else row for row in ROWS if row["id"] != "test0"]
    other = [{**row, "group": "g"} if row["id"] == "test3" else row for row in other]
    run_of("one", cells("b2", "test", [*WEAK]))
    run_of("two", cells("b2", "test", [*STRONG]), rows=[*other, {"id": "test8", "text": "new", "expected": "no", "split": "test"}])
    told = data(command("compare", "one", "two", "--json"))
    assert told["examples"] == {"common": 4, "a": 8, "b": 8}
    assert told["overall"]["a"] == pytest.approx(sum(WEAK[4:]) / 4) and told["overall"]["b"] == pytest.approx(sum(STRONG[4:]) / 4)
    assert "A and B are the same texts" in command("compare", "one", "two").out


def test_objectives_that_only_one_run_has_are_left_out(command: Command) -> None:
    models = [{"id": name, "model": "local/smollm2"} for name in ("n", "m")]
    run_of("one", cells("b2", "test", [*WEAK]))
    run_of("two", cells("b2", "test", [*STRONG], ("m", "n")), models=models, dimensions=("brevity", "template"))
    told = data(command("compare", "one", "two", "--json"))
    assert list(told["objectives"]) == ["m:template"] and told["overall"]["b"] == pytest.approx(sum(STRONG) / 8)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"scorers": "others"}, "scored by different scorers"),
        ({"models": [{"id": "m", "model": "openai/other"}]}, "'m' has model 'local/smollm2' in one and 'openai/other' in two"),
        ({"models": [{"id": "m", "model": "local/smollm2", "temperature": 1}]}, "'m' has temperature 0.0 in one and 1.0 in two"),
        ({"models": [{"id": "n", "model": "local/smollm2"}]}, "no objective in common: m:template and n:template"),
        ({"objectives": {"dimensions": {"template": {"direction": "minimize"}}}}, "other weights or directions"),
        ({"rows": [{**row, "text": "changed"} for row in ROWS]}, "no test or val example in common"),
    ],
)
def test_what_does_not_compare_is_refused(command: Command, changes: dict[str, Any], words: str) -> None:
    run_of("one", cells("b2", "test", [*WEAK]))
    run_of("two", cells("b2", "test", [*STRONG]), **changes)
    ran = command("compare", "one", "two")
    assert (ran.code, ran.out) == (2, "") and words in ran.err


def test_data_that_changed_since_the_run_is_refused(command: Command) -> None:
    run_of("one", cells("b2", "test", [*WEAK]))
    Path("one/rows.jsonl").write_text(json.dumps(ROWS[0]) + "\n")
    ran = command("compare", "one:seed", "one")
    assert ran.code == 2 and "the data that one was made with has changed since" in ran.err


def test_what_is_no_run_is_refused(command: Command) -> None:
    run_of("one", cells("b2", "test", [*WEAK]))
    Path("new.txt").write_text("A prompt.")
    for name in ("new.txt", "nowhere", "nowhere:best"):
        ran = command("compare", "one", name)
        assert ran.code == 2 and f"{name}: no directory of a run." in ran.err and "--config CONFIG" in ran.err
    ran = command("compare", "one", "one:bets")
    assert ran.code == 2 and "did you mean 'best'?" in ran.err


def test_a_folder_may_have_a_colon_in_its_name(command: Command) -> None:
    run_of("a:b", [*cells("a1", "test", [*WEAK]), *cells("b2", "test", [*STRONG])])
    assert data(command("compare", "a:b:seed", "a:b", "--json"))["overall"]["n"] == 8


@pytest.mark.parametrize("option", [["--split", "test"], ["--repeats", "2"], ["--set", "name=x"], ["--out", "x"], ["--no-progress"]])
def test_options_of_running_ask_for_a_config(command: Command, option: list[str]) -> None:
    ran = command("compare", "one", "two", *option)
    assert ran.code == 2 and f"{option[0]} goes with --config CONFIG" in ran.err


def test_two_prompts_meet_the_same_examples(standin: Standin, command: Command) -> None:
    config = write_project(Path(), standin.api_base, budget={"rollouts": 100}, sizes={"train": 4, "val": 12, "test": 6}, models=("a", "b"))
    Path("new.txt").write_text("As one JSON object.\nrule-zone\nrule-grade\nrule-colour\nrule-shelf")
    alone = [data(command("evaluate", config, "--candidate", name, "--json")) for name in ("seed", "new.txt")]
    made = sum(standin.stats()["calls"].values())
    told = data(command("compare", "seed", "new.txt", "--config", config, "--json"))
    assert sum(standin.stats()["calls"].values()) == made and told["made"] == 0, "what evaluate paid for is used"
    assert told["a"]["name"] == "seed" and told["b"]["components"] == {"instructions": Path("new.txt").read_text()}
    assert (told["split"], told["examples"], told["optimistic"]) == ("val", {"common": 12, "a": 12, "b": 12}, False)
    for name, each in told["objectives"].items():
        assert (each["a"], each["b"]) == (alone[0]["objectives"][name]["mean"], alone[1]["objectives"][name]["mean"])
    assert (
        told["overall"]["difference"] == pytest.approx(alone[1]["overall"]["mean"] - alone[0]["overall"]["mean"])
        and told["verdict"] == "improved"
    )
    assert told["spent"]["rollouts"] == 48 and told["look"] is None


def test_a_limit_ends_both_sides_at_the_same_example(standin: Standin, command: Command) -> None:
    config = write_project(Path(), standin.api_base, budget={"rollouts": 11}, sizes={"train": 4, "val": 12, "test": 6})
    Path("new.txt").write_text("rule-zone")
    ran = command("compare", "seed", "new.txt", "--config", config, "--split", "test", "--set", "budget.rollouts=11", "--json")
    told = data(ran)
    assert told["examples"] == {"common": 5, "a": 5, "b": 5} and told["overall"]["n"] == 5 and told["spent"]["rollouts"] == 10
    assert "ended the evaluation after 5 of 6 examples" in ran.err and told["look"] == 1
    words = command("compare", "seed", "new.txt", "--config", config, "--split", "test").out
    assert "kept in evaluations/parcel-run" in words and "A: seed, candidate " in words


def test_a_prompt_beside_itself(standin: Standin, command: Command) -> None:
    config = write_project(Path(), standin.api_base, budget={"rollouts": 11}, sizes={"train": 4, "val": 4})
    ran = command("compare", "seed", "seed", "--config", config)
    assert ran.code == 2 and "seed and seed are the same, so there is nothing to compare" in ran.err
