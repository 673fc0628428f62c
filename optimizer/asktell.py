"""Ask and tell: the search for whoever runs candidates with a loop and model calls of their own.

The same belief, pool and schedule as in a run, and nothing else of it: no journal, no budget, no report. All state is in memory.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from adapters.answer import TracedAnswer
from adapters.candidate import Candidate
from adapters.dataset import input_names
from adapters.example import Example
from adapters.nearest import nearest
from adapters.split import SearchData
from adapters.template import placeholders
from optimizer.budget import Claim, Used
from optimizer.compose import Composer
from optimizer.config import MAX_BYTES, ObjectivesConfig
from optimizer.evaluate import Cell, Spot
from optimizer.given import StudyError, candidate_of, check_counts, check_examples, check_is, check_names, check_objectives
from optimizer.order import Order
from optimizer.policy import ALL_ALIKE, Objectives
from optimizer.pool import Composing, Pool
from optimizer.propose.demos import offers, unshown
from optimizer.propose.guards import Guards
from optimizer.propose.overlap import Overlap
from optimizer.propose.proposer import NO_PROPOSAL, Other, Proposal, Task
from optimizer.schedule import FREE, PATIENCE, Rules, Schedule
from optimizer.table import Table
from scoring.functions import ALLOWED, Returned, as_score
from scoring.score import Score
from scoring.scorer import TEMPLATE

SEED = "seed"
ONE_CELL = Used(1, {}, 0)


@dataclass(frozen=True)
class Block:
    """Run `candidate` in each of the spots (`.example`, `.model`), and tell what came of it. `aim`: `seed`; `explore`, it may be the best;
    `confirm`, it is believed to be the best."""

    candidate: Candidate
    spots: Sequence[Spot]
    aim: str


@dataclass(frozen=True)
class Lesson:
    """A new candidate is wanted, a rewrite of `parent`; give it to `propose`, or none. `cells`: what the parent did on some train examples,
    mostly such where it lost points. `others`: what other candidates did on the same ones. `anew`: it is best written as if there were no
    text yet, for the parent's may be wrong in its approach."""

    parent: Candidate
    cells: Sequence[Cell]
    others: Sequence[Other]
    anew: bool = False


@dataclass(frozen=True)
class Level:
    """What a candidate is believed to have over all examples. `objectives`: `model:dimension` → 0..1, as it was told; `overall`: the
    weighted mean, higher is better; None where nothing that counts is known."""

    candidate: Candidate
    objectives: Mapping[str, float]
    overall: float | None


