"""The rubric: every kind of trait, what becomes of what is said of it, and configs that cannot be."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judges import ScriptedJudge

from adapters.answer import TracedAnswer
from adapters.clients.client import ErrorKind, ModelClient, ModelError
from adapters.example import Example
from scoring import timed
from scoring.agreement import Agreement, agreement, self_agreement
from scoring.items import Counts
from scoring.loading import load_scorer
from scoring.rubric import Rubric
from scoring.score import Score, discreet
from scoring.scorer import AskingScorer, ScorerError
from scoring.suite import Suite

EXAMPLE = Example("e1", {"question": "Which drugs?"}, {"drugs": ["Ann", "Bo", "Cy"]}, {"not": ["Xi", "Yo"]})
ANSWER = TracedAnswer("Ann and Bo.")
KIND = {"name": "kind", "kind": "boolean", "description": "It is kind."}
CLEAR = {"name": "clear", "kind": "score", "description": "How clear it is."}
TONE = {"name": "tone", "kind": "literal", "description": "Its tone.", "classes": ["rude", "flat", "warm"]}
NO_BO = {"name": "no bo", "kind": "regex", "pattern": "Bo", "invert": True}
DRUGS = {"name": "drugs", "kind": "metric", "description": "Drugs that it names.", "items": "expected.drugs"}


async def scored(traits: list[dict[str, Any]], *script: Any, answer: TracedAnswer = ANSWER, **settings: Any) -> Score:
    return await Rubric(traits, ScriptedJudge(*script) if script else None, **settings).score(EXAMPLE, answer)


@pytest.mark.parametrize(
    ("trait", "said", "value"),
    [
        (KIND, True, 1.0),
        (KIND, False, 0.0),
        ({**KIND, "higher_is_better": False}, True, 0.0),
        (CLEAR, 1, 0.0),
        (CLEAR, 4, 0.75),
        (CLEAR, 5.0, 1.0),
        ({**CLEAR, "min": -2, "max": 2}, 1, 0.75),
        ({**CLEAR, "higher_is_better": False}, 4, 0.25),
        (TONE, "rude", 0.0),
        (TONE, " flat ", 0.5),
        (TONE, "warm", 1.0),
        ({**TONE, "classes": {"so": 2, "no": -2, "yes": 6}}, "so", 0.5),
        ({**TONE, "higher_is_better": False}, "rude", 1.0),
    ],
)
async def test_what_a_judge_says_becomes_a_share(trait: dict[str, Any], said: Any, value: float) -> None:
    score = await scored([trait], {trait["name"]: said})
    assert score.values == {trait["name"]: value}
    assert score.correct is None and score.failure_kind is None


@pytest.mark.parametrize(
    ("trait", "said", "told"),
    [
        (KIND, "true", "the judge said 'true', which is not true or false"),
        (KIND, 1, "the judge said 1, which is not true or false"),
        (CLEAR, 6, "the judge said 6, which is not a whole number from 1 to 5"),
        (CLEAR, 0, "the judge said 0, which"),
        (CLEAR, 2.5, "the judge said 2.5, which"),
        (CLEAR, True, "the judge said True, which"),
        (CLEAR, "4", "the judge said '4', which"),
        (CLEAR, 10**400, "which is not a whole number from 1 to 5"),
        (TONE, "kind", "the judge said 'kind', which is none of the classes"),
        (TONE, 1, "the judge said 1, which is none of the classes"),
        (TONE, {"value": ["warm"]}, "which is none of the classes"),
        (TONE, {"valeu": "warm"}, "the judge said None, which is none of the classes"),
    ],
)
async def test_what_is_not_on_the_scale_is_missing_and_spoils_nothing_else(trait: dict[str, Any], said: Any, told: str) -> None:
    other = {**KIND, "name": "other"}
    score = await scored([trait, other], {trait["name"]: said, "other": True})
    assert score.values == {"other": 1.0}
    assert score.feedback.startswith(f"{trait['name']}: not measured (") and told in score.feedback
    details: Any = score.details["traits"]
    assert details[trait["name"]]["votes"] == [None] and told in details[trait["name"]]["said"][0]


async def test_a_trait_that_the_judge_leaves_out_is_missing() -> None:
    score = await scored([KIND, CLEAR], {"clear": 5})
    assert score.values == {"clear": 1.0}
    assert score.feedback == "kind: not measured (the judge said nothing of it)"


@pytest.mark.parametrize(
    ("pattern", "more", "value"),
    [("Bo", {}, 1.0), ("^Bo", {}, 0.0), ("(?i)BO", {}, 1.0), ("Bo", {"invert": True}, 0.0), ("Bo", {"higher_is_better": False}, 0.0)],
)
async def test_patterns_need_no_judge(pattern: str, more: dict[str, Any], value: float) -> None:
    score = await scored([{"name": "bo", "kind": "regex", "pattern": pattern, **more}])
    assert score.values == {"bo": value}


async def test_a_pattern_without_end_is_told_and_is_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timed, "SECONDS", 0.05)
    slow = {"name": "slow", "kind": "regex", "pattern": "(a|aa)+$"}
    with pytest.raises(ScorerError, match=r"scorer 'rubric', example 'e1': the trait 'slow': the pattern .* takes longer than 0\.05 s"):
        await scored([slow], answer=TracedAnswer("a" * 60 + "b"))


FUNCTIONS = """
def short(example, answer):
    return len(answer.text) < 5, "too long"

