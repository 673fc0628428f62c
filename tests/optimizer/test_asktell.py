"""Ask and tell: the search in somebody else's loop, in a world whose truth is known."""

import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pieces import task

from adapters.candidate import Candidate
from adapters.example import Example
from optimizer import Block, Lesson, ObjectivesConfig, Study, StudyError
from optimizer.asktell import _Reader
from optimizer.propose.proposer import NO_PROPOSAL
from optimizer.schedule import FREE
from scoring.score import Score

THINGS = ("acorn", "birch", "cedar", "daisy", "elder", "fern")
SEED = "Do what is asked."
GOOD, BASE = 0.9, 0.2


def examples(split: str, size: int) -> list[Example]:
    return [Example(f"{split}{n}", {"ask": f"about the {THINGS[n % len(THINGS)]}, please, number {n}"}, f"code {n}") for n in range(size)]


TRAIN, VAL, TEST = (examples(split, 36) for split in ("train", "val", "test"))


def thing(example: Example) -> str:
    return next(each for each in THINGS if each in example.inputs["ask"])


def chance(candidate: Candidate, example: Example) -> float:
    """A line helps with its thing; one that misleads spoils it; useless ones hurt a little."""
    lines = candidate.components["text"].split("\n")
    known = f"For the {thing(example)} do so." in lines
    misled = f"For the {thing(example)} do not." in lines
    return (0.05 if misled else GOOD if known else BASE) * 0.98 ** sum("useless" in line for line in lines)


def right(candidate: Candidate, example: Example, model: str = "") -> bool:
    return random.Random(f"{candidate.id} {example.id} {model}").random() < chance(candidate, example)


def worth(candidate: Candidate) -> float:
    return sum(chance(candidate, example) for example in TEST) / len(TEST)


def rewrite(lesson: Lesson, salt: object = 0) -> dict[str, str]:
    """One line for something that went wrong, one time in three a misleading one, and now and then a useless one."""
    rng = random.Random(f"{salt} {lesson.parent.id}")
    wrong = [cell.example for cell in lesson.cells if cell.score is not None and min(cell.score.values.values()) < 1]
    about = thing(rng.choice(wrong or [cell.example for cell in lesson.cells]))
    lines = [lesson.parent.components["text"], f"For the {about} do {'so' if rng.random() < 0.67 else 'not'}."]
    return {"text": "\n".join(lines + ([f"A useless line {rng.random()}."] if rng.random() < 0.3 else []))}


def study(**changes: Any) -> Study:
    return Study({"text": SEED}, TRAIN, VAL, **changes)


def played(asking: Study, rollouts: int, tell: Callable[[Block], None] | None = None) -> list[Block | Lesson]:
    """The loop that a user writes; returns what was asked."""

    def whole(block: Block) -> None:
        for spot in block.spots:
            asking.tell(block.candidate, spot.example, right(block.candidate, spot.example, spot.model), model=spot.model)

    made: list[Block | Lesson] = []
    while asking.rollouts < rollouts and (asked := asking.ask()) is not None:
        made.append(asked)
        if isinstance(asked, Lesson):
            asking.propose(rewrite(asked, len(made)), asked)
        else:
            (tell or whole)(asked)
    return made


def shown(asked: Sequence[Block | Lesson]) -> list[object]:
    return [
        (each.candidate.id, [(spot.example.id, spot.model) for spot in each.spots], each.aim)
        if isinstance(each, Block)
        else (each.parent.id, [cell.example.id for cell in each.cells])
        for each in asked
    ]


# --- what it finds ---------------------------------------------------------------------------------------------------


def test_it_finds_the_lines_that_help() -> None:
    found = []
    for number in range(4):
        asking = study(random_seed=number)
        played(asking, 400)
        best = asking.best()
        assert best.candidate != asking.seed and asking.unproven() is None
        assert best.candidate in [level.candidate for level in asking.frontier()]
        assert best.overall == pytest.approx(best.objectives["model:template"])
        found.append(worth(best.candidate))
    assert min(found) > worth(Candidate({"text": SEED})) + 0.25
    assert sum(found) / len(found) > 0.6


def test_where_nothing_helps_the_seed_is_kept() -> None:
    kept = []
    for number in range(4):
        asking = study(random_seed=number)

        def tell(block: Block, asking: Study = asking, number: int = number) -> None:
            for spot in block.spots:
                luck = random.Random(f"{number} {block.candidate.id} {spot.example.id}").random()
                asking.tell(block.candidate, spot.example, luck < 0.5)

        played(asking, 300, tell)
        better = asking.unproven()
        kept.append(asking.best().candidate == asking.seed)
        assert better is None or better.candidate != asking.seed
    assert sum(kept) >= 3


