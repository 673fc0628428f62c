"""What a reflection model is shown: the worst first, in bounds, whatever is in the cells."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pieces import cell, example

from adapters.example import Example
from optimizer.config import DimensionConfig, ObjectivesConfig
from optimizer.evaluate import Cell
from optimizer.policy import ALL_ALIKE
from optimizer.propose.contrast import Contrast
from optimizer.propose.feedback import BETTER, FIELD, MARK, cut
from optimizer.propose.feedback import render as render_all


def render(
    cells: Sequence[Cell],
    limit: int,
    *,
    reveal: bool = True,
    texts: Mapping[str, Sequence[Cell]] | None = None,
    objectives: ObjectivesConfig = ALL_ALIKE,
) -> str:
    return render_all(cells, limit, reveal=reveal, texts=texts or {}, objectives=objectives)


def test_a_cell_is_told_in_full() -> None:
    shown = cell(
        example("e", ticket="Where is it?", meta={"n": [1, None]}, vip=True, note=None),
        {"template": 0.0, "brevity": 0.5},
        model="haiku",
        text="refund",
        feedback="expected shipping, got refund",
        discreet="got refund",
    )
    assert render([shown], 1000) == (
        "## Example 1\n\n"
        'What was asked:\nticket: Where is it?\nmeta: {"n": [1, null]}\nvip: true\nnote: \n\n'
        "What came back:\nrefund\n\n"
        "Scores: haiku:template 0 of 100, haiku:brevity 50 of 100\n\n"
        "Feedback: expected shipping, got refund"
    )


def test_an_empty_answer_is_told_as_such_and_no_feedback_is_none() -> None:
    text = render([cell(example("e"), 0.0, text="")], 1000)
    assert "What came back:\n(nothing)" in text
    assert "Feedback" not in text


def test_those_that_lost_most_come_first_and_equals_stay_in_order() -> None:
    worth = {"a": 1.0, "b": 0.25, "c": 0.0, "d": 0.25}
    text = render([cell(example(name, text=f"<{name}>"), value) for name, value in worth.items()], 5000)
    assert [text.index(f"<{name}>") for name in "cbda"] == sorted(text.index(f"<{name}>") for name in "abcd")
    assert [f"## Example {n}" in text for n in range(1, 6)] == [True] * 4 + [False]


def test_the_mean_over_dimensions_says_who_lost_most() -> None:
    text = render([cell(example("a", text="<a>"), {"x": 0.5, "y": 0.4}), cell(example("b", text="<b>"), {"x": 0.0, "y": 0.8})], 5000)
    assert text.index("<b>") < text.index("<a>")


def test_objectives_say_who_lost_most_and_what_is_told_of() -> None:
    wanted = ObjectivesConfig(dimensions={"toxic": DimensionConfig(direction="minimize")})
    calm, rude = cell(example("a", text="<a>"), {"toxic": 0.0, "other": 0.0}), cell(example("b", text="<b>"), {"toxic": 0.5, "other": 1.0})
    text = render([calm, rude], 5000, objectives=wanted)
    assert text.index("<b>") < text.index("<a>")
    assert "small:toxic 50 of 100 (lower is better)" in text and "other" not in text
    better = render([rude], 5000, texts={"A": [cell(rude.example, {"toxic": 0.0})]}, objectives=wanted)
    assert "Text A got this right (toxic 0 of 100 (lower is better))" in better
    assert "Scores" not in render([cell(example("a"), {"other": 0.0})], 5000, objectives=wanted)


def test_an_expected_answer_is_told_where_an_objective_lost() -> None:
    wanted = ObjectivesConfig(dimensions={"toxic": DimensionConfig(direction="minimize")})
    here = replace(example("e"), expected="polite")
    assert "Expected: polite" in render([cell(here, {"toxic": 1.0})], 5000, objectives=wanted)
    assert "Expected" not in render([cell(here, {"toxic": 0.0})], 5000, objectives=wanted)


def test_failed_cells_are_not_shown() -> None:
    text = render([cell(example("a"), None), cell(example("b"), 0.5)], 1000)
    assert "text of b" in text and "text of a" not in text
    assert render([cell(example("a"), None)], 1000) == render([], 1000) == ""


def test_what_does_not_fit_is_counted() -> None:
    cells = [cell(example(f"e{n}", text="x" * 300), 0.0) for n in range(10)]
    text = render(cells, 1000)
    assert text.count("## Example") == 2
    assert text.endswith("[… 8 more examples left out …]")


def test_the_first_is_always_shown_and_cut_where_it_does_not_fit() -> None:
    cells = [cell(example(f"e{n}", text=f"begin{n} " + "x" * 900), 0.0, feedback=f"end{n}") for n in range(2)]
    text = render(cells, 200)
    assert "begin0" in text and "end0" in text and "characters left out" in text
    assert text.endswith("[… 1 more examples left out …]")


def test_a_long_field_does_not_push_out_the_others() -> None:
    shown = cell(example("e", ticket="t" * 50_000, other="kept"), 0.0, text="a" * 50_000, feedback="f" * 50_000)
    text = render([shown], 20_000)
    assert len(text) < 4 * FIELD
    assert "other: kept" in text and "Scores: " in text
    assert all(letter * (FIELD // 2) in text for letter in "taf")


@pytest.mark.parametrize("text", ["nul \0", "\x1b[31mred\x1b[0m", "bell \a back \b", "\x7f"])
def test_control_characters_are_not_passed_on(text: str) -> None:
    """Some providers refuse a request for one of them, and then reflection would fail on every example that holds it."""
    shown = render([cell(example(text, **{f"in{text}": text}), 0.0, text=text, feedback=text)], 1000)
    assert not any((character < " " and character not in "\n\t\r") or character == "\x7f" for character in shown)
    assert shown.count("\N{REPLACEMENT CHARACTER}") >= 4


def test_line_ends_and_tabs_stay() -> None:
    assert "a\r\n\tb" in render([cell(example("e"), 0.0, text="a\r\n\tb")], 1000)


# --- expected answers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shown", "told"),
    [
        (cell(example("e", "secret"), 0.0, feedback="no"), "Feedback: no\n\nExpected: secret"),
        (cell(example("e", {"a": 1}), {"x": 1.0, "y": 0.5}), 'Expected: {"a": 1}'),
        (cell(example("e", "secret"), 0.0, feedback="not secret", discreet="no"), "Feedback: not secret"),
        (cell(example("e", "secret"), 1.0, correct=True), None),
        (cell(example("e", "secret"), {"template": 1.0, "length": 0.5}, correct=True), None),
        (cell(example("e", None), 0.0), None),
    ],
    ids=["not in the feedback", "partly right", "in the feedback", "right", "right and long", "none"],
)
def test_the_expected_answer_is_told_once_and_where_points_were_lost(shown: Cell, told: str | None) -> None:
    text = render([shown], 1000)
    assert text.endswith(told) if told is not None else "Expected" not in text and "secret" not in text


SECRET = "q7w8e9"


@given(
    st.sampled_from([SECRET, {"a": SECRET}, [SECRET, "other"]]),
    st.sampled_from(["wrong", SECRET]),
    st.sampled_from(["", f"expected {SECRET}"]),
    st.booleans(),
)
def test_a_withheld_answer_is_nowhere(expected: object, rival: str, feedback: str, right: bool) -> None:
    """Neither by the scorer, nor as an answer that is right, nor as another's answer."""
    here = example("e", expected)
    shown = cell(here, float(right), text=SECRET if right else "wrong", feedback=feedback, discreet="see", correct=right)
    big = cell(here, 1.0, model="big", text=rival, correct=True)
    text = render([shown, big], 5000, reveal=False, texts={"A": [cell(here, 1.0, text=rival, correct=True)]})
    assert SECRET not in text and text.count("(the right answer, which is not shown)") == 1 + right
    assert ("Text A got this right (template 100 of 100)." in text) is not right
    told = render([shown, big], 5000, texts={"A": [cell(here, 1.0, text=SECRET, correct=True)]})
    assert SECRET in told


