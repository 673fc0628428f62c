"""Splits: nothing is lost, nothing leaks, no part starves, and neither the order of the rows nor the machine has a say."""

import math
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from adapters.dataset import DatasetError, Row
from adapters.example import Example
from adapters.split import SealedTest, SealError, Shares, Splits, split_dataset


def row(id: str, *, inputs: object = None, expected: object = None, group: str | None = None, split: str | None = None) -> Row:
    return Row(Example(id, {"q": id if inputs is None else inputs}, expected, {}, group), split, f"rows.jsonl:{id}")


def parts(splits: Splits) -> list[tuple[Example, ...]]:
    return [splits.search.train, splits.search.val, splits.test.open("a test")]


def ids(splits: Splits) -> list[list[str]]:
    return [[e.id for e in part] for part in parts(splits)]


@st.composite
def all_shares(draw: st.DrawFn, stratify: bool = False) -> Shares:
    weights = draw(st.tuples(st.integers(1, 20), st.integers(1, 20), st.integers(0, 20)))
    train, val, test = (weight / sum(weights) for weight in weights)
    return Shares(train, val, test, stratify)


def exact(shares: Shares, size: int) -> list[float]:
    return [share * size for share in (shares.train, shares.val, shares.test)]


@given(all_shares(), st.integers(3, 60), st.integers(0, 5))
def test_an_ungrouped_deal_is_exact(shares: Shares, size: int, seed: int) -> None:
    rows = [row(f"e{i}") for i in range(size)]
    dealt = ids(split_dataset(rows, shares, seed))
    assert sorted(id for part in dealt for id in part) == sorted(f"e{i}" for i in range(size))
    wanted = exact(shares, size)
    starving = min(share for share in wanted if share) < 1
    for part, share in zip(dealt, wanted, strict=True):
        assert part == sorted(part)
        assert bool(part) == (share > 0)
        # Where a part's share is less than one example, another part gives it one.
        assert abs(len(part) - share) < (3 if starving else 1 + 1e-9)


@given(all_shares(stratify=True), st.lists(st.integers(0, 4), min_size=3, max_size=80), st.integers(0, 5))
@example(Shares(0.4, 0.3, 0.3, True), [0, 1, 2] * 10, 0)
def test_a_stratified_deal_keeps_the_mixture(shares: Shares, answers: list[int], seed: int) -> None:
    rows = [row(f"e{i}", expected={"label": answer}) for i, answer in enumerate(answers)]
    splits = split_dataset(rows, shares, seed)
    dealt = parts(splits)
    wanted = exact(shares, len(rows))
    assume(all(share == 0 or share >= 1 for share in wanted))
    for part, share in zip(dealt, wanted, strict=True):
        assert abs(len(part) - share) < 1 + 1e-9
    for answer, size in Counter(answers).items():
        for part, share in zip(dealt, exact(shares, size), strict=True):
            assert abs(sum(e.expected["label"] == answer for e in part) - share) <= 1 + 1e-9


def test_stratifying_matters() -> None:
    rows = [row(f"e{i:02}", expected="rare" if i < 10 else "common") for i in range(100)]
    for seed in range(5):
        dealt = parts(split_dataset(rows, Shares(0.5, 0.3, 0.2, stratify=True), seed))
        assert [sum(e.expected == "rare" for e in part) for part in dealt] == [5, 3, 2]
    free = [parts(split_dataset(rows, Shares(0.5, 0.3, 0.2), seed)) for seed in range(5)]
    assert any([sum(e.expected == "rare" for e in part) for part in dealt] != [5, 3, 2] for dealt in free)


grouped = st.lists(st.tuples(st.sampled_from([None, *"abcdefgh"]), st.integers(0, 12), st.integers(0, 2)), min_size=1, max_size=40)


