"""Cells: what was scored, what failed, and what both have cost."""

import asyncio
import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Literal

import pytest
from pieces import Model, ask, candidate, cell, example, examples, failure, in_turn

from adapters.answer import TracedAnswer
from adapters.clients.client import ErrorKind, ModelError
from adapters.example import Example
from adapters.prompt import PromptAdapter
from optimizer.budget import Claim, Ledger, Used
from optimizer.concurrent import together
from optimizer.config import BudgetConfig
from optimizer.desk import Desk
from optimizer.errors import ProviderError, ReplayError
from optimizer.evaluate import Cell, Evaluator, Spot, TaskModel, ceiling_claim, everywhere, score_body
from optimizer.journal import Journal
from optimizer.judging import ScorerModel
from scoring.score import Score
from scoring.scorer import Scorer, ScorerError
from scoring.suite import Suite


class Counting:
    """A scorer that never says the same twice: its number of calls, in hundredths. It takes a moment."""

    name, dimensions, version = "counting", ("template",), "1"

    def __init__(self, version: str = "1") -> None:
        self.version = version
        self.seen: list[str] = []

    async def score(self, example: Example, answer: TracedAnswer) -> Score:
        self.seen.append(example.id)
        number = len(self.seen)
        await asyncio.sleep(0.001 * (3 - number % 3))
        return Score({"template": number / 100}, correct=False, feedback=f"number {number}", details={"pair": (1, 2)})


class Exact:
    name, dimensions, version = "exact", ("template",), "1"

    async def score(self, example: Example, answer: TracedAnswer) -> Score:
        right = answer.text == example.expected
        return Score({"template": float(right)}, right, None if right else "wrong", answer.text)


class Broken(Exact):
    async def score(self, example: Example, answer: TracedAnswer) -> Score:
        raise ValueError("no such thing")


ADAPTER = PromptAdapter(system="{instructions}", user="{text}", inputs=["text"])
TRAIN = examples(3)
SPOTS = everywhere(TRAIN, "a")


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    journal = Journal.write(tmp_path)
    yield journal
    journal.close()


def evaluator(
    journal: Journal,
    *models: TaskModel,
    scorer: Scorer | None = None,
    replay: bool = False,
    random_seed: int = 0,
    seen: list[Cell] | None = None,
    on_error: Literal["stop", "fail_cell"] = "stop",
    warn: Callable[[str], object] = lambda _: None,
) -> Evaluator:
    cells: list[Cell] = [] if seen is None else seen
    desk = Desk(journal, replay=replay)
    return Evaluator(ADAPTER, models, Suite([scorer or Exact()]), desk, journal, random_seed, cells.append, on_error, warn)


def of(name: str, model: Model, *, sampled: bool = False) -> TaskModel:
    return TaskModel(name, model, sampled)


# --- cells ------------------------------------------------------------------------------------------------------------


async def test_every_model_meets_every_example_in_order(journal: Journal) -> None:
    seen: list[Cell] = []
    fill = evaluator(journal, of("a", Model()), of("b", Model(lambda _: "no", name="large")), seen=seen).fill
    cells = await fill(candidate(), everywhere(TRAIN, "ab"), 1)
    assert [(c.example.id, c.model) for c in cells] == list(itertools.product(["e0", "e1", "e2"], "ab"))
    assert [c.score.values["template"] for c in cells if c.score] == [1.0, 0.0] * 3
    assert sorted(c.key for c in seen) == sorted(c.key for c in cells)
    assert all(c.candidate == candidate().id and c.failed is None and c.answer for c in cells)


async def test_only_the_spots_asked_for_are_filled_in_their_order(journal: Journal) -> None:
    models = {"a": Model(), "b": Model(name="large")}
    spots = [Spot(TRAIN[2], "b"), Spot(TRAIN[0], "a"), Spot(TRAIN[2], "a")]
    work = evaluator(journal, *(of(name, model) for name, model in models.items()))
    assert [Spot(c.example, c.model) for c in await work.fill(candidate(), spots, 1)] == spots
    assert [len(model.asked) for model in models.values()] == [2, 1]
    assert work.models == ["a", "b"]