def test_demonstrations_are_put_into_candidates_and_never_asked_where_they_are_shown() -> None:
    asking = study(demos=3, minibatch=0)
    asked = played(asking, 200)
    blocks = [each for each in asked if isinstance(each, Block)]
    assert len(blocks) == len(asked)  # without lessons
    shows = [block for block in blocks if block.candidate.components["demonstrations"]]
    assert shows
    for block in shows:
        assert not any(f'"{spot.example.inputs["ask"]}"' in block.candidate.components["demonstrations"] for spot in block.spots)


def test_several_models_and_dimensions_each_have_a_level() -> None:
    wanted = ObjectivesConfig.model_validate({"dimensions": {"right": {}, "long": {"direction": "minimize", "weight": 0.1}}})
    asking = study(models=("a", "b"), dimensions=("right", "long", "seen"), objectives=wanted)

    def tell(block: Block) -> None:
        for spot in block.spots:
            good = right(block.candidate, spot.example, spot.model), "told why"
            long = min(1.0, len(block.candidate.components["text"]) / 500)
            values: dict[str, float | tuple[bool, str]] = {"right": good}
            if spot.model == "a":
                values |= {"long": long, "seen": 1.0}
            asking.tell(block.candidate, spot.example, values, model=spot.model, text="the answer")

    asked = played(asking, 300, tell)
    assert {spot.model for block in asked if isinstance(block, Block) for spot in block.spots} == {"a", "b"}
    level = asking.best()
    assert {"a:right", "a:long", "b:right"} <= level.objectives.keys() and "a:seen" not in level.objectives
    lesson = next(each for each in asked if isinstance(each, Lesson))
    assert lesson.cells[0].answer is not None and lesson.cells[0].answer.text == "the answer"
    assert lesson.cells[0].score is not None and "told why" in lesson.cells[0].score.feedback


def test_it_ends_where_everything_is_right_and_where_nothing_is_left() -> None:
    perfect = study()

    def praise(block: Block) -> None:
        for spot in block.spots:
            perfect.tell(block.candidate, spot.example, True)

    played(perfect, 10_000, praise)
    assert perfect.ask() is None and perfect.rollouts <= len(TRAIN) + len(VAL)
    silent = study()  # nobody answers its lessons, and all is wrong
    asked = []
    while (each := silent.ask()) is not None:
        asked.append(each)
        if isinstance(each, Block):
            for spot in each.spots:
                silent.tell(each.candidate, spot.example, False)
    assert any(isinstance(each, Lesson) for each in asked)
    assert silent.rollouts <= len(TRAIN) + len(VAL) and silent.ask() is None
    assert silent.propose({"text": "Something else."}) is None
    assert isinstance(silent.ask(), Block | Lesson)  # and so there is something left again


# --- what is asked ---------------------------------------------------------------------------------------------------


