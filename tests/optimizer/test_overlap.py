"""Overlap: what a candidate has of the examples, how much that is, and that nothing of val can be read from it."""

import json
import random
import time
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pieces import candidate, example

from adapters.candidate import DEMONSTRATIONS, Candidate
from adapters.demonstrations import demonstration_of, dump_demonstrations
from adapters.example import Example
from adapters.ngrams import RUN
from adapters.template import placeholders
from optimizer.asktell import Study
from optimizer.propose.demos import offers
from optimizer.propose.guards import REPEATS, Guards
from optimizer.propose.overlap import Overlap

TRAIN = "My parcel was left in the rain by a driver who did not ring, and all the books in it are wet."
VAL = "On Monday somebody took forty euros from my account, and I have never ordered anything in your shop at all."
RULES = "Say which team a ticket goes to. Damage goes to claims, and money that was taken without an order goes to fraud."


def overlap(train: Sequence[Example] = (), val: Sequence[Example] = ()) -> Overlap:
    return Overlap([example("t", ticket=TRAIN), *train], [example("v", ticket=VAL), *val])


def copied(new: str, old: str = RULES, found: Overlap | None = None) -> bool:
    return (found or overlap()).copied(candidate(old), candidate(new))


def without(text: str, *words: int) -> str:
    """The text with some of its words exchanged."""
    return " ".join("(…)" if index in words else word for index, word in enumerate(text.split()))


# --- what is copied ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [TRAIN, VAL])
def test_an_example_that_is_there_nearly_word_for_word_is_copied(text: str) -> None:
    assert copied(f"{RULES} {text}") and copied(f"{RULES}\n> {text.upper().replace(',', ' -')}")
    assert copied(f"{RULES} {without(text, 1)}"), "one word at its beginning is another"
    assert not copied(f"{RULES} {without(text, 6, 12)}"), "no run is left"
    assert not copied(f"{RULES} {' '.join(text.split()[: len(text.split()) // 2])}"), "half of it"
    assert not copied(RULES, old="Do it.")


def test_what_stood_there_before_is_no_copy() -> None:
    assert not copied(f"{RULES} Mind: {VAL}", old=f"{VAL} Sort it.")
    moved = Candidate({"first": "Sort it.", "second": f"Rules. {VAL}"})
    assert not overlap().copied(Candidate({"first": VAL, "second": "Rules."}), moved)


@given(st.integers(0, 30), st.integers(0, 30))
def test_seven_tenths_of_the_runs_are_the_limit(first: int, last: int) -> None:
    words = [f"word{n}" for n in range(30)]
    some = words[first:last]
    runs, all_runs = max(0, len(some) - RUN + 1), 30 - RUN + 1
    found = Overlap([], [example("v", text=" ".join(words))])
    assert copied(f"Rules: {' '.join(some)}", found=found) is (runs >= 0.7 * all_runs)


def test_expected_answers_are_passages_and_labels_are_none() -> None:
    label = "the customer wants to know where the parcel is right now"
    answers = [f"it was agreed in clause {n} that number {n} pays for the damage of {n} houses" for n in range(6)]
    found = overlap(val=[example(f"a{n}", {"text": text, "kind": label}, q=f"q{n}") for n, text in enumerate(answers)])
    assert copied(f"{RULES} As in: {answers[3]}.", found=found)
    assert not copied(f"{RULES} Kinds: {label}.", found=found)
    assert not copied(RULES, found=overlap(val=[example("odd", float("nan"), q=[None, 3, {"x": True}])]))


def test_a_rare_label_is_a_label_among_those_that_come_again() -> None:
    often, rare = "the customer wants to know where the parcel is now", "the customer says that the parcel never came at all"
    found = overlap([example(f"e{n}", often, q=f"q{n}") for n in range(4)], [example("rare", rare, q="q")])
    assert not copied(f"{RULES} Say '{often}' or '{rare}'.", found=found)


def test_the_language_of_the_task_is_nobodys() -> None:
    def row(n: int) -> Example:
        return example(f"r{n}", task="Read what the customer of our shop wrote, and say the team.", ticket=f"{n} {'odd ' * n}")

    found = overlap([row(n) for n in range(3)], [row(n) for n in range(3, 6)])
    new = candidate("Read what the customer of our shop wrote, and say the team.")
    assert not found.copied(candidate(RULES), new) and found.shares(new) == {"train": 0.0, "val": 0.0}


def test_the_same_text_in_many_rows_is_still_a_copy() -> None:
    assert copied(f"{RULES} {VAL}", found=overlap([example(f"d{n}", ticket=VAL) for n in range(5)]))


