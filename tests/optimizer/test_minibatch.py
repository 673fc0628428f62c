"""Where a candidate is run next: new ground first. And what is read of it: where points were lost."""

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pieces import cell, examples

from adapters.example import Example
from optimizer.evaluate import Cell, CellKey, Spot, everywhere
from optimizer.minibatch import block, lessons, lost, told
from optimizer.policy import ALL_ALIKE

EXAMPLES = examples(12)
WHO, MODELS = "abc", ("m", "n", "o")

places = st.tuples(st.sampled_from(WHO), st.sampled_from([each.id for each in EXAMPLES]), st.sampled_from(MODELS))
known = st.dictionaries(places, st.integers(1, 3), max_size=60).map(
    lambda times: frozenset((*place, repeat) for place, n in times.items() for repeat in range(n))
)
pools = st.integers(0, len(EXAMPLES)).map(lambda most: EXAMPLES[:most])
often = st.lists(st.integers(1, 3), min_size=1, max_size=len(MODELS)).map(lambda most: dict(zip(MODELS, most, strict=False)))
sizes = st.integers(0, 15)
seeds = st.integers(0, 1000)
ONCE = dict.fromkeys(MODELS, 1)
Often = dict[str, int]
Known = frozenset[CellKey]


def met(who: str, *spots: Spot) -> set[CellKey]:
    return {(who, spot.example.id, spot.model, spot.repeat) for spot in spots}


def been(met: Known, where: str, model: str) -> int:
    """How often `a` was there."""
    return sum((who, example, name) == ("a", where, model) for who, example, name, _ in met)


# --- blocks -----------------------------------------------------------------------------------------------------------


@given(known, pools, often, sizes, seeds)
def test_a_block_is_as_long_as_it_can_be_with_each_example_once(
    met: Known, pool: list[Example], often: Often, size: int, seed: int
) -> None:
    found = block("a", pool, often, met, size, random.Random(seed))
    open_ = {example.id for example in pool if any(been(met, example.id, model) < most for model, most in often.items())}
    assert len(found) == len({spot.example.id for spot in found}) == min(size, len(open_))
    assert {spot.example.id for spot in found} <= open_


@given(known, pools, often, sizes, seeds)
def test_every_spot_is_new_and_the_next_there(met: Known, pool: list[Example], often: Often, size: int, seed: int) -> None:
    for example, model, repeat in block("a", pool, often, met, size, random.Random(seed)):
        assert ("a", example.id, model, repeat) not in met and repeat == been(met, example.id, model) < often[model]


@given(known, pools, often, sizes, seeds)
def test_what_is_met_least_comes_first(met: Known, pool: list[Example], often: Often, size: int, seed: int) -> None:
    """New ground before any repeat; then what it has met least itself, and of equals what all have."""

    def familiar(example: Example) -> tuple[int, int, int]:
        here = [who for who, where, *_ in met if where == example.id]
        times = (been(met, example.id, model) for model, most in often.items())
        least = min(n for n, most in zip(times, often.values(), strict=True) if n < most)
        return least, here.count("a"), len(here)

    taken = [spot.example for spot in block("a", pool, often, met, size, random.Random(seed))]
    left = [e for e in pool if e not in taken and any(been(met, e.id, model) < most for model, most in often.items())]
    assert [familiar(each) for each in taken] == sorted(familiar(each) for each in taken)
    assert all(familiar(each) >= familiar(taken[-1]) for each in left if taken)


@given(known, pools, often, sizes, seeds)
def test_the_models_take_turns(met: Known, pool: list[Example], often: Often, size: int, seed: int) -> None:
    """Each spot is for the model that has been there least, and of these the one that the candidate has been run with least."""
    load = Counter(model for who, _, model, _ in met if who == "a")
    for example, model, _ in block("a", pool, often, met, size, random.Random(seed)):
        free = [other for other, most in often.items() if been(met, example.id, other) < most]
        assert (been(met, example.id, model), load[model]) == min((been(met, example.id, other), load[other]) for other in free)
        load[model] += 1


@given(pools, often, st.integers(1, 15), seeds)
def test_on_new_ground_no_model_gets_more_than_one_more(pool: list[Example], often: Often, size: int, seed: int) -> None:
    counts = Counter(spot.model for spot in block("a", pool, often, frozenset(), size, random.Random(seed)))
    assert max((counts[model] for model in often), default=0) - min((counts[model] for model in often), default=0) <= 1