@given(all_shares(), grouped, st.integers(0, 3), st.randoms(), st.booleans())
def test_groups_and_equal_inputs_stay_together(
    shares: Shares, drawn: list[tuple[str | None, int, int]], seed: int, shuffler: random.Random, stratify: bool
) -> None:
    rows = [row(f"e{i}", group=group, inputs=text, expected=answer) for i, (group, text, answer) in enumerate(drawn)]
    shares = Shares(shares.train, shares.val, shares.test, stratify)
    try:
        splits = split_dataset(rows, shares, seed)
    except DatasetError as error:
        assert "may be parted" in str(error)
        assert units(rows) < sum(share > 0 for share in (shares.train, shares.val, shares.test))
        return
    dealt = parts(splits)
    assert sorted(e.id for part in dealt for e in part) == sorted(r.example.id for r in rows)
    assert [bool(part) for part in dealt] == [share > 0 for share in (shares.train, shares.val, shares.test)]
    for one, other in ((0, 1), (0, 2), (1, 2)):
        assert not {e.inputs["q"] for e in dealt[one]} & {e.inputs["q"] for e in dealt[other]}
        assert not {e.group for e in dealt[one]} & {e.group for e in dealt[other]} - {None}
    assert splits.notes == ()
    shuffler.shuffle(rows)
    assert ids(split_dataset(rows, shares, seed)) == [[e.id for e in part] for part in dealt]


def units(rows: Sequence[Row]) -> int:
    """How many sets of rows are linked neither by group nor by inputs: counted by merging sets until nothing changes."""
    sets = [{("text", r.example.inputs["q"])} | ({("group", r.example.group)} if r.example.group else set()) for r in rows]
    merged: list[set[tuple[str, object]]] = []
    for marks in sets:
        linked = [other for other in merged if other & marks]
        merged = [other for other in merged if not other & marks] + [marks.union(*linked)]
    return len(merged)


def test_groups_are_balanced_by_size() -> None:
    rows = [row(f"{group}{i}", group=group) for group, size in (("a", 40), ("b", 30), ("c", 20), ("d", 10)) for i in range(size)]
    dealt = parts(split_dataset(rows, Shares(0.4, 0.3, 0.3), 0))
    assert [len(part) for part in dealt] == [40, 30, 30]
    rows = [row(f"{group}{i}", group=group) for group, size in (("a", 90), ("b", 1), ("c", 1)) for i in range(size)]
    assert [len(part) for part in parts(split_dataset(rows, Shares(0.1, 0.1, 0.8), 0))] == [1, 1, 90]


def test_the_seed_decides_and_nothing_else_does() -> None:
    rows = [row(f"e{i}") for i in range(30)]
    shares = Shares(0.5, 0.3, 0.2)
    assert len({str(ids(split_dataset(rows, shares, seed))) for seed in range(10)}) == 10
    assert ids(split_dataset(rows[:10], shares, 7)) == [
        ["e3", "e4", "e6", "e8", "e9"],
        ["e1", "e5", "e7"],
        ["e0", "e2"],
    ]


def test_another_process_deals_alike() -> None:
    code = (
        "from adapters.dataset import Row; from adapters.example import Example; from adapters.split import *; "
        "rows = [Row(Example(f'e{i}', {'q': i}, i % 3), None, '') for i in range(30)]; "
        "print([e.id for e in split_dataset(rows, Shares(0.5, 0.3, 0.2, True), 1).search.train])"
    )
    shown = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed}).stdout
        for seed in ("1", "2")
    }
    assert len(shown) == 1


def test_without_a_share_the_test_part_is_empty() -> None:
    splits = split_dataset([row("a"), row("b"), row("c")], Shares(0.5, 0.5), 0)
    assert len(splits.test) == 0
    assert splits.test.open("the report") == ()


def test_too_few_examples_to_part() -> None:
    rows = [row("a", group="g"), row("b", group="g"), row("c", inputs="a")]
    with pytest.raises(DatasetError, match="train and val and test need at least 3 examples that may be parted, and there are 1"):
        split_dataset(rows, Shares(0.4, 0.3, 0.3), 0)
    with pytest.raises(DatasetError, match="there are 0"):
        split_dataset([], Shares(0.5, 0.5), 0)


