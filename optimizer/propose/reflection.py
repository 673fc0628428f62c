"""Reflection: a model reads what went wrong and rewrites one component (after GEPA, Agrawal et al. 2025, arXiv 2507.19457)."""

import difflib

from adapters.candidate import DEMONSTRATIONS, Candidate
from adapters.clients.client import Completion, Message, ModelClient, ModelError, Request
from optimizer.budget import Claim, Used
from optimizer.config import ObjectivesConfig
from optimizer.evaluate import ceiling_claim
from optimizer.propose.contrast import NAMES, named
from optimizer.propose.feedback import cut, render
from optimizer.propose.guards import Guards
from optimizer.propose.proposer import Proposal, Task
from optimizer.propose.reply import ReplyError, block

EXAMPLES_LIMIT = 20_000
CHANGES_LIMIT, REASON_LIMIT = 800, 300
COMPLAINT_LIMIT = REASON_LIMIT + 200
AROUND_LIMIT = EXAMPLES_LIMIT + len(NAMES) * (CHANGES_LIMIT + 100) + 400
"""Characters of a prompt after its opening: what its parts, their headings and the marks of what is left out add up to at most."""

INSTRUCTION = """\
You improve a text that is part of a prompt for a language model. The text is called "{component}". Below you find the text as it is \
now, and how the model did with it on some examples: what was asked, what came back, what that was worth and why.

{how} State general rules that will help on examples that you have not \
seen; do not repeat the examples themselves.{placeholders}

Reply with your reasoning, if you need it, and then exactly one block fenced by ``` that holds the whole new text and nothing \
else. If the text itself needs such fences, fence the block with more backticks than any inside it."""

MEND = """\
Find out what the text should have said so that the model had done better. Then write the whole text anew: keep what works, mend what \
failed, and add every fact and rule that the feedback reveals."""

ANEW = """\
The text may be wrong in its whole approach, so do not mend it. Find out from the examples what is asked and how it is answered. Then \
write a text of your own, as if there were none yet, with every fact and rule that the feedback reveals."""

OTHERS = """\
# Other texts of this part

They did better where that is said above. Lines with + are theirs, lines with - are in the text now and not in theirs."""

COMPLAINT = "This cannot be used: {problem}. Reply again, with one fenced block that holds the whole new text."


class Reflection:
    """One call per proposal, and one more when the first reply cannot be used."""

    name = "reflection"

    def __init__(self, client: ModelClient, guards: Guards, minibatch: int, reveal_expected: bool, objectives: ObjectivesConfig) -> None:
        """`reveal_expected`: whether the model may read expected answers."""
        self._client, self._guards, self.minibatch = client, guards, minibatch
        self._reveal, self._objectives = reveal_expected, objectives

    def claim(self, parent: Candidate, priced: bool) -> Claim:
        if not priced:
            return Claim(calls=2)
        # A character of UTF-8 takes up to four bytes. The second prompt holds the first one and its reply.
        size = 4 * AROUND_LIMIT + max(len(self._opening(*each, how).encode()) for each in _texts(parent).items() for how in (MEND, ANEW))
        first = Request((Message("user", "x" * size),))
        reply = "x" * self._client.ceiling(first).output_tokens
        second = Request((*first.messages, Message("assistant", reply), Message("user", "x" * 4 * COMPLAINT_LIMIT)))
        return Claim(calls=2) + ceiling_claim(self._client, first) + ceiling_claim(self._client, second)

    async def propose(self, task: Task) -> Proposal:
        component = task.rng.choice(sorted(_texts(task.parent)))
        caller = task.caller(self._client)
        messages: tuple[Message, ...] = (Message("user", self._prompt(task, component)),)
        seed = task.rng.getrandbits(28)
        problem = ""
        for _ in range(2):
            try:
                completion = await caller.complete(Request(messages, seed=seed))
            except ModelError as error:
                if not caller.used:
                    raise
                problem = f"{problem}; asked again, the model failed: {error.kind}"
                break
            child, problem = self._read(completion, task, component)
            if child is not None:
                return Proposal(child, component, Used(0, caller.used, caller.uses))
            complaint = COMPLAINT.format(problem=cut(problem, REASON_LIMIT))
            messages = (*messages, Message("assistant", completion.text or "(nothing)"), Message("user", complaint))
        return Proposal(None, problem, Used(0, caller.used, caller.uses))

    def _read(self, completion: Completion, task: Task, component: str) -> tuple[Candidate | None, str]:
        if completion.finish_reason == "length":
            return None, "the reply was cut off by its token limit"
        try:
            child = task.parent.replace(**{component: block(completion.text)})
        except ReplyError as error:
            return None, str(error)
        problem = task.problem(child)
        return (child, "") if problem is None else (None, problem)

    def _prompt(self, task: Task, component: str) -> str:
        text = task.parent.components[component]
        better = named(task.cells, [other for other in task.others if other.candidate.components[component] != text], self._objectives)
        cells = {name: other.cells for name, other in better.items()}
        did = render(task.cells, EXAMPLES_LIMIT, reveal=self._reveal, texts=cells, objectives=self._objectives)
        parts = [self._opening(component, text, ANEW if task.anew else MEND), f"# How it did\n\n{did}"]
        if better:
            told = (f"## Text {name}\n\n{_changes(text, other.candidate.components[component])}" for name, other in better.items())
            parts.append("\n\n".join([OTHERS, *told]))
        return "\n\n".join(parts)

    def _opening(self, component: str, text: str, how: str) -> str:
        """What a prompt for the component begins with, whatever its job: the instruction and the text as it is. `how`: MEND or ANEW."""
        names = ", ".join(f"{{{name}}}" for name in sorted(self._guards.placeholders(text)))
        placeholders = f" The text names values in braces, which have to stay as they are: {names}." if names else ""
        instruction = INSTRUCTION.format(component=component, how=how, placeholders=placeholders)
        return f"{instruction}\n\n# The text now\n\n{text or '(empty)'}"


def _texts(candidate: Candidate) -> dict[str, str]:
    return {name: text for name, text in candidate.components.items() if name != DEMONSTRATIONS}


def _changes(text: str, new: str) -> str:
    """The lines that `new` has beside those of `text`, and those that it lacks."""
    lines = list(difflib.unified_diff(text.splitlines(), new.splitlines(), lineterm="", n=0))
    changes = [line for line in lines[2:] if not line.startswith("@@")]  # the first two are names of files
    return cut("\n".join(changes), CHANGES_LIMIT)
