"""Runs of words: what two texts have in common, against lists of words that are compared one by one."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.ngrams import RUN, grams, leaves

word = st.sampled_from(["ab", "c", "Ab", "1", "é", "x_y"])
texts = st.lists(word, max_size=30).map(" ".join)


def plainly(text: str) -> list[tuple[str, ...]]:
    words = re.findall(r"\w+", text.casefold())
    return [tuple(words[i : i + RUN]) for i in range(len(words) - RUN + 1)]


@given(texts, texts)
def test_equal_runs_have_equal_numbers_and_others_have_not(one: str, other: str) -> None:
    assert len(grams(one)) == len(plainly(one))
    numbers, runs = [*grams(one).tolist(), *grams(other).tolist()], [*plainly(one), *plainly(other)]
    assert len(set(numbers)) == len(set(runs)) == len(set(zip(numbers, runs, strict=True)))


@pytest.mark.parametrize(
    "other",
    [
        "ONE two three four five six seven eight",
        "one\n- two, three!\tfour (five) “six” seven: eight.",
        "  one two three four five six seven eight",
    ],
)
def test_case_spaces_and_marks_change_nothing(other: str) -> None:
    assert grams(other).tolist() == grams("one two three four five six seven eight").tolist()


def test_the_order_of_words_does() -> None:
    assert grams("two one three four five six seven eight").tolist() != grams("one two three four five six seven eight").tolist()


def test_signs_of_scripts_without_spaces_count_one_by_one() -> None:
    assert len(grams("我想退回我上周买的鞋子。")) == len("我想退回我上周买的鞋子") - RUN + 1
    assert len(grams("one two three")) == len(grams("")) == 0


def test_leaves_are_all_texts_in_a_value() -> None:
    assert sorted(leaves({"a": ["x", {"b": "y"}, ("z",)], "c": 1, "d": None, "e": True, "f": ""})) == ["", "x", "y", "z"]
    assert list(leaves("text")) == ["text"] and list(leaves(3)) == []
