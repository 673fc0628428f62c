"""The scorer `answer_contains`: a text is right when it contains an acceptable answer, numbers whole; and it may be right to
say that the document holds no answer.

`expected` is one acceptable answer or a list: texts and numbers, or the label NOT_IN_DOCUMENT alone for an item that cannot be
answered. The kinds of failure, the first that applies: parse_failure (no text), budget_stop (a limit stopped the run before it
was done), refusal, not_in_document (said of an item that has an answer), wrong; and, where the settings ask for it, too_long and
hedged, see scoring.matching. An output's own failure kind is kept, and a failed result is an error.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import ClassVar

from adapters.answer import TracedAnswer
from adapters.example import Example
from scoring import matching, numbers, whole
from scoring import text as text_module
from scoring.matching import PLAIN, Matching
from scoring.score import Score, show
from scoring.scorer import TEMPLATE, ScorerError
from scoring.text import LONGEST, fold, plain_number, spoken
from scoring.user_code import source_version

NOT_IN_DOCUMENT = "NOT_IN_DOCUMENT"
LIMITS = frozenset({"cost_cap_reached", "call_cap_reached", "limit_refused"})
"""Notes that say that a limit stopped a run."""
REFUSALS = frozenset({"refusal", "content_filter"})
"""Finish reasons of a model that would not answer."""

# Possessive repetitions, as in scoring.text. _ALONE is the whole text; _OPENING is its beginning, up to where it breaks off:
# a sentence that goes on after the words ("NOT_IN_DOCUMENT is what the log said") is an answer.
_ALONE = re.compile(r"[\W_]*+not[_\s]++in[_\s]++document[\W_]*+", re.IGNORECASE)
_OPENING = re.compile(
    r"""[\W_]*+ (?: (?i:not_in_document) | NOT[_\s]++IN[_\s]++DOCUMENT ) [*_`"'’”»)\]}]*+
    (?: [.:;,] [*_`"'’”»)\]}]*+ \s | [。、，：；] | [^\S\r\n]*+ (?: [\r\n(\[{（【「–—―−] | -\s ) | \s++- )""",
    re.VERBOSE,
)
_E_NOTATION = re.compile(r"[+-]?[0-9]++(?:\.[0-9]++)?[eE][+-]?[0-9]{1,4}")


@dataclass(frozen=True)
class AnswerScore:
    """`failure_kind` is None exactly where `correct`; `outcome`: the folded text, None where there is none."""

    correct: bool
    failure_kind: str | None
    outcome: str | None


def score_answer(item: object, output: object, expected: object, matching: Matching = PLAIN) -> AnswerScore:
    """`output`: a text, or an object or mapping with some of `answer`, `text`, `ok`, `failure_kind`, `finish_reason`, `partial`,
    `notes` and `trace` or `steps`. `item`: whose answer it is, named in errors. `matching`: how an acceptable answer is found.

    Raises ValueError for expected answers that are all blank, or that mix NOT_IN_DOCUMENT with others, and for NaN and infinity;
    TypeError for a label that is neither text nor number."""
    try:
        return _scored(output, expected, matching)
    except (TypeError, ValueError) as error:
        raise type(error)(f"item {show(item)}: {error}") from None


def is_not_found(text: str) -> bool:
    """Whether the text says NOT_IN_DOCUMENT: alone, in any case, with spaces for underscores and any signs around it; or at its
    beginning, as a verdict that something else follows after a stop, a dash, a bracket or a line break. False for blank text."""
    return _ALONE.fullmatch(text) is not None or _OPENING.match(text) is not None


@dataclass(frozen=True)
class AnswerContains(Matching):
    """`score_answer` as a scorer, on the dimension `template`. Its settings: scoring.matching."""

    name: ClassVar[str] = "answer_contains"
    dimensions: ClassVar[tuple[str, ...]] = (TEMPLATE,)

    @cached_property
    def version(self) -> str:
        return source_version(type(self), matching, numbers, text_module, whole, settings=asdict(self))

    async def score(self, example: Example, answer: TracedAnswer) -> Score:
        """Raises ScorerError where the example's expected answers cannot be used."""
        said = spoken(answer)
        try:
            found = _scored(replace(answer, text=said), example.expected, self)
        except (TypeError, ValueError) as error:
            raise ScorerError(self.name, example.id, str(error)) from None
        told, got = _told(found.failure_kind, self), show(said)
        feedback, discreet = (
            (told, None) if found.correct else (f"{told} Expected {show(example.expected)}, got {got}.", f"{told} Got {got}.")
        )
        value = float(found.correct)
        return Score({TEMPLATE: value}, found.correct, found.failure_kind, found.outcome, feedback, discreet=discreet)