@pytest.mark.parametrize("kind", [ErrorKind.RATE_LIMIT, ErrorKind.TIMEOUT, ErrorKind.SERVER_ERROR, ErrorKind.BAD_REQUEST])
async def test_a_failed_call_leaves_the_cell_failed_not_zero(journal: Journal, kind: ErrorKind) -> None:
    model = Model(lambda request: failure(kind) if request.messages[-1].content == "text of e1" else "yes")
    cells = await evaluator(journal, of("a", model)).fill(candidate(), SPOTS, 1)
    assert [c.failed for c in cells] == [None, str(kind), None]
    assert cells[1].score is None and cells[1].answer is None
    assert cells[1].used == Used(1, {}, 0)
    assert cells[1].row("val").failed == str(kind)
    assert cells[1].row("val").body == {"text": None}


@pytest.mark.parametrize(
    ("kind", "named"), [(ErrorKind.CONTENT_FILTER, "refusal"), (ErrorKind.CONTEXT_LENGTH, "context_length")], ids=["refusal", "too long"]
)
async def test_a_failure_of_content_is_scored(journal: Journal, kind: ErrorKind, named: str) -> None:
    (filled,) = await evaluator(journal, of("a", Model(lambda _: failure(kind)))).fill(candidate(), SPOTS[:1], 1)
    assert filled.failed is None
    assert filled.answer and filled.answer.failure_kind == named
    assert filled.score and filled.score.values == {"template": 0.0}


async def test_a_model_out_of_reach_ends_the_filling(journal: Journal) -> None:
    with pytest.raises(ProviderError):
        await evaluator(journal, of("a", Model(lambda _: failure(ErrorKind.AUTH)))).fill(candidate(), SPOTS, 1)


async def test_a_scorer_that_raises_is_no_score(journal: Journal) -> None:
    with pytest.raises(ScorerError, match="no such thing"):
        await evaluator(journal, of("a", Model()), scorer=Broken()).fill(candidate(), SPOTS[:1], 1)
    assert journal.last_job() == 1, "the call is kept"


async def test_a_cells_row_tells_what_was_said_and_what_it_was_worth(journal: Journal) -> None:
    (filled,) = await evaluator(journal, of("a", Model(lambda _: "no"))).fill(candidate(), SPOTS[:1], 1)
    row = filled.row("train")
    assert (row.candidate, row.example, row.model, row.repeat, row.split, row.failed) == (candidate().id, "e0", "a", 0, "train", None)
    assert row.body["text"] == "no" and row.body["values"] == {"template": 0.0} and row.body["failure_kind"] == "wrong"


# --- what was known is used -------------------------------------------------------------------------------------------


async def test_scores_are_recorded_and_met_again(tmp_path: Path) -> None:
    scorer = Counting()
    with closing(Journal.write(tmp_path)) as journal:
        first = await evaluator(journal, of("a", Model()), scorer=scorer).fill(candidate(), SPOTS, 1)
    with closing(Journal.write(tmp_path)) as journal:
        again = await evaluator(journal, of("a", Model(in_turn())), scorer=scorer, replay=True).fill(candidate(), SPOTS, 1)
    assert [c.score for c in again] == [c.score for c in first]
    assert [c.used for c in again] == [c.used for c in first]
    assert len(scorer.seen) == 3


async def test_two_jobs_that_score_the_same_answer_at_once_get_the_same_score(journal: Journal) -> None:
    """Else the one that is recorded would not be the one that a decision was made from."""
    work = evaluator(journal, of("a", Model()), scorer=Counting())
    one, other = await asyncio.gather(work.fill(candidate(), SPOTS[:1], 1), work.fill(candidate(), SPOTS[:1], 2))
    (later,) = await work.fill(candidate(), SPOTS[:1], 3)
    assert one[0].score == other[0].score == later.score


@pytest.mark.parametrize("change", ["scorer", "expected", "answer"])
async def test_what_a_score_depends_on_makes_it_another_score(journal: Journal, change: str) -> None:
    scorer = Counting()
    await evaluator(journal, of("a", Model()), scorer=scorer).fill(candidate(), [Spot(example("e", "yes", text="t"), "a")], 1)
    changed = Counting("2") if change == "scorer" else scorer
    changed_example = example("e", "no" if change == "expected" else "yes", text="t")
    model = Model(lambda _: "other", where="elsewhere") if change == "answer" else Model()
    before = len(changed.seen)
    await evaluator(journal, of("a", model), scorer=changed).fill(candidate(), [Spot(changed_example, "a")], 2)
    assert len(changed.seen) == before + 1


async def test_a_replay_that_lacks_a_call_says_so(journal: Journal) -> None:
    with pytest.raises(ReplayError):
        await evaluator(journal, of("a", Model()), replay=True).fill(candidate(), SPOTS, 1)


def test_a_score_survives_the_journal() -> None:
    score = Score({"template": 1 / 3, "brevity": 1.0}, True, None, "out", "because", {"n": [1, {"a": None}]})
    assert Score(**score_body(score)) == score


