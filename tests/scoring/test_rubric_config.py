"""Rubrics that cannot be: what is told, and where."""

from pathlib import Path
from typing import Any

import pytest
from judges import ScriptedJudge

from scoring.rubric import Rubric
from scoring.scorer import ScorerConfigError

KIND = {"name": "kind", "kind": "boolean", "description": "It is kind."}
CLEAR = {"name": "clear", "kind": "score", "description": "How clear it is."}
TONE = {"name": "tone", "kind": "literal", "description": "Its tone.", "classes": ["rude", "flat", "warm"]}
DRUGS = {"name": "drugs", "kind": "metric", "description": "Drugs that it names.", "items": "expected.drugs"}

FUNCTIONS = """
from scoring.functions import scorer

@scorer
def whole(example, answer):
    return 1
"""


def function(name: str) -> dict[str, Any]:
    return {"name": f"is {name}", "kind": "callable", "python": f"own.py:{name}"}


@pytest.mark.parametrize(
    ("traits", "told"),
    [
        ([], r"rubric: traits is \[\]"),
        ("kind", "rubric: traits is 'kind'"),
        (["kind"], "rubric: trait 1 is 'kind'"),
        ([{"name": "a"}], "rubric: the trait 'a' has no kind; there is boolean, score, literal, regex, callable, metric"),
        ([{"kind": "boolean"}], "rubric: trait 1: a boolean trait needs name"),
        ([{"name": "a", "kind": "boolaen"}], "rubric: the trait 'a' has no kind 'boolaen'; did you mean 'boolean'"),
        ([{**KIND, "descritpion": ""}], "the trait 'kind': a boolean trait has no setting 'descritpion'; did you mean 'description'"),
        ([{**KIND, "name": "a:b"}], "the trait 'a:b': name: 'a:b' cannot name a dimension"),
        ([{**KIND, "name": "template"}], "'template' is the dimension of correctness"),
        ([{**KIND, "name": 3}], "the trait 3: name: 3 cannot name"),
        ([{**KIND, "description": " "}], "there is no description; it tells the judge what to judge"),
        ([{**KIND, "description": 3}], "description is 3; it has to be text"),
        ([{**KIND, "higher_is_better": 1}], "higher_is_better is 1; it has to be true or false"),
        ([KIND, KIND], "two traits are called 'kind'; rename one"),
        ([{**DRUGS, "metrics": ["recall"]}, {**DRUGS, "metrics": ["precision"]}], "two traits are called 'drugs'; rename one"),
        ([DRUGS, {**KIND, "name": "drugs_f1"}], "the traits 'drugs' and 'drugs_f1' both give 'drugs_f1'"),
        ([{**CLEAR, "min": True}], "min is True; it has to be a whole number"),
        ([{**CLEAR, "max": 4.5}], "max is 4.5; it has to be a whole number"),
        ([{**CLEAR, "min": 5}], "its scale is 5 to 5"),
        ([{**CLEAR, "max": 1000}], "its scale is 1 to 1000; max has to be 1 to 100 more than min"),
        ([{**TONE, "classes": ["a"]}], "classes is .*; it has to be a list of 2 to 100 texts"),
        ([{**TONE, "classes": "ab"}], "classes is 'ab'"),
        ([{**TONE, "classes": [False, True]}], "classes: False is not text without white space around it; put it in quotes"),
        ([{**TONE, "classes": ["a", "a "]}], "classes: 'a ' is not text"),
        ([{**TONE, "classes": ["a", "a"]}], "classes: one is given twice"),
        ([{**TONE, "classes": {"a": 1, "b": "2"}}], "have to be numbers"),
        ([{**TONE, "classes": {"a": 1, "b": float("nan")}}], "have to be numbers"),
        ([{**TONE, "classes": {"a": 1e308, "b": -1e308}}], "have to be numbers within 1000000000 of 0"),
        ([{**TONE, "classes": {"a": 10**400, "b": 1}}], "have to be numbers within 1000000000 of 0"),
        ([{**CLEAR, "min": 10**400, "max": 10**400 + 2}], "its scale is 1000.* … 0+ to 1000.*; both have to lie within 1000000000 of 0"),
        ([{**TONE, "classes": {"a": 1, "b": 1}}], "not all of them the same"),
        ([{"name": "a", "kind": "literal", "description": "A."}], "a literal trait needs classes"),
        ([{"name": "a", "kind": "regex", "pattern": "("}], r"the pattern '\(' cannot be read: missing \)"),
        ([{"name": "a", "kind": "regex", "pattern": 3}], "pattern is 3"),
        ([{"name": "a", "kind": "regex", "pattern": "a", "invert": 1}], "invert is 1"),
        ([{"name": "a", "kind": "regex", "pattern": "a", "invert": True, "higher_is_better": False}], "take each other back"),
        ([{**DRUGS, "items": "expect"}], "items is 'expect'; it has to be a list of texts, or expected"),
        ([{**DRUGS, "items": []}], r"items is \[\]"),
        ([{**DRUGS, "items": ["a", 3]}], "items is"),
        ([{**DRUGS, "unwanted": [""]}], "unwanted is"),
        ([{**DRUGS, "metrics": []}], r"metrics is \[\]"),
        ([{**DRUGS, "metrics": "f1"}], "metrics is 'f1'"),
        ([{**DRUGS, "metrics": ["f1", "f1"]}], "metrics is"),
        ([{**DRUGS, "metrics": ["recal"]}], "there is no 'recal'; did you mean 'recall'"),
        ([{**DRUGS, "metrics": ["accuracy"]}], "accuracy takes items that should not be in the answer; give unwanted"),
        ([function("gone"), KIND], "the trait 'is gone': own.py has no 'gone'"),
        ([function("whole"), KIND], "the trait 'is whole': own.py:whole is a scorer of its own"),
        ([{"name": "a", "kind": "callable", "python": 3}, KIND], "the trait 'a': .* write 'file.py:attribute'"),
    ],
)
def test_traits_that_cannot_be(traits: Any, told: str, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(FUNCTIONS)
    with pytest.raises(ScorerConfigError, match=told):
        Rubric(traits, ScriptedJudge(""), folder=tmp_path)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"judge": None}, "the trait 'kind' is told by a judge; give judge"),
        ({"traits": [{"name": "a", "kind": "regex", "pattern": "a"}]}, "no trait is told by the judge; leave it out"),
        ({"votes": 0}, "votes is 0; it has to be a whole number, 1 to 100"),
        ({"votes": True}, "votes is True"),
        ({"votes": None}, "votes is None"),
        ({"votes": 1_000_000_000}, "votes is 1000000000"),
        ({"show_expected": "yes"}, "show_expected is 'yes'"),
        ({"max_bytes": 10}, "max_bytes is 10; it has to be a whole number, 200 to 1000000"),
        ({"max_bytes": 10**12}, "max_bytes is 1000000000000"),
        ({"votes": 2, "judge": ScriptedJudge("", temperature=0)}, "several votes at temperature 0 are one vote"),
    ],
)
def test_settings_that_cannot_be(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(ScorerConfigError, match=told):
        Rubric(**{"traits": [KIND], "judge": ScriptedJudge(""), **settings})
