"""What is wanted, as numbers: orientation, weights, constraints, the frontier, and who is best."""

import math

import moocore
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from optimizer.config import DimensionConfig, ObjectivesConfig
from optimizer.policy import Array, Objectives, weighted_mean

NAN = math.nan
TOXIC = DimensionConfig(direction="minimize", constraint="<= 0.05")
RIGHT = DimensionConfig(weight=3.0)
level = st.sampled_from([0.0, 0.05, 0.1, 0.25, 0.5, 0.9, 1.0])
table = st.lists(st.tuples(level, level, level), min_size=1, max_size=12).map(np.array)


def wanted(**settings: object) -> Objectives:
    return Objectives(["small", "large"], ["right", "toxic"], ObjectivesConfig.model_validate(settings))


def levels(*values: float) -> Array:
    return np.array(values, dtype=np.float64)


def test_raw_values_are_turned_and_turned_back() -> None:
    objectives = wanted(dimensions={"right": RIGHT, "toxic": TOXIC})
    raw = {"small:right": 0.5, "small:toxic": 0.25, "large:toxic": 0.0}
    oriented = objectives.levels(raw)
    assert np.array_equal(oriented, levels(0.5, 0.75, NAN, 1.0), equal_nan=True)
    assert objectives.raw(oriented) == raw
    assert objectives.columns("large") == slice(2, 4)


def test_weights_of_dimensions_and_models_multiply() -> None:
    objectives = wanted(dimensions={"right": {"weight": 3}, "toxic": {"weight": 0}}, models={"large": 2})
    assert objectives.weights.tolist() == [3, 0, 6, 0]
    assert objectives.overall(levels(0.5, 0.0, 0.8, 0.0)) == pytest.approx((3 * 0.5 + 6 * 0.8) / 9)


def test_what_is_not_known_weighs_nothing_and_is_no_zero() -> None:
    assert wanted().overall(levels(0.5, NAN, NAN, 0.7)) == pytest.approx(0.6)
    assert math.isnan(wanted().overall(levels(NAN, NAN, NAN, NAN)))
    assert math.isnan(weighted_mean(levels(0.5, NAN), levels(0.0, 1.0)))


def test_the_worst_model_decides_where_the_policy_says_so() -> None:
    objectives = wanted(best="worst_model")
    assert objectives.worth(levels(0.9, 0.7, 0.2, 0.4)) == pytest.approx(0.3)
    assert objectives.worth(levels(0.9, 0.7, NAN, NAN)) == pytest.approx(0.8)
    assert math.isnan(objectives.worth(levels(NAN, NAN, NAN, NAN)))
    for policy in ("mean", "per_model"):
        assert wanted(best=policy).worth(levels(0.9, 0.7, 0.2, 0.4)) == pytest.approx(0.55)


def test_a_constraint_comes_before_the_worth() -> None:
    objectives = wanted(dimensions={"right": {"constraint": ">= 0.6"}, "toxic": TOXIC})
    meets, better = levels(0.6, 0.95, 0.7, 1.0), levels(0.55, 1.0, 1.0, 1.0)
    assert objectives.shortfall(meets) == 0 and objectives.shortfall(better) == pytest.approx(0.05)
    assert objectives.rank(meets) > objectives.rank(better) and objectives.worth(better) > objectives.worth(meets)
    assert objectives.met(levels(0.6, 0.9, NAN, 1.0)) == {"small:right": True, "small:toxic": False, "large:toxic": True}
    assert objectives.constraints == {
        "small:right": ">= 0.6", "small:toxic": "<= 0.05", "large:right": ">= 0.6", "large:toxic": "<= 0.05",
    }  # fmt: skip
    assert objectives.merit(better) == pytest.approx(objectives.worth(better) - 0.05)


def test_a_floor_is_a_constraint_relative_to_the_seed() -> None:
    plain = wanted(dimensions={"right": {"constraint": ">= 0.6", "floor": 0.1}, "toxic": {"direction": "minimize", "floor": 0.0}})
    seed = levels(0.8, 0.9, 0.65, NAN)
    beside = plain.beside(seed)
    assert plain.required.tolist()[0] == 0.6 and np.isnan(plain.required[1])
    np.testing.assert_allclose(beside.required, levels(0.7, 0.9, 0.6, NAN))
    assert beside.shortfall(levels(0.7, 0.9, 0.6, 0.0)) == 0
    assert beside.shortfall(levels(0.65, 0.88, 0.6, 0.0)) == pytest.approx(0.07)
    assert beside.rank(levels(0.7, 0.9, 0.65, 0.1)) > beside.rank(levels(1.0, 0.89, 1.0, 1.0))
    assert beside.of("small").shortfall(levels(0.7, 0.88)) == pytest.approx(0.02)
    assert wanted().beside(seed).base is None


