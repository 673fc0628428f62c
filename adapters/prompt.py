"""The prompt adapter: one call per example, its messages made from templates."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from adapters.adapter import AdapterError
from adapters.answer import Step, TracedAnswer
from adapters.candidate import DEMONSTRATIONS, Candidate
from adapters.clients.client import (
    Capabilities,
    Completion,
    Constraint,
    ErrorKind,
    JsonSchema,
    Labels,
    Message,
    ModelClient,
    ModelError,
    Request,
)
from adapters.constraint import ConstraintError, UnfitError, checker
from adapters.demonstrations import Demonstration, DemonstrationError, parse_demonstrations
from adapters.example import Example
from adapters.nearest import near, nearest
from adapters.template import Template, TemplateError, braced, fill, placeholders

_CONTENT_FAILURES = {ErrorKind.CONTENT_FILTER: "refusal", ErrorKind.CONTEXT_LENGTH: "context_length"}
"""Calls without a completion that say something of the content: these are answers, the others are errors."""


class PromptAdapter:
    """Renders a system and a user message for each example and asks once.

    `{name}` in the templates stands for a component of the candidate or an input of the example. A component's text may
    itself name inputs. The component `demonstrations` stands in no template: it is shown as earlier turns, its inputs put
    through the same user template, or as text before the user message. A system text that is blank is not sent.

    `inputs`: the names of all inputs in the data (`adapters.dataset.input_names`), by which placeholders in components are
    known. `constraint`: what every answer has to be: passed on to clients that can enforce it, checked in every answer.
    """

    def __init__(
        self,
        *,
        user: str,
        inputs: Iterable[str],
        system: str | None = None,
        demonstrations: Literal["turns", "text"] = "turns",
        constraint: Constraint | None = None,
    ) -> None:
        """Raises AdapterError for a template or a constraint that cannot be used."""
        self._system, self._user = _template("system", system or ""), _template("user", user)
        self._inputs = frozenset(inputs)
        self._demonstrations = demonstrations
        self._constraint = constraint
        try:
            self._value = checker(constraint) if constraint else _anything
        except ConstraintError as error:
            raise AdapterError(f"answer: {error}") from None

    def check(self, candidate: Candidate, examples: Iterable[Example]) -> list[str]:
        """Raises AdapterError where the candidate cannot be run on one of the examples; returns warnings. Calls nothing."""
        examples = list(examples)
        known = self._inputs.union(*(example.inputs for example in examples))
        self._check_components(candidate, known)
        self._check_names(candidate, known, examples)
        self._check_demonstrations(candidate)
        for example in examples:
            if not self._render(self._user, candidate, example.inputs, f"example {example.spoken}").strip():
                raise AdapterError(f"user: the message for example {example.spoken} is blank; give its inputs a text, or remove it")
        self._check_expected(examples)
        return [*_misspelt(candidate, known), *self._unfit(candidate)]

    def requests(self, candidate: Candidate, example: Example) -> list[Request]:
        """The one request. Raises AdapterError for an example, or a demonstration, without an input that a template names."""
        user = self._render(self._user, candidate, example.inputs, f"example {example.spoken}")
        turns = [
            (self._render(self._user, candidate, shown.inputs, f"demonstration {number}"), shown.answer)
            for number, shown in enumerate(_demonstrations(candidate), 1)
        ]
        if turns and self._demonstrations == "text":
            user, turns = _as_text(turns) + user, []
        system = self._render(self._system, candidate, example.inputs, f"example {example.spoken}")
        messages = [Message("system", system)] if system.strip() else []
        for asked, answer in turns:
            messages += (Message("user", asked), Message("assistant", answer))
        return [Request((*messages, Message("user", user)), self._constraint)]

    def placeholders(self, text: str) -> frozenset[str]:
        """The example inputs that a component's text names, which a proposal for that component has to keep."""
        return placeholders(text, self._inputs)

    async def run(self, candidate: Candidate, example: Example, client: ModelClient, seed: int | None = None) -> TracedAnswer:
        """Raises ModelError for a call that failed for reasons outside the content, and AdapterError as `requests` does.

        The text is kept as it came. `parsed` is what the constraint makes of it, see adapters.constraint; where it makes
        nothing, the failure kind is `parse_failure`, and the note `misfit` says why.
        """
        (request,) = self.requests(candidate, example)
        # Asked only where it matters: to tell its capabilities, a client may have to load a library.
        enforced = request.constraint is not None and _enforces(client.capabilities, request.constraint)
        request = replace(request, seed=seed, constraint=request.constraint if enforced else None)
        messages = tuple({"role": message.role, "content": message.content} for message in request.messages)
        try:
            completion = await client.complete(request)
        except ModelError as error:
            if error.kind not in _CONTENT_FAILURES:
                raise
            step = Step("model", client.model, messages, "", finish_reason=str(error.kind))
            return TracedAnswer("", steps=(step,), failure_kind=_CONTENT_FAILURES[error.kind])
        step = Step("model", client.model, messages, completion.text, completion.usage, completion.seconds, completion.finish_reason)
        return self._answer(completion, step)

    def _answer(self, completion: Completion, step: Step) -> TracedAnswer:
        text, partial = completion.text, completion.finish_reason == "length"
        if completion.finish_reason == "content_filter":
            return TracedAnswer(text, steps=(step,), failure_kind="refusal")
        try:
            return TracedAnswer(text, self._value(text), partial, steps=(step,))
        except UnfitError as error:
            return TracedAnswer(text, None, partial, {"misfit": str(error)}, (step,), "parse_failure")

    def _render(self, template: Template, candidate: Candidate, inputs: Mapping[str, Any], whose: str) -> str:
        values: dict[str, object] = {}
        for name in template.names:
            if name in candidate.components:
                values[name] = fill(candidate.components[name], inputs)
            elif name in inputs:
                values[name] = inputs[name]
            else:
                raise AdapterError(f"{{{name}}} is neither a component nor an input of {whose}{nearest(name, inputs)}")
        return template.render(values)

    def _check_components(self, candidate: Candidate, known: frozenset[str]) -> None:
        used = self._system.names | self._user.names
        for name in candidate.components:
            if name in known:
                raise AdapterError(f"{name!r} is both a component and an input, so {{{name}}} could be either; rename one")
            if name == DEMONSTRATIONS and name in used:
                raise AdapterError(f"{{{name}}} in a template: demonstrations are shown without being named; take it out")
            if name != DEMONSTRATIONS and name not in used:
                raise AdapterError(f"no template names the component {name!r}; add {{{name}}} to system or user, or remove it")

    def _check_names(self, candidate: Candidate, known: frozenset[str], examples: Sequence[Example]) -> None:
        components = candidate.components.keys() - {DEMONSTRATIONS}
        places = {"system": self._system.names - components, "user": self._user.names - components}
        for name in sorted(components):
            places[f"component {name!r}"] = placeholders(candidate.components[name], known)
        for place, names in places.items():
            for name in sorted(names):
                lacking = [example for example in examples if name not in example.inputs]
                if name not in known:
                    others = sorted((known | components) - {name})
                    raise AdapterError(f"{place}: {{{name}}} is neither a component nor an input{_of(lacking)}{nearest(name, others)}")
                if lacking:
                    raise AdapterError(f"{place}: {{{name}}} is no input{_of(lacking)}; give it one there, or take {{{name}}} out")

    def _check_demonstrations(self, candidate: Candidate) -> None:
        texts = [candidate.components[name] for name in self._user.names & candidate.components.keys()]
        needed = (self._user.names - candidate.components.keys()).union(*map(self.placeholders, texts))
        for number, shown in enumerate(_demonstrations(candidate), 1):
            for name in sorted(needed - shown.inputs.keys()):
                raise AdapterError(f"demonstration {number} has no input {name!r}{nearest(name, sorted(shown.inputs))}")

    def _check_expected(self, examples: Sequence[Example]) -> None:
        """An expected answer that no model may give is misspelt: every answer to that example would be wrong."""
        if isinstance(self._constraint, Labels):
            misfits = {example: self._misfit(example.expected) for example in examples if isinstance(example.expected, str)}
            unfit = [example for example, misfit in misfits.items() if misfit]
            if unfit:
                raise AdapterError(f"the expected answer{_of(unfit)} is one that no model may give: {misfits[unfit[0]]}")

    def _unfit(self, candidate: Candidate) -> list[str]:
        """Warnings of demonstrations that the constraint forbids."""
        warnings = []
        for number, shown in enumerate(_demonstrations(candidate), 1):
            misfit = self._misfit(shown.answer)
            if misfit:
                warnings.append(f"demonstration {number} shows an answer that no model may give: {misfit}")
        return warnings

    def _misfit(self, text: str) -> str | None:
        try:
            self._value(text)
        except UnfitError as error:
            return str(error)
        return None


