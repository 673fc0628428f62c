"""The commands that read a run's directory: front, show, diff."""

import io
import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from commands import Command, commander
from journalled import made_from
from rich.console import Console

from optimizer.journal import REPORT_JOB, CandidateRow, CellRow, Journal

SEED, WORSE, GOOD, ODD = "aa11", "ab22", "bb33", "cc44"
TEXTS = {
    SEED: {"instructions": "Do it.\nWell.", "demonstrations": ""},
    WORSE: {"instructions": "Do.", "demonstrations": ""},
    GOOD: {"instructions": "Do it.\nVery well.\x1b[31m", "demonstrations": "{}"},
    ODD: {"instructions": "[bold]Odd[/bold]", "demonstrations": "{}"},
}
MEANS = {
    SEED: {"m:template": 0.5, "m:brevity": 0.25},
    GOOD: {"m:template": 0.75, "m:brevity": 0.5},
    ODD: {"m:template": 0.5, "m:brevity": 1.0},
}
DEVIATIONS = {name: {"m:template": 0.03, "m:brevity": 0.021} for name in MEANS}


def cell(candidate: str, example: str, template: float | None, split: str = "val", model: str = "m") -> CellRow:
    """`template` None: the cell failed."""
    body: dict[str, Any] = {"text": "x"} if template is None else {"text": "x", "values": {"template": template, "brevity": 0.5}}
    return CellRow(candidate, example, model, 0, split, "timeout" if template is None else None, body)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps({"id": name, "text": "x"}) + "\n" for name in ("v1", "v2", "t1")))
    made_from(tmp_path, "m", "n", data={"path": str(tmp_path / "rows.jsonl")})
    journal = Journal.write(tmp_path)
    rows = [
        (SEED, [], "seed", 0, "seed"),
        (WORSE, [SEED], "reflection", 1, "proposed"),
        (GOOD, [SEED], "reflection", 2, "proposed"),
        (ODD, [GOOD, SEED], "lines", 3, "composed"),
    ]
    for id_, parents, proposer, born, outcome in rows:
        journal.add_candidate(CandidateRow(id_, TEXTS[id_], parents, proposer, born, outcome))
        journal.decide(born, "commit", {"candidate": id_, "best": ODD, "reason": f"why {id_}"})
        journal.stand(
            born, {"best": SEED, "frontier": [SEED], "levels": {SEED: {"m:template": 0.4}}, "deviations": {SEED: {"m:template": 0.1}}}
        )
    journal.decide(4, "commit", {"candidate": None, "best": ODD, "reason": "no idea"})
    journal.stand(4, {"best": ODD, "frontier": [GOOD, ODD], "levels": MEANS, "deviations": DEVIATIONS})
    journal.decide(REPORT_JOB, "commit", {"best": GOOD, "seed": SEED})
    journal.add_candidate(CandidateRow("dd55", {"instructions": "Left behind."}, [SEED], "lines", 9, "composed"))
    journal.add_cells([cell(SEED, "v1", 1.0), cell(SEED, "v2", 0.0), cell(SEED, "v3", None), cell(SEED, "t1", 0.0, "train")])
    journal.add_cells([cell(GOOD, "v1", 1.0), cell(GOOD, "v2", 0.5), cell(GOOD, "v3", 0.0), cell(WORSE, "t1", 0.25, "train")])
    journal.add_cells([cell(ODD, "v1", None), cell(ODD, "v2", None, model="n")])
    journal.close()
    return tmp_path


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    return commander(capsys, monkeypatch)


def test_front_lists_who_is_not_dominated(folder: Path, command: Command) -> None:
    ran = command("front", folder)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        "levels are estimated from all cells of the search, ± standard deviation; what was measured, `show` tells",
        "bb33: m:brevity 50.0 ± 2.1, m:template 75.0 ± 3.0, by reflection, job 2, parents aa11",
        "cc44: m:brevity 100.0 ± 2.1, m:template 50.0 ± 3.0, best, by lines, job 3, parents bb33 aa11",
    ]


