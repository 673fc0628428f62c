"""The pool: who is next, and how those stand that are known."""

import random
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pieces import candidate, cell, examples

from adapters.candidate import DEMONSTRATIONS, Candidate
from adapters.demonstrations import Demonstration, dump_demonstrations, parse_demonstrations
from optimizer.compose import Composer
from optimizer.config import ObjectivesConfig
from optimizer.policy import Objectives
from optimizer.pool import LONGER, SETTLED, Composing, Pool
from optimizer.propose.guards import Guards
from optimizer.table import Table
from optimizer.units import Unit, units

ALL = examples(60)
VAL = ALL[30:]
SEED, CHILD, OTHER = candidate("Base line."), candidate("Base line.\nGood line."), candidate("Base line.\nBad line.")
Row = Sequence[float | None]


def anything(_: Candidate, __: Candidate) -> None:
    return None


def pool(
    rows: dict[Candidate, Row],
    *,
    models: Sequence[str] = ("m",),
    config: ObjectivesConfig | None = None,
    offers: Sequence[Unit] = (),
    most: int = 0,
    problem: Callable[[Candidate, Candidate], str | None] = anything,
    seed: Candidate = SEED,
) -> Pool:
    """Rows: scores on all examples, the first ones first, with every model; None is a failed cell."""
    objectives = Objectives(models, ["right"], config or ObjectivesConfig())
    table = Table(ALL, objectives)
    composer = Composer(lambda text: frozenset({"text"} if "{text}" in text else ()), most)
    made = Pool(seed, table, ALL, VAL, Composing(offers, composer, problem))
    for who, row in rows.items():
        made.add(who)
        for item, value in zip(ALL, row, strict=False):
            table.add(cell(item, None if value is None else {"right": value}, who=who.id, model=model) for model in models)
    made.learn()
    return made


def draw(made: Pool, number: int, *done: Candidate) -> Candidate:
    return made.draw(np.random.default_rng(number), {each.id for each in done})


def half(n: int = 60) -> list[float]:
    return [float(k % 2) for k in range(n)]


# --- how they stand ---------------------------------------------------------------------------------------------------


def test_what_is_surely_better_is_best() -> None:
    made = pool({SEED: half(), CHILD: [1.0] * 60, OTHER: [0.0] * 60})
    assert made.best() is CHILD
    assert made.overall(OTHER) < made.overall(SEED) < made.overall(CHILD)
    assert made.frontier() == [CHILD]
    assert made.objectives(CHILD)["m:right"] == pytest.approx(made.overall(CHILD))
    assert made.chosen() == {"m": CHILD}
    assert made.reached().tolist() == [made.overall(CHILD)]
    assert made.unproven() is None, "it is the best"


def test_what_only_looks_better_is_not_best() -> None:
    """Three more of sixty, as chance does it."""
    better = [1.0 if k in (0, 2, 4) else value for k, value in enumerate(half())]
    made = pool({SEED: half(), CHILD: better})
    assert made.overall(CHILD) > made.overall(SEED)
    assert made.best() is SEED
    assert made.unproven() == (CHILD, made.overall(CHILD) - made.overall(SEED))


def test_the_seed_is_best_where_it_is_and_before_anything_is_known() -> None:
    assert pool({SEED: [1.0] * 60, CHILD: half()}).best() is SEED
    fresh = pool({})
    assert fresh.best() is SEED and fresh.settled() == fresh.frontier() == [SEED] and not fresh.perfect()
    assert fresh.overall(SEED) == pytest.approx(0.5, abs=0.01)


def test_few_val_cells_are_too_few_to_be_best() -> None:
    """However right they are; examples of train do not count for it."""
    met = 30 + SETTLED
    assert pool({SEED: [0.0] * 60, CHILD: [1.0] * (met - 1)}).settled() == [SEED]
    assert pool({SEED: [0.0] * 60, CHILD: [1.0] * (met - 1)}).best() is SEED
    assert pool({SEED: [0.0] * 60, CHILD: [1.0] * met}).settled() == [SEED, CHILD]
    assert pool({SEED: [0.0] * 60, CHILD: [1.0] * met}).best() is CHILD


