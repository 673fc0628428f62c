"""The result's face."""

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from optimizer.report.console import say, show_table
from optimizer.report.terminal import headline, show_result

OUT = Path("runs/tickets")


def fields(seed: float, best: float, low: float, high: float, n: int = 40) -> dict[str, Any]:
    return {"seed": seed, "best": best, "difference": best - seed, "low": low, "high": high, "relative": 0.1, "n": n, "p": 0.01}


NOTHING = {"seed": None, "best": None, "difference": None, "low": None, "high": None, "relative": None, "n": 0}


def result(**changes: Any) -> dict[str, Any]:
    return {
        "verdict": "improved",
        "split": "test",
        "look": 1,
        "stopped_by": "rollouts",
        "seed": {"id": "aaaa", "components": {"instructions": "Do."}},
        "best": {"id": "bbbb", "components": {"instructions": "Do it."}},
        "best_by": "mean",
        "correction": None,
        "refuted": None,
        "floors": {},
        "unproven": None,
        "overall": fields(0.412, 0.535, 0.04, 0.201),
        "objectives": {"small:template": fields(0.4, 0.55, -0.01, 0.2), "large:[bold]x": fields(0.5, 0.4, -0.2, -0.01)},
        "models": {},
        "lower_is_better": [],
        "constraints": {},
        "best_per_model": {},
        "frontier": [{"id": "bbbb", "components": {}, "objectives": {}}],
        "spent": {
            "rollouts": 600,
            "calls": 580,
            "cached": 20,
            "input_tokens": 120_000,
            "output_tokens": 4_000,
            "usd": 0.1234,
            "seconds": 200.0,
        },
        "failed_cells": {},
        "overlap": {"train": 0.0, "val": 0.0},
        **changes,
    }


def shown(content: dict[str, Any], *, width: int = 100, terminal: bool = True, rollouts: int | None = 600) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=terminal, color_system=None, highlight=False)
    show_result(content, OUT, console, rollouts)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_table_on_a_terminal() -> None:
    text = shown(result())
    lines = text.splitlines()
    assert "Improved: +12.3 points (95% interval +4.0 to +20.1) on 40 test examples, never seen by the search." in " ".join(text.split())
    rows = {line.split("  ")[0]: line.split() for line in lines}
    assert rows["overall"] == ["overall", "41.2", "53.5", "+12.3", "points", "+4.0", "to", "+20.1", "40", "improved"]
    assert rows["small:template"][-2:] == ["not", "distinguishable"]
    assert rows["large:[bold]x"][-1] == "worse"
    assert "spent: 600 rollouts, 580 calls (and 20 from memory), 120,000 tokens in, 4,000 out, $0.12, 3 min 20 s" in text.replace("\n", " ")
    assert "stopped by: rollouts" in lines
    assert "frontier: 1 candidate; see: python -m optimizer front runs/tickets" in lines
    assert lines[-1] == "finished: improved; files: runs/tickets/result.json, runs/tickets/best"
    assert "failed" not in text


@pytest.mark.parametrize(("width", "terminal"), [(200, False), (40, False), (50, True)])
def test_lines_where_a_table_has_no_room_or_no_reader(width: int, terminal: bool) -> None:
    text = shown(result(), width=width, terminal=terminal)
    whole = " ".join(text.split())
    assert "overall: seed 41.2, best 53.5, difference +12.3 points, 95% interval +4.0 to +20.1, n 40, verdict improved" in whole
    assert (
        terminal
        or "overall: seed 41.2, best 53.5, difference +12.3 points, 95% interval +4.0 to +20.1, n 40, verdict improved" in text.splitlines()
    )


def test_the_command_it_names_can_be_given_as_it_stands() -> None:
    console = Console(file=io.StringIO(), width=200, highlight=False)
    show_result(result(), Path("my runs/tickets"), console, None)
    assert isinstance(console.file, io.StringIO)
    assert "python -m optimizer front 'my runs/tickets'\n" in console.file.getvalue()


SEED = {"id": "aaaa", "components": {"instructions": "Do."}}


def test_that_the_seed_won_is_said_plainly() -> None:
    told = "The seed is kept: no candidate that has met enough val examples to be judged looked better."
    assert headline(result(best=SEED, verdict="not distinguishable")) == told


def test_where_the_seed_is_kept_its_levels_stand_alone() -> None:
    unproven = {"id": "cccc", "components": {}, "gain": 0.032}
    kept = {"best": SEED, "verdict": "not distinguishable", "unproven": unproven, "lower_is_better": ["large:[bold]x"]}
    lines = shown(result(**kept), terminal=False).splitlines()
    assert lines[:5] == [
        "The seed is kept: no better prompt was found surely enough. cccc looked best, by an estimated 3.2 points, which may be chance.",
        "overall: seed 41.2, n 40",
        "small:template: seed 40.0, n 40",
        "large:[bold]x (lower is better): seed 50.0, n 40",
        "what may help: a larger budget.rollouts (with it the same command goes on from here) and more examples",
    ]
    assert lines[-1] == "finished: the seed is kept; files: runs/tickets/result.json, runs/tickets/best"
    assert "difference" not in "\n".join(lines)


