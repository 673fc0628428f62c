"""What a run can show at all: how many examples its report is made on, and what the seed leaves to gain."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from adapters.split import group_sizes
from optimizer.build import Prepared
from optimizer.config import ObjectivesConfig
from optimizer.evaluate import Cell, emitted
from optimizer.events import Event, Observer, StageStarted, Warned
from optimizer.minibatch import lost
from optimizer.plan import report_cells
from optimizer.policy import Objectives
from optimizer.report.ground import ENOUGH
from optimizer.report.words import count, points
from optimizer.schedule import FIRST
from optimizer.table import Table, means
from scoring.power import (
    MOST,
    POWER,
    chance_of_one,
    detectable,
    fewest,
    pieces_needed,
    pieces_of,
    power,
    share_interval,
    size_for_one,
)

MORE = 4
"""So many times as many examples are told of beside those that there are."""
MUCH = 0.5
"""Of what is left to gain, the part beyond which it is much to ask for."""


@dataclass(frozen=True)
class Proof:
    """What the report is made on. `n`: examples of the `split`, at most; `groups`: how many of them, or groups of them, are independent;
    `pieces`: how many independent examples these are worth, if the examples of a group are alike; `models`: each is run with so many."""

    split: str
    n: int
    groups: int
    pieces: int
    models: int


@dataclass(frozen=True)
class Seen:
    """What the seed has shown in `n` answers. `lost`: in how many it lost points; `low`, `high`: the ends of the 95% interval of that
    share; `mean`: of its scores, over all objectives, higher is better."""

    n: int
    lost: int
    low: float
    high: float
    mean: float

    @property
    def share(self) -> float:
        return self.lost / self.n


@dataclass(frozen=True)
class Minibatch:
    """`size`: train examples that a proposal reads; `holds`: the chance that as many, drawn at random, hold one where the seed loses
    points; `enough`: how many have to be drawn for a chance of 0.95, None where it lost none."""

    size: int
    holds: float
    enough: int | None


@dataclass(frozen=True)
class Outlook:
    """`detectable`: the smallest gain, 0..1, that the report shows with the chance `POWER`, see scoring.power; None where not even the
    largest is. `more`: the same with `MORE` times as many examples. `against`: why nothing can be shown, whatever is found; `much`: what
    the report asks for, where that is much of what is left to gain; None where there is nothing to say."""

    proof: Proof
    seen: Seen | None
    detectable: float | None
    more: float | None
    against: str | None
    much: str | None

    @property
    def run(self) -> bool:
        return self.against is None

    @property
    def advice(self) -> list[str]:
        """For somebody who has not begun."""
        return [*([] if self.against is None else [f"do not run: {self.against}"]), *self._rest]

    @property
    def warnings(self) -> list[str]:
        """For somebody who has."""
        return [*([] if self.against is None else [f"this run can show nothing: {self.against}"]), *self._rest]

    @property
    def _rest(self) -> list[str]:
        return [] if self.much is None else [self.much]


def proof(prepared: Prepared) -> Proof:
    """Calls nothing, and opens nothing."""
    sealed, models = len(prepared.test) > 0, len(prepared.models)
    sizes = prepared.test.group_sizes if sealed else group_sizes(prepared.data.val)
    n = sum(sizes) if sealed else _of_val(len(prepared.data.val), report_cells(prepared) // (2 * models))
    pieces = math.floor(pieces_of(sizes) * n / sum(sizes))
    return Proof("test" if sealed else "val", n, min(len(sizes), n), pieces, models)


def _of_val(n: int, paid: int) -> int:
    """How many of n examples a report on val is made on. `paid`: those that the budget pays for, where neither side was run before; with
    fewer of these than a report takes, it is made on all, which are known by then."""
    fresh = n - FIRST // 2
    return n if fresh < ENOUGH else min(fresh, paid)


def seen(prepared: Prepared, cells: Iterable[Cell]) -> Seen | None:
    """`cells`: of the seed. None where none of them has a score that counts."""
    return _Asked.of(prepared).seen(cells)


def objectives_of(prepared: Prepared, cells: Iterable[Cell]) -> Objectives:
    """`cells`: where the scorers do not say which dimensions they give, the scores of these do."""
    return _Asked.of(prepared).objectives(cells)


@dataclass(frozen=True)
class _Asked:
    """What it takes to read the seed's cells, and no data: the search holds a Lookout, and is to reach no example of the test split."""

    seed: str
    models: Sequence[str]
    given: Sequence[str] | None
    wanted: ObjectivesConfig

    @classmethod
    def of(cls, prepared: Prepared) -> Self:
        return cls(prepared.seed.id, [model.id for model in prepared.models], prepared.suite.dimensions, prepared.config.objectives)

    def objectives(self, cells: Iterable[Cell]) -> Objectives:
        return Objectives.wanted(self.models, self.wanted, self.given, emitted(cells))

    def seen(self, cells: Iterable[Cell]) -> Seen | None:
        known = [cell for cell in cells if cell.score is not None and not cell.repeat]
        objectives = self.objectives(known)
        examples = list({cell.example.id: cell.example for cell in known}.values())
        table = Table(examples, objectives)
        table.add(known)
        mean = objectives.overall(means(table.values(self.seed, examples)))
        if math.isnan(mean):
            return None
        failures = sum(lost(cell, objectives.config) for cell in known)
        return Seen(len(known), failures, *share_interval(failures, len(known)), mean)