@settings(max_examples=25, deadline=None)
@given(st.lists(st.booleans(), min_size=60, max_size=60), st.lists(st.sampled_from([0.0, 1.0]), min_size=60, max_size=60))
def test_failures_alone_do_not_lift_a_candidate(failed: list[bool], scores: list[float]) -> None:
    """A child that is the seed in all but its failures: wherever these fall, it is not the better one."""
    child: list[float | None] = [None if gone else score for gone, score in zip(failed, scores, strict=True)]
    made = pool({SEED: list(scores), CHILD: child})
    assert abs(made.overall(CHILD) - made.overall(SEED)) < 0.12
    assert made.best() is SEED


def test_failing_on_most_of_the_hard_examples_is_no_gain() -> None:
    """On all of them it would be one in two cells of this candidate, and nobody could know."""
    made = pool({SEED: half(), CHILD: [1.0 if value else None if k % 3 else 0.0 for k, value in enumerate(half())]})
    assert made.best() is SEED
    assert made.overall(CHILD) - made.overall(SEED) < 0.2, "of what it met it has all right, and so has the seed there"


def test_a_constraint_that_only_it_meets_makes_it_best() -> None:
    config = ObjectivesConfig.model_validate({"dimensions": {"right": {"constraint": ">= 0.54"}}})
    better = [1.0 if k in (0, 2, 4, 6, 8) else value for k, value in enumerate(half())]
    assert pool({SEED: half(), CHILD: better}).best() is SEED
    assert pool({SEED: half(), CHILD: better}, config=config).best() is CHILD


@pytest.mark.parametrize(("floor", "best"), [(None, CHILD), (0.6, CHILD), (0.05, SEED)])
def test_what_is_worse_than_a_floor_allows_is_not_best(floor: float | None, best: Candidate) -> None:
    """Right everywhere, and polite on a fifth of the examples where the seed is on half."""
    config = ObjectivesConfig.model_validate({"dimensions": {"right": {}, "polite": {"weight": 0.1, "floor": floor}}})
    table = Table(ALL, Objectives(["m"], ["right", "polite"], config))
    made = Pool(SEED, table, ALL, VAL, Composing((), Composer(lambda _: frozenset(), 0), anything))
    made.add(CHILD)
    for n, item in enumerate(ALL):
        table.add([cell(item, {"right": float(n % 2), "polite": float(n % 2)}, who=SEED.id, model="m")])
        table.add([cell(item, {"right": 1.0, "polite": float(n % 5 == 0)}, who=CHILD.id, model="m")])
    made.learn()
    assert made.overall(CHILD) > made.overall(SEED)
    assert made.best() is best
    assert (CHILD in made.frontier()) == (best is CHILD)


def test_specialists_are_the_best_where_only_their_model_counts() -> None:
    objectives = ObjectivesConfig(best="per_model")
    made = pool({}, models=("a", "b"), config=objectives)
    made.add(CHILD)
    made.add(OTHER)
    for who, right in ((SEED, ()), (CHILD, ("a",)), (OTHER, ("b",))):
        for item in ALL:
            made._table.add(cell(item, {"right": float(model in right)}, who=who.id, model=model) for model in ("a", "b"))
    made.learn()
    found = made.specialists()
    assert {model: who for model, (who, _, _) in found.items()} == {"a": CHILD, "b": OTHER} == made.chosen()
    for who, alone, of_best in found.values():
        assert alone >= of_best and who in made.frontier()
    assert made.reached().tolist() == [made.level(CHILD)[0], made.level(OTHER)[1]]


def test_perfect_is_that_the_best_has_all_of_val_right() -> None:
    train = [0.0] + [1.0] * 29
    assert pool({SEED: half(), CHILD: [*train, *[1.0] * 30]}).perfect()
    assert not pool({SEED: half(), CHILD: [*train, *[1.0] * 29]}).perfect(), "one is not met"
    assert not pool({SEED: half(), CHILD: [*train, *[1.0] * 29, 0.5]}).perfect()
    config = ObjectivesConfig.model_validate({"dimensions": {"right": {"direction": "minimize"}}})
    assert pool({SEED: half(), CHILD: [1.0, *[0.0] * 59]}, config=config).perfect()


def test_the_end_is_not_reached_while_the_perfect_one_is_not_surely_better_than_the_seed() -> None:
    """It would end with the seed, and say that nothing is left to improve."""
    made = pool({SEED: [*[1.0] * 30, *[1.0] * 28, 0.0, 0.0], CHILD: [1.0] * 60})
    assert made.best() is SEED and made.unproven() is not None
    assert not made.perfect()


