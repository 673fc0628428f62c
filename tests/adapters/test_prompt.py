"""The prompt adapter: what is sent, what is made of what comes back, and what is found wrong before anything is sent."""

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest

from adapters.adapter import Adapter, AdapterError
from adapters.answer import TracedAnswer, Usage
from adapters.candidate import Candidate
from adapters.clients.client import Capabilities, Completion, Constraint, ErrorKind, JsonSchema, Labels, ModelError, Request
from adapters.digest import Json
from adapters.example import Example
from adapters.prompt import PromptAdapter

LABELS = Labels(("billing", "other"))
SCHEMA = JsonSchema({"type": "object", "required": ["label"]})
ASKED = Example("e1", {"ticket": "Where is {my} {instructions}?", "lang": "en"}, "billing")


@dataclass
class Recorder:
    """A client that gives one answer, or one error, and keeps what it was asked."""

    answer: str = "billing"
    finish_reason: str = "stop"
    error: ModelError | None = None
    capabilities: Capabilities = field(default_factory=Capabilities)
    asked: list[Request] = field(default_factory=list)

    model = "recorder"
    identity: Mapping[str, Json] = field(default_factory=dict)

    def ceiling(self, request: Request) -> Usage:
        return Usage(10, 10)

    async def complete(self, request: Request) -> Completion:
        self.asked.append(request)
        if self.error is not None:
            raise self.error
        return Completion(self.answer, self.finish_reason, Usage(7, 1, 0.5), 0.25)

    async def close(self) -> None:
        """Holds nothing."""


def adapter(
    user: str = "{ticket}",
    system: str | None = "{instructions}",
    demonstrations: Literal["turns", "text"] = "turns",
    constraint: Constraint | None = None,
) -> PromptAdapter:
    return PromptAdapter(system=system, user=user, inputs=["ticket", "lang"], demonstrations=demonstrations, constraint=constraint)


def sent(adapter: Adapter, candidate: Candidate, example: Example = ASKED) -> list[tuple[str, str]]:
    (request,) = adapter.requests(candidate, example)
    return [(message.role, message.content) for message in request.messages]


def check_fails(adapter: PromptAdapter, components: dict[str, str], *examples: Example) -> str:
    with pytest.raises(AdapterError) as caught:
        adapter.check(Candidate(components), examples or [ASKED])
    return str(caught.value)


SEED = Candidate({"instructions": "Sort it."})
SHOWN = (
    '{"id": "d1", "inputs": {"ticket": "Pay {lang}?", "lang": "de"}, "answer": "billing"}\n{"inputs": {"ticket": "Hi"}, "answer": "other"}'
)


def test_system_and_user_messages() -> None:
    assert sent(adapter(), SEED) == [("system", "Sort it."), ("user", "Where is {my} {instructions}?")]


@pytest.mark.parametrize("system", [None, "", "{instructions}", " {instructions}\n"])
def test_a_blank_system_text_is_not_sent(system: str | None) -> None:
    asking = adapter("{ticket}", system) if system and "{" in system else adapter("{instructions}{ticket}", system)
    assert sent(asking, Candidate({"instructions": ""})) == [("user", "Where is {my} {instructions}?")]


def test_several_components_may_name_inputs_and_hold_json() -> None:
    candidate = Candidate({"instructions": 'Answer {"lang": "{lang}"} {{}} {other}', "hint": "about: {ticket}"})
    asking = adapter(system="<{instructions}> {{}} {lang}", user="{ticket}\n{hint}")
    assert sent(asking, candidate) == [
        ("system", '<Answer {"lang": "en"} {{}} {other}> {} en'),
        ("user", "Where is {my} {instructions}?\nabout: Where is {my} {instructions}?"),
    ]


def test_demonstrations_are_earlier_turns_through_the_same_template() -> None:
    candidate = Candidate({"instructions": "Sort it.", "hint": "({lang})", "demonstrations": SHOWN})
    assert sent(adapter("Ticket: {ticket} {hint}"), candidate) == [
        ("system", "Sort it."),
        ("user", "Ticket: Pay {lang}? (de)"),
        ("assistant", "billing"),
        ("user", "Ticket: Hi ({lang})"),
        ("assistant", "other"),
        ("user", "Ticket: Where is {my} {instructions}? (en)"),
    ]


