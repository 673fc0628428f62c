"""answer_contains: the recorded cases, folding, whole numbers, verdicts."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example as also
from hypothesis import given
from hypothesis import strategies as st

from adapters.answer import Step, TracedAnswer
from adapters.example import Example
from scoring.answer import AnswerContains, is_not_found, score_answer
from scoring.scorer import ScorerError
from scoring.text import MARKS, fold, plain_number
from scoring.whole import one_dash, places

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parent / "cases" / "answer.json").read_text(encoding="utf-8"))


def right(text: str, expected: object) -> bool:
    return score_answer("item", text, expected).correct


@pytest.mark.parametrize("case", CASES, ids=[f"{case['case']}: {case['why']}" for case in CASES])
def test_recorded(case: dict[str, Any]) -> None:
    if "raises" in case:
        with pytest.raises({"ValueError": ValueError, "TypeError": TypeError}[case["raises"]], match="item 'case'"):
            score_answer("case", case["output"], case["expected"])
        return
    score = score_answer("case", case["output"], case["expected"])
    wanted = {name: case[name] for name in ("correct", "failure_kind", "outcome") if name in case}
    assert {name: getattr(score, name) for name in wanted} == wanted
    assert (score.failure_kind is None) is score.correct


def test_all_recorded_cases_are_here() -> None:
    assert [case["case"] for case in CASES] == list(range(1, 175))


text_like_numbers = st.text(alphabet=st.sampled_from("0123456789.,-+e$% \n" + MARKS + "aİΣß–−"), max_size=40)


@given(st.one_of(st.text(), text_like_numbers))
@also("12\u00a0345,678")
@also("1,204\u00a0567,8")
@also("ΑΣ ΑΣ")
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.integers(min_value=0, max_value=10**30), st.sampled_from(MARKS))
def test_a_grouped_integer_is_found(number: int, mark: str) -> None:
    grouped = f"{number:,}".replace(",", mark)
    assert right(f"In all {grouped} of them.", number)
    assert fold(grouped) == str(number)


digits = st.text(alphabet="0123456789", min_size=1, max_size=12)


@given(digits, digits, st.sampled_from(["{more}{label}", "{label}{more}", "{more}.{label}", "{label}.{more}", ".{label}", "-{label}"]))
def test_no_number_is_found_inside_a_longer_one(label: str, more: str, pattern: str) -> None:
    longer = pattern.format(label=label, more=more)
    inside = [longer[start : start + len(label)] for start in range(len(longer) - len(label) + 1)]
    assert label in inside
    assert not right(f"It is {longer} here", label)


@given(st.integers(0, 999), st.integers(0, 99), st.sampled_from(["e", "E", "e+", "e-"]))
def test_an_exponent_belongs_to_its_number(mantissa: int, exponent: int, sign: str) -> None:
    text = f"about {mantissa}{sign}{exponent} units"
    assert not right(text, str(mantissa))
    assert not right(text, str(exponent))
    assert right(text, f"{mantissa}{sign}{exponent}")


@given(st.one_of(st.integers(-(10**30), 10**30), st.floats(allow_nan=False, allow_infinity=False)))
def test_a_number_as_label_is_found_in_plain_digits(number: float) -> None:
    plain = plain_number(number)
    assert "e" not in plain
    assert float(plain) == float(number)
    assert right(f"we count {plain} today", number)


@given(st.one_of(st.text(), text_like_numbers).map(fold).map(one_dash).filter(bool))
def test_a_text_contains_itself(text: str) -> None:
    assert 0 in places(text, text)
    assert 3 in places(f"so {text} it is", text)


@pytest.mark.parametrize(
    ("text", "label", "found"),
    [
        ("5€-10€", "10", True),
        ("€-10", "10", False),
        ("€-10", "-10", True),
        ("-€10", "€10", False),
        ("costs €10", "€10", True),
        ("-€10", "-€10", True),
        ('5"-6"', "6", True),
        ("(5)-6", "6", True),
        ("f(-6)", "6", False),
        ("a:-6", "6", False),
        ("x = .5", ".5", True),
        ("x = 0.5", ".5", False),
        ("1e+12", "12", False),
        ("1e12", "12", False),
        ("the12", "12", True),
        ("2em", "2", True),
        ("5²", "5", True),
        ("- item", "- item", True),
        ("x- item", "- item", True),
        ("1e-15", "-15", False),
        ("12—15", "15", True),
        ("112, then 12", "12", True),
    ],
)
def test_edges(text: str, label: str, found: bool) -> None:
    assert right(text, label) is found


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("", False),
        ("  \n", False),
        ("NOT_IN_DOCUMENT", True),
        ("“Not in document!”", True),
        ("> not_in_document", True),
        ("not in document. There is more", False),
        ("NOT IN DOCUMENT. There is more", True),
        ("not_in_document: nothing about it", True),
        ("**NOT_IN_DOCUMENT.** It covers costs.", True),
        ("NOT_IN_DOCUMENT – it covers costs", True),
        ("NOT_IN_DOCUMENT - it covers costs", True),
        ("NOT_IN_DOCUMENT -it covers costs", True),
        ("NOT_IN_DOCUMENT-like notes", False),
        ("NOT_IN_DOCUMENT (it covers costs)", True),
        ("NOT_IN_DOCUMENT\nIt covers costs", True),
        ("NOT_IN_DOCUMENT。其他", True),
        ("NOT_IN_DOCUMENT.txt is a file", False),
        ("NOT_IN_DOCUMENTS", False),
        ("KNOT_IN_DOCUMENT", False),
        ("It is NOT_IN_DOCUMENT.", False),
        ("not-in-document", False),
    ],
)
def test_verdicts(text: str, verdict: bool) -> None:
    assert is_not_found(text) is verdict


@pytest.mark.parametrize("expected", [float("nan"), float("inf"), [], ["NOT_IN_DOCUMENT", 3]])
def test_labels_with_bad_values(expected: object) -> None:
    with pytest.raises(ValueError, match="item 'i'"):
        score_answer("i", "text", expected)


@pytest.mark.parametrize("expected", [None, True, {"a": 1}, ["a", None]])
def test_labels_of_bad_types(expected: object) -> None:
    with pytest.raises(TypeError, match="neither text nor a number"):
        score_answer("i", "text", expected)


def test_an_enormous_exponent_is_only_text() -> None:
    assert right("it is 1e9999", "1e9999")
    assert not right("it is 1", "1e9999")


@pytest.mark.parametrize("notes", ["cost_cap_reached, other", {"cost_cap_reached": 0}, ("cost_cap_reached",), ["cost_cap_reached", 3]])
def test_notes_that_name_a_limit(notes: object) -> None:
    assert score_answer("i", {"answer": "14", "partial": True, "notes": notes}, "12").failure_kind == "budget_stop"


@pytest.mark.parametrize("notes", ["cost_cap_reached_not", {"cost_cap_reached": None}, {"cost_cap_reached": False}, None, 3])
def test_notes_that_name_none(notes: object) -> None:
    assert score_answer("i", {"answer": "14", "partial": True, "notes": notes}, "12").failure_kind == "wrong"


@pytest.mark.parametrize(
    "text",
    ["1" * 5_000_000, "1,234" * 1_000_000, ",123" * 1_250_000, "-" * 5_000_000, "NOT " * 1_250_000, "1.1." * 1_250_000],
    ids=["digits", "groups", "tails", "dashes", "words", "points"],
)
def test_five_megabytes_take_seconds_at_most(text: str) -> None:
    started = time.process_time()
    assert not right(text, "7")
    assert is_not_found(text) is False
    assert time.process_time() - started < 10


async def test_the_scorer_reads_traced_answers() -> None:
    example = Example("e1", {}, ["12400", "12.4 thousand"])
    scorer = AnswerContains()
    found = await scorer.score(example, TracedAnswer("Made 12,400 Units."))
    assert (dict(found.values), found.correct, found.outcome) == ({"template": 1.0}, True, "made 12400 units.")
    wrong = await scorer.score(example, TracedAnswer("None."))
    assert (dict(wrong.values), wrong.correct, wrong.failure_kind) == ({"template": 0.0}, False, "wrong")
    assert "12.4 thousand" in wrong.feedback
    assert "'None.'" in wrong.feedback
    step = Step("model", "m", (), "", finish_reason="refusal")
    assert (await scorer.score(example, TracedAnswer("No.", steps=(step,)))).failure_kind == "refusal"
    own = await scorer.score(example, TracedAnswer("12400", failure_kind="context_length"))
    assert (own.correct, own.failure_kind) == (False, "context_length")
    assert "context_length" in own.feedback
    label = await scorer.score(Example("e2", {}, "yes"), TracedAnswer("{}", parsed="Yes"))
    assert label.correct


async def test_the_scorer_names_the_example_that_it_cannot_score() -> None:
    with pytest.raises(ScorerError, match=r"scorer 'answer_contains', example 'e1': the expected answer None is neither"):
        await AnswerContains().score(Example("e1", {}), TracedAnswer("x"))