@pytest.mark.parametrize(
    ("text", "values", "shown"),
    [
        (SECRET, {"codes": 1.0}, False),
        (f"{{{SECRET}}}", {"codes": 1.0}, False),
        (f" {SECRET}\n", {"codes": 1.0, "length": 0.5}, False),
        (f"{SECRET} or so", {"codes": 0.5}, True),
        (f"{SECRET} or so", {}, True),
    ],
    ids=["right", "right in other words", "right and long", "partly right", "not measured"],
)
def test_a_right_answer_is_withheld_also_where_no_scorer_calls_it_so(text: str, values: dict[str, float], shown: bool) -> None:
    """A function that is not called `template` says nothing of right and wrong."""
    for expected in (SECRET, [SECRET, "other"]):
        told = render([cell(example("e", expected), values, text=text, correct=None)], 5000, reveal=False)
        assert (SECRET in told) is shown
    assert "(nothing)" in render([cell(example("e", None), 0.0, text="")], 5000, reveal=False)


# --- who did better ---------------------------------------------------------------------------------------------------


def test_who_did_better_is_told_with_their_answer() -> None:
    here = example("e")
    shown, big = cell(here, 0.0, text="no"), cell(here, 1.0, model="big", text="yes")
    text = render([shown, big], 5000, texts={"B": [cell(here, {"template": 0.5}, text="")]})
    assert "The model big, with this text, got this right (template 100 of 100). Its answer:\nyes" in text
    assert "Text B did better here (template 50 of 100). Its answer:\n(nothing)" in text
    assert text.count("Its answer") == 2
    assert len(render([shown], 5000, texts={"A": [cell(here, 1.0, text="y" * 9999)]})) < BETTER + 500