def test_what_is_believed_is_the_same_to_the_last_digit_in_whatever_order_it_is_added_up() -> None:
    rows: dict[Candidate, Row] = {SEED: half(), CHILD: [0.7, 0.1, 0.3] * 20, OTHER: [0.2, 0.9, None] * 20}
    made, rounded = pool(rows), False
    for number in range(10):
        other, cells = pool(rows), made._table.all()
        random.Random(number).shuffle(cells)
        other._table = Table(ALL, made._table.objectives)
        other._table.add(cells)
        other.learn()
        rounded = rounded or not np.array_equal(made._now.levels(made._now.means), other._now.levels(other._now.means))
        for each in (SEED, CHILD, OTHER):
            assert made.level(each).tolist() == other.level(each).tolist()
        assert made.favourite() == other.favourite()
        assert [draw(made, n) for n in range(5)] == [draw(other, n) for n in range(5)]
    assert rounded, "else this shows nothing"


def test_of_two_that_are_equal_but_for_rounding_the_first_is_the_parent() -> None:
    """They show the same on the same examples, so which one has more is chance of adding up."""
    twins = [candidate("Base line.\nZ."), candidate("Base line.\nY."), candidate("Base line.\nX.")]
    row = [0.7, 0.1, 0.3] * 20
    made = pool({SEED: half(), **dict.fromkeys(twins, row)})
    assert len({made.level(each).tolist()[0] for each in twins}) == 1
    assert max(twins, key=made.overall) is twins[0]


def test_nearest_shares_the_most_lines() -> None:
    made = pool({CHILD: [], OTHER: []})
    assert made.nearest(candidate("Good line.\nNew line.")) is CHILD
    assert made.nearest(candidate("Bad line.\nNew line.")) is OTHER
    assert made.nearest(candidate("Base line.")) is OTHER, "of equals the younger one"
    assert made.nearest(SEED) in made and candidate("New line.") not in made


def test_what_the_others_did_on_a_batch() -> None:
    made = pool({SEED: half(), CHILD: half(), OTHER: half(10)})
    batch = ALL[8:12]
    assert [each.candidate for each in made.others(CHILD, batch)] == [SEED, OTHER]
    assert [[found.example for found in each.cells] for each in made.others(CHILD, batch)] == [batch, batch[:2]]
    assert [each.candidate for each in made.others(SEED, ALL[20:22])] == [CHILD]
    assert made.others(SEED, []) == []


def test_a_member_is_added_once() -> None:
    made = pool({})
    for _ in range(2):
        made.add(candidate("Another."))
    assert len(made.members) == 2 and candidate("Another.") in made


# --- who is next ------------------------------------------------------------------------------------------------------


def test_the_favourite_is_made_of_the_lines_that_help() -> None:
    """Two lines have helped, each by itself; that they stand together is new."""
    rows: dict[Candidate, Row] = {SEED: [0.0] * 60, OTHER: [0.0] * 60}
    for n in range(4):
        rows |= {candidate(f"Base {n}.\n{line}"): [float(k % 3 > 0) for k in range(60)] for line in ("Good line.", "More good.")}
    made = pool(rows)
    lines = {unit.text for unit in units(made.favourite())}
    assert lines >= {"Good line.", "More good."} and "Bad line." not in lines
    assert made.favourite() == made.favourite()
    assert made.favourite() not in made


def test_what_the_guards_refuse_is_not_made() -> None:
    more = candidate("Base line.\nMore good.")
    rows: dict[Candidate, Row] = {SEED: [0.0] * 60, CHILD: [1.0] * 60, more: [1.0] * 60}
    made = pool(rows, problem=lambda seed, made: "no")
    assert made.favourite() in made
    assert all(draw(made, n) in made for n in range(20))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 3))