@given(known, pools, often, sizes, seeds)
def test_a_block_follows_from_its_stream_alone(met: Known, pool: list[Example], often: Often, size: int, seed: int) -> None:
    again = dict.fromkeys(sorted(met, reverse=True)).keys()  # in another order
    before = list(pool)
    assert block("a", pool, often, met, size, random.Random(seed)) == block("a", pool, often, again, size, random.Random(seed))
    assert pool == before, "the examples stay as they were given"


@given(pools, often, st.integers(1, 15), seeds)
def test_block_by_block_every_spot_is_met_and_every_example_before_any_again(
    pool: list[Example], often: Often, size: int, seed: int
) -> None:
    stream, known, order = random.Random(seed), set[CellKey](), list[Spot]()
    while found := block("a", pool, often, known, size, stream):
        order += found
        known |= met("a", *found)
    everything = [spot for model, most in often.items() for repeat in range(most) for spot in everywhere(pool, [model], repeat)]
    assert sorted((spot.example.id, spot[1:]) for spot in order) == sorted((spot.example.id, spot[1:]) for spot in everything)
    firsts = order[: len(pool)]
    assert len({spot.example.id for spot in firsts}) == len(pool)
    repeats = [spot.repeat > 0 for spot in order]
    assert repeats == sorted(repeats), "no repeat before all is met once"


def test_what_others_have_met_comes_later_and_is_not_barred() -> None:
    others = met("b", *everywhere(EXAMPLES[:8], MODELS))
    for seed in range(20):
        assert {spot.example.id for spot in block("a", EXAMPLES, ONCE, others, 4, random.Random(seed))} == {e.id for e in EXAMPLES[8:]}
    assert len(block("a", EXAMPLES, ONCE, others, 12, random.Random(0))) == 12


def test_of_equals_chance_decides() -> None:
    counts = Counter(s.example.id for seed in range(300) for s in block("a", EXAMPLES, ONCE, frozenset(), 3, random.Random(seed)))
    assert len(counts) == len(EXAMPLES) and max(counts.values()) < 3 * min(counts.values())


# --- lessons ----------------------------------------------------------------------------------------------------------

cells = st.lists(
    st.builds(
        lambda e, values, model: cell(e, values, model=model),
        st.sampled_from(EXAMPLES),
        st.sampled_from([None, 1.0, 0.0, 0.5, {"template": 1.0, "brevity": 0.9}, {"template": 1.0, "brevity": 1.0}]),
        st.sampled_from(MODELS),
    ),
    max_size=30,
)


@given(cells, sizes, seeds)
def test_failures_are_read_first_and_each_example_once(cells: list[Cell], size: int, seed: int) -> None:
    found = [each.id for each in lessons(cells, ALL_ALIKE, size, random.Random(seed))]
    failures = {each.example.id for each in cells if lost(each, ALL_ALIKE)}
    scored = {each.example.id for each in cells if each.score is not None}
    assert len(found) == len(set(found)) == min(size, len(scored)) and set(found) <= scored
    assert set(found[: len(failures)]) <= failures, "also where another model was right on the example"
    assert [each.id for each in lessons(iter(cells), ALL_ALIKE, size, random.Random(seed))] == found


@pytest.mark.parametrize(
    ("values", "is_lost"),
    [(1.0, False), (0.0, True), (0.99, True), ({"template": 1.0, "brevity": 0.9}, True), ({"a": 1.0, "b": 1.0}, False), ({}, False)],
)
def test_one_lost_point_is_a_failure(values: dict[str, float] | float, is_lost: bool) -> None:
    assert lost(cell(EXAMPLES[0], values), ALL_ALIKE) is is_lost


def test_what_failed_for_other_reasons_teaches_nothing() -> None:
    failed = cell(EXAMPLES[0], None)
    assert not lost(failed, ALL_ALIKE)
    assert lessons([failed], ALL_ALIKE, 5, random.Random(0)) == []


def test_every_failure_has_its_turn() -> None:
    cells = [cell(e, 0.0 if n < 8 else 1.0) for n, e in enumerate(EXAMPLES)]
    counts = Counter(e.id for seed in range(300) for e in lessons(cells, ALL_ALIKE, 3, random.Random(seed)))
    assert set(counts) == {e.id for e in EXAMPLES[:8]} and max(counts.values()) < 3 * min(counts.values())


@given(cells)
def test_of_repeats_one_is_told_and_rather_one_that_lost_points(cells: list[Cell]) -> None:
    found = told(cells, ALL_ALIKE)
    assert [(c.example.id, c.model) for c in found] == list(dict.fromkeys((c.example.id, c.model) for c in cells))
    for one in found:
        same = [c for c in cells if (c.example.id, c.model) == (one.example.id, one.model)]
        losing = [c for c in same if lost(c, ALL_ALIKE)]
        assert one is (losing or same)[0]