def test_front_lists_all_on_demand(folder: Path, command: Command) -> None:
    told = dict(line.split(": ", 1) for line in command("front", folder, "--all").out.splitlines()[1:])
    assert list(told) == [SEED, WORSE, GOOD, ODD]
    assert told[SEED] == "m:brevity 25.0 ± 2.1, m:template 50.0 ± 3.0, seed, by seed, job 0"
    assert told[WORSE] == "m:brevity –, m:template –, by reflection, job 1, parents aa11"
    assert told[ODD].startswith("m:brevity 100.0 ± 2.1, m:template 50.0 ± 3.0, best, frontier, by lines")


def test_front_for_other_programs(folder: Path, command: Command) -> None:
    ran = command("front", folder, "--json")
    found = json.loads(ran.out)
    listed = found["candidates"]
    assert ran.err == ""
    assert (found["view"], found["winners"]) == ("pareto", [])
    assert [each["id"] for each in listed] == [GOOD, ODD]
    assert listed[0]["components"] == TEXTS[GOOD]
    assert listed[1]["objectives"] == MEANS[ODD] and listed[1]["deviations"] == DEVIATIONS[ODD]
    assert [each["best"] for each in listed] == [False, True]


def test_front_measures_the_frontier(folder: Path, command: Command) -> None:
    found = json.loads(command("front", folder, "--json").out)
    assert found["growth"] == [0.125, 0.375, 0.625]
    assert found["hypervolume"] == 0.625
    assert found["knee"] == GOOD, "of equals, the first"


def test_front_lists_who_is_best_at_something(folder: Path, command: Command) -> None:
    """The seed and its child are alike on v1, and the child is better on v2; the third has failed in all."""
    ran = command("front", folder, "--view", "instance")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[1:] == [
        "aa11: m:brevity 25.0 ± 2.1, m:template 50.0 ± 3.0, wins 1, seed, by seed, job 0",
        "bb33: m:brevity 50.0 ± 2.1, m:template 75.0 ± 3.0, wins 3, frontier, by reflection, job 2, parents aa11",
    ]
    told = command("front", folder, "--view", "hybrid", "--all").out.splitlines()[1:]
    assert [line.partition(":")[0] for line in told] == [SEED, WORSE, GOOD, ODD]
    assert "wins 1, best, frontier" in told[3], "it has the highest level of brevity"


def test_what_there_is_to_win_for_other_programs(folder: Path, command: Command) -> None:
    found = json.loads(command("front", folder, "--view", "cartesian", "--json").out)
    winners = {(each["example"], each["objective"]): each["candidates"] for each in found["winners"]}
    assert winners["v1", "m:template"] == [SEED, GOOD] and winners["v2", "m:template"] == [GOOD]
    assert winners["v1", "n:template"] == []
    assert [each["id"] for each in found["candidates"]] == [SEED, GOOD]
    found = json.loads(command("front", folder, "--view", "objective", "--json").out)
    leaders = {each["objective"]: each["candidates"] for each in found["winners"]}
    assert leaders == {"m:template": [GOOD], "m:brevity": [ODD], "n:template": [], "n:brevity": []}
    assert all(each["example"] is None for each in found["winners"])


def test_front_knows_no_other_view(folder: Path, command: Command) -> None:
    ran = command("front", folder, "--view", "island")
    assert ran.code == 2 and "cartesian" in ran.err