def test_demonstrations_as_text() -> None:
    asking = adapter("Ticket: {ticket}", demonstrations="text")
    assert sent(asking, Candidate({"instructions": "", "demonstrations": SHOWN})) == [
        (
            "user",
            "<examples>\n"
            "<example>\n<input>Ticket: Pay {lang}?</input>\n<answer>billing</answer>\n</example>\n"
            "<example>\n<input>Ticket: Hi</input>\n<answer>other</answer>\n</example>\n"
            "</examples>\n\n"
            "Ticket: Where is {my} {instructions}?",
        )
    ]
    assert sent(asking, Candidate({"instructions": "", "demonstrations": "\n"})) == [("user", "Ticket: Where is {my} {instructions}?")]


async def test_what_runs_is_what_was_announced() -> None:
    client = Recorder(answer=" Billing \n")
    asking = adapter()
    answer = await asking.run(SEED, ASKED, client, seed=11)
    (announced,) = asking.requests(SEED, ASKED)
    assert client.asked == [Request(announced.messages, None, 11)]
    assert (answer.text, answer.parsed, answer.partial, answer.failure_kind, answer.notes) == (" Billing \n", None, False, None, {})
    (step,) = answer.steps
    assert (step.kind, step.name, step.text, step.usage, step.seconds, step.finish_reason) == (
        "model",
        "recorder",
        " Billing \n",
        Usage(7, 1, 0.5),
        0.25,
        "stop",
    )
    assert step.request == ({"role": "system", "content": "Sort it."}, {"role": "user", "content": "Where is {my} {instructions}?"})


@pytest.mark.parametrize(
    ("constraint", "capabilities", "passed"),
    [
        (LABELS, Capabilities(labels=True), True),
        (LABELS, Capabilities(json_schema=True), False),
        (SCHEMA, Capabilities(json_schema=True), True),
        (SCHEMA, Capabilities(labels=True), False),
    ],
)
async def test_a_constraint_goes_to_clients_that_can_enforce_it(constraint: Constraint, capabilities: Capabilities, passed: bool) -> None:
    client = Recorder(capabilities=capabilities)
    asking = adapter(constraint=constraint)
    await asking.run(SEED, ASKED, client)
    assert client.asked[0].constraint == (constraint if passed else None)
    assert asking.requests(SEED, ASKED)[0].constraint == constraint


@pytest.mark.parametrize("capabilities", [Capabilities(), Capabilities(labels=True, json_schema=True)])
@pytest.mark.parametrize(
    ("constraint", "text", "parsed"),
    [(LABELS, "billing\n", "billing"), (SCHEMA, '```json\n{"label": 1}\n```', {"label": 1})],
)
async def test_what_fits_is_parsed(constraint: Constraint, text: str, parsed: Any, capabilities: Capabilities) -> None:
    answer = await adapter(constraint=constraint).run(SEED, ASKED, Recorder(text, capabilities=capabilities))
    assert (answer.text, answer.parsed, answer.failure_kind) == (text, parsed, None)


@pytest.mark.parametrize("capabilities", [Capabilities(), Capabilities(labels=True, json_schema=True)])
@pytest.mark.parametrize(
    ("constraint", "text", "misfit"),
    [
        (LABELS, "billng", "billng is none of the labels; did you mean 'billing'?"),
        (LABELS, "", " is none of the labels; there is billing, other"),
        (SCHEMA, "{}", "does not fit the JSON schema: $: 'label' is a required property"),
    ],
)
async def test_what_does_not_fit_is_a_failure_that_keeps_its_text(
    constraint: Constraint, text: str, misfit: str, capabilities: Capabilities
) -> None:
    answer = await adapter(constraint=constraint).run(SEED, ASKED, Recorder(text, capabilities=capabilities))
    assert (answer.text, answer.parsed, answer.failure_kind, answer.notes) == (text, None, "parse_failure", {"misfit": misfit})
    assert answer.usage == Usage(7, 1, 0.5)


@pytest.mark.parametrize(("constraint", "failure_kind"), [(None, None), (LABELS, None), (SCHEMA, "parse_failure")])
async def test_an_answer_cut_off_is_partial(constraint: Constraint | None, failure_kind: str | None) -> None:
    answer = await adapter(constraint=constraint).run(SEED, ASKED, Recorder("billing", "length"))
    assert (answer.text, answer.partial, answer.failure_kind) == ("billing", True, failure_kind)


