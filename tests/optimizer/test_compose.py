"""A climb ends where no line that may be taken in or left out adds to what the lines add up to."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from adapters.candidate import DEMONSTRATIONS
from optimizer.compose import LEAST_GAIN, Composer
from optimizer.effects import Effects
from optimizer.policy import ROUNDING
from optimizer.units import Unit


def names(text: str) -> frozenset[str]:
    return frozenset({"text"}) if "{text}" in text else frozenset()


@dataclass(frozen=True)
class Case:
    units: Sequence[Unit]
    start: Sequence[int]
    lines: Effects
    most: int
    longest: Mapping[str, int]

    def climb(self, start: Sequence[int] | None = None) -> tuple[int, ...]:
        return Composer(names, self.most).climb(self.units, self.start if start is None else start, self.lines, self.longest)

    def total(self, chosen: Sequence[int]) -> float:
        return self.lines.total(self.mask(chosen))

    def mask(self, chosen: Sequence[int]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        mask = np.zeros(len(self.units), dtype=bool)
        mask[list(chosen)] = True
        return mask

    def fixed(self, index: int) -> bool:
        unit = self.units[index]
        return unit.component != DEMONSTRATIONS and bool(names(unit.text))

    def counts(self, chosen: Sequence[int]) -> Counter[str]:
        return Counter(self.units[index].component for index in chosen)

    def limit(self, component: str) -> int:
        return self.most if component == DEMONSTRATIONS else self.longest[component]

    def allowed(self, chosen: Sequence[int]) -> bool:
        """Whether it may come of the start."""
        before, after = self.counts(self.start), self.counts(chosen)
        full = all(n <= max(self.limit(component), before[component]) for component, n in after.items())
        kept = all(after[component] for component in before if component != DEMONSTRATIONS)
        return full and kept and {k for k in chosen if self.fixed(k)} == {k for k in self.start if self.fixed(k)}

    def fits(self) -> bool:
        return all(n <= self.limit(component) for component, n in self.counts(self.start).items())

    def neighbours(self, chosen: Sequence[int]) -> list[list[int]]:
        """What may come of it by one line more or less; what has got a line keeps one."""
        found = [sorted(set(chosen) ^ {index}) for index in range(len(self.units))]
        counts = self.counts(chosen)
        return [
            each
            for each in found
            if self.allowed(each)
            and self.counts(each).keys() | {DEMONSTRATIONS} >= counts.keys()
            and all(n <= self.limit(name) or n <= counts[name] for name, n in self.counts(each).items())
        ]


def case(seed: int, *, additive: bool = False, few: bool = False) -> Case:
    rng = np.random.default_rng(seed)
    n, examples = int(rng.integers(1, 7 if few else 12)), int(rng.integers(1, 5))
    components = ["a", "b", DEMONSTRATIONS]
    owner = rng.integers(3, size=n)
    units = [Unit(components[owner[k]], f"{k} {{text}}" if rng.random() < 0.15 else f"{k}") for k in range(n)]
    relevance = np.zeros((n, examples)) if additive else rng.random((n, examples)) * (rng.random((n, examples)) < 0.5)
    slopes, curves = np.zeros((2, 3)) if additive else rng.normal(size=(2, 3))
    lines = Effects(rng.normal(size=n), rng.normal(size=n), relevance, np.eye(3)[owner], slopes, curves)
    start = np.flatnonzero(rng.random(n) < 0.4).tolist()
    return Case(units, start, lines, int(rng.integers(0, 4)), {"a": int(rng.integers(1, 5)), "b": 3})


seeds = st.integers(0, 10**9)


@settings(max_examples=150, deadline=None)
@given(seeds)
def test_a_climb_ends_on_a_top_that_is_allowed(seed: int) -> None:
    made = case(seed)
    end = made.climb()
    assert list(end) == sorted(set(end))
    assert made.allowed(end)
    assert made.total(end) >= made.total(made.start) - 1e-12
    assert all(made.total(each) <= made.total(end) + LEAST_GAIN + 2 * ROUNDING for each in made.neighbours(end))
    assert made.climb() == end == made.climb(end)


@settings(max_examples=150, deadline=None)
@given(seeds)
def test_lines_that_just_add_up_are_chosen_best(seed: int) -> None:
    """Over all sets that are allowed, from wherever it starts."""
    made = case(seed, additive=True, few=True)
    assume(made.fits())
    sets = [each for size in range(len(made.units) + 1) for each in combinations(range(len(made.units)), size) if made.allowed(each)]
    assert made.total(made.climb()) == pytest.approx(max(map(made.total, sets)), abs=1e-8)


def plain(worth: Sequence[float]) -> Callable[[Sequence[Unit]], Effects]:
    def lines(units: Sequence[Unit]) -> Effects:
        components = sorted({unit.component for unit in units})
        owners = np.array([[unit.component == name for name in components] for unit in units], dtype=float).reshape(
            len(units), len(components)
        )
        zeros = np.zeros(len(components))
        return Effects(np.array(worth), np.zeros(len(units)), np.zeros((len(units), 1)), owners, zeros, zeros)

    return lines


def climb(units: Sequence[Unit], worth: Sequence[float], start: Sequence[int], most: int = 2, longest: int = 9) -> tuple[int, ...]:
    return Composer(names, most).climb(units, start, plain(worth)(units), dict.fromkeys("ab", longest))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from([-1.0, 0.5, 1.0]), min_size=3, max_size=8), seeds)
def test_of_lines_that_are_equal_but_for_rounding_the_first_is_taken(worth: Sequence[float], seed: int) -> None:
    """Threads add in another order; what comes of it must not lead the run elsewhere."""
    units, luck = [Unit("a", f"{n}") for n in range(len(worth))], np.random.default_rng(seed)
    blurred = np.array(worth) + luck.uniform(-1e-13, 1e-13, len(worth))
    assert climb(units, blurred.tolist(), [0], longest=2) == climb(units, worth, [0], longest=2)


DEMOS = [Unit(DEMONSTRATIONS, f"{{text}} {n}") for n in range(4)]


def test_a_component_keeps_its_last_line_and_an_empty_one_may_get_one() -> None:
    units = [Unit("a", "bad"), Unit("a", "worse"), Unit("b", "good")]
    assert climb(units, [-1, -2, 1], [0, 1]) == (0, 2)
    assert climb(units, [-1, -2, 1], [0, 1, 2]) == (0, 2)
    assert climb(units, [-1, 2, -1], [0]) == (1,), "the better line comes, then the other may go"


def test_lines_that_name_inputs_stay_as_they_are() -> None:
    units = [Unit("a", "bad {text}"), Unit("a", "good {text}"), Unit("a", "good")]
    assert climb(units, [-9, 9, 1], [0]) == (0, 2)


def test_demonstrations_may_look_like_placeholders_and_are_no_more_than_allowed() -> None:
    assert climb(DEMOS, [1, 3, 2, -1], []) == (1, 2)
    assert climb(DEMOS, [1, 3, 2, -1], [3]) == (1, 2)
    assert climb(DEMOS, [1, 3, 2, -1], [], most=0) == ()
    assert climb(DEMOS, [-1, -1, -1, -1], [0, 1]) == (), "none is fine"


def test_a_text_grows_no_longer_than_it_may_and_the_least_line_is_exchanged() -> None:
    units = [Unit("a", f"{n}") for n in range(5)]
    assert climb(units, [1, 2, 3, 4, 5], [0], longest=2) == (3, 4)
    assert climb(units, [1, 2, 3, 4, 5], [0, 1, 2], longest=3) == (2, 3, 4)
    assert climb(units, [1, 2, 3, 4, 5], [0, 1, 2], longest=2) == (0, 1, 2), "too long already: it may only lose lines"
    assert climb(units, [-5, -4, -3, -2, -1], [0], longest=1) == (4,)
    assert climb(DEMOS, [1, 2, 3, 4], [0, 1]) == (2, 3)


def test_more_demonstrations_than_allowed_may_stay_but_none_comes_back() -> None:
    """As in a seed that has its own where none are searched."""
    assert climb(DEMOS, [1, 1, 1, 1], [0, 1, 2], most=0) == (0, 1, 2)
    assert climb(DEMOS, [1, -1, 1, 1], [0, 1, 2], most=0) == (0, 2)


def test_of_no_lines_nothing_is_made() -> None:
    assert climb([], [], []) == ()


def test_what_is_taken_whole_stays_as_it_is() -> None:
    pieces = [Unit("a", "one"), Unit("a", "two"), Unit("b", "three"), Unit("b", "four")]
    owners = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    lines = Effects(np.array([0.0, 1.0, 0.0, 1.0]), np.zeros(4), np.zeros((4, 1)), owners, np.zeros(2), np.zeros(2))
    longest = {"a": 1, "b": 1}
    assert Composer(names, 0).climb(pieces, [0, 2], lines, longest) == (1, 3)
    assert Composer(names, 0).climb(pieces, [0, 2], lines, longest, {"a"}) == (0, 3)
    assert Composer(names, 0).climb(pieces, [0, 2], lines, longest, {"a", "b"}) == (0, 2)