def test_a_frontier_too_large_to_measure_is_said_to_be(folder: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optimizer.hypervolume.OBJECTIVES", 1)
    ran = command("front", folder, "--json")
    found = json.loads(ran.out)
    assert found["hypervolume"] is None and found["growth"] is None and found["knee"] == GOOD
    assert "2 objectives takes too long" in ran.err


def test_show_tells_how_a_candidate_came_about(folder: Path, command: Command) -> None:
    assert command("show", folder, "best").out.startswith("cc44: composed of known lines in job 3 (last: why cc44), best, on the frontier")


def test_show_tells_texts_lineage_and_scores(folder: Path, command: Command) -> None:
    ran = command("show", folder, "bb")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        "bb33: proposed by reflection in job 2 (last: why bb33), on the frontier",
        "from aa11: the seed",
        "",
        "demonstrations",
        "{}",
        "",
        "instructions",
        "Do it.",
        "Very well.\\x1b[31m",
        "",
        "estimated over all examples of the search, ± standard deviation",
        "m:brevity: 50.0 ± 2.1",
        "m:template: 75.0 ± 3.0",
        "",
        "measured where it was run",
        "m:brevity: val, mean 50.0, scored 3, failed 0",
        "m:template: val, mean 50.0, scored 3, failed 0",
        "",
        "points lost, most first",
        f"val: v3 by 75.0, v2 ({folder}/rows.jsonl:2) by 50.0, v1 ({folder}/rows.jsonl:1) by 25.0",
    ]


def test_what_lies_below_is_told_from_here(folder: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """But for other programs, which may stand elsewhere."""
    monkeypatch.chdir(folder)
    assert command("show", folder, "bb").out.endswith("v2 (rows.jsonl:2) by 50.0, v1 (rows.jsonl:1) by 25.0\n")
    assert command("diff", folder, "seed", "bb33").out.endswith("aa11 behind on val: v2 (rows.jsonl:2) by 25.0\n")
    assert f"{folder}/rows.jsonl:2" in command("show", folder, "bb", "--json").out
    (folder / "rows.jsonl").unlink()
    assert command("show", folder, "bb").err.endswith("read any more: rows.jsonl does not exist\n")


def test_only_the_first_of_many_losses_are_told(folder: Path, command: Command) -> None:
    with closing(Journal.write(folder)) as journal:
        journal.add_cells([cell(GOOD, f"w{n}", 0.0) for n in range(4)])
        journal.add_cells([cell(GOOD, "sealed", 0.0, "test")])
    ran = command("show", folder, "bb")
    assert ran.out.splitlines()[-1] == "val: v3 by 75.0, w0 by 75.0, w1 by 75.0, w2 by 75.0, w3 by 75.0 and 2 more"
    found = json.loads(command("show", folder, "bb", "--json").out)["lost"]
    assert len(found) == 7 and found[5] == {"split": "val", "example": "v2", "gap": 0.5, "place": f"{folder}/rows.jsonl:2"}


def test_rows_are_named_only_where_the_data_can_be_read(folder: Path, command: Command) -> None:
    (folder / "rows.jsonl").unlink()
    ran = command("show", folder, "bb")
    assert ran.code == 0 and "val: v3 by 75.0, v2 by 50.0, v1 by 25.0" in ran.out
    assert ran.err.startswith("rows are not named, since the data cannot be read any more: ")
    made_from(folder, "m", "n", data={"path": "hf://owner/name"})
    ran = command("diff", folder, "seed", "bb")
    assert (ran.code, ran.err) == (0, "") and "aa11 behind on val: v2 by 25.0" in ran.out


def test_show_for_other_programs(folder: Path, command: Command) -> None:
    found = json.loads(command("show", folder, "seed", "--json").out)
    assert found["id"] == SEED
    assert found["lineage"] == []
    assert {"split": "val", "objective": "m:template", "mean": 0.5, "scored": 2, "failed": 1} in found["scores"]
    assert {"split": "train", "objective": "m:template", "mean": 0.0, "scored": 1, "failed": 0} in found["scores"]
    odd = json.loads(command("show", folder, "best", "--json").out)
    assert odd["lineage"] == [SEED, GOOD]
    assert odd["scores"] == [
        {"split": "val", "objective": "m", "mean": None, "scored": 0, "failed": 1},
        {"split": "val", "objective": "n", "mean": None, "scored": 0, "failed": 1},
    ]


def test_markup_in_texts_is_shown_not_obeyed(folder: Path, command: Command) -> None:
    assert "[bold]Odd[/bold]" in command("show", folder, ODD).out


def test_diff_compares_texts_and_what_both_have_met(folder: Path, command: Command) -> None:
    ran = command("diff", folder, "seed", "bb33")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        "--- a/demonstrations",
        "+++ b/demonstrations",
        "@@ -1 +1 @@",
        "-",
        "+{}",
        "--- a/instructions",
        "+++ b/instructions",
        "@@ -1,2 +1,2 @@",
        " Do it.",
        "-Well.",
        "+Very well.\\x1b[31m",
        "m:brevity: val, aa11 50.0, bb33 50.0, difference +0.0 points, n 2, too few to tell anything",
        "m:template: val, aa11 50.0, bb33 75.0, difference +25.0 points, n 2, too few to tell anything",
        f"aa11 behind on val: v2 ({folder}/rows.jsonl:2) by 25.0",
    ]