class Way:
    """How somebody tells: each block in another order, parts of it late or never, some of it failed, some of it twice."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.late: list[tuple[Candidate, Example, str]] = []

    def tell(self, asking: Study, block: Block) -> None:
        cells = [*self.late, *((block.candidate, spot.example, spot.model) for spot in block.spots)]
        self.rng.shuffle(cells)
        self.late = []
        for candidate, example, model in cells:
            drawn = self.rng.random()
            if drawn < 0.1:
                self.late.append((candidate, example, model))
            elif drawn < 0.2:
                asking.tell_failed(candidate, example, "timeout", model=model)
            elif drawn < 0.95:
                for _ in range(2 if drawn < 0.4 else 1):
                    asking.tell(candidate, example.id, right(candidate, example, model), model=model)


@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 10**6), st.sampled_from([("a",), ("a", "b")]), st.sampled_from([0, 2]))
def test_no_cell_is_asked_twice_and_none_from_outside(seed: int, models: tuple[str, ...], demos: int) -> None:
    asking, way = study(models=models, demos=demos, random_seed=seed), Way(seed)
    asked = played(asking, 160, lambda block: way.tell(asking, block))
    cells = [(each.candidate.id, *spot[:2]) for each in asked if isinstance(each, Block) for spot in each.spots]
    assert len(set(cells)) == len(cells)
    assert {example for _, example, _ in cells} <= {*TRAIN, *VAL}
    assert {cell.example for each in asked if isinstance(each, Lesson) for cell in each.cells} <= set(TRAIN)
    assert all(each.spots for each in asked if isinstance(each, Block))


@settings(max_examples=10, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 10**6))
def test_the_order_of_telling_decides_nothing(seed: int) -> None:
    def shuffled(asking: Study, rng: random.Random) -> Callable[[Block], None]:
        def tell(block: Block) -> None:
            for spot in rng.sample(list(block.spots), len(block.spots)):
                asking.tell(block.candidate, spot.example, right(block.candidate, spot.example, spot.model))

        return tell

    first, second = study(random_seed=seed), study(random_seed=seed)
    one = played(first, 160)
    other = played(second, 160, shuffled(second, random.Random(seed)))
    assert shown(one) == shown(other)
    assert first.best() == second.best() and first.frontier() == second.frontier()


def test_another_random_seed_asks_otherwise() -> None:
    assert shown(played(study(random_seed=1), 100)) != shown(played(study(random_seed=2), 100))


def test_blocks_may_be_asked_side_by_side() -> None:
    asking = study(minibatch=0)
    first = asking.ask()
    assert isinstance(first, Block) and first.candidate == asking.seed and asking.ask() is None  # nothing to go by yet
    asking.tell(first.candidate, first.spots[0].example, 0.5)
    assert asking.propose({"text": f"{SEED}\nFor the fern do so."}) is None
    blocks = [asked for asked in (asking.ask() for _ in range(6)) if isinstance(asked, Block)]
    cells = [(block.candidate.id, spot.example.id) for block in (first, *blocks) for spot in block.spots]
    assert len(blocks) == 6 and len(set(cells)) == len(cells)


# --- what is told ----------------------------------------------------------------------------------------------------


def test_a_failed_cell_is_missing_and_not_zero() -> None:
    zero, missing = study(), study()
    for asking in (zero, missing):
        block = asking.ask()
        assert isinstance(block, Block)
        for number, spot in enumerate(block.spots):
            if number % 2:
                asking.tell(block.candidate, spot.example, True)
            elif asking is zero:
                asking.tell(block.candidate, spot.example, False)
            else:
                asking.tell_failed(block.candidate, spot.example, "rate_limit")
    assert zero.rollouts == missing.rollouts
    assert zero.best().overall == pytest.approx(0.5, abs=0.1)
    assert missing.best().overall == pytest.approx(1.0, abs=0.1)


def test_telling_again_changes_nothing_and_telling_otherwise_is_refused() -> None:
    asking = study()
    block = asking.ask()
    assert isinstance(block, Block)
    (one, _, _), (two, _, _) = block.spots[:2]
    for _ in range(2):
        asking.tell(asking.seed, one, (0.5, "half"))
        asking.tell_failed(asking.seed, two, "timeout")
    assert asking.rollouts == 2
    with pytest.raises(StudyError, match=rf"on example '{one.id}' with model was told already, as {{'template': 0.5}}, and now as .*0.6"):
        asking.tell(asking.seed, one, 0.6)
    with pytest.raises(StudyError, match=r"was told already, as timeout, and now as {'template': 1.0}; a cell is told once"):
        asking.tell(asking.seed, two, True)
    with pytest.raises(StudyError, match=r"was told already, as {'template': 0\.5}, and now as timeout"):
        asking.tell_failed(asking.seed, one, "timeout")
    assert asking.rollouts == 2


@pytest.mark.parametrize(
    ("score", "told"),
    [
        (1.5, r"1.5 is no score: 1.5 is not in 0..1. Allowed: True, False"),
        (float("nan"), "nan is no score: nan is not in 0..1"),
        ("good", "'good' is no score: 'good' is not a number"),
        (None, "None is no score: None is not a number"),
        ({"tempalte": 1.0}, "the dimension 'tempalte' is not one of the study's; did you mean 'template'?"),
        ({}, "an empty dict names no dimension"),
        (Score({}), "the score has no value; use `tell_failed`"),
    ],
)
def test_a_wrong_score_is_told(score: Any, told: str) -> None:
    asking = study()
    with pytest.raises(StudyError) as error:
        asking.tell(asking.seed, TRAIN[0], score)
    assert told in str(error.value)
    assert asking.rollouts == 0


def test_a_wrong_place_is_told() -> None:
    asking = study(models=("a", "b"), dimensions=("right", "kind"))
    stranger = Candidate({"text": "Never heard of."})
    with pytest.raises(StudyError, match="is not known; a candidate of your own is taken in with `propose` first"):
        asking.tell(stranger, TRAIN[0], {"right": 1}, model="a")
    with pytest.raises(StudyError, match="neither train nor val has an example 'test0'"):
        asking.tell(asking.seed, TEST[0], {"right": 1}, model="a")
    with pytest.raises(StudyError, match="say which model answered: a or b"):
        asking.tell(asking.seed, TRAIN[0], {"right": 1})
    with pytest.raises(StudyError, match="there is no model 'c'"):
        asking.tell_failed(asking.seed, TRAIN[0], "timeout", model="c")
    with pytest.raises(StudyError, match="True does not say which dimension it is of; give a dict with right, kind"):
        asking.tell(asking.seed, TRAIN[0], True, model="a")
    with pytest.raises(StudyError, match="the kind of the failure is blank"):
        asking.tell_failed(asking.seed, TRAIN[0], " ", model="a")
    for ask in (asking.best, asking.frontier, asking.unproven):
        with pytest.raises(StudyError, match="no score was told yet"):
            ask()


def test_a_proposal_that_cannot_be_used_is_told_in_words() -> None:
    asking = Study({"text": "Answer {ask}.", "style": "Be kind."}, TRAIN, VAL)
    assert asking.propose(asking.seed) == "the text is the same as before"
    assert asking.propose({"text": "Answer.", "style": "Be kind."}) == "the placeholder {ask} is missing; every placeholder has to stay"
    assert asking.propose({"text": " ", "style": "Be kind."}) == "the text is empty"
    assert asking.propose({"text": "Do answer {ask}.", "style": "Be kind."}) is None
    assert asking.propose({"text": "Do answer {ask}.", "style": "Be kind."}) is not None
    with pytest.raises(StudyError, match="the candidate has the components text; it needs those of the seed: style, text"):
        asking.propose({"text": "Answer {ask}."})
    with pytest.raises(StudyError, match="the component 'text' is 5; it has to be text"):
        asking.propose({"text": 5})  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"train": []}, "there are no train examples; a study needs some"),
        ({"val": []}, "there are no val examples"),
        ({"val": TRAIN}, "'train0' is there 2 times among the examples of train and val; each needs a name of its own"),
        ({"models": ()}, "there are no models"),
        ({"models": ("a:b",)}, "'a:b' cannot name a dimension"),
        ({"dimensions": ("right", "right")}, "'right' is there 2 times among the dimensions"),
        ({"objectives": ObjectivesConfig.model_validate({"dimensions": {"wrong": {}}})}, "objectives: there is no dimension 'wrong'"),
        ({"objectives": ObjectivesConfig(models={"modle": 2.0})}, "objectives: there is no model 'modle'; did you mean 'model'?"),
        ({"minibatch": -1}, "minibatch cannot be -1; it is a whole number from 0 on"),
        ({"demos": 1, "train": [Example("x", {"ask": "x"})]}, "no train example has an expected answer to show; leave demos out"),
        ({"seed": {}}, "a candidate has at least one component, name → text"),
        ({"seed": {"text": "x", "demonstrations": "no JSON"}}, "the component 'demonstrations': "),
    ],
)
def test_a_study_that_cannot_be_is_told(arguments: dict[str, Any], told: str) -> None:
    with pytest.raises(StudyError) as error:
        Study(**{"seed": {"text": SEED}, "train": TRAIN, "val": VAL, **arguments})
    assert told in str(error.value)


async def test_nobody_is_asked_for_proposals_but_the_asker() -> None:
    reader, seed = _Reader(20), Candidate({"text": SEED})
    assert await reader.propose(task(seed)) == NO_PROPOSAL and reader.claim(seed, True) == FREE


def test_of_failures_alone_nothing_is_known() -> None:
    study = Study({"text": SEED}, TRAIN, VAL)
    first = study.ask()
    assert isinstance(first, Block)
    for spot in first.spots:
        study.tell_failed(first.candidate, spot.example, "timeout")
    for view in (study.best, study.frontier, study.unproven):
        with pytest.raises(StudyError, match="no score was told yet"):
            view()
    second = study.ask()
    assert isinstance(second, Block), "it goes on asking"
    study.tell(second.candidate, second.spots[0].example, 0.5)
    assert study.best().overall is not None


@pytest.mark.parametrize("given", [None, "a text", ["a text"], {"text": None}, {"text": "half a pair: \ud83d"}, {}])
def test_what_is_no_candidate_is_refused_by_name(given: object) -> None:
    with pytest.raises(StudyError):
        Study(given, TRAIN, VAL)  # type: ignore[arg-type]
    study = Study({"text": SEED}, TRAIN, VAL)
    with pytest.raises(StudyError):
        study.propose(given)  # type: ignore[arg-type]


def test_names_are_no_text() -> None:
    with pytest.raises(StudyError, match="the models are to be a list of names, not the text 'abc'"):
        Study({"text": SEED}, TRAIN, VAL, models="abc")
