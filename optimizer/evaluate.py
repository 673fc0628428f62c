"""Filling cells: a candidate is run on an example with a model, and its answer is scored."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from adapters.adapter import Adapter
from adapters.answer import TracedAnswer, Usage
from adapters.candidate import Candidate
from adapters.clients.client import Completion, ModelClient, ModelError, Request
from adapters.digest import digest
from adapters.example import Example
from optimizer.budget import Claim, Used
from optimizer.concurrent import together
from optimizer.desk import Desk, Line
from optimizer.errors import JournalError
from optimizer.journal import CellRow, Journal
from optimizer.judging import Tab, tab
from scoring.score import Score
from scoring.scorer import ScorerError
from scoring.suite import Suite

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
    """One (candidate, example, model): scored, or failed for a reason outside the content."""

    candidate: str
    example: Example
    model: str
    answer: TracedAnswer | None
    score: Score | None
    failed: str | None
    used: Used

    @property
    def key(self) -> tuple[str, str, str]:
        return self.candidate, self.example.id, self.model

    def row(self, split: str) -> CellRow:
        body: dict[str, object] = {"text": self.answer.text if self.answer else None}
        if self.score is not None:
            body |= score_body(self.score)
        return CellRow(self.candidate, self.example.id, self.model, 0, split, self.failed, body)


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
    ) -> None:
        """`on_error`: what a scorer that fails does: end the run with a ScorerError, or leave its cell failed."""
        self._adapter, self.models, self._suite, self._desk, self._journal = adapter, models, suite, desk, journal
        self._random_seed, self._filled, self._on_error = random_seed, filled, on_error

    async def fill(self, candidate: Candidate, examples: Sequence[Example], job: int) -> list[Cell]:
        """Every model on every example, in that order of nesting: example by example, model by model."""
        return await together(self._cell(candidate, e, m, job) for e in examples for m in self.models)

    def claim(self, candidate: Candidate, examples: Sequence[Example], priced: bool) -> Claim:
        """The most that `fill` can use. `priced`: also in tokens and money, which takes rendering every request."""
        total = Claim(rollouts=len(examples) * len(self.models))
        for example in examples:
            asked = [(m.client, r) for m in self.models for r in self._adapter.requests(candidate, example)]
            asked += self._suite.requests(example) * len(self.models)
            total += Claim(calls=len(asked))
            if priced:
                total = sum((ceiling_claim(client, request) for client, request in asked), total)
        return total

    async def _cell(self, candidate: Candidate, example: Example, model: TaskModel, job: int) -> Cell:
        line = Line(self._desk, model.client, job, "task")
        seed = None
        if model.sampled:
            # One stream for an example and a model, whichever candidate asks: candidates are compared on the same luck.
            seed = int(digest(self._random_seed, example.id, model.id, length=7), 16)
        answer = score = failed = None
        with tab(self._desk, job) as judged:
            try:
                answer = await self._adapter.run(candidate, example, line, seed)
                score = await self._score(example, answer, judged)
            except ModelError as error:
                failed = str(error.kind)
            except ScorerError:
                if self._on_error == "stop":
                    raise
                failed = SCORER_ERROR
        used = Used(1, line.used | judged.used, line.uses + judged.uses)
        cell = Cell(candidate.id, example, model.id, answer, score, failed, used)
        self._filled(cell)
        return cell

    async def _score(self, example: Example, answer: TracedAnswer, judged: Tab) -> Score:
        """Scores are recorded like calls: a scorer may be slow, costly or random, and a derived run must meet the same ones.

        Where two jobs score the same answer at the same time, the first one's score is recorded, and holds for both. With it stands
        which calls it took: whoever meets the score again has used these.
        """
        key = digest(self._suite.version, example.id, example.digest, answer.digest, length=32)
        recorded = self._journal.score(key)
        if recorded is None:
            score = await self._judge(example, answer, judged)
            recorded = self._journal.record_score(key, {"score": score_body(score), "calls": sorted(judged.used)})
        for call in set(recorded["calls"]) - judged.used.keys():
            judged.add({call: self._usage(call)}, 1)
        return Score(**recorded["score"])

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
