"""Where a candidate is run next: new ground first. And what is read of it: where points were lost."""

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pieces import cell, examples

from adapters.example import Example
from optimizer.evaluate import Cell, Spot, everywhere
from optimizer.minibatch import Key, block, lessons, lost
from optimizer.policy import ALL_ALIKE

EXAMPLES = examples(12)
WHO, MODELS = "abc", ("m", "n", "o")

keys = st.tuples(st.sampled_from(WHO), st.sampled_from([each.id for each in EXAMPLES]), st.sampled_from(MODELS))
known = st.frozensets(keys, max_size=60)
pools = st.integers(0, len(EXAMPLES)).map(lambda most: EXAMPLES[:most])
few = st.integers(1, len(MODELS)).map(lambda most: MODELS[:most])
sizes = st.integers(0, 15)
seeds = st.integers(0, 1000)


def met(who: str, *spots: Spot) -> set[Key]:
    return {(who, example.id, model) for example, model in spots}


# --- blocks -----------------------------------------------------------------------------------------------------------


@given(known, pools, few, sizes, seeds)
def test_a_block_is_as_long_as_it_can_be_with_each_example_once(
    met: frozenset[Key], pool: list[Example], models: tuple[str, ...], size: int, seed: int
) -> None:
    found = block("a", pool, models, met, size, random.Random(seed))
    open_ = {example.id for example, model in everywhere(pool, models) if ("a", example.id, model) not in met}
    assert len(found) == len({example.id for example, _ in found}) == min(size, len(open_))
    assert {example.id for example, _ in found} <= open_
    assert all(model in models and ("a", example.id, model) not in met for example, model in found)


@given(known, pools, few, sizes, seeds)
def test_what_is_met_least_comes_first(met: frozenset[Key], pool: list[Example], models: tuple[str, ...], size: int, seed: int) -> None:
    """By the candidate itself, and of equals by all."""

    def familiar(example: Example) -> tuple[int, int]:
        here = [who for who, where, _ in met if where == example.id]
        return here.count("a"), len(here)

    taken = [example for example, _ in block("a", pool, models, met, size, random.Random(seed))]
    left = [e for e in pool if e not in taken and any(("a", e.id, model) not in met for model in models)]
    assert [familiar(each) for each in taken] == sorted(familiar(each) for each in taken)
    assert all(familiar(each) >= familiar(taken[-1]) for each in left if taken)


@given(known, pools, few, sizes, seeds)
def test_the_models_take_turns(met: frozenset[Key], pool: list[Example], models: tuple[str, ...], size: int, seed: int) -> None:
    """Each spot is for the model that the candidate has been run with least, of those that are free there."""
    load = Counter(model for who, _, model in met if who == "a")
    for example, model in block("a", pool, models, met, size, random.Random(seed)):
        free = [other for other in models if ("a", example.id, other) not in met]
        assert load[model] == min(load[other] for other in free)
        load[model] += 1


@given(pools, few, st.integers(1, 15), seeds)
def test_on_new_ground_no_model_gets_more_than_one_more(pool: list[Example], models: tuple[str, ...], size: int, seed: int) -> None:
    counts = Counter(model for _, model in block("a", pool, models, frozenset(), size, random.Random(seed)))
    assert max((counts[model] for model in models), default=0) - min((counts[model] for model in models), default=0) <= 1


@given(known, pools, few, sizes, seeds)
def test_a_block_follows_from_its_stream_alone(
    met: frozenset[Key], pool: list[Example], models: tuple[str, ...], size: int, seed: int
) -> None:
    again = dict.fromkeys(sorted(met, reverse=True)).keys()  # in another order
    before = list(pool)
    assert block("a", pool, models, met, size, random.Random(seed)) == block("a", pool, models, again, size, random.Random(seed))
    assert pool == before, "the examples stay as they were given"


@given(pools, few, st.integers(1, 15), seeds)
def test_block_by_block_every_spot_is_met_once_and_every_example_before_any_again(
    pool: list[Example], models: tuple[str, ...], size: int, seed: int
) -> None:
    stream, known, order = random.Random(seed), set[Key](), list[Spot]()
    while found := block("a", pool, models, known, size, stream):
        order += found
        known |= met("a", *found)
    assert sorted((example.id, model) for example, model in order) == sorted((e.id, model) for e, model in everywhere(pool, models))
    firsts = order[: len(pool)]
    assert len({example.id for example, _ in firsts}) == len(pool)


def test_what_others_have_met_comes_later_and_is_not_barred() -> None:
    others = met("b", *everywhere(EXAMPLES[:8], MODELS))
    for seed in range(20):
        assert {e.id for e, _ in block("a", EXAMPLES, MODELS, others, 4, random.Random(seed))} == {e.id for e in EXAMPLES[8:]}
    assert len(block("a", EXAMPLES, MODELS, others, 12, random.Random(0))) == 12


def test_of_equals_chance_decides() -> None:
    counts = Counter(e.id for seed in range(300) for e, _ in block("a", EXAMPLES, MODELS, frozenset(), 3, random.Random(seed)))
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