@pytest.mark.parametrize("shares", [(0.5, 0.6, 0.0), (1.0, 0.0, 0.0), (0.0, 0.5, 0.5), (0.7, 0.7, -0.4), (0.5, math.nan, 0.1)])
def test_shares_that_make_no_whole(shares: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="all add up to 1"):
        Shares(*shares)


def test_rows_may_say_themselves() -> None:
    marked = ["train", "Training", "val", "validation", "valid", " dev ", "TEST"]
    splits = split_dataset([row(str(9 - i), split=split) for i, split in enumerate(marked)], None, 0)
    assert ids(splits) == [["8", "9"], ["4", "5", "6", "7"], ["3"]]
    assert splits.notes == ()


@pytest.mark.parametrize(
    ("marks", "message"),
    [
        ([None, None], "give the rows a column `split`, or the data shares"),
        (["train", None], "rows.jsonl:1: the row has no split, though others have one; write train, val or test"),
        (["train", "tset"], "rows.jsonl:1, split: unknown split 'tset'; did you mean 'test'?"),
        (["train", "xyz"], "unknown split 'xyz'; there is train, val, test"),
        (["train", "test"], "no row has the split val; mark some so, or leave the column out and give the data shares"),
        (["val", "test"], "no row has the split train"),
    ],
)
def test_marks_that_make_no_split(marks: list[str | None], message: str) -> None:
    with pytest.raises(DatasetError) as caught:
        split_dataset([row(str(i), split=split) for i, split in enumerate(marks)], None, 0)
    assert message in str(caught.value)


def test_marks_and_shares_together() -> None:
    with pytest.raises(DatasetError, match=r"rows\.jsonl:1: the row has a split of its own, and the data shares too"):
        split_dataset([row("0"), row("1", split="val")], Shares(0.5, 0.5), 0)


def test_marks_may_not_part_a_group() -> None:
    rows = [row("0", split="train", group="g"), row("1", split="val"), row("2", split="val", group="g")]
    with pytest.raises(DatasetError, match=r"rows\.jsonl:2: the group 'g' is in val here and in train at rows\.jsonl:0; "):
        split_dataset(rows, None, 0)


def test_marked_parts_with_inputs_in_common_are_told_of() -> None:
    rows = [
        row("0", split="train", inputs="x"),
        row("1", split="val", inputs="y"),
        row("2", split="test", inputs="x"),
        row("3", split="test", inputs=" Y"),
    ]
    told = split_dataset(rows, None, 0).notes
    assert [note.partition(",")[0] for note in told] == [
        "test: 1 example has the same inputs as in train ('0' and '2')",
        "test: 1 example has the same inputs as in val ('1' and '3')",
    ]


def test_case_and_spaces_part_nothing() -> None:
    rows = [row(f"{n}{k}", inputs=text) for n in range(6) for k, text in enumerate([f"Text {n}", f" text\n{n}", f"TEXT  {n}"])]
    for dealt in parts(split_dataset(rows, Shares(0.4, 0.3, 0.3), 0)):
        assert len(dealt) == 3 * len({e.id[0] for e in dealt})


def test_the_test_split_opens_once() -> None:
    sealed = SealedTest([Example("secret", {"q": "secret"})])
    assert (len(sealed), sealed.opened_for) == (1, None)
    assert "secret" not in repr(sealed)
    assert [e.id for e in sealed.open("the report")] == ["secret"]
    assert sealed.opened_for == "the report"
    with pytest.raises(SealError, match="opened already, for: the report; not again for: a second look"):
        sealed.open("a second look")


def test_what_the_search_gets_has_no_way_to_the_test_split() -> None:
    splits = split_dataset([row(f"e{i}") for i in range(9)], Shares(0.4, 0.3, 0.3), 0)
    assert set(vars(splits.search)) == {"train", "val"}


def test_groups_are_counted_without_opening_the_seal() -> None:
    grouped = [Example(f"g{index}", {"q": index}, group="one" if index < 3 else "two") for index in range(5)]
    sealed = SealedTest([*grouped, Example("alone", {"q": 8}), Example("too", {"q": 9})])
    assert sorted(sealed.group_sizes) == [1, 1, 2, 3] and sealed.opened_for is None