def test_whoever_is_next_is_valid(seed: int, most: int) -> None:
    """No component is empty, no placeholder lost, not too many demonstrations; the same draw from the same number."""
    rng = np.random.default_rng(seed)
    start = Candidate({"instructions": "Base {text}.\nOther line.", DEMONSTRATIONS: ""})
    offers = [Unit(DEMONSTRATIONS, dump_demonstrations([Demonstration({"text": f"shown {n}"}, "yes")])) for n in range(4)]
    texts = ["Base {text}.\nGood line.\n\n- a\n  - b", "Bad line.\nBase {text}.", "```\nfenced {\n\n```\nBase {text}."]
    rows: dict[Candidate, Row] = {start: rng.integers(0, 2, 60).tolist()}
    rows |= {start.replace(instructions=text): rng.integers(0, 2, rng.integers(0, 60)).tolist() for text in texts}
    guards = Guards(lambda text: frozenset({"text"} if "{text}" in text else ()), 20_000, ())
    made = pool(rows, seed=start, offers=offers, most=most, problem=lambda old, new: guards.problem(old, new, frozenset()))
    for n in range(8):
        drawn = draw(made, n)
        assert drawn == draw(made, n)
        assert drawn.components.keys() == start.components.keys()
        assert drawn in made or guards.problem(start, drawn, frozenset()) is None
        assert drawn.components["instructions"].count("{text}") == 1
        assert len(parse_demonstrations(drawn.components[DEMONSTRATIONS])) <= most
    assert made.parent(np.random.default_rng(seed), made.members[1:3]) in made.members[1:3]


def test_who_need_not_be_run_is_not_drawn_while_there_are_others() -> None:
    made = pool({SEED: half(), CHILD: [1.0] * 60, OTHER: [0.0] * 60}, problem=lambda *_: "only known ones")
    assert {draw(made, n) for n in range(20)} == {CHILD}
    assert {draw(made, n, CHILD) for n in range(20)} == {SEED}
    assert {draw(made, n, *made.members) for n in range(20)} <= set(made.members)


def test_parents_are_mostly_good_ones() -> None:
    made = pool({SEED: half(), CHILD: [1.0] * 60, OTHER: [0.0] * 60})
    drawn = [made.parent(np.random.default_rng(n), [OTHER, CHILD]) for n in range(20)]
    assert drawn == [CHILD] * 20


def test_with_several_objectives_other_ones_are_drawn_than_the_best_for_all() -> None:
    """Each is the best for some weights, so that the frontier is searched."""
    made = pool({}, models=("a", "b"), problem=lambda *_: "only known ones")
    made.add(CHILD)
    made.add(OTHER)
    for who, right in ((CHILD, {"a": 1.0, "b": 0.0}), (OTHER, {"a": 0.0, "b": 1.0}), (SEED, {"a": 0.1, "b": 0.1})):
        for item in ALL:
            made._table.add(cell(item, {"right": value}, who=who.id, model=model) for model, value in right.items())
    made.learn()
    assert {draw(made, n) for n in range(30)} == {CHILD, OTHER}


def test_lines_that_stand_otherwise_once_they_are_put_together_make_no_candidate() -> None:
    """A text that begins with an indented line: behind others that line would belong to the one before."""
    rows: dict[Candidate, Row] = {SEED: [0.0] * 60}
    for n in range(4):
        rows |= {candidate(f"Base {n}.\nGood line."): [1.0] * 60, candidate(f"  Indented line.\nBase {n}."): [1.0] * 60}
    made = pool(rows)
    known = {unit for each in made.members for unit in units(each)}
    drawn = [made.favourite(), *(draw(made, n) for n in range(20))]
    assert all(each in made or set(units(each)) <= known for each in drawn)


def test_a_text_grows_little_by_little_beyond_what_was_run() -> None:
    """However well lines do, and however long a text is that nobody has run."""
    rows: dict[Candidate, Row] = {SEED: [0.0] * 60}
    rows |= {candidate(f"Base line.\nGood {n}."): [1.0] * 60 for n in range(12)}
    long = candidate("\n".join(f"New {n}." for n in range(12)))
    made = pool({**rows, long: []})
    assert max(len(units(draw(made, n, long))) for n in range(20)) == 2 + LONGER
    longer = pool({**rows, candidate("\n".join(f"New {n}." for n in range(6))): [1.0] * 60})
    assert 2 + LONGER < max(len(units(draw(longer, n))) for n in range(20)) <= 6 + LONGER


def test_what_is_learnt_later_counts() -> None:
    made = pool({SEED: [0.0] * 60, CHILD: [1.0] * 20})
    assert made.settled() == [SEED]
    made._table.add(cell(item, {"right": 1.0}, who=CHILD.id, model="m") for item in ALL[20:])
    assert made.settled() == [SEED]
    made.learn()
    assert made.settled() == [SEED, CHILD] and made.best() is CHILD and made.perfect()


def test_a_seed_without_a_line() -> None:
    empty = candidate("")
    made = pool({}, seed=empty)
    assert draw(made, 0) == made.favourite() == made.best() == empty