@pytest.mark.parametrize(
    ("stopped_by", "advice"),
    [
        ("nothing left to improve", "what may help: harder examples, since the seed is right on all of val"),
        ("nothing left to try", "what may help: more examples"),
        ("usd", "what may help: a larger budget.usd (with it the same command goes on from here) and more examples"),
    ],
)
def test_what_may_help_is_said(stopped_by: str, advice: str) -> None:
    assert advice in shown(result(best=SEED, stopped_by=stopped_by), terminal=False).splitlines()


def test_why_rollouts_are_left_is_said() -> None:
    told = "stopped by: rollouts; 50 of 650 are left: another step would not have fitted beside what was set aside for the report"
    assert told in shown(result(), terminal=False, rollouts=650).splitlines()
    for rollouts, stopped_by in ((600, "rollouts"), (650, "minutes"), (None, "usd")):
        text = shown(result(stopped_by=stopped_by), terminal=False, rollouts=rollouts)
        assert f"stopped by: {stopped_by}" in text.splitlines()


def test_a_second_look_at_the_test_examples_is_said() -> None:
    told = "never seen by the search. Look 2 at these examples, each for another candidate: the more looks, the more it flatters."
    assert told in headline(result(look=2)) and "Look" not in headline(result()) + headline(result(look=None, split="val"))


def test_a_result_on_val_is_called_flattering() -> None:
    told = headline(result(split="val", correction="optimistic", verdict="not distinguishable", overall=fields(0.4, 0.5, -0.1, 0.2)))
    assert told.startswith(
        "Not distinguishable from the seed: +10.0 points (95% interval -10.0 to +20.0) on 40 val examples, where the best was selected"
    )


def test_that_the_best_is_worse_is_said() -> None:
    assert headline(result(verdict="worse", overall=fields(0.5, 0.4, -0.2, -0.01, n=1))).startswith("Worse than the seed: -10.0 points")


def test_lower_can_be_better() -> None:
    fell = fields(0.5, 0.4, -0.2, -0.01)
    rose = fields(0.4, 0.55, 0.01, 0.2)
    text = shown(result(objectives={"small:toxic": fell, "large:toxic": rose}, lower_is_better=["small:toxic", "large:toxic"]))
    one, other = (next(line for line in text.splitlines() if line.lstrip().startswith(name)) for name in ("small:toxic", "large:toxic"))
    assert "(lower is better)" in one and "improved" in one and "worse" in other


def test_constraints_and_models_with_a_better_candidate_of_their_own_are_told() -> None:
    told = {"constraint": ">= 0.9", "seed": False, "best": True}
    own = {
        "small": {"id": "cccc", "components": {}, "val": 0.7, "val_of_best": 0.65},
        "large": {"id": "bbbb", "components": {}, "val": 0.5},
    }
    text = shown(result(constraints={"small:template": told}, best_per_model=own, models={"small": fields(0.4, 0.5, 0.1, 0.2)}))
    assert "constraint small:template >= 0.9: met by the best, not met by the seed" in text
    assert "small does best with cccc: an estimated 70.0, 65.0 with the one that is best for all" in text and "large does best" not in text
    missed = {"constraint": ">= 0.9", "seed": True, "best": False}
    assert headline(result(constraints={"a:b": missed, "a:c": told, "b:b": missed})).endswith(
        "It does not meet a:b >= 0.9 and b:b >= 0.9 there."
    )
    unknown = shown(result(constraints={"small:template": {**told, "best": None}}))
    assert "not known by the best" in unknown
    assert "does not meet" not in headline(result(constraints={"a:b": {**told, "best": None}}))


def test_the_lines_below_the_table_stand_in_one_order() -> None:
    told = {"constraint": ">= 0.9", "seed": False, "best": True}
    text = shown(
        result(
            constraints={"small:template": told},
            best_per_model={"small": {"id": "cccc", "components": {}, "val": 0.7, "val_of_best": 0.65}},
            judge_agreement={"polite": {"share": 0.8, "answers": 5}},
            failed_cells={"timeout": 2},
        ),
        width=200,
        terminal=False,
    )
    starts = ["stopped by", "small does best", "constraint", "spent", "votes of the judge", "failed cells", "frontier", "finished"]
    lines = text.splitlines()[-len(starts) :]
    assert all(line.startswith(start) for line, start in zip(lines, starts, strict=True)), lines


