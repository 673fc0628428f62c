"""Reflection asks once, asks again with the reason, and never uses more than it claimed."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pieces import USD_PER_TOKEN, Model, Reply, candidate, cell, example, failure, in_turn, task

from adapters.answer import Usage
from adapters.candidate import DEMONSTRATIONS, Candidate
from adapters.clients.client import Completion, ErrorKind, ModelError, Request
from adapters.template import placeholders
from optimizer.budget import Claim
from optimizer.desk import Desk
from optimizer.evaluate import Cell
from optimizer.journal import Journal
from optimizer.policy import ALL_ALIKE
from optimizer.propose.guards import Guards
from optimizer.propose.proposer import Other, Proposal, Task
from optimizer.propose.reflection import ANEW, AROUND_LIMIT, MEND, Reflection

NAMES = ("ticket", "note")
GUARDS = Guards(lambda text: placeholders(text, NAMES), 2000, ())
GOOD = "Because:\n```\nSay yes, please.\n```"


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    journal = Journal.write(tmp_path)
    yield journal
    journal.close()


async def propose(journal: Journal, model: Model, parent: Candidate | None = None, guards: Guards = GUARDS, **parts: object) -> Proposal:
    parent = parent or candidate()
    known = {parent.id}
    settings: dict[str, object] = {
        "cells": [cell(example("e"), 0.0)],
        "problem": lambda child: guards.problem(parent, child, known),
        "desk": Desk(journal),
    }
    return await Reflection(model, guards, 10, True, ALL_ALIKE).propose(task(parent, **{**settings, **parts}))  # type: ignore[arg-type]


def sent(request: Request) -> list[tuple[str, str]]:
    return [(message.role, message.content) for message in request.messages]


# --- the prompt -------------------------------------------------------------------------------------------------------


async def test_the_prompt_holds_the_text_and_what_happened(journal: Journal) -> None:
    parent = candidate("Say yes.\nBe kind to {ticket}.")
    cells = [cell(example("e", ticket="Where is it?"), 0.25, text="nowhere", feedback="expected shipping")]
    model = Model(lambda _: "```\nSay yes.\nHelp with {ticket}.\n```")
    await propose(journal, model, parent, cells=cells)
    ((role, text),) = sent(model.asked[0])
    assert role == "user"
    assert 'The text is called "instructions".' in text
    assert "which have to stay as they are: {ticket}." in text
    assert "# The text now\n\nSay yes.\nBe kind to {ticket}.\n\n# How it did\n\n## Example 1" in text
    assert "Where is it?" in text and "nowhere" in text and "expected shipping" in text and "small:template 25 of 100" in text


async def test_other_texts_that_did_better_are_shown_by_what_differs(journal: Journal) -> None:
    """And the text alone: who has the same and other demonstrations shows nothing about it."""
    here = example("e", "never")
    parent = candidate("Say yes.\nBe kind.", **{DEMONSTRATIONS: ""})
    others = [
        Other(parent.replace(**{DEMONSTRATIONS: '{"inputs": {}, "answer": "x"}'}), [cell(here, 1.0)]),
        Other(parent.replace(instructions="Say yes.\nBe stern."), [cell(here, 1.0, text="never")]),
        Other(parent.replace(instructions="Say no."), [cell(here, 0.1)]),
    ]
    model = Model(lambda _: GOOD)
    await propose(journal, model, parent, cells=[cell(here, 0.0, feedback="hm")], others=others)
    text = sent(model.asked[0])[0][1]
    assert "Text A got this right (template 100 of 100). Its answer:\nnever" in text and "Expected: never" in text
    assert text.endswith(
        "# Other texts of this part\n\nThey did better where that is said above. Lines with + are theirs, lines with - are in the text now "
        "and not in theirs.\n\n## Text A\n\n-Be kind.\n+Be stern."
    )


async def test_expected_answers_are_withheld_where_they_have_to_be(journal: Journal) -> None:
    parent, here = candidate(), example("e", "never")
    others = [Other(candidate("Say what is so."), [cell(here, 1.0, text="never", correct=True)])]
    shown = [cell(here, 0.0, feedback="expected never", discreet="wrong"), cell(here, 1.0, model="big", text="never", correct=True)]
    model = Model(lambda _: GOOD)
    now = task(parent, cells=shown, others=others, desk=Desk(journal))
    await Reflection(model, GUARDS, 10, False, ALL_ALIKE).propose(now)
    text = sent(model.asked[0])[0][1]
    assert "never" not in text.partition("# How it did")[2]
    assert "Feedback: wrong" in text and "Text A got this right (template 100 of 100)." in text and "+Say what is so." in text


async def test_a_prompt_without_placeholders_or_other_texts_speaks_of_none(journal: Journal) -> None:
    model = Model(lambda _: GOOD)
    await propose(journal, model)
    text = sent(model.asked[0])[0][1]
    assert "braces" not in text and "Other texts" not in text
    assert text.startswith("You improve a text")


async def test_what_is_to_be_written_anew_is_not_to_be_mended(journal: Journal) -> None:
    parent, model = candidate("Say yes.\nBe kind to {ticket}."), Model(lambda _: "```\nHelp with {ticket}.\n```")
    now = task(parent, cells=[cell(example("e"), 0.0)], desk=Desk(journal))
    for anew, said, unsaid in ((False, MEND, ANEW), (True, ANEW, MEND)):
        proposal = await Reflection(model, GUARDS, 10, True, ALL_ALIKE).propose(replace(now, anew=anew))
        text = sent(model.asked[-1])[0][1]
        assert said in text and unsaid not in text
        assert "which have to stay as they are: {ticket}." in text and "# The text now\n\nSay yes." in text
        assert proposal.child == candidate("Help with {ticket}.")
    assert len(model.asked) == 2


async def test_an_empty_text_is_called_empty(journal: Journal) -> None:
    model = Model(lambda _: GOOD)
    proposal = await propose(journal, model, candidate(""))
    assert "# The text now\n\n(empty)\n" in sent(model.asked[0])[0][1]
    assert proposal.child == candidate("Say yes, please.")


def better(text: str) -> Other:
    """Another text, that was right where the parent in `propose` was not."""
    return Other(candidate(text), [cell(example("e"), 1.0)])


async def test_changes_are_shown_line_by_line_whatever_the_lines_begin_with(journal: Journal) -> None:
    model = Model(lambda _: GOOD)
    await propose(journal, model, candidate("keep\n-- a\n@@ b\n++ c"), others=[better("keep\n--- new\n+++ new\n@@ new")])
    shown = sent(model.asked[0])[0][1].partition("## Text A\n\n")[2].splitlines()
    assert sorted(shown) == sorted(["--- a", "-@@ b", "-++ c", "+--- new", "++++ new", "+@@ new"])


async def test_a_change_of_line_ends_alone_shows_no_lines(journal: Journal) -> None:
    model = Model(lambda _: GOOD)
    await propose(journal, model, candidate("one\r\ntwo"), others=[better("one\ntwo")])
    assert sent(model.asked[0])[0][1].endswith("## Text A\n\n")


# --- replies ----------------------------------------------------------------------------------------------------------


async def test_a_good_reply_is_a_child(journal: Journal) -> None:
    model = Model(lambda _: GOOD)
    proposal = await propose(journal, model, candidate(other="Kept."), seed=1)
    assert proposal.child is not None
    changed = [name for name, text in proposal.child.components.items() if text != candidate(other="Kept.").components[name]]
    assert changed == [proposal.reason] and proposal.child.components[proposal.reason] == "Say yes, please."
    assert len(model.asked) == proposal.used.uses == len(proposal.used.calls) == 1
    assert proposal.used.cells == 0


CUT_OFF = Completion(GOOD, "length", Usage(10, 100, 0.1), 0.1)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("no block at all", "the reply has no fenced block with the new text"),
        ("", "the reply has no fenced block with the new text"),
        ("```\nSay yes.\n```", "the text is the same as before"),
        ("```\nSay {ticket}.\n```", "the placeholder {ticket} is new; use only those that the text had"),
        (f"```\n{'x' * 2001}\n```", "the text is too long: 2001 bytes, at most 2000 are allowed"),
        (CUT_OFF, "the reply was cut off by its token limit"),
    ],
    ids=["no block", "empty", "same", "placeholder", "long", "cut off"],
)
async def test_a_broken_reply_is_asked_for_again_with_the_reason(journal: Journal, reply: Reply, reason: str) -> None:
    model = Model(in_turn(reply, GOOD))
    proposal = await propose(journal, model)
    assert proposal.child == candidate("Say yes, please.")
    first, second = map(sent, model.asked)
    said = reply if isinstance(reply, str) else GOOD
    assert second[: len(first)] == first
    assert second[1:] == [
        ("assistant", said or "(nothing)"),
        ("user", f"This cannot be used: {reason}. Reply again, with one fenced block that holds the whole new text."),
    ]
    assert proposal.used.uses == len(proposal.used.calls) == 2


async def test_two_broken_replies_are_no_proposal_but_are_paid_for(journal: Journal) -> None:
    model = Model(in_turn("nothing", "```\nSay yes.\n```"))
    proposal = await propose(journal, model)
    assert (proposal.child, proposal.reason) == (None, "the text is the same as before")
    assert len(proposal.used.calls) == 2


async def test_a_cut_off_reply_is_refused_even_where_its_block_is_closed(journal: Journal) -> None:
    proposal = await propose(journal, Model(in_turn(CUT_OFF, CUT_OFF)))
    assert (proposal.child, proposal.reason) == (None, "the reply was cut off by its token limit")


async def test_a_model_that_cannot_be_asked_is_an_error(journal: Journal) -> None:
    with pytest.raises(ModelError):
        await propose(journal, Model(in_turn(failure())))


async def test_a_failure_after_a_paid_call_does_not_lose_the_call(journal: Journal) -> None:
    model = Model(in_turn("nothing", failure(ErrorKind.CONTEXT_LENGTH)))
    proposal = await propose(journal, model)
    assert proposal.child is None
    assert proposal.reason == "the reply has no fenced block with the new text; asked again, the model failed: context_length"
    assert len(proposal.used.calls) == 1


# --- chance -----------------------------------------------------------------------------------------------------------


async def test_seeds_differ_between_jobs_and_are_the_same_for_the_same_job(tmp_path: Path) -> None:
    async def asked(folder: str, job: int) -> list[int | None]:
        model = Model(in_turn("nothing", GOOD))
        with closing(fresh(tmp_path / folder)) as journal:
            await propose(journal, model, seed=job)
        return [request.seed for request in model.asked]

    found = [await asked(f"{job}", job) for job in range(20)]
    assert len({seeds[0] for seeds in found}) == 20
    assert all(isinstance(seed, int) and 0 <= seed < 2**28 for seeds in found for seed in seeds)
    assert await asked("again", 7) == found[7]


def fresh(folder: Path) -> Journal:
    folder.mkdir()
    return Journal.write(folder)


async def test_every_component_has_its_turn_but_demonstrations(journal: Journal) -> None:
    parent = candidate(other="Other.", **{DEMONSTRATIONS: ""})
    model = Model(lambda _: GOOD)
    turns = {(await propose(journal, model, parent, seed=seed)).reason for seed in range(30)}
    assert turns == {"instructions", "other"}


# --- claims -----------------------------------------------------------------------------------------------------------


def bounded(parent: Candidate, now: Task, model: Model, guards: Guards) -> Proposal:
    """Proposes, and holds what was used against what was claimed."""
    work = Reflection(model, guards, 10, True, ALL_ALIKE)
    claim = work.claim(parent, True)
    proposal = asyncio.run(work.propose(now))
    used = sum(proposal.used.calls.values(), Usage())
    assert len(proposal.used.calls) <= claim.calls == 2
    assert used.input_tokens + used.output_tokens <= claim.tokens
    assert used.usd is not None and used.usd <= claim.usd + 1e-9
    return proposal


def test_the_longest_prompts_stay_within_the_claim_and_use_most_of_it(tmp_path: Path) -> None:
    """All letters take four bytes, every part is as long as it can be, and the texts placeholders have no end."""
    names = [f"{'🦜' * 50}{n}" for n in range(100)]
    guards = Guards(lambda text: placeholders(text, names), 100_000, ())
    parent = candidate("".join(f"{{{name}}}" for name in names))
    cells = [cell(example(f"e{n}", **{"🦜": "🦜" * 5000}), 0.0, text="🦜" * 5000, feedback="🦜" * 5000) for n in range(20)]
    model = Model(lambda _: "🦜" * 250, max_tokens=1000)
    with closing(Journal.write(tmp_path)) as journal:
        others = [
            Other(candidate("🦜" * 20_000 + f"{n}."), [cell(each.example, 1.0, text="🦜" * 5000) for each in cells]) for n in range(3)
        ]
        now = task(parent, cells=cells, others=others, problem=lambda _: "🦜" * 5000, desk=Desk(journal))
        bounded(parent, now, model, guards)
        prompt = model.asked[0].messages[0].content
        opening = prompt.partition("\n\n# How it did")[0]
        assert 0.8 * AROUND_LIMIT < len(prompt) - len(opening) <= AROUND_LIMIT
        spoken = [Model(in_turn("🦜" * 250, "🦜" * 250), max_tokens=1000), Model(in_turn("```\n🦜\n```", ""), max_tokens=12)]
        for n, other in enumerate(spoken):
            other.model = f"other {n}"
            complaining = task(parent, cells=cells, problem=lambda _: "🦜" * 5000, desk=Desk(journal))
            bounded(parent, replace(complaining, anew=n == 1), other, guards)
            assert len(other.asked) == 2


pieces = st.sampled_from(["a", "ü\n", "汉", "🦜", "{ticket}", "```\n", "\0"])
letters = st.text(max_size=20) | st.builds(lambda piece, n: piece * n, pieces, st.integers(0, 4000))
cells = st.builds(
    lambda name, text, answer, feedback, value: cell(example("e", **{name: text}), value, text=answer, feedback=feedback),
    letters, letters, letters, letters, st.floats(0, 1),
)  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(
    texts=st.lists(letters, min_size=1, max_size=3),
    cells=st.lists(cells, max_size=8),
    theirs=st.lists(st.tuples(letters, cells), max_size=4),
    reason=letters,
    replies=st.lists(st.text(max_size=100), min_size=2, max_size=2),
    most=st.integers(1, 100),
    seed=st.integers(0, 100),
)
def test_no_prompt_is_longer_than_was_claimed(
    tmp_path_factory: pytest.TempPathFactory,
    texts: list[str],
    cells: list[Cell],
    theirs: list[tuple[str, Cell]],
    reason: str,
    replies: Sequence[str],
    most: int,
    seed: int,
) -> None:
    parent = Candidate({f"part {n} {{ticket}}": text for n, text in enumerate(texts)})
    model = Model(in_turn(*(reply.encode()[:most].decode(errors="ignore") for reply in replies)), max_tokens=most)
    folder = tmp_path_factory.mktemp("run")
    with closing(Journal.write(folder)) as journal:
        others = [Other(Candidate(dict.fromkeys(parent.components, text)), [its]) for text, its in theirs]
        now = task(parent, cells=cells, others=others, problem=lambda _: reason, desk=Desk(journal), seed=seed)
        bounded(parent, now, model, GUARDS)


def test_without_a_price_to_keep_the_client_is_not_asked() -> None:
    class Unasked(Model):
        def ceiling(self, request: Request) -> Usage:
            raise AssertionError("asking for a price may load a large library")

    assert Reflection(Unasked(), GUARDS, 10, True, ALL_ALIKE).claim(candidate(), False) == Claim(calls=2)


def test_what_it_tells_of_itself() -> None:
    work = Reflection(Model(), GUARDS, 7, True, ALL_ALIKE)
    assert (work.name, work.minibatch) == ("reflection", 7)
    priced = work.claim(candidate(), True)
    assert priced.rollouts == 0 and priced.usd == pytest.approx(priced.tokens * USD_PER_TOKEN)