async def half(example, answer):
    return 0.5

def seven(example, answer):
    return 7

def none(example, answer):
    from scoring.score import Score, discreet
    return Score({})
"""


def function(name: str, **more: Any) -> dict[str, Any]:
    return {"name": f"is {name}", "kind": "callable", "python": f"own.py:{name}", **more}


@pytest.fixture
def own(tmp_path: Path) -> Path:
    (tmp_path / "own.py").write_text(FUNCTIONS)
    return tmp_path


async def test_functions_are_found_from_the_configs_folder(own: Path) -> None:
    scorer = load_scorer({"rubric": {"traits": [function("short"), function("half", higher_is_better=False), function("none")]}}, own)
    score = await scorer.score(EXAMPLE, ANSWER)
    assert score.values == {"is short": 0.0, "is half": 0.5}
    assert "is short: 0.00, 1.00 below the best (0): too long" in score.feedback
    assert "is none: not measured (the function gave no value)" in score.feedback


async def test_a_function_that_gives_no_score_is_an_error(own: Path) -> None:
    with pytest.raises(ScorerError, match=r"scorer 'is seven', example 'e1': it returned 7: 7 is not in 0\.\.1"):
        await scored([function("seven")], folder=own)


async def test_a_function_that_fails_costs_no_judge(own: Path) -> None:
    judge = ScriptedJudge({"kind": True})
    with pytest.raises(ScorerError, match="it returned 7"):
        await Rubric([KIND, function("seven")], judge, folder=own).score(EXAMPLE, ANSWER)
    assert judge.asked == []


async def test_the_version_follows_settings_functions_and_judge_but_not_the_folder(own: Path) -> None:
    def version(*traits: dict[str, Any], **settings: Any) -> str:
        return Rubric(list(traits), **{"folder": own, **settings}).version

    one = version(function("short"))
    assert one == version(function("short"))
    assert one != version(function("half"))
    (own / "moved").mkdir()
    (own / "moved/own.py").write_text(FUNCTIONS)
    assert one == version(function("short"), folder=own / "moved")
    (own / "own.py").write_text(FUNCTIONS + "# edited")
    assert one != version(function("short"))
    judged = version(KIND, judge=ScriptedJudge(""))
    assert judged == version(KIND, judge=ScriptedJudge(""))
    others: list[dict[str, Any]] = [
        {"judge": ScriptedJudge("", temperature=0.5)},
        {"votes": 2},
        {"show_expected": True},
        {"max_bytes": 300},
    ]
    versions = {version(KIND, **{"judge": ScriptedJudge(""), **other}) for other in others}
    assert len(versions | {judged}) == 5
    assert judged != version({**KIND, "description": "It is mild."}, judge=ScriptedJudge(""))


METRICS = ["precision", "recall", "f1"]


async def test_metrics_count_the_items() -> None:
    trait = {**DRUGS, "metrics": METRICS}
    score = await scored([trait], {"drugs": {"found": [1, 2, 2], "extra": ["Zed", " zed", ""]}})
    assert score.values == {"drugs_precision": 2 / 3, "drugs_recall": 2 / 3, "drugs_f1": 2 / 3}
    assert "drugs_f1: 0.67, 0.33 below the best (2 of 3 found; missing: 'Cy'; too much: 'zed'): so it is" in score.feedback


async def test_unwanted_items_make_the_other_two_metrics() -> None:
    trait = {**DRUGS, "unwanted": "metadata.not", "metrics": [*METRICS, "specificity", "accuracy"], "higher_is_better": True}
    score = await scored([trait], {"drugs": {"found": [1, 2], "found_unwanted": [2]}})
    values = {"precision": 2 / 3, "recall": 2 / 3, "f1": 2 / 3, "specificity": 1 / 2, "accuracy": 3 / 5}
    assert score.values == {f"drugs_{metric}": value for metric, value in values.items()}
    assert "too much: 'Yo'" in score.feedback


async def test_an_answer_that_holds_nothing_wanted_is_not_precise() -> None:
    score = await scored([{**DRUGS, "metrics": METRICS}], {"drugs": {"found": [], "extra": []}})
    assert score.values == {"drugs_precision": 0, "drugs_recall": 0, "drugs_f1": 0}


async def test_a_share_of_nothing_is_missing() -> None:
    scorer = Rubric([{**DRUGS, "metrics": METRICS}], ScriptedJudge({"drugs": {"found": [], "extra": []}}))
    score = await scorer.score(Example("e2", {}, {"drugs": []}), ANSWER)
    assert score.values == {} and "drugs_f1: not measured (0 of 0 found)" in score.feedback


async def test_fixed_items_and_lower_is_better() -> None:
    trait = {**DRUGS, "items": ["threats", "slurs"], "metrics": ["recall"], "higher_is_better": False}
    score = await scored([trait], {"drugs": {"found": [1], "extra": []}})
    assert score.values == {"drugs_recall": 0.5}


@pytest.mark.parametrize(
    "said",
    [
        {"found": [4], "extra": []},
        {"found": [0], "extra": []},
        {"found": [True], "extra": []},
        {"found": "1", "extra": []},
        {"found": [1]},
        {"found": [1], "extra": [1]},
    ],
)
async def test_items_that_there_are_not_make_the_trait_missing(said: Any) -> None:
    score = await scored([{**DRUGS, "metrics": METRICS}], {"drugs": said})
    assert score.values == {} and score.feedback.count("not measured (the judge said ") == 3


@given(*[st.integers(0, 30)] * 4)
def test_metrics_are_those_of_the_confusion_matrix(tp: int, fn: int, fp: int, tn: int) -> None:
    counts = Counts(tp, fn, fp, tn)
    values = {name: counts.metric(name) for name in (*METRICS, "specificity", "accuracy")}
    assert all(value is None or 0 <= value <= 1 for value in values.values())
    precision, recall, f1 = (values[name] for name in METRICS)
    assert (recall is None) == (tp + fn == 0) and (f1 is None) == (tp + fn + fp == 0)
    assert (precision is None) == (tp + fp + fn == 0)  # an answer without anything is not precise
    if precision and recall:
        assert f1 == pytest.approx(2 * precision * recall / (precision + recall))


@pytest.mark.parametrize("expected", [None, {"drugs": "Ann"}, {"drug": ["Ann"]}, {"drugs": [["Ann"]]}])
async def test_an_example_without_the_items_is_told_before_anything_is_asked(expected: Any) -> None:
    judge = ScriptedJudge("")
    scorer = Rubric([DRUGS], judge)
    example = Example("e9", {}, expected)
    assert scorer.requests(example) == []
    with pytest.raises(ScorerError, match=r"scorer 'rubric', example 'e9': items: the example's expected\.drugs is"):
        await scorer.score(example, ANSWER)
    assert judge.asked == []


async def test_votes_are_asked_with_different_seeds_and_their_median_counts() -> None:
    judge = ScriptedJudge({"kind": True, "clear": 2}, {"kind": False, "clear": 5}, {"kind": True, "clear": 4})
    score = await Rubric([KIND, CLEAR], judge, votes=3).score(EXAMPLE, ANSWER)
    assert score.values == {"kind": 1.0, "clear": 0.75}
    assert [request.seed for request in judge.asked] == [0, 1, 2]
    details: Any = score.details["traits"]
    assert details["kind"]["agreement"] == pytest.approx(1 / 3) and details["clear"]["agreement"] == 0
    assert "clear: 0.75, 0.25 below the best (2 on a scale of 1 to 5; 5 on" in score.feedback


async def test_votes_that_are_not_valid_do_not_count() -> None:
    score = await scored([CLEAR], {"clear": 9}, "no JSON", "no JSON", {"clear": 5}, votes=3)
    assert score.values == {"clear": 1.0}
    details: Any = score.details["traits"]
    assert details["clear"]["votes"] == [None, None, {"clear": 1.0}] and details["clear"]["agreement"] is None


async def test_self_agreement_over_a_run() -> None:
    scores = [
        await scored([KIND, CLEAR], {"kind": True, "clear": 2}, {"kind": True, "clear": 3}, votes=2),
        await scored([KIND, CLEAR], {"kind": True, "clear": 2}, {"kind": False, "clear": 2}, votes=2),
        await scored([KIND], {"kind": True}),
    ]
    named = [{"exact": {}, "rubric": score.details} for score in scores]
    wanted = {"kind": Agreement(0.5, 2), "clear": Agreement(0.5, 2)}
    assert self_agreement(score.details for score in scores) == self_agreement(named) == wanted
    others: list[Any] = [{"traits": ["kind"]}, {"traits": {"kind": 3}}, {"traits": {"kind": {"votes": "ab"}}}, {"rubric": None}]
    assert self_agreement(others) == {}, "other scorers' details are nobody's votes"
    assert agreement([1, 1, 1]) == 1 and agreement([1]) is None and self_agreement([{}]) == {}


async def test_two_rubrics_of_one_run_keep_their_votes() -> None:
    suite = Suite([Rubric([KIND], ScriptedJudge({"kind": True}), votes=2), Rubric([CLEAR], ScriptedJudge({"clear": 2}), votes=2)])
    score = await suite.score(EXAMPLE, ANSWER)
    assert list(score.details) == ["rubric", "rubric 2"]
    assert self_agreement([score.details]) == {"kind": Agreement(1.0, 1), "clear": Agreement(1.0, 1)}


async def test_feedback_is_of_what_is_below_the_best_and_the_worst_comes_first() -> None:
    score = await scored([KIND, CLEAR, TONE], {"kind": True, "clear": 4, "tone": "rude"})
    assert score.feedback.splitlines() == [
        "tone: 0.00, 1.00 below the best ('rude'): so it is",
        "clear: 0.75, 0.25 below the best (4 on a scale of 1 to 5): so it is",
    ]
    assert (await scored([KIND], {"kind": True})).feedback == ""


async def test_expected_answers_can_be_kept_out_of_the_feedback() -> None:
    said = {"drugs": {"found": [1], "extra": ["Zed"]}, "kind": False}
    score = await scored([DRUGS, KIND, NO_BO], said)
    told = score.feedback
    assert "missing: 'Bo', 'Cy'" in told and "too much: 'Zed'" in told and told.count("so it is") == 2
    assert discreet(score).splitlines() == [
        "kind: 0.00, 1.00 below the best",
        "no bo: 0.00, 1.00 below the best ('Bo' is found)",
        "drugs_f1: 0.40, 0.60 below the best",
    ]
    # A judge that has not seen it may say what it likes.
    assert (await scored([KIND], {"kind": False})).discreet is None
    assert discreet(await scored([KIND], {"kind": False}, show_expected=True)) == "kind: 0.00, 1.00 below the best"
    unread = await scored([{**DRUGS, "metrics": ["recall"]}], {"drugs": {"found": ["Cy"], "extra": []}})
    assert "Cy" in unread.feedback and discreet(unread) == "drugs_recall: not measured"


async def test_a_judge_that_cannot_be_asked_is_no_score() -> None:
    with pytest.raises(ModelError, match="timeout"):
        await Suite([Rubric([KIND], ScriptedJudge(ModelError(ErrorKind.TIMEOUT, "test/judge", "no answer")))]).score(EXAMPLE, ANSWER)


def test_a_rubric_in_a_config_is_given_its_judge(tmp_path: Path) -> None:
    asked = []

    def make(settings: Mapping[str, Any]) -> ModelClient:
        asked.append(settings)
        return ScriptedJudge({"kind": True})

    scorer = load_scorer({"rubric": {"judge": {"model": "a/b"}, "traits": [KIND, {**DRUGS, "metrics": METRICS}]}}, tmp_path, make)
    assert asked == [{"model": "a/b"}] and isinstance(scorer, AskingScorer)
    assert scorer.dimensions == ("kind", "drugs_precision", "drugs_recall", "drugs_f1")
    assert Suite([scorer]).dimensions == scorer.dimensions
    alone = load_scorer({"rubric": {"judge": {"model": "a/b"}, "traits": [KIND]}}, tmp_path, make)
    assert asyncio.run(alone.score(EXAMPLE, ANSWER)).values == {"kind": 1.0}