async def test_an_empty_answer_is_an_answer() -> None:
    answer = await adapter().run(SEED, ASKED, Recorder(""))
    assert (answer.text, answer.parsed, answer.partial, answer.failure_kind) == ("", None, False, None)


@pytest.mark.parametrize("constraint", [None, LABELS])
async def test_a_filtered_completion_is_a_refusal(constraint: Constraint | None) -> None:
    answer = await adapter(constraint=constraint).run(SEED, ASKED, Recorder("I can", "content_filter"))
    assert (answer.text, answer.parsed, answer.failure_kind, answer.notes) == ("I can", None, "refusal", {})
    assert answer.usage == Usage(7, 1, 0.5)


@pytest.mark.parametrize(("kind", "failure_kind"), [(ErrorKind.CONTENT_FILTER, "refusal"), (ErrorKind.CONTEXT_LENGTH, "context_length")])
async def test_errors_of_content_are_answers(kind: ErrorKind, failure_kind: str) -> None:
    client = Recorder(error=ModelError(kind, "recorder", "no"))
    answer = await adapter(constraint=LABELS).run(SEED, ASKED, client)
    assert (answer.text, answer.parsed, answer.failure_kind) == ("", None, failure_kind)
    assert [(s.finish_reason, s.usage, s.request[0]["content"]) for s in answer.steps] == [(kind, Usage(), "Sort it.")]


@pytest.mark.parametrize("kind", sorted(set(ErrorKind) - {ErrorKind.CONTENT_FILTER, ErrorKind.CONTEXT_LENGTH}))
async def test_other_errors_are_no_answers(kind: ErrorKind) -> None:
    error = ModelError(kind, "recorder", "no")
    with pytest.raises(ModelError) as caught:
        await adapter().run(SEED, ASKED, Recorder(error=error))
    assert caught.value is error


async def test_the_same_run_gives_the_same_answer() -> None:
    asking = adapter(constraint=LABELS)
    answers: list[TracedAnswer] = [await asking.run(SEED, ASKED, Recorder("x"), seed=1) for _ in range(2)]
    assert answers[0] == answers[1]
    assert answers[0].digest == answers[1].digest


def test_placeholders_are_the_inputs_that_a_text_names() -> None:
    assert adapter().placeholders('{ticket} {tikcet} {{lang}} {instructions} {"a": 1}') == {"ticket", "lang"}


def test_a_sound_seed_passes_without_warnings() -> None:
    candidate = Candidate({"instructions": 'Say {"label": "x"} of {ticket}', "demonstrations": SHOWN})
    assert adapter(constraint=LABELS).check(candidate, iter([ASKED])) == []
    assert adapter().check(SEED, []) == []


@pytest.mark.parametrize(
    ("user", "system", "message"),
    [
        ("{ticket", None, "user: line 1, column 1: a single '{'"),
        ("{ticket}", '{"a": 1}', "system: line 1, column 1: "),
    ],
)
def test_templates_that_cannot_be_read(user: str, system: str | None, message: str) -> None:
    with pytest.raises(AdapterError) as caught:
        adapter(user, system)
    assert message in str(caught.value)


def test_constraints_that_cannot_be_checked() -> None:
    with pytest.raises(AdapterError, match="answer: the label 'a' is given twice"):
        adapter(constraint=Labels(("a", "a")))


OTHERS = [Example(f"x{i}", {"ticket": "t"}) for i in range(5)]


def test_a_template_with_an_unknown_name() -> None:
    message = check_fails(adapter("{tikcet}", "{instructions}"), {"instructions": ""})
    assert message == "user: {tikcet} is neither a component nor an input of example 'e1'; did you mean 'ticket'?"
    message = check_fails(adapter("{ticket}", "{instrctions} {instructions}"), {"instructions": ""}, *OTHERS)
    assert message == (
        "system: {instrctions} is neither a component nor an input of example 'x0', 'x1', 'x2' and 2 more; did you mean 'instructions'?"
    )
    with pytest.raises(AdapterError, match=r"system: \{zzz\} is neither a component nor an input; there is lang, ticket$"):
        adapter("{ticket}", "{zzz}").check(Candidate({}), [])