# --- bounds -----------------------------------------------------------------------------------------------------------


@given(st.text(max_size=400), st.integers(0, 300))
def test_a_cut_text_keeps_its_ends_and_its_bound(text: str, limit: int) -> None:
    short = cut(text, limit)
    assert len(short) <= limit + MARK
    if len(text) <= limit:
        assert short == text
    else:
        half = limit // 2
        assert short.startswith(text[:half] + "\n[… ") and short.endswith(" …]\n" + text[len(text) - half :])
        assert f"[… {len(text) - 2 * half} characters left out …]" in short


def test_a_text_without_end_keeps_the_bound() -> None:
    assert len(cut("x" * 10_000_000, 10)) <= 10 + MARK
    assert "x" not in cut("x" * 100, 0)


long_text = st.text(max_size=30) | st.builds(lambda piece, n: piece * n, st.text(min_size=1, max_size=4), st.integers(0, 3000))
hostile_cells = st.lists(
    st.builds(
        lambda inputs, text, feedback, values, model: cell(Example("e", inputs, "yes"), values, text=text, feedback=feedback, model=model),
        st.dictionaries(long_text, long_text | st.lists(st.integers(), max_size=50) | st.none(), max_size=4),
        long_text,
        long_text,
        st.dictionaries(st.text("abc", min_size=1, max_size=300), st.floats(0, 1), max_size=5) | st.none() | st.floats(0, 1),
        st.sampled_from(["small", "big"]),
    ),
    max_size=12,
)


@settings(max_examples=40, deadline=None)
@given(hostile_cells, hostile_cells, st.integers(0, 5000), st.booleans())
def test_no_cells_break_the_bound(cells: list[Cell], others: list[Cell], limit: int, reveal: bool) -> None:
    assert len(render(cells, limit, reveal=reveal, texts={"A": others})) <= limit + 2 * MARK


@settings(max_examples=20, deadline=None)
@given(hostile_cells)
def test_with_room_enough_every_scored_cell_is_there(cells: list[Cell]) -> None:
    assert render(cells, 10**6).count("What was asked:\n") >= sum(c.score is not None for c in cells)


def test_many_short_sections_keep_the_bound() -> None:
    """The gaps between them count too."""
    cells = [cell(example("e", t=""), {}, text="a") for _ in range(1000)]
    assert 20_000 - 200 < len(render(cells, 20_000)) <= 20_000 + 2 * MARK


def test_a_cell_without_a_score_has_no_section() -> None:
    from optimizer.propose.feedback import _better, _section

    failed = cell(example("e"), None)
    with pytest.raises(ValueError, match="no score to show"):
        _section(failed, (), True, ALL_ALIKE)
    with pytest.raises(ValueError, match="no score to show"):
        _better(Contrast("Text A", failed), True, ALL_ALIKE)