def test_short_texts_are_too_short_to_tell() -> None:
    found = Overlap([], [example("v", "seven words are not enough for it", q="Where is it?")])
    assert not copied(f"{RULES} Where is it? seven words are not enough for it", found=found)


# --- demonstrations ---------------------------------------------------------------------------------------------------


def showing(*examples: Example) -> Candidate:
    shown = dump_demonstrations([each for each in map(demonstration_of, examples) if each])
    return Candidate({"instructions": RULES, DEMONSTRATIONS: shown})


def test_demonstrations_may_be_of_train_and_not_of_val() -> None:
    found, nothing = overlap(), showing()
    assert not found.copied(nothing, showing(example("t", ticket=TRAIN)))
    assert found.copied(nothing, showing(example("x", ticket=VAL.replace(" ", "\n"))))
    assert not found.copied(showing(example("x", ticket=VAL)), showing(example("t", ticket=TRAIN), example("x", ticket=VAL)))


def test_what_val_has_too_is_not_offered() -> None:
    train = [example("t", ticket=TRAIN), example("d", ticket=f"Hello! {VAL}")]
    guards = Guards(lambda text: placeholders(text, ["ticket"]), 1000, train, overlap(train[1:]))
    assert [json.loads(unit.text)["id"] for unit in guards.offered(offers(train))] == ["t"]


# --- how much ---------------------------------------------------------------------------------------------------------


def test_the_share_is_that_of_the_words() -> None:
    ten = " ".join(TRAIN.split()[:10])
    told = overlap().shares(candidate(f"{'rule ' * 30}{ten}", short="four words of VAL"))
    assert told == {"train": pytest.approx(10 / 40), "val": 0.0}
    assert overlap().shares(candidate(VAL)) == {"train": 0.0, "val": 1.0}
    assert overlap().shares(candidate("")) == Overlap([], []).shares(candidate(VAL)) == {"train": 0.0, "val": 0.0}


def test_demonstrations_count_for_val_alone() -> None:
    assert overlap().shares(showing(example("t", ticket=TRAIN))) == {"train": 0.0, "val": 0.0}
    told = overlap().shares(showing(example("t", ticket=TRAIN), example("x", ticket=VAL)))
    words = [len(text.split()) for text in (RULES, TRAIN, VAL)]
    assert told == {"train": 0.0, "val": pytest.approx(words[2] / sum(words))}


@given(st.lists(st.sampled_from(["a", "b", "c"]), max_size=40), st.lists(st.sampled_from(["a", "b", "c"]), max_size=20))
def test_shares_against_words_that_are_compared_one_by_one(text: list[str], passage: list[str]) -> None:
    runs = {tuple(passage[i : i + RUN]) for i in range(len(passage) - RUN + 1)}
    held = {j for i in range(len(text) - RUN + 1) if tuple(text[i : i + RUN]) in runs for j in range(i, i + RUN)}
    told = Overlap([], [example("v", q=" ".join(passage))]).shares(candidate(" ".join(text)))
    assert told["val"] == pytest.approx(len(held) / len(text) if len(text) >= RUN else 0.0)


# --- what it may tell, and how long it takes --------------------------------------------------------------------------


def test_the_reason_tells_nothing_of_val() -> None:
    """The same words for train and val, with nothing of the example, so nobody learns which text is in val."""
    train = [example("t", ticket=TRAIN)]
    guards = Guards(lambda text: placeholders(text, ["ticket"]), 5000, train, overlap())
    of_train, of_val = (
        guards.problem(candidate(RULES), candidate(f"{RULES} {text}"), frozenset()) for text in (without(TRAIN, 1), without(VAL, 1))
    )
    assert of_train == of_val == REPEATS
    assert not {"v", "val", "validation"} & set(REPEATS.split()) and not any(word in REPEATS for word in ("euros", "account", "parcel"))


def test_a_study_refuses_what_val_has() -> None:
    study = Study({"instructions": RULES}, [example("t", ticket=TRAIN)], [example("v", ticket=VAL)])
    assert study.propose({"instructions": f"{RULES} {VAL}"}) == REPEATS
    assert study.propose({"instructions": f"{RULES} Be brief."}) is None


def test_a_proposal_is_looked_through_quickly() -> None:
    draw = random.Random(0)
    texts = [" ".join(f"w{draw.randrange(5000)}" for _ in range(150)) for _ in range(4000)]
    found = Overlap([example(f"t{n}", ticket=text) for n, text in enumerate(texts[:2000])], [example("v", ticket=texts[2000])])
    old, new = candidate(RULES), candidate(f"{RULES} {' '.join(texts[2000:2020])}")
    start = time.process_time()
    assert found.copied(old, new)
    assert time.process_time() - start < 0.1  # 0.002 s on an idle machine
