"""The settings of answer_contains, each alone and where they meet."""

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.answer import TracedAnswer
from adapters.example import Example
from scoring.answer import AnswerContains, score_answer
from scoring.loading import load_scorer
from scoring.matching import Matching
from scoring.scorer import ScorerConfigError


def kind(text: str, expected: object, **settings: Any) -> str | None:
    return score_answer("item", text, expected, Matching(**settings)).failure_kind


@pytest.mark.parametrize(
    ("text", "expected", "plain", "numeric"),
    [
        ("It is 45.20.", 45.2, "wrong", None),
        ("It is 45.2.", "45.20", "wrong", None),
        ("It is .12.", "0.12", "wrong", None),
        ("It is 12400.0", 12400, "wrong", None),
        ("about 1e5", 100000, "wrong", None),
        ("45 million people", 45_000_000, "wrong", None),
        ("45,000,000 people", "45 million", "wrong", None),
        ("It is -45.20.", 45.2, "wrong", "wrong"),
        ("It is 45.21.", 45.2, "wrong", "wrong"),
        ("It is 45.20 kg.", "45.2 kg", "wrong", "wrong"),
        ("It is $45.20.", "€45.2", "wrong", "wrong"),
        ("12 million", 12, None, None),
    ],
)
def test_numeric(text: str, expected: object, plain: str | None, numeric: str | None) -> None:
    assert kind(text, expected) == plain
    assert kind(text, expected, numeric=True) == numeric


@pytest.mark.parametrize(
    ("text", "label", "whole"),
    [
        ("concatenate", "cat", "wrong"),
        ("cats", "cat", "wrong"),
        ("tomcat", "cat", "wrong"),
        ("cat_2", "cat", "wrong"),
        ("cat2", "cat", "wrong"),
        ("cafe\u0301", "cafe", "wrong"),
        ("concatenate a cat", "cat", None),
        ("the cat's", "cat", None),
        ("(cat)", "cat", None),
        ("12kg", "12", None),
        ("it's 5 kgs", "5 kg", "wrong"),
        ("USD5", "5", None),
        ("(c) 2020", "(c)", None),
    ],
)
def test_whole_words(text: str, label: str, whole: str | None) -> None:
    assert kind(text, label) is None
    assert kind(text, label, whole_words=True) == whole


def test_case_folding() -> None:
    assert kind("STRASSE", "Straße") == "wrong"
    assert kind("STRASSE", "Straße", case="fold") is None
    assert kind("straße", "STRASSE", case="fold") is None


@pytest.mark.parametrize(("text", "hidden"), [("B12", "wrong"), ("USD12", "wrong"), ("B 12", None), ("mid-12", None), ("B12 and 12", None)])
def test_numbers_after_letters(text: str, hidden: str | None) -> None:
    assert kind(text, 12) is None
    assert kind(text, 12, hide_after_letters=True) == hidden
    assert kind(text, "12.0", hide_after_letters=True, numeric=True) == hidden


def test_hiding_after_letters_concerns_numbers_alone() -> None:
    assert kind("xB12", "b12", hide_after_letters=True) is None


def test_the_length_of_an_answer() -> None:
    assert kind("Paris", "paris", max_characters=5) is None
    assert kind("  Paris  ", "paris", max_characters=5) is None
    assert kind("Paris.", "paris", max_characters=5) == "too_long"
    assert kind("London", "paris", max_characters=5) == "too_long"


@pytest.mark.parametrize(("text", "found"), [("12 x", None), ("12 xy", "wrong"), ("x 12", None), ("112 x", "wrong")])
def test_the_end_of_an_answer(text: str, found: str | None) -> None:
    assert kind(text, 12, last_characters=4) == found


def test_the_end_sees_what_stands_before_it() -> None:
    assert kind("It is 112", 12, last_characters=2) == "wrong"
    assert kind("It is -12", "12.0", last_characters=2, numeric=True) == "wrong"


@pytest.mark.parametrize(
    ("text", "expected", "fault"),
    [
        ("refund", "refund", None),
        ("refund refund", "refund", None),
        ("refund or exchange", "refund", "hedged"),
        ("Exchange, refund", "refund", "hedged"),
        ("exchange", "refund", "wrong"),
        ("exchange or refund", ["refund", "exchange"], None),
        ("refund request", "refund", "hedged"),
        ("refund request", "refund request", None),
        ("refund request, then refund", "refund request", "hedged"),
    ],
)
def test_rivals(text: str, expected: object, fault: str | None) -> None:
    assert kind(text, expected, rivals=["refund", "exchange", "refund request"]) == fault


def test_rivals_are_looked_for_as_answers_are() -> None:
    assert kind("north", "north", rivals=["no"], whole_words=True) is None
    assert kind("north", "nor", rivals=["th"]) == "hedged"
    assert kind("gate 12", "12", rivals=["1", "2"]) is None
    assert kind("NO: yes", "yes", rivals=["no"]) == "hedged"
    assert kind("no? " + "x" * 20 + " yes", "yes", rivals=["no"], last_characters=10) is None