class Study:
    """Asks what to run next, is told what came of it, and says what is the best by then.

        study = Study({"instructions": "Classify the ticket."}, train, val)
        while study.rollouts < 300 and (asked := study.ask()) is not None:
            if isinstance(asked, Lesson):
                study.propose(rewritten(asked), asked)
            else:
                for spot in asked.spots:
                    study.tell(asked.candidate, spot.example, score_of(asked.candidate, spot.example))
        print(study.best())

    The same arguments, and the same values told between the same asks, in any order, give the same asks. Not for several threads at once.
    """

    def __init__(
        self,
        seed: Candidate | Mapping[str, str],
        train: Sequence[Example],
        val: Sequence[Example],
        *,
        models: Sequence[str] = ("model",),
        dimensions: Sequence[str] = (TEMPLATE,),
        objectives: ObjectivesConfig = ALL_ALIKE,
        demos: int = 0,
        minibatch: int = 20,
        random_seed: int = 0,
    ) -> None:
        """`seed`: component name → text. `train`: what lessons are drawn from; `val`: what the best is confirmed on. Keep the examples of
        your own final comparison out of both. `dimensions`: what will be told, in 0..1; `objectives`: which of them count, and how.
        `demos`: how many worked examples of train a candidate may show, in its component `demonstrations`. `minibatch`: train examples
        that a lesson is about; 0: no lessons. Raises StudyError."""
        for what, names in (("models", models), ("dimensions", dimensions)):
            check_names(what, names)
        check_objectives(objectives, models, dimensions)
        check_examples(train, val)
        check_counts(minibatch=minibatch, demos=demos, random_seed=random_seed)
        examples = [*train, *val]
        self.seed, self._demos = candidate_of(seed, demos), demos
        self._models, self._dimensions = tuple(models), tuple(dimensions)
        self._examples = {example.id: example for example in examples}
        inputs = input_names(examples)
        self._guards = Guards(lambda text: placeholders(text, inputs), MAX_BYTES, train, Overlap(train, val))
        self._table = Table(examples, Objectives.wanted(self._models, objectives, self._dimensions))
        self._pool = Pool(self.seed, self._table, examples, val, self._composing(train))
        rules = Rules(Order(1), random_seed=random_seed, max_failed_share=1.0, priced=False, report_share=0.0)
        readers = [_Reader(minibatch)] if minibatch else []
        data = SearchData(tuple(train), tuple(val))
        self._schedule = Schedule(self.seed, data, rules, self._models, readers, self._table, self._pool, objectives)
        self._begun, self._stale, self._in_vain = False, False, 0

    @property
    def rollouts(self) -> int:
        """How many cells were told, the failed ones too."""
        return self._table.counts()[0]

    def _composing(self, train: Sequence[Example]) -> Composing:
        if self._demos and not offers(train):
            raise StudyError("no train example has an expected answer to show; leave demos out")
        guards, offered = self._guards, self._guards.offered(offers(unshown(self.seed, train))) if self._demos else ()
        composer = Composer(guards.placeholders, self._demos)
        return Composing(offered, composer, lambda old, new: guards.problem(old, new, frozenset()))

    # --- asking ---------------------------------------------------------------------------------------------------

    def ask(self) -> Block | Lesson | None:
        """What to do next; first a block of the seed. None where there is nothing to be asked until more is told, and for good where all
        is told: the best is right on all of val, or there is nothing left to try. No example is asked for twice for a candidate and a
        model, whether or not it was told; how much of a block is told, and when, is up to you."""
        if not self._begun:
            self._begun = True
            return Block(self.seed, self._schedule.first(), SEED)
        while self.rollouts and self._in_vain < PATIENCE:
            self._learn()
            if self._pool.perfect():
                return None
            job = self._schedule.draw()
            self._in_vain += 1
            if job.proposer is not None:
                return Lesson(job.candidate, job.lessons, job.others, job.anew)
            if job.spots:
                self._in_vain = 0
                self._take(job.candidate)
                return Block(job.candidate, job.spots, job.aim)
        return None

    def propose(self, candidate: Candidate | Mapping[str, str], lesson: Lesson | None = None) -> str | None:
        """Take in a new candidate; `lesson`: the one that it was made from, None for an idea of your own. Returns None; or, where it cannot
        be used, why, in words that a model understands: placeholders missing or new, empty, too long, copied examples, known already.
        Raises StudyError where its components are not the seed's."""
        child = candidate_of(candidate, self._demos)
        if lesson is not None:
            check_is("lesson", lesson, Lesson, "give the Lesson that `ask` returned, or leave it out")
        if child.components.keys() != self.seed.components.keys():
            has, wants = (", ".join(each.components) for each in (child, self.seed))
            raise StudyError(f"the candidate has the components {has}; it needs those of the seed: {wants}")
        parent = self._pool.nearest(child) if lesson is None else lesson.parent
        read = () if lesson is None else [cell.example for cell in lesson.cells]
        problem = self._guards.problem(parent, child, {member.id for member in self._pool.members}, read)
        if problem is None:
            self._in_vain = 0
            self._take(child, None if lesson is None or lesson.anew else parent)
        return problem

    # --- telling --------------------------------------------------------------------------------------------------

    def tell(self, candidate: Candidate, example: Example | str, score: Returned, *, model: str | None = None, text: str = "") -> None:
        """What the candidate is worth on an example (or its id): what a scorer may return, so True, False, a number from 0 to 1, a pair
        (value, "reason"), a Score, or a dict dimension → any of these. Dimensions that are left out were not measured. Reasons and the
        answer's `text` are what lessons show. `model` may be left out where there is one.

        Told again, the same changes nothing. Raises StudyError for what is not known, out of range, or was told otherwise."""
        check_is("text", text, str, "give the answer's text, or leave it out")
        spot, scored = self._spot(candidate, example, model), self._score(score)
        self._enter(Cell(candidate.id, spot.example, spot.model, TracedAnswer(text), scored, None, ONE_CELL))

    def tell_failed(self, candidate: Candidate, example: Example | str, kind: str, *, model: str | None = None) -> None:
        """That the cell could not be filled for a reason outside the content, as `timeout`: it counts as missing, not as zero, and is not
        asked for again. Raises StudyError as `tell` does."""
        check_is("the kind of the failure", kind, str, "name it, as in 'timeout'")
        if not kind.strip():
            raise StudyError("the kind of the failure is blank; name it, as in 'timeout'")
        spot = self._spot(candidate, example, model)
        self._enter(Cell(candidate.id, spot.example, spot.model, None, None, kind, ONE_CELL))

    def _spot(self, candidate: Candidate, example: Example | str, model: str | None) -> Spot:
        check_is("the candidate", candidate, Candidate, "give the one that `ask` returned, or Candidate({name: text})")
        if candidate not in self._pool:
            raise StudyError(f"the candidate {candidate.id} is not known; a candidate of your own is taken in with `propose` first")
        if not isinstance(example, str):
            check_is("the example", example, Example, "give the Example that `ask` returned, or its id")
        name = example if isinstance(example, str) else example.id
        if name not in self._examples:
            raise StudyError(f"neither train nor val has an example {name!r}{nearest(name, self._examples)}")
        if model is None and len(self._models) > 1:
            raise StudyError(f"say which model answered: {' or '.join(self._models)}")
        if model is not None:
            check_is("the model", model, str, f"give {' or '.join(self._models)}")
        if model is not None and model not in self._models:
            raise StudyError(f"there is no model {model!r}{nearest(model, self._models)}")
        return Spot(self._examples[name], self._models[0] if model is None else model)

    def _score(self, told: Returned) -> Score:
        if len(self._dimensions) > 1 and not isinstance(told, Mapping | Score):
            raise StudyError(f"{told!r} does not say which dimension it is of; give a dict with {', '.join(self._dimensions)}")
        try:
            score = as_score(told, self._dimensions[0])
        except ValueError as error:
            raise StudyError(f"{told!r} is no score: {error}. Allowed: {ALLOWED}") from None
        for name in score.values:
            if name not in self._dimensions:
                raise StudyError(f"the dimension {name!r} is not one of the study's{nearest(name, self._dimensions)}")
        if not score.values:
            raise StudyError("the score has no value; use `tell_failed` where there is none")
        return score

    def _enter(self, cell: Cell) -> None:
        if not self._table.add([cell]):
            known = next(each for each in self._table.cells(cell.candidate, [cell.example]) if each.model == cell.model)
            before, now = (each.failed if each.score is None else each.score.values for each in (known, cell))
            if before != now:
                where = f"candidate {cell.candidate} on example {cell.example.id!r} with {cell.model}"
                raise StudyError(f"{where} was told already, as {before}, and now as {now}; a cell is told once")
            return
        self._stale, self._in_vain = True, 0

    # --- how they stand -------------------------------------------------------------------------------------------

    def best(self) -> Level:
        """The candidate that is believed to be the best, where it is surely better than the seed; else the seed. Raises StudyError before
        any score was told."""
        self._know()
        return self._level(self._pool.best())

    def unproven(self) -> Level | None:
        """Where the seed is the best: who looks better, and is not surely so. Raises StudyError as `best` does."""
        self._know()
        found = self._pool.unproven()
        return None if found is None else self._level(found[0])

    def frontier(self) -> list[Level]:
        """The candidates that have met enough of val and that no other dominates. Raises StudyError as `best` does."""
        self._know()
        return [self._level(each) for each in self._pool.frontier()]

    def _level(self, candidate: Candidate) -> Level:
        overall = self._pool.overall(candidate)
        return Level(candidate, self._pool.objectives(candidate), None if math.isnan(overall) else overall)

    def _take(self, candidate: Candidate, rewrite_of: Candidate | None = None) -> None:
        self._stale = self._stale or candidate not in self._pool
        self._pool.add(candidate, rewrite_of)

    def _know(self) -> None:
        """What is believed of failures alone was believed before."""
        cells, failed = self._table.counts()
        if cells == failed.total():
            raise StudyError("no score was told yet, so nothing is known")
        self._learn()

    def _learn(self) -> None:
        """Only when it is asked for: telling costs nothing."""
        if self._stale:
            self._pool.learn()
            self._stale = False


class _Reader:
    """Whoever asks, in the place of a proposer: the schedule only needs to know how much it reads."""

    name = "lesson"

    def __init__(self, minibatch: int) -> None:
        self.minibatch = minibatch

    def claim(self, parent: Candidate, priced: bool) -> Claim:  # noqa: ARG002
        return FREE

    async def propose(self, task: Task) -> Proposal:  # noqa: ARG002
        return NO_PROPOSAL