# --- scorers that fail ------------------------------------------------------------------------------------------------


class Flaky(Exact):
    """Fails whenever `broken` says so of an example. It keeps what it has seen."""

    def __init__(self, *broken: str, version: str = "1") -> None:
        self.broken, self.version = set(broken), version
        self.seen: list[str] = []

    async def score(self, example: Example, answer: TracedAnswer) -> Score:
        self.seen.append(example.id)
        if example.id in self.broken:
            raise ValueError(f"no luck with {example.id}")
        return await super().score(example, answer)


async def test_a_failed_scorer_fails_its_cell_and_the_first_is_told(journal: Journal) -> None:
    told: list[str] = []
    work = evaluator(journal, of("a", Model()), scorer=Flaky("e1", "e2"), on_error="fail_cell", warn=told.append)
    cells = await work.fill(candidate(), SPOTS, 1)
    assert [cell.failed for cell in cells] == [None, "scorer_error", "scorer_error"]
    problem = cells[1].row("val").body["problem"]
    assert problem.startswith("scorer 'exact', example 'e1': it raised ValueError: no luck with e1") and cells[1].score is None
    assert "problem" not in cells[0].row("val").body
    assert len(told) == 1 and "no luck with e" in told[0]


async def test_a_scorers_failure_is_met_again_once_its_job_has_committed(journal: Journal) -> None:
    """Else a scorer that fails now and then would lead a run that goes on another way."""
    first = await evaluator(journal, of("a", Model()), scorer=Flaky("e1"), on_error="fail_cell").fill(candidate(), SPOTS, 1)
    journal.decide(1, "commit", {})
    journal.forget_failures()
    calm = Flaky()
    again = await evaluator(journal, of("a", Model()), scorer=calm, on_error="fail_cell", replay=True).fill(candidate(), SPOTS, 1)
    assert again == first and calm.seen == []


async def test_a_scorers_failure_that_nothing_rests_on_is_tried_again(journal: Journal) -> None:
    await evaluator(journal, of("a", Model()), scorer=Flaky("e1"), on_error="fail_cell").fill(candidate(), SPOTS, 1)
    journal.forget_failures()
    calm = Flaky()
    cells = await evaluator(journal, of("a", Model()), scorer=calm, on_error="fail_cell").fill(candidate(), SPOTS, 1)
    assert calm.seen == ["e1"] and all(cell.failed is None for cell in cells)


async def test_a_scorers_failure_belongs_to_the_first_job_that_met_it(journal: Journal) -> None:
    flaky = Flaky("e1")
    work = evaluator(journal, of("a", Model()), scorer=flaky, on_error="fail_cell")
    for job in (5, 3, 4):
        await work.fill(candidate(), SPOTS, job)
    assert flaky.seen.count("e1") == 1
    journal.decide(3, "commit", {})
    journal.forget_failures()
    (cell,) = await work.fill(candidate(), SPOTS[1:2], 6)
    assert cell.failed == "scorer_error"


@pytest.mark.parametrize("mended", ["version", "policy"])
async def test_a_mended_scorer_and_another_policy_try_again(journal: Journal, mended: str) -> None:
    await evaluator(journal, of("a", Model()), scorer=Flaky("e1"), on_error="fail_cell").fill(candidate(), SPOTS, 1)
    journal.decide(1, "commit", {})
    calm = Flaky(version="2" if mended == "version" else "1")
    work = evaluator(journal, of("a", Model()), scorer=calm, on_error="fail_cell" if mended == "version" else "stop")
    assert [cell.failed for cell in await work.fill(candidate(), SPOTS, 2)] == [None] * 3
    assert "e1" in calm.seen


async def test_a_failure_that_ends_the_run_is_not_recorded(journal: Journal) -> None:
    with pytest.raises(ScorerError, match="no luck"):
        await evaluator(journal, of("a", Model()), scorer=Flaky("e1")).fill(candidate(), SPOTS, 1)
    (cell,) = await evaluator(journal, of("a", Model()), scorer=Flaky()).fill(candidate(), SPOTS[1:2], 1)
    assert cell.failed is None


class Spelling:
    """Declares nothing; gives each example its dimensions, the later examples first."""

    name, dimensions, version = "spelling", None, "1"

    def __init__(self, *given: str) -> None:
        self.given = given

    async def score(self, example: Example, answer: TracedAnswer) -> Score:
        number = int(example.id[1:])
        await asyncio.sleep(0.002 * (len(self.given) - number))
        return Score(dict.fromkeys(self.given[number].split(), 1.0))


