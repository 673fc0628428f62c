"""Filling cells: a candidate is run on an example with a model, and its answer is scored."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any, Literal, NamedTuple

from adapters.adapter import Adapter
from adapters.answer import TracedAnswer, Usage
from adapters.candidate import Candidate
from adapters.clients.client import Completion, ModelClient, ModelError, Request
from adapters.digest import digest
from adapters.example import Example
from optimizer.budget import Claim, Used
from optimizer.concurrent import together
from optimizer.desk import Caller, Desk, anew
from optimizer.errors import JournalError
from optimizer.journal import TASK, CellRow, Journal
from optimizer.judging import Tab, tab
from scoring.score import Score
from scoring.scorer import ScorerError
from scoring.suite import Suite

CellKey = tuple[str, str, str, int]
"""Candidate, example, model, repeat."""

SCORER_ERROR = "scorer_error"
"""What a cell is failed by when its scorer was."""


@dataclass(frozen=True)
class TaskModel:
    """A model that candidates are run with. `sampled`: its answers vary, so repeated requests carry a seed."""

    id: str
    client: ModelClient
    sampled: bool = False


@dataclass(frozen=True)
class Cell:
    """One (candidate, example, model, repeat): scored, or failed for a reason outside the content."""

    candidate: str
    example: Example
    model: str
    answer: TracedAnswer | None
    score: Score | None
    failed: str | None
    used: Used
    problem: str = ""
    """What the scorer's failure was, where that failed the cell."""
    repeat: int = 0

    @property
    def key(self) -> CellKey:
        return self.candidate, self.example.id, self.model, self.repeat

    def row(self, split: str) -> CellRow:
        body: dict[str, object] = {"text": self.answer.text if self.answer else None}
        if self.score is not None:
            body |= score_body(self.score)
        if self.problem:
            body["problem"] = self.problem
        return CellRow(self.candidate, self.example.id, self.model, self.repeat, split, self.failed, body)


class Spot(NamedTuple):
    """Where a candidate can be run: an example, a model's id, and which time it is there."""

    example: Example
    model: str
    repeat: int = 0


def everywhere(examples: Iterable[Example], models: Iterable[str], repeat: int = 0) -> list[Spot]:
    """Every model on every example: example by example, model by model."""
    return [Spot(example, model, repeat) for example, model in product(examples, models)]


def emitted(cells: Iterable[Cell]) -> Iterator[str]:
    """The dimensions of their scores, in the order of the cells."""
    return (dimension for cell in cells if cell.score is not None for dimension in cell.score.values)