def _scored(output: object, expected: object, how: Matching) -> AnswerScore:
    labels, text, own = _labels(expected), _text(output), _own_kind(output)
    if text is None:
        return AnswerScore(False, own or "parse_failure", None)
    folded = fold(text)
    kind = own or _judge(output, is_not_found(text), folded, labels, how)
    return AnswerScore(kind is None, kind, folded)


def _judge(output: object, not_found: bool, folded: str, labels: list[str], how: Matching) -> str | None:
    """The failure kind of an answer that has a text; None where it is right. A run that was stopped or refused did not look
    everywhere: what it found counts, what it did not find does not. A verdict of not found counts before any answer beside it."""
    stopped = _get(output, "partial") is True and bool(_notes(output) & LIMITS)
    refused = any(reason in REFUSALS for reason in _finish_reasons(output))
    unanswerable = NOT_IN_DOCUMENT in labels
    if not_found:
        fault = None if unanswerable and not stopped and not refused else "not_in_document"
    else:
        fault = "wrong" if unanswerable else how.fault(folded, labels)
    if fault is None:
        return None
    if stopped:
        return "budget_stop"
    return "refusal" if refused else fault


def _labels(expected: object) -> list[str]:
    """The acceptable answers as texts. A text that as a whole is in e-notation is also acceptable in plain digits."""
    members = expected if isinstance(expected, list | tuple) else [expected]
    labels = [label for member in members if (label := _label(member))]
    if not labels:
        raise ValueError("the expected answer is blank, and every text would contain it; give one, or remove the item")
    if NOT_IN_DOCUMENT in labels and len(set(labels)) > 1:
        raise ValueError(f"{NOT_IN_DOCUMENT} stands beside other expected answers; it can only stand alone")
    plain = [plain_number(Decimal(label)) for label in labels if _E_NOTATION.fullmatch(label) and abs(Decimal(label).adjusted()) <= LONGEST]
    return labels + plain


def _label(member: object) -> str:
    if isinstance(member, str):
        return member.strip()
    if isinstance(member, bool) or not isinstance(member, int | float | Decimal):
        raise TypeError(f"the expected answer {show(member)} is neither text nor a number; write it as text")
    return plain_number(member)


def _own_kind(output: object) -> str | None:
    kind = _get(output, "failure_kind")
    if isinstance(kind, str) and kind:
        return kind
    if _get(output, "ok") is False:
        return "refusal" if _get(output, "finish_reason") in REFUSALS else "error"
    return None


def _text(output: object) -> str | None:
    """The answer's text; None where there is none but blanks."""
    candidates = [output] if isinstance(output, str) else [_get(output, "answer"), _get(output, "text")]
    return next((text for text in candidates if isinstance(text, str) and text.strip()), None)


def _notes(output: object) -> frozenset[str]:
    """The names of the notes that say something: of a mapping, the keys whose value is neither None nor False."""
    notes = _get(output, "notes")
    if isinstance(notes, Mapping):
        return frozenset(name for name, value in notes.items() if value is not None and value is not False)
    if isinstance(notes, str):
        return frozenset(re.findall(r"\w+", notes))
    return frozenset(note for note in notes if isinstance(note, str)) if isinstance(notes, list | tuple | set | frozenset) else frozenset()


def _finish_reasons(output: object) -> Iterator[object]:
    """The output's own, then those of its steps."""
    yield _get(output, "finish_reason")
    trace = _get(output, "trace") or _get(output, "steps")
    steps = trace if isinstance(trace, list | tuple) else _get(trace, "steps")
    for step in steps if isinstance(steps, list | tuple) else ():
        yield _get(step, "finish_reason")


def _get(thing: object, name: str) -> object:
    return thing.get(name) if isinstance(thing, Mapping) else getattr(thing, name, None)


def _told(kind: str | None, how: Matching) -> str:
    if kind is None:
        return "Right."
    told = {
        "parse_failure": "There is no answer.",
        "budget_stop": "A limit stopped the run before it was done.",
        "refusal": "The model refused.",
        "not_in_document": "It says that the document holds no answer, but it does.",
        "too_long": f"It is longer than {how.max_characters} characters.",
        "hedged": "It holds the answer, but others too; only one may be given.",
        "wrong": "Wrong." if how.last_characters is None else f"The last {how.last_characters} characters hold no right answer.",
    }
    return told.get(kind, f"Failed: {kind}.")