async def test_undeclared_dimensions_are_those_of_the_first_cell_and_not_of_the_fastest(journal: Journal) -> None:
    given = ("words lines", "words linse", "words")
    work = evaluator(journal, of("a", Model()), scorer=Spelling(*given), on_error="fail_cell")
    cells = await work.fill(candidate(), SPOTS, 1)
    assert [cell.failed for cell in cells] == [None, "scorer_error", None]
    assert "example 'e1': the dimension 'linse' is new; did you mean 'lines'" in cells[1].problem
    again = await evaluator(journal, of("a", Model()), scorer=Spelling(*given), on_error="fail_cell", replay=True).fill(
        candidate(), SPOTS, 1
    )
    assert again == cells
    with pytest.raises(ScorerError, match="scorer 'spelling', example 'e1': the dimension 'linse' is new"):
        await evaluator(journal, of("a", Model()), scorer=Spelling(*given)).fill(candidate(), SPOTS, 1)


# --- luck -------------------------------------------------------------------------------------------------------------


def seeds(model: Model) -> dict[str, int | None]:
    return {request.messages[-1].content: request.seed for request in model.asked}


def fresh(folder: Path) -> Journal:
    folder.mkdir()
    return Journal.write(folder)


async def asked(path: Path, text: str = "Say yes.", name: str = "a", sampled: bool = True, random_seed: int = 0) -> dict[str, int | None]:
    model = Model()
    with closing(fresh(path)) as journal:
        await evaluator(journal, of(name, model, sampled=sampled), random_seed=random_seed).fill(
            candidate(text), everywhere(TRAIN, [name]), 1
        )
    return seeds(model)


async def test_a_seed_depends_on_example_and_model_not_on_the_candidate(tmp_path: Path) -> None:
    base = await asked(tmp_path / "base")
    assert len(set(base.values())) == 3
    assert all(isinstance(seed, int) and 0 <= seed < 2**28 for seed in base.values())
    assert await asked(tmp_path / "other candidate", text="Say no.") == base
    assert await asked(tmp_path / "again") == base
    for other in (await asked(tmp_path / "model", name="b"), await asked(tmp_path / "run", random_seed=1)):
        assert not set(other.values()) & set(base.values())


async def test_a_repeat_is_a_call_of_its_own_and_is_known_afterwards(journal: Journal) -> None:
    """Also at temperature 0, where the request is the same."""
    model = Model(in_turn("yes", "no", "yes"))
    work = evaluator(journal, of("a", model))
    spots = [Spot(TRAIN[0], "a", repeat) for repeat in range(3)]
    cells = [filled for spot in spots for filled in await work.fill(candidate(), [spot], 1)]
    assert [c.repeat for c in cells] == [c.row("val").repeat for c in cells] == [0, 1, 2]
    assert [c.score.values["template"] for c in cells if c.score] == [1.0, 0.0, 1.0]
    assert len({key for c in cells for key in c.used.calls}) == 3 and len({request.content["seed"] for request in model.asked}) == 1
    assert await evaluator(journal, of("a", Model(in_turn())), replay=True).fill(candidate(), spots, 1) == cells


async def test_repeats_that_are_under_way_at_once_are_not_made_once(journal: Journal) -> None:
    model = Model()
    await evaluator(journal, of("a", model)).fill(candidate(), [Spot(TRAIN[0], "a", repeat) for repeat in range(3)], 1)
    assert len(model.asked) == 3


async def test_the_same_repeat_has_the_same_luck_for_every_candidate(journal: Journal) -> None:
    model = Model()
    work = evaluator(journal, of("a", model, sampled=True))
    for text in ("Say yes.", "Say no."):
        await work.fill(candidate(text), [Spot(TRAIN[0], "a", repeat) for repeat in range(3)], 1)
    drawn = [request.seed for request in model.asked]
    assert drawn[:3] == drawn[3:] and len(set(drawn)) == 3
    assert all(isinstance(seed, int) and 0 <= seed < 2**28 for seed in drawn)


async def test_a_repeat_is_scored_anew(journal: Journal) -> None:
    """The same answer may mean another score to a judge."""
    scorer = Counting()
    work = evaluator(journal, of("a", Model()), scorer=scorer)
    first, again, known = [filled for repeat in (0, 1, 0) for filled in await work.fill(candidate(), [Spot(TRAIN[0], "a", repeat)], 1)]
    assert first.score != again.score and first.score == known.score and len(scorer.seen) == 2