def minibatch(prepared: Prepared, told: Seen) -> Minibatch | None:
    """None where nothing reads one."""
    reflection = prepared.config.proposers.reflection
    if reflection is None:
        return None
    size = min(reflection.minibatch, len(prepared.data.train))
    return Minibatch(size, chance_of_one(told.share, size), size_for_one(told.share))


def outlook(ground: Proof, told: Seen | None = None) -> Outlook:
    """`told`: None as long as nothing is known of the seed."""
    seed = None if told is None else told.mean
    smallest, more = detectable(ground.pieces, seed), detectable(MORE * ground.pieces, seed)
    against = _against(ground, told)
    return Outlook(ground, told, smallest, more, against, None if against or told is None else _much(ground, told, smallest, more))


def is_open(ground: Proof, told: Seen | None) -> bool:
    """Whether it is in doubt if anything can be shown, so that more of the seed's cells are worth their calls."""
    return told is not None and ground.groups >= fewest() and not _could_show(ground, told.share)


def powered(found: Outlook) -> list[str]:
    """What the report can show, and how that is meant, in a line each."""
    ground = found.proof
    groups = f" in {count(ground.groups, 'group')}" if ground.groups < ground.n else ""
    seed = "whatever the seed has" if found.seen is None else f"if the seed has {points(found.seen.mean)}"
    told = "no gain, not even the largest" if found.detectable is None else f"gains from {points(found.detectable)} points on"
    if found.more is not None and ground.pieces < MOST:
        told += f", by {MORE * ground.n} from {points(found.more)} on"
    return [
        f"can be shown by {count(ground.n, f'{ground.split} example')}{groups}: {told}",
        f"which means: in {POWER:.0%} of runs, {seed}, where scores are 0 or 1 and prompts fail independently; otherwise less will do",
    ]


def _against(ground: Proof, told: Seen | None) -> str | None:
    """Why nothing can be shown, whatever is found."""
    least = fewest()
    pieces = "groups" if ground.groups < ground.n else "examples"
    if ground.groups < least:
        return (
            f"the report is made on {ground.groups} independent {ground.split} {pieces}, and with fewer than {least} no "
            f"difference can be told from chance. Give the data a {_larger(ground)}, of some dozens at best."
        )
    if told is None:
        return None
    if told.lost == 0:
        return (
            f"the seed lost no point in {count(told.n, 'answer')}, so there is nothing to learn from, and next to "
            "nothing to gain. Give harder examples, or a scorer that asks for more."
        )
    if _could_show(ground, told.high):
        return None
    needed = pieces_needed(told.share)
    more = f"{needed} examples would do" if needed else "it takes thousands of examples"
    return (
        f"the seed loses points in {told.lost} of {count(told.n, 'answer')}, and {count(ground.n, f'{ground.split} example')} "
        f"hold too few such to show even a prompt that loses none: {more}, or harder ones."
    )


def _larger(ground: Proof) -> str:
    return "larger test split" if ground.split == "test" else "test split"


def _could_show(ground: Proof, failing: float) -> bool:
    """Whether a prompt that loses no point anywhere would be called better, where the seed loses some on the share `failing` of examples,
    on each with another model and in another group."""
    share = min(1.0, failing * ground.models * ground.n / ground.groups)
    return power(ground.groups, share, 0.0) >= POWER


def _much(ground: Proof, told: Seen, smallest: float | None, more: float | None) -> str | None:
    if smallest is not None and smallest <= MUCH * (1 - told.mean):
        return None
    left = f"the seed leaves {points(1 - told.mean)} points to gain"
    shows = "may show none of that" if smallest is None else f"can only show gains above {points(smallest)}"
    wider = "many more examples would help" if more is None else f"{MORE * ground.n} examples would show {points(more)}"
    return f"{left}, and the {ground.split} split of {ground.n} {shows}: {wider}"


class Lookout:
    """Watches a run for what it cannot show, and warns when the seed has met its first examples; it changes nothing."""

    def __init__(self, prepared: Prepared, observer: Observer) -> None:
        """`observer`: is told all that this one is told."""
        self._ground, self._asked, self._observer = proof(prepared), _Asked.of(prepared), observer
        self._cells: list[Cell] | None = []

    def filled(self, cell: Cell) -> None:
        if self._cells is not None:
            self._cells.append(cell)

    def __call__(self, event: Event) -> None:
        if isinstance(event, StageStarted) and event.stage == "search" and self._cells is not None:
            for warning in outlook(self._ground, self._asked.seen(self._cells)).warnings:
                self._observer(Warned(warning))
            self._cells = None
        self._observer(event)