def test_a_difference_on_five_examples_comes_without_a_warning(folder: Path, command: Command) -> None:
    with closing(Journal.write(folder)) as journal:
        journal.add_cells([cell(who, f"w{n}", 1.0) for who in (SEED, GOOD) for n in range(3)])
    line = command("diff", folder, "seed", "bb33").out.splitlines()[-2]
    assert line == "m:template: val, aa11 80.0, bb33 90.0, difference +10.0 points, n 5"


def test_that_two_have_met_nothing_together_is_said(folder: Path, command: Command) -> None:
    assert command("diff", folder, "ab22", "bb33").out.endswith("no example has scores of both, so nothing tells them apart\n")


def test_diff_for_other_programs(folder: Path, command: Command) -> None:
    found = json.loads(command("diff", folder, "seed", "ab22", "--json").out)
    assert found["components"] == {"instructions": "--- a/instructions\n+++ b/instructions\n@@ -1,2 +1 @@\n-Do it.\n-Well.\n+Do."}
    assert [each["example"] for each in found["behind"][SEED]] == ["t1"] and found["behind"][WORSE] == []
    assert [(each["split"], each["objective"], each["difference"], each["n"]) for each in found["scores"]] == [
        ("train", "m:brevity", 0.0, 1),
        ("train", "m:template", 0.25, 1),
    ]


def test_a_diff_is_coloured_on_a_terminal(folder: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.StringIO()
    monkeypatch.setattr(
        "rich.console.Console", lambda **_: Console(file=file, force_terminal=True, color_system="standard", highlight=False)
    )
    assert command("diff", folder, "seed", "bb33").code == 0
    assert "\x1b[31m-Well.\x1b[0m" in file.getvalue()
    assert "\x1b[32m+Very well." in file.getvalue()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("bset", "has no candidate 'bset'; did you mean 'best'?"),
        ("bb34", "has no candidate 'bb34'; did you mean 'bb33'?"),
        ("zz", "has no candidate 'zz'; there is seed, best, aa11, ab22, bb33, cc44"),
        ("a", "'a' begins 2 ids: aa11, ab22; give more of it"),
    ],
)
def test_unknown_candidates(folder: Path, command: Command, name: str, message: str) -> None:
    for arguments in (("show", folder, name), ("diff", folder, "seed", name)):
        ran = command(*arguments)
        assert ran.code == 2
        assert ran.out == ""
        assert message in ran.err
        assert "Traceback" not in ran.err


def test_a_run_that_has_no_candidate_yet(tmp_path: Path, command: Command) -> None:
    """The way on is `resume` where a run has begun, and `run` where no more than an estimate was made, which leaves no manifest."""
    Journal.write(tmp_path).close()
    for way_on in (f"python -m optimizer run CONFIG --out {tmp_path}", f"python -m optimizer resume {tmp_path}"):
        for arguments in (("front", tmp_path), ("show", tmp_path, "seed"), ("diff", tmp_path, "seed", "best")):
            ran = command(*arguments)
            assert ran.code == 2
            assert "has no candidate yet" in ran.err and ran.err.endswith(f": {way_on}\n")
        made_from(tmp_path, "m")


def test_a_directory_of_something_else(tmp_path: Path, command: Command) -> None:
    for arguments in (("front",), ("show", "seed"), ("diff", "seed", "best")):
        ran = command(arguments[0], tmp_path, *arguments[1:])
        assert ran.code == 2
        assert "no run directory" in ran.err
