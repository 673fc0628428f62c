"""Whatever a study is given that it cannot use, or is told: StudyError, in words that say what would do."""

from collections.abc import Callable
from typing import Any

import pytest

from adapters.candidate import Candidate
from adapters.example import Example
from optimizer import Study, StudyError

TRAIN = [Example(f"t{n}", {"ask": f"question {n}"}, "yes") for n in range(12)]
VAL = [Example(f"v{n}", {"ask": f"another {n}"}, "yes") for n in range(12)]
SEED = {"text": "Answer {ask}."}

A_LIST = "has to be a list of Example(id, inputs, expected), not"
A_NUMBER = "it is a whole number from 0 on"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"train": None}, f"train {A_LIST} None"),
        ({"val": None}, f"val {A_LIST} None"),
        ({"val": []}, "there are no val examples; a study needs some"),
        ({"train": "data.jsonl"}, f"train {A_LIST} 'data.jsonl'"),
        ({"train": {"t0": "x"}}, f"train {A_LIST} {{'t0': 'x'}}"),
        ({"train": (each for each in TRAIN)}, f"train {A_LIST} <generator"),
        (
            {"train": [TRAIN[0], {"id": "t1", "inputs": {}}]},
            "train[1] is {'id': 't1', 'inputs': {}}; make it Example(id, inputs, expected)",
        ),
        ({"val": [Example(7, {"ask": "x"})]}, "the id of val[0] cannot be 7; it has to be text"),  # type: ignore[arg-type]
        ({"val": [Example("v", "x")]}, "the inputs of val[0] cannot be 'x'; they are a mapping"),  # type: ignore[arg-type]
        ({"val": [Example("v", {"ask": {1, 2}})]}, "the inputs of val[0]: ask: a value of type set has no form in JSON"),
        ({"models": "a"}, "the models are to be a list of names, not the text 'a'"),
        ({"models": None}, "the models are to be a list of names, not None"),
        ({"models": 5}, "the models are to be a list of names, not 5"),
        ({"models": [["a"]]}, "['a'] is among the models; a name has to be text"),
        ({"dimensions": [None]}, "None is among the dimensions; a name has to be text"),
        ({"objectives": {"dimensions": {}}}, "objectives cannot be {'dimensions': {}}; make it ObjectivesConfig(...)"),
        ({"random_seed": -1}, f"random_seed cannot be -1; {A_NUMBER}"),
        ({"random_seed": None}, f"random_seed cannot be None; {A_NUMBER}"),
        ({"minibatch": "3"}, f"minibatch cannot be '3'; {A_NUMBER}"),
        ({"minibatch": 1.5}, f"minibatch cannot be 1.5; {A_NUMBER}"),
        ({"demos": True}, f"demos cannot be True; {A_NUMBER}"),
        ({"seed": {1: "x", "text": "y"}}, "a component is called 1; its name has to be text"),
    ],
)
def test_what_no_study_can_be_made_of(arguments: dict[str, Any], told: str) -> None:
    with pytest.raises(StudyError) as error:
        Study(**{"seed": SEED, "train": TRAIN, "val": VAL, **arguments})
    assert told in str(error.value)


@pytest.mark.parametrize(
    ("told_wrongly", "answer"),
    [
        (lambda s: s.tell(SEED, "t0", 1), "the candidate cannot be {'text': 'Answer {ask}.'}; give the one that `ask` returned"),
        (lambda s: s.tell(None, "t0", 1), "the candidate cannot be None; "),
        (lambda s: s.tell(s.seed, {"id": "t0"}, 1), "the example cannot be {'id': 't0'}; give the Example that `ask` returned, or its id"),
        (lambda s: s.tell(s.seed, "t0", 1, model=0), "the model cannot be 0; give model"),
        (lambda s: s.tell(s.seed, "t0", 1, text=None), "text cannot be None; give the answer's text, or leave it out"),
        (lambda s: s.tell_failed(s.seed, "t0", None), "the kind of the failure cannot be None; name it, as in 'timeout'"),
        (lambda s: s.propose(None), "a candidate is a mapping of component names to their texts, not None"),
        (lambda s: s.propose({1: "x"}), "a component is called 1; its name has to be text"),
        (lambda s: s.propose({"text": "Do answer {ask}."}, s.ask()), "lesson cannot be Block("),
    ],
)
def test_what_no_study_can_be_told(told_wrongly: Callable[[Study], object], answer: str) -> None:
    study = Study(SEED, TRAIN, VAL)
    with pytest.raises(StudyError) as error:
        told_wrongly(study)
    assert answer in str(error.value) and study.rollouts == 0


def test_numbers_of_other_libraries_are_numbers() -> None:
    import numpy as np

    study = Study(Candidate(SEED), tuple(TRAIN), tuple(VAL), random_seed=np.int64(3))  # type: ignore[arg-type]
    assert study.ask() is not None
