"""Who did clearly better: on the same example, with the same text or the same model, and by a margin."""

from hypothesis import given
from hypothesis import strategies as st
from pieces import candidate, cell, example

from optimizer.config import DimensionConfig, ObjectivesConfig
from optimizer.evaluate import Cell
from optimizer.policy import ALL_ALIKE
from optimizer.propose.contrast import CLEARLY, NAMES, contrasts, gain, named
from optimizer.propose.proposer import Other

E, F = example("e"), example("f")


def test_the_best_model_and_the_best_text_are_told_of() -> None:
    lost = cell(E, 0.0)
    cells = [lost, cell(E, 0.5, model="b"), cell(E, 1.0, model="c"), cell(E, 1.0, model="d"), cell(F, 1.0, model="e")]
    texts = {
        "A": [cell(E, 0.5), cell(F, 1.0)],
        "B": [cell(E, 1.0), cell(E, 1.0, model="b")],
        "C": [cell(E, 1.0)],
    }
    assert [(rival.who, rival.cell.model) for rival in contrasts(lost, cells, texts, ALL_ALIKE)] == [
        ("The model c, with this text,", "c"),
        ("Text B", "small"),
    ]


def test_only_what_is_clearly_better_counts() -> None:
    lost = cell(E, 0.5)
    assert contrasts(lost, [cell(E, 0.5 + CLEARLY - 0.01, model="b")], {"A": [cell(E, 0.7)], "B": [cell(E, None)]}, ALL_ALIKE) == []
    assert len(contrasts(lost, [cell(E, 0.5 + CLEARLY, model="b")], {"A": [cell(E, 0.9)]}, ALL_ALIKE)) == 2
    assert contrasts(cell(E, 1.0), [cell(E, 1.0, model="b")], {}, ALL_ALIKE) == []


def test_another_example_or_both_another_text_and_model_is_no_contrast() -> None:
    assert contrasts(cell(E, 0.0), [cell(F, 1.0, model="b")], {"A": [cell(F, 1.0), cell(E, 1.0, model="b")]}, ALL_ALIKE) == []


def test_gains_are_over_what_both_have() -> None:
    def gained(before: dict[str, float] | float | None, after: dict[str, float] | float | None) -> float:
        return gain(cell(E, before), cell(E, after), ALL_ALIKE)

    assert gained({"a": 0.0, "b": 1.0}, {"a": 1.0, "c": 1.0}) == 1.0
    assert gained({"a": 0.0, "b": 1.0}, {"a": 1.0, "b": 0.0}) == 0.0
    assert gained({"a": 0.0}, {"b": 1.0}) == gained(None, 1.0) == gained(0.0, None) == 0.0


def test_better_is_what_the_objectives_say() -> None:
    wanted = ObjectivesConfig(dimensions={"a": DimensionConfig(), "toxic": DimensionConfig(direction="minimize")})
    calm, rude = cell(E, {"a": 0.5, "toxic": 0.0, "other": 0.0}), cell(E, {"a": 0.5, "toxic": 1.0, "other": 1.0}, model="b")
    assert gain(rude, calm, wanted) == -gain(calm, rude, wanted) == 0.5
    assert contrasts(calm, [rude], {}, wanted) == [] and [found.cell for found in contrasts(rude, [calm], {}, wanted)] == [calm]
    others = [Other(candidate("calm"), [cell(E, {"toxic": 0.0}, model="b")]), Other(candidate("rude"), [cell(E, {"toxic": 1.0})])]
    assert list(named([rude], others, wanted).values()) == others[:1] and named([calm], others, wanted) == {}


def test_texts_that_won_most_are_named_first_and_of_equals_the_older() -> None:
    cells = [cell(E, 0.0), cell(F, 0.0)]
    others = [
        Other(candidate("none"), [cell(E, 0.0), cell(F, 0.1)]),
        Other(candidate("one"), [cell(E, 1.0)]),
        Other(candidate("two"), [cell(E, 1.0), cell(F, 1.0)]),
        Other(candidate("late"), [cell(F, 1.0)]),
    ]
    assert {name: other.candidate for name, other in named(cells, others, ALL_ALIKE).items()} == {
        "A": candidate("two"),
        "B": candidate("one"),
    }
    assert named(cells, others[:1], ALL_ALIKE) == named(cells, [], ALL_ALIKE) == named([], others, ALL_ALIKE) == {}


values = st.sampled_from([0.0, 0.3, 0.5, 1.0, None])
some_cells = st.lists(st.builds(cell, st.sampled_from([E, F]), values, model=st.sampled_from(["a", "b"])), max_size=8)


@given(some_cells, st.lists(some_cells, max_size=4))
def test_whoever_is_named_did_better_somewhere_and_nothing_else_is(cells: list[Cell], theirs: list[list[Cell]]) -> None:
    others = [Other(candidate(str(index)), its) for index, its in enumerate(theirs)]
    names = named(cells, others, ALL_ALIKE)
    texts = {name: other.cells for name, other in names.items()}
    winners = [other for other in others if any(contrasts(each, (), {"x": other.cells}, ALL_ALIKE) for each in cells)]
    assert len(names) == min(len(NAMES), len(winners)) and all(other in winners for other in names.values())
    for each in cells:
        found = contrasts(each, cells, texts, ALL_ALIKE)
        assert len(found) <= 2
        for rival in found:
            assert gain(each, rival.cell, ALL_ALIKE) >= CLEARLY and rival.cell.example.id == each.example.id
