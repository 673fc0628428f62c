"""Copies: pasted training answers are always found, labels never are, whatever is in the data."""

import time
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pieces import example

from adapters.example import Example
from optimizer.propose.copies import COPIED, SEVERAL, SHORTEST, Copies, answers, words

PLACES = ["Oslo", "Lima", "Kyiv", "Bern", "Rome", "Doha"]


def capitals() -> list[Example]:
    return [example(f"e{index}", name, q=f"Which one is number {index}?") for index, name in enumerate(PLACES)]


def found(train: Sequence[Example], new: str, old: str = "Rules.", shown: Sequence[Example] | None = None) -> list[str]:
    return Copies(train).found(old, new, train if shown is None else shown)


# --- short answers ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("new", "ids"),
    [
        ("It is Oslo, Lima or kyiv.", ["e0", "e1", "e2"]),
        ("**Oslo**\n- Rome!\n(DOHA)", ["e0", "e4", "e5"]),
        ("It is Oslo or Lima.", []),
        ("Oslo, Oslo, Oslo", []),
        ("Osloer, Limabean and Bernese", []),
        ("", []),
    ],
    ids=["three", "with marks around", "two may be chance", "one thing often", "parts of words", "nothing"],
)
def test_several_short_answers_are_a_copy(new: str, ids: list[str]) -> None:
    assert found(capitals(), new) == ids


def test_what_stood_there_before_is_no_copy() -> None:
    assert found(capitals(), "Oslo, Lima, Kyiv, Bern, Rome", old="Think of Oslo, Lima and Kyiv.") == []


def test_an_author_copies_only_what_it_was_shown() -> None:
    """Among thousands of answers some are words that a text needs; among those shown they are no chance."""
    assert found(capitals(), "Oslo, Lima, Kyiv", shown=capitals()[2:]) == []


def test_two_that_are_long_together_are_a_copy() -> None:
    names = ["Wolfgang Amadeus Mozart", "Ludwig van Beethoven", "Johann Sebastian Bach"]
    train = [example(f"e{index}", name) for index, name in enumerate(names)]
    assert found(train, "Not Ludwig van Beethoven, nor Wolfgang Amadeus Mozart.") == ["e0", "e1"]
    assert found(train, "Not Ludwig van Beethoven.") == []


def test_the_fields_of_one_answer_are_a_copy_and_its_labels_are_not() -> None:
    train = [
        example(f"e{n}", {"who": {"name": f"Person{n}", "town": f"Town{n}"}, "kind": ["invoice", "order"][n % 2], "no": 1000 + n})
        for n in range(8)
    ]
    assert found(train, "E.g. Person3 of Town3 has the number 1003, an invoice or an order.") == ["e3"]
    assert found(train, "Kinds: invoice, order. 1003") == []


def test_numbers_are_whole() -> None:
    train = [example(f"e{n}", 100 + n) for n in range(5)]
    assert found(train, "100.5, 1,101 and 102% or 1030") == []
    assert found(train, "100, 101 (102%).") == ["e0", "e1", "e2"]
    assert found([example(f"e{n}", n) for n in range(90)], "1. Do this. 2. Do that. 3. Say 42.") == [], "too short to tell"


def test_scripts_without_spaces() -> None:
    train = [example(f"e{index}", name) for index, name in enumerate(["北京城市", "上海城市", "广州城市", "深圳城市"])]
    assert found(train, "答案是北京城市或上海城市和广州城市。") == ["e0", "e1", "e2"]


@pytest.mark.parametrize("expected", [None, True, "", "  ", [], {}, {"a": None}, [[]], "...", float("nan"), "a" * 100_000, ".*" * 9])
def test_odd_answers_are_no_obstacle(expected: object) -> None:
    assert found([example("odd", expected), *capitals()], "Oslo, Lima, Rome. True, none, (.*)+") == ["e0", "e1", "e4"]


def test_answers_and_their_places() -> None:
    expected = {"a": ["X", {"b": 1.5}], "c": None, "d": False, "e": " \n"}
    assert sorted(answers(expected)) == [(".a", " x "), (".a.b", " 1.5 ")]