@pytest.mark.parametrize(
    ("text", "expected", "fault"),
    [
        ("12", 12, None),
        ("12 is 12.0", 12, None),
        ("12 or 13", 12, "hedged"),
        ("12-13", 12, "hedged"),
        ("x12y13", 12, "hedged"),
        ("12 or 13", [12, 13], None),
        ("gate 12", "gate 12", None),
        ("gate 12, gate 13", "gate 12", "hedged"),
        ("Paris, since 987", "Paris", None),
        ("13", 12, "wrong"),
    ],
)
def test_one_number(text: str, expected: object, fault: str | None) -> None:
    assert kind(text, expected, one_number=True) == fault


def test_one_number_at_the_end() -> None:
    assert kind("From 3 and 4 follows: 12", 12, one_number=True) == "hedged"
    assert kind("From 3 and 4 follows: 12", 12, one_number=True, last_characters=6) is None


def test_a_verdict_may_be_long() -> None:
    strict = {"max_characters": 20, "one_number": True, "rivals": ["other"]}
    assert kind("NOT_IN_DOCUMENT. It covers the costs of 1999 and other years.", "NOT_IN_DOCUMENT", **strict) is None
    assert kind("NOT_IN_DOCUMENT. It covers the costs of 1999 and other years.", "1999", **strict) == "not_in_document"
    assert kind("The costs of 1999 and other years.", "NOT_IN_DOCUMENT", **strict) == "wrong"


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"numeric": 1}, "numeric is 1; it has to be true or false"),
        ({"whole_words": "yes"}, "whole_words is 'yes'; it has to be true or false"),
        ({"hide_after_letters": None}, "hide_after_letters is None"),
        ({"one_number": "x"}, "one_number is 'x'"),
        ({"case": "upper"}, "case is 'upper'; it has to be lower or fold"),
        ({"max_characters": 0}, "max_characters is 0; it has to be a whole number, 1 or more"),
        ({"last_characters": True}, "last_characters is True"),
        ({"last_characters": 2.0}, "last_characters is 2.0"),
        ({"rivals": "yes"}, "rivals is 'yes'; it has to be a list of texts"),
        ({"rivals": ["yes", " "]}, "rivals holds ' '; each has to be a text that is not blank$"),
        ({"rivals": ["yes", False]}, "rivals holds False; each has to be a text that is not blank; put quotes around it"),
        ({"most": 3}, "no setting 'most'"),
    ],
)
def test_settings_that_cannot_be(settings: dict[str, Any], told: str, tmp_path: Any) -> None:
    with pytest.raises(ScorerConfigError, match=f"answer_contains.*{told}"):
        load_scorer({"answer_contains": settings}, tmp_path)


def test_the_version_follows_the_settings() -> None:
    versions = {AnswerContains().version, AnswerContains(numeric=True).version, AnswerContains(rivals=["a"]).version}
    assert len(versions) == 3
    assert AnswerContains(rivals=["a"]).version == AnswerContains(rivals=("a",)).version


@pytest.mark.parametrize(
    ("settings", "text", "told"),
    [
        ({"max_characters": 5}, "It is 12", "It is longer than 5 characters. Expected 12, got 'It is 12'."),
        ({"one_number": True}, "11 12", "It holds the answer, but others too; only one may be given. Expected 12, got '11 12'."),
        ({"last_characters": 3}, "12 it is", "The last 3 characters hold no right answer. Expected 12, got '12 it is'."),
    ],
)
async def test_feedback_says_what_is_asked(settings: dict[str, Any], text: str, told: str) -> None:
    score = await AnswerContains(**settings).score(Example("e1", {}, 12), TracedAnswer(text))
    assert (dict(score.values), score.correct, score.feedback) == ({"template": 0.0}, False, told)


@given(st.text(alphabet="ab12 ,.-", min_size=1, max_size=20), st.text(alphabet="ab12 ,.-", max_size=40))
def test_strict_settings_only_take_away_and_forgiving_ones_only_add(label: str, text: str) -> None:
    if not label.strip():
        return
    plain = kind(text, label) is None
    for strict in (
        {"whole_words": True},
        {"hide_after_letters": True},
        {"max_characters": 9},
        {"last_characters": 9},
        {"rivals": ["a", "1"]},
        {"one_number": True},
    ):
        assert plain or kind(text, label, **strict) is not None
    for forgiving in ({"numeric": True}, {"case": "fold"}):
        assert not plain or kind(text, label, **forgiving) is None


@pytest.mark.parametrize("part", ["1", "1.1.", "1e", "-1", "1 million ", "no ", "a1", "$", ".1"])
def test_with_every_setting_the_time_is_linear(part: str) -> None:
    every = {"numeric": True, "case": "fold", "whole_words": True, "hide_after_letters": True, "rivals": ["no", "x"], "one_number": True}
    started = time.process_time()
    for label in ("7", "no", "1"):
        kind(part * (300_000 // len(part)), label, **every)
    assert time.process_time() - started < 10