def test_rounding_breaks_no_constraint() -> None:
    objectives = wanted(dimensions={"right": {"constraint": ">= 0.3"}})
    one = Objectives(["small"], ["right"], objectives.config)
    assert one.meets(levels(0.3 - 1e-12)[None]).all() and one.shortfall(levels(0.3 - 1e-12)) == 0
    assert not one.meets(levels(0.3 - 1e-6)[None]).any()


def test_an_unknown_level_meets_no_constraint() -> None:
    objectives = wanted(dimensions={"right": {"constraint": ">= 0.6"}})
    one = Objectives(["small"], ["right"], objectives.config)
    assert one.shortfall(levels(NAN)) == pytest.approx(0.6)
    assert one.rank(levels(NAN)) < one.rank(levels(0.0)) < one.rank(levels(0.6))


def test_one_model_alone() -> None:
    alone = wanted(models={"large": 5}).of("large")
    assert alone.names == ["large:right", "large:toxic"] and alone.weights.tolist() == [5, 5]


@given(table)
def test_the_frontier_is_paretos(rows: Array) -> None:
    objectives = Objectives(["m"], ["a", "b", "c"])
    expected = moocore.is_nondominated(rows, maximise=True, keep_weakly=True)
    assert objectives.frontier(rows).tolist() == expected.tolist()


@given(table, level)
def test_the_frontier_is_among_those_that_meet_the_constraints(rows: Array, least: float) -> None:
    config = ObjectivesConfig.model_validate({"dimensions": {"a": {"constraint": f">= {least}"}, "b": {}, "c": {}}})
    free = Objectives(["m"], ["a", "b", "c"], config).frontier(rows)
    meets = rows[:, 0] >= least
    assert free.any()
    assert meets[free].all() or not meets.any()


@given(table)
def test_the_best_is_never_dominated(rows: Array) -> None:
    objectives = Objectives(["m"], ["a", "b", "c"])
    best = max(range(len(rows)), key=lambda index: objectives.rank(rows[index]))
    assert objectives.frontier(rows)[best]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"constraint": "<= 0.5"}, "with direction maximize a constraint begins with >="),
        ({"constraint": ">= 0.5", "direction": "minimize"}, "with direction minimize a constraint begins with <="),
        ({"constraint": "about 0.5"}, 'a value from 0 to 1, not .about 0.5.; write it as in ">= 0.7"'),
        ({"constraint": ">= 700"}, 'write it as in ">= 0.7"'),
        ({"constraint": ">= 70"}, 'did you mean ">= 0.7"'),
        ({"constraint": "=> 0.7"}, 'did you mean ">= 0.7"'),
        ({"constraint": ">0.7"}, 'did you mean ">= 0.7"'),
        ({"constraint": "0.7"}, 'did you mean ">= 0.7"'),
        ({"constraint": 0.7}, 'not 0.7; did you mean ">= 0.7"'),
        ({"constraint": "<.5%", "direction": "minimize"}, 'did you mean "<= 0.005"'),
        ({"weight": -1}, "greater than or equal to 0"),
        ({"direction": "lower"}, "maximize"),
    ],
)
def test_dimensions_that_make_no_sense(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        DimensionConfig.model_validate(settings)


@pytest.mark.parametrize(("text", "required"), [(">= 0.95", 0.95), (">=1", 1.0), (">= .5", 0.5), (">=0", 0.0)])
def test_constraints_are_read(text: str, required: float) -> None:
    assert DimensionConfig(constraint=text).required == required
    turned = DimensionConfig(constraint=text.replace(">", "<"), direction="minimize")
    assert turned.required == pytest.approx(1 - required)


def test_something_has_to_count() -> None:
    with pytest.raises(ValidationError, match="every dimension has weight 0"):
        ObjectivesConfig.model_validate({"dimensions": {"a": {"weight": 0}}})
    assert DimensionConfig().required is None