# --- labels -----------------------------------------------------------------------------------------------------------

name = st.text(st.characters(categories=["L", "N"]), min_size=SHORTEST, max_size=12)
label = name | st.text(min_size=1, max_size=60)


@settings(max_examples=60, deadline=None)
@given(st.lists(label, min_size=2, max_size=8, unique=True), st.data())
def test_labels_are_never_a_copy(labels: list[str], data: st.DataObject) -> None:
    """Every one of them twice at least, and a rare one beside them: a prompt may name them all."""
    train = [example(f"e{n}", labels[n % len(labels)], q="?") for n in range(2 * len(labels))] + [example("rare", data.draw(label), q="?")]
    shown = data.draw(st.permutations(train))
    assert found(train, "One of: " + ", ".join(str(each.expected) for each in shown)) == []


@pytest.mark.parametrize(("times", "copied"), [(2, True), (3, False)])
def test_what_comes_again_is_a_label_also_among_answers_that_do_not(times: int, copied: bool) -> None:
    text = "nobody was at home when the driver came by again"
    train = [example(f"e{n}", text, q="?") for n in range(times)] + [example(f"o{n}", f"answer number {n}", q="?") for n in range(8)]
    assert bool(found(train, f"Say {text} to all")) is copied


def test_a_long_label_is_a_label() -> None:
    text = "the customer wants to know where the parcel is"
    assert len(text) > COPIED
    assert found([example(f"e{n}", text if n % 2 else "other") for n in range(8)], f"Say '{text}'.") == []


@settings(max_examples=60, deadline=None)
@given(st.lists(name, min_size=SEVERAL, max_size=10, unique_by=words), st.sampled_from([", ", "\n", " | ", "; not ", "**, **"]), st.data())
def test_pasted_answers_are_always_a_copy(names: list[str], between: str, data: st.DataObject) -> None:
    long_enough = [text for text in names if len(words(text)) >= SHORTEST + 2]
    train = [example(f"e{n}", text, q="?") for n, text in enumerate(names)]
    some = data.draw(st.lists(st.sampled_from(long_enough), min_size=SEVERAL, unique=True)) if len(long_enough) >= SEVERAL else []
    copied = found(train, between.join(["Rules", *some, "end"]))
    assert len(copied) >= min(SEVERAL, len(some))
    assert {f"e{names.index(text)}" for text in some} <= set(copied)


# --- long texts -------------------------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(st.text(min_size=COPIED, max_size=3000), st.text(max_size=50), st.text(max_size=50))
def test_a_long_text_is_found_wherever_it_stands(text: str, before: str, after: str) -> None:
    if len(words(text)) >= COPIED + 2:
        assert found([example("other", ticket="o" * 50), example("e", ticket=text)], f"{before} {text} {after}", shown=()) == ["e"]
        assert found([example("e", ticket=text)], text, old=f"{before} {text} {after}") == []


def test_texts_that_begin_and_end_alike_are_told_apart() -> None:
    texts = [
        f"{'Please look at this request of a customer of ours: '}{n}{'. Answer in one word, in lower case, no dots.'}" for n in range(50)
    ]
    train = [example(f"e{n}", ticket=text) for n, text in enumerate(texts)]
    assert found(train, f"Rules. {texts[33]}") == ["e33"]
    assert found(train, texts[3].replace("3", "three")) == []


def test_a_text_of_twenty_thousand_letters_is_searched_in_one_pass() -> None:
    filler = " ".join(f"word{n % 977}" for n in range(3000))
    train = [
        example(f"e{n}", f"answer {n}", ticket=f"A request of our customer, the {n}th: {filler[n % 500 : n % 500 + 900]}")
        for n in range(10_000)
    ]
    copies = Copies(train)
    copies.found("", "", train[:10])  # reads the data
    new = f"{filler[:20_000]} A request of our customer, the best"
    start = time.process_time()
    assert copies.found("Rules.", new, train[:10]) == []
    assert time.process_time() - start < 0.2  # 0.01 s on an idle machine