def _template(place: str, source: str) -> Template:
    try:
        return Template(source)
    except TemplateError as error:
        raise AdapterError(f"{place}: {error}") from None


def _anything(text: str) -> None:
    """Without a constraint every text will do, and has no value but itself."""


def _demonstrations(candidate: Candidate) -> tuple[Demonstration, ...]:
    try:
        return parse_demonstrations(candidate.components.get(DEMONSTRATIONS, ""))
    except DemonstrationError as error:
        raise AdapterError(str(error)) from None


def _as_text(turns: Sequence[tuple[str, str]]) -> str:
    shown = "\n".join(f"<example>\n<input>{asked}</input>\n<answer>{answer}</answer>\n</example>" for asked, answer in turns)
    return f"<examples>\n{shown}\n</examples>\n\n"


def _enforces(capabilities: Capabilities, constraint: Constraint) -> bool:
    return capabilities.json_schema if isinstance(constraint, JsonSchema) else capabilities.labels


def _misspelt(candidate: Candidate, known: frozenset[str]) -> list[str]:
    """Warnings of what looks like a placeholder in a component, and is none."""
    warnings = []
    for component, text in candidate.components.items():
        for name in sorted(braced(text) - known) if component != DEMONSTRATIONS else ():
            meant = near(name, known)
            if name in candidate.components:
                warnings.append(f"component {component!r}: {{{name}}} is a component, and components are not filled into others")
            elif meant:
                warnings.append(f"component {component!r}: {{{name}}} stays as it is; did you mean {{{meant}}}?")
    return warnings


def _of(examples: Sequence[Example]) -> str:
    """` of example 'a', 'b', 'c' and 4 more`."""
    if not examples:
        return ""
    more = f" and {len(examples) - 3} more" if len(examples) > 3 else ""
    return f" of example {', '.join(example.spoken for example in examples[:3])}{more}"