async def test_a_judge_is_asked_again_with_other_seeds(journal: Journal) -> None:
    judge = Model(name="judge")

    class Judged(Exact):
        async def score(self, example: Example, answer: TracedAnswer) -> Score:
            await ScorerModel(judge).complete(ask("How good is it?", seed=7))
            return Score({"template": 1.0})

    work = evaluator(journal, of("a", Model()), scorer=Judged())
    cells = await work.fill(candidate(), [Spot(TRAIN[0], "a", repeat) for repeat in range(2)], 1)
    assert judge.asked[0].seed == 7 and len({request.seed for request in judge.asked}) == 2
    assert not cells[0].used.calls.keys() & cells[1].used.calls.keys() and all(len(c.used.calls) == 2 for c in cells)


async def test_a_model_at_temperature_zero_gets_no_seed(tmp_path: Path) -> None:
    assert set((await asked(tmp_path / "plain", sampled=False)).values()) == {None}


# --- claims -----------------------------------------------------------------------------------------------------------


async def test_a_claim_bounds_what_filling_uses(journal: Journal) -> None:
    """Also with the longest answers, and with text of more bytes than letters."""
    models = [of("a", Model(lambda _: "ü" * 50)), of("b", Model(lambda _: "no", name="large"))]
    work = evaluator(journal, *models)
    given = everywhere([*TRAIN, example("é", text="汉字 🦜" * 20)], "ab")
    claim = work.claim(candidate("Sag ‘ja’."), given, True)
    cells = await work.fill(candidate("Sag ‘ja’."), given, 1)
    book = Ledger(BudgetConfig(rollouts=100))
    book.settle(book.hold(claim), [c.used for c in cells])
    spent = book.spent()
    assert (spent.rollouts, spent.calls) == (claim.rollouts, claim.calls) == (8, 8)
    assert spent.input_tokens + spent.output_tokens <= claim.tokens
    assert spent.usd is not None and spent.usd <= claim.usd


async def test_a_claim_without_prices_asks_nothing_of_the_clients(journal: Journal) -> None:
    class Unasked(Model):
        def ceiling(self, request: object) -> object:  # type: ignore[override]
            raise AssertionError("asking for a price may load a large library")

    assert evaluator(journal, of("a", Unasked())).claim(candidate(), SPOTS, False) == Claim(3, 3)
    assert evaluator(journal, of("a", Unasked())).claim(candidate(), [], True) == Claim()


async def test_a_claim_is_priced_by_the_model_of_each_spot(journal: Journal) -> None:
    work = evaluator(journal, of("a", Model(max_tokens=10)), of("b", Model(max_tokens=1000)))
    little, much = (work.claim(candidate(), [Spot(TRAIN[0], name)], True) for name in "ab")
    assert much.tokens - little.tokens == 990
    assert work.claim(candidate(), everywhere(TRAIN[:1], "ab"), True) == little + much


def test_a_ceiling_without_a_price_still_counts_tokens() -> None:
    assert ceiling_claim(Model(priced=False), ask("four")) == Claim(tokens=104)


# --- together ---------------------------------------------------------------------------------------------------------


async def late(result: int, turns: int, log: list[str]) -> int:
    try:
        for _ in range(turns):
            await asyncio.sleep(0)
    except asyncio.CancelledError:
        log.append(f"{result} cancelled")
        raise
    return result


async def broken() -> int:
    await asyncio.sleep(0)
    raise ModelError(ErrorKind.TIMEOUT, "small", "no answer")


async def test_results_come_in_the_order_of_the_work() -> None:
    assert await together(late(n, 5 - n, []) for n in range(5)) == [0, 1, 2, 3, 4]
    nothing: Sequence[int] = await together([])
    assert nothing == []


async def test_the_first_failure_cancels_the_rest_and_is_raised_as_it_is() -> None:
    log: list[str] = []
    with pytest.raises(ModelError):
        await together([late(1, 1000, log), broken(), late(2, 1000, log)])
    assert sorted(log) == ["1 cancelled", "2 cancelled"], "nothing runs on unseen"


async def test_whoever_is_cancelled_cancels_its_work() -> None:
    log: list[str] = []
    waiting = asyncio.create_task(together([late(1, 1000, log), late(2, 1000, log)]))
    for _ in range(3):
        await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert sorted(log) == ["1 cancelled", "2 cancelled"]


def test_a_cells_key_tells_candidate_example_and_model() -> None:
    assert cell(example("e"), who="c", model="m").key == ("c", "e", "m", 0)
