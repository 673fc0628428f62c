"""Models that scorers ask: what ends a run ends it in a scorer too."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import ClassVar, Literal

import pytest
from pieces import Model, candidate, examples, failure

from adapters.answer import TracedAnswer
from adapters.clients.client import ErrorKind, Message, ModelClient, ModelError, Request
from adapters.example import Example
from adapters.prompt import PromptAdapter
from optimizer.desk import Desk
from optimizer.errors import PromptfrontError, ProviderError, ReplayError
from optimizer.evaluate import Evaluator, TaskModel, everywhere
from optimizer.journal import Journal
from optimizer.judging import ScorerModel
from scoring.score import Score
from scoring.suite import Suite

ADAPTER = PromptAdapter(system="{instructions}", user="{text}", inputs=["text"])
SPOTS = everywhere(examples(2), ["small"])


class Judge:
    """Asks its model whether the answer is right. `calm`: takes whatever goes wrong for a no, as a user's scorer may."""

    name, dimensions, version = "judge", ("template",), "1"
    models: ClassVar[tuple[str, ...]] = ("model",)

    def __init__(self, model: ModelClient, calm: bool) -> None:
        self._model, self._calm = model, calm

    def requests(self, example: Example) -> list[tuple[ModelClient, Request]]:
        return [(self._model, Request((Message("user", "x" * 100),)))]

    async def score(self, example: Example, answer: TracedAnswer) -> Score:
        try:
            said = (await self._model.complete(Request((Message("user", f"{example.id}: {answer.text}"),)))).text
        except (PromptfrontError, ModelError):
            if not self._calm:
                raise
            said = "no"
        return Score({"template": float(said == "yes")})


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with closing(Journal.write(tmp_path)) as journal:
        yield journal


def evaluator(
    journal: Journal, judge: Model, *, calm: bool = False, on_error: Literal["stop", "fail_cell"] = "stop", replay: bool = False
) -> Evaluator:
    suite = Suite([Judge(ScorerModel(judge), calm)])
    desk = Desk(journal, replay=replay)
    return Evaluator(ADAPTER, [TaskModel("small", Model())], suite, desk, journal, 0, lambda _: None, on_error)


@pytest.mark.parametrize("calm", [False, True])
@pytest.mark.parametrize("on_error", ["stop", "fail_cell"])
async def test_a_judge_out_of_reach_ends_the_run_and_scores_nothing(
    journal: Journal, calm: bool, on_error: Literal["stop", "fail_cell"]
) -> None:
    def wrong_key(_: Request) -> Exception:
        return failure(ErrorKind.AUTH, "no such key", "judge")

    with pytest.raises(ProviderError, match=r"judge is out of reach: a call failed with auth"):
        await evaluator(journal, Model(wrong_key), calm=calm, on_error=on_error).fill(candidate(), SPOTS, 1)
    (cell,) = await evaluator(journal, Model()).fill(candidate(), SPOTS[:1], 1)
    assert cell.score is not None and cell.score.values == {"template": 1.0}


@pytest.mark.parametrize("calm", [False, True])
async def test_a_judgement_that_a_replay_lacks_ends_it(journal: Journal, calm: bool) -> None:
    seed = candidate()
    (request,) = ADAPTER.requests(seed, examples(1)[0])
    await Desk(journal).call(Model(), request, 1, "task")
    with pytest.raises(ReplayError, match="judge"):
        await evaluator(journal, Model(name="other"), calm=calm, on_error="fail_cell", replay=True).fill(seed, SPOTS[:1], 1)


async def test_a_judge_that_fails_once_leaves_a_failed_cell(journal: Journal) -> None:
    (cell,) = await evaluator(journal, Model(lambda _: failure())).fill(candidate(), SPOTS[:1], 1)
    assert (cell.failed, cell.score) == ("timeout", None)