def test_a_name_that_some_examples_lack() -> None:
    message = check_fails(adapter("{ticket} {lang}", None), {}, ASKED, *OTHERS[:2])
    assert message == "user: {lang} is no input of example 'x0', 'x1'; give it one there, or take {lang} out"
    message = check_fails(adapter(), {"instructions": "In {lang}"}, ASKED, OTHERS[0])
    assert message == "component 'instructions': {lang} is no input of example 'x0'; give it one there, or take {lang} out"


def test_components_that_make_no_sense() -> None:
    assert check_fails(adapter(), {"instructions": "", "extra": ""}) == (
        "no template names the component 'extra'; add {extra} to system or user, or remove it"
    )
    assert "'lang' is both a component and an input, so {lang} could be either" in check_fails(
        adapter("{ticket}{lang}", None), {"lang": ""}
    )
    asking = PromptAdapter(user="{ticket}{more}", inputs=["ticket", "more"])
    assert "'more' is both a component and an input" in check_fails(asking, {"more": ""}, OTHERS[0])
    asking = adapter("{demonstrations}{ticket}", None)
    assert "demonstrations are shown without being named; take it out" in check_fails(asking, {"demonstrations": ""})


def test_demonstrations_that_cannot_be_shown() -> None:
    message = check_fails(adapter("{ticket} {lang}", None), {"demonstrations": SHOWN})
    assert message == "demonstration 2 has no input 'lang'; there is ticket"
    message = check_fails(adapter("{ticket} {hint}", None), {"hint": "{lang}", "demonstrations": SHOWN})
    assert message == "demonstration 2 has no input 'lang'; there is ticket"
    assert check_fails(adapter(), {"instructions": "", "demonstrations": "text"}).startswith("demonstrations, line 1: not JSON")


def test_a_user_message_that_says_nothing() -> None:
    message = check_fails(adapter(), {"instructions": ""}, ASKED, Example("blank", {"ticket": " "}))
    assert message == "user: the message for example 'blank' is blank; give its inputs a text, or remove it"


def test_what_cannot_be_rendered_is_not_sent() -> None:
    with pytest.raises(AdapterError, match=r"\{ticket\} is neither a component nor an input of example 'e'; there is lang"):
        adapter().requests(SEED, Example("e", {"lang": "en"}))
    candidate = Candidate({"instructions": "", "demonstrations": SHOWN})
    with pytest.raises(AdapterError, match=r"\{lang\} is neither a component nor an input of demonstration 2; there is ticket"):
        adapter("{ticket}{lang}").requests(candidate, ASKED)


def test_warnings() -> None:
    candidate = Candidate(
        {
            "instructions": 'About {tikcet}: {hint}, {"label": 1}, {unlike}',
            "hint": "",
            "demonstrations": '{"inputs": {"ticket": "{tikcet}"}, "answer": "bill"}',
        }
    )
    examples = [ASKED, Example("z", {"ticket": "t"}, {"label": "x"}), Example("w", {"ticket": "t"})]
    assert adapter("{ticket}{hint}", constraint=LABELS).check(candidate, examples) == [
        "component 'instructions': {hint} is a component, and components are not filled into others",
        "component 'instructions': {tikcet} stays as it is; did you mean {ticket}?",
        "demonstration 1 shows an answer that no model may give: bill is none of the labels; did you mean 'billing'?",
    ]
    assert len(adapter("{ticket}{hint}", constraint=SCHEMA).check(candidate, examples)) == 3
    assert len(adapter("{ticket}{hint}").check(candidate, examples)) == 2


def test_an_expected_answer_that_is_no_label_is_misspelt() -> None:
    wrong = [Example(f"y{n}", {"ticket": "t"}, "Other", place=f"rows.csv:{n}" if n else "") for n in range(5)]
    told = (
        r"the expected answer of example 'y0', 'y1' \(rows.csv:1\), 'y2' \(rows.csv:2\) and 2 more is one that no model may give: "
        r"Other is none of the labels; did you mean 'other'\?"
    )
    with pytest.raises(AdapterError, match=told):
        adapter("{ticket}", constraint=LABELS).check(Candidate({"instructions": ""}), [ASKED, *wrong])
    adapter("{ticket}").check(Candidate({"instructions": ""}), [ASKED, *wrong])


def test_importing_stays_light() -> None:
    code = (
        "import sys, adapters.prompt, adapters.split; print({'litellm', 'jsonschema', 'pyarrow', 'datasets', 'pandas'} & set(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"