class Evaluator:
    """Everything that it calls goes through the desk; it decides nothing and spends only what its caller has claimed."""

    def __init__(
        self,
        adapter: Adapter,
        models: Sequence[TaskModel],
        suite: Suite,
        desk: Desk,
        journal: Journal,
        random_seed: int,
        filled: Callable[[Cell], None],
        on_error: Literal["stop", "fail_cell"] = "stop",
        warn: Callable[[str], object] = lambda _: None,
    ) -> None:
        """`on_error`: what a scorer that fails does: end the run with a ScorerError, or leave its cell failed; `warn` is told of the first
        such cell."""
        self.models, self._models = [model.id for model in models], {model.id: model for model in models}
        self._adapter, self._suite, self._desk, self._journal = adapter, suite, desk, journal
        self._random_seed, self._filled, self._on_error = random_seed, filled, on_error
        self._warn: Callable[[str], object] | None = warn
        self._given: tuple[str, ...] | None = None

    async def fill(
        self, candidate: Candidate, spots: Sequence[Spot], job: int, note: Callable[[Cell], object] = lambda _: None
    ) -> list[Cell]:
        """The candidate's cells in these spots, in their order. `note` is told of each as soon as it is filled."""
        cells = await together(self._cell(candidate, spot, job, note) for spot in spots)
        return [self._agreed(cell) for cell in cells]

    def claim(self, candidate: Candidate, spots: Sequence[Spot], priced: bool) -> Claim:
        """The most that `fill` can use. `priced`: also in tokens and money, which takes rendering every request."""
        total = Claim(rollouts=len(spots))
        for example, model, _ in spots:
            client = self._models[model].client
            asked = [*((client, r) for r in self._adapter.requests(candidate, example)), *self._suite.requests(example)]
            total += Claim(calls=len(asked))
            if priced:
                total = sum((ceiling_claim(*each) for each in asked), total)
        return total

    async def _cell(self, candidate: Candidate, spot: Spot, job: int, note: Callable[[Cell], object]) -> Cell:
        (example, _, repeat), model = spot, self._models[spot.model]
        caller = Caller(self._desk, model.client, job, TASK, repeat)
        seed = None
        if model.sampled:
            # One stream for an example and a model, whichever candidate asks: candidates are compared on the same luck.
            seed = int(digest(self._random_seed, example.id, model.id, length=7), 16)
        answer = score = failed = None
        problem = ""
        with tab(self._desk, job, repeat) as judged:
            try:
                answer = await self._adapter.run(candidate, example, caller, seed)
                score = await self._score(example, answer, judged, job)
            except ModelError as error:
                failed, problem = str(error.kind), "" if answer is None else error.message  # with an answer, it is a scorer's model
            except ScorerError as error:
                failed, problem = SCORER_ERROR, self._forgiven(error)
        used = Used(1, caller.used | judged.used, caller.uses + judged.uses)
        cell = Cell(candidate.id, example, model.id, answer, score, failed, used, problem, repeat)
        note(cell)
        self._filled(cell)
        return cell

    async def _score(self, example: Example, answer: TracedAnswer, judged: Tab, job: int) -> Score:
        """Scores are recorded like calls: a scorer may be slow, costly or random, and a derived run must meet the same ones. So are the
        failures of scorers that a run goes on with. A repeat is scored anew, for judges are noisy too.

        Where two jobs score the same answer at the same time, what is recorded first holds for both. With it stands
        which calls it took: whoever meets the score again has used these.
        """
        key = digest(self._suite.version, example.id, example.digest, answer.digest, *anew(judged.repeat), length=32)
        recorded = self._recorded(key, job)
        if recorded is None:
            made = await self._made(example, answer, judged)
            made["calls"] = sorted(judged.used)
            recorded = self._recorded(key, job) or self._record(key, job, made)
        for call in set(recorded["calls"]) - judged.used.keys():
            judged.add({call: self._usage(call)}, 1)
        if "failed" in recorded:
            raise ScorerError(**recorded["failed"], place=example.place)
        return Score(**recorded["score"])

    def _recorded(self, key: str, job: int) -> dict[str, Any] | None:
        score = self._journal.score(key)
        return self._journal.scorer_failure(key, job) if score is None and self._on_error == "fail_cell" else score

    def _record(self, key: str, job: int, made: dict[str, Any]) -> dict[str, Any]:
        if "failed" in made:
            return self._journal.record_scorer_failure(key, job, made)
        return self._journal.record_score(key, made)

    async def _made(self, example: Example, answer: TracedAnswer, judged: Tab) -> dict[str, Any]:
        """A score, or what failed it, as the journal holds them. Raises ScorerError where that is to end the run: it is not recorded, and
        the scorer is asked again when the run goes on."""
        try:
            return {"score": score_body(await self._judge(example, answer, judged))}
        except ScorerError as error:
            if self._on_error == "stop":
                raise
            return {"failed": {"scorer": error.scorer, "example": error.example, "problem": error.problem}}

    def _agreed(self, cell: Cell) -> Cell:
        """Scorers that do not declare their dimensions have those of the first cell of the run that they scored, in the order of the cells
        and not of time. Another one is misspelt, or hidden from the search, which compares what all candidates have."""
        if cell.score is None or self._suite.dimensions is not None:
            return cell
        if self._given is None:
            self._given = tuple(cell.score.values)
        error = self._suite.stray(cell.example, cell.score, self._given)
        return cell if error is None else replace(cell, score=None, failed=SCORER_ERROR, problem=self._forgiven(error))

    def _forgiven(self, error: ScorerError) -> str:
        """The failure in words, where the run goes on in spite of it. Raises it where not."""
        if self._on_error == "stop":
            raise error
        if self._warn is not None:
            self._warn(f"{error} (its cell counts as failed, and so do others; this is told once)")
            self._warn = None
        return str(error)

    async def _judge(self, example: Example, answer: TracedAnswer, judged: Tab) -> Score:
        """A run that has to end does so, whatever its scorers make of that."""
        try:
            return await self._suite.score(example, answer)
        finally:
            if judged.ending is not None:
                raise judged.ending

    def _usage(self, call: str) -> Usage:
        outcome = self._journal.call(call)
        if not isinstance(outcome, Completion):
            raise JournalError(f"{self._journal.path} holds a score but not the answer that it was made from (call {call[:8]})")
        return outcome.usage


def score_body(score: Score) -> dict[str, Any]:
    """A score as JSON."""
    return asdict(replace(score, values=dict(score.values), details=dict(score.details)))


def ceiling_claim(client: ModelClient, request: Request) -> Claim:
    """The most that answering one request can use, as tokens and money."""
    most = client.ceiling(request)
    return Claim(tokens=most.input_tokens + most.output_tokens, usd=most.usd or 0.0)