def test_the_seed_wins_only_where_it_is_chosen_for_every_model() -> None:
    for other, expected in (("aaaa", True), ("cccc", False)):
        own = {"small": SEED, "large": {**SEED, "id": other}}
        assert headline(result(best=SEED, best_by="per_model", best_per_model=own)).startswith("The seed is kept") == expected


def test_a_value_that_is_not_there_is_no_zero() -> None:
    text = shown(result(overall=NOTHING, objectives={"small:template": NOTHING}, verdict="not distinguishable"), terminal=False)
    assert "Nothing is known: no test example has an answer of both the seed and the best." in text
    assert "small:template: seed –, best –, difference –, 95% interval –, n 0, verdict –" in text


def test_failures_and_unknown_prices_are_told() -> None:
    spent = {**result()["spent"], "usd": None}
    text = shown(result(failed_cells={"rate_limit": 2, "timeout": 1}, spent=spent), terminal=False)
    assert "failed cells: 2 rate_limit, 1 timeout; they count for nobody" in text
    assert "price unknown" in text


def test_texts_are_never_obeyed() -> None:
    console = Console(file=io.StringIO(), width=100, force_terminal=True, color_system=None, highlight=False)
    say(console, "[bold]x[/bold] \x1b[31m :smile:")
    show_table(console, ("", "[red]head"), [("[link=x]a", "\x1b]0;title\x07")])
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert "\x1b" not in text
    assert r"[bold]x[/bold] \x1b[31m :smile:" in text
    assert "[red]head" in text
    assert r"[link=x]a  \x1b]0;title\x07" in text


def test_a_result_on_fresh_examples_of_val_is_not_called_flattering() -> None:
    told = headline(result(split="val", correction="fresh"))
    assert told == (
        "Improved: +12.3 points (95% interval +4.0 to +20.1) on 40 val examples, on which neither was run before the best was chosen."
    )


def test_that_the_report_refuted_the_choice_is_said() -> None:
    seed = {"id": "aaaa", "components": {}}
    refuted = {"id": "bbbb", "components": {}, "against": ["overall"]}
    lost = result(verdict="worse", best=seed, refuted=refuted, overall=fields(0.5, 0.4, -0.2, -0.01))
    assert headline(lost).startswith("Worse than the seed: -10.0 points")
    assert headline(lost).endswith("So the seed is kept, and best/ holds it.")
    text = shown(lost, terminal=False)
    assert "overall: seed 50.0, best 40.0" in text and "finished: the seed is kept; files" in text
    even = result(verdict="not distinguishable", best=seed, refuted=refuted, overall=fields(0.5, 0.49, -0.2, 0.1))
    assert headline(even).startswith("Not distinguishable from the seed: -1.0 points") and headline(even).endswith("best/ holds it.")


def test_that_a_floor_is_broken_is_said_and_what_the_others_are() -> None:
    floors = {"small:template": {"floor": 0.02, "state": "not shown"}, "large:[bold]x": {"floor": 0.05, "state": "broken"}}
    refuted = {"id": "bbbb", "components": {}, "against": ["large:[bold]x"]}
    text = shown(result(verdict="worse", best=result()["seed"], refuted=refuted, floors=floors), terminal=False)
    assert text.startswith("Worse where it must not be: +12.3 points (95% interval +4.0 to +20.1) on 40 test examples")
    assert "large:[bold]x is 10.0 points worse than the seed, and its floor allows 5.0. So the seed is kept" in text
    assert "floor small:template, 2.0 points below the seed: not shown\n" in text
    assert "floor large:[bold]x, 5.0 points below the seed: broken\n" in text


def test_what_is_chosen_and_not_shown_to_be_better_is_called_so() -> None:
    told = headline(result(verdict="not distinguishable", overall=fields(0.4, 0.45, -0.1, 0.2)))
    assert told.endswith("These examples alone do not show that it is better; best/ holds it, as the search chose it.")


def test_why_the_verdict_says_less_than_the_interval() -> None:
    family = {"small:template": {**fields(0.4, 0.55, 0.01, 0.2), "p": 0.03, "p_error": 0.0, "p_holm": 0.06}}
    text = shown(result(objectives=family), terminal=False)
    assert (
        "small:template: seed 40.0, best 55.0, difference +15.0 points, 95% interval +1.0 to +20.0, n 40, verdict not distinguish" in text
    )
    assert "small:template: the interval leaves out 0, but chance alone does that too often (p = 0.06, counting that several" in text
    alone = shown(result(overall={**fields(0.4, 0.55, 0.01, 0.2), "p": 0.07, "p_error": 0.0, "p_holm": None}), terminal=False)
    assert "overall: the interval leaves out 0, but chance alone does that too often (p = 0.07)" in alone
    assert "leaves out 0" not in shown(result())
