"""Every move gives demonstrations that can be shown, are new, and leave the minibatch's examples out."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pieces import candidate, example, examples, task

from adapters.candidate import DEMONSTRATIONS, Candidate
from adapters.demonstrations import Demonstration, demonstration_of, dump_demonstrations, parse_demonstrations
from adapters.example import Example
from adapters.prompt import PromptAdapter
from adapters.template import spell
from optimizer.budget import Claim
from optimizer.propose.demos import TRIES, Demos, shown_by
from optimizer.propose.guards import Guards
from optimizer.propose.proposer import Proposal

TRAIN = examples(12)


def showing(*which: int, train: Sequence[Example] = TRAIN) -> Candidate:
    shown = [made for made in (demonstration_of(train[n]) for n in which) if made]
    return candidate(**{DEMONSTRATIONS: dump_demonstrations(shown)})


def propose(
    parent: Candidate, *, most: int = 4, batch: Sequence[Example] = (), seed: int = 0, train: Sequence[Example] = TRAIN
) -> Proposal:
    return asyncio.run(Demos(train, most, 10).propose(task(parent, batch=batch, seed=seed, problem=no_news(parent))))


def no_news(parent: Candidate) -> Callable[[Candidate], str | None]:
    return lambda child: Guards(lambda _: frozenset(), 1000, ()).problem(parent, child, set())


def ids(proposal: Proposal) -> list[str | None]:
    assert proposal.child is not None, proposal.reason
    return [shown.id for shown in shown_by(proposal.child)]


def moves(parent: Candidate, draws: int = 200, most: int = 4) -> Counter[str]:
    return Counter(propose(parent, seed=seed, most=most).reason for seed in range(draws))


# --- moves ------------------------------------------------------------------------------------------------------------


def test_from_nothing_a_fresh_set_is_drawn() -> None:
    sizes = Counter(len(ids(propose(showing(), seed=seed))) for seed in range(100))
    assert sizes.keys() == {2, 3, 4}
    assert moves(showing(), 20) == {"fresh": 20}


def test_each_move_does_what_it_says() -> None:
    parent, before = showing(0, 1, 2), ["e0", "e1", "e2"]
    for seed in range(300):
        proposal = propose(parent, seed=seed)
        after = ids(proposal)
        match proposal.reason:
            case "swap":
                assert len(after) == 3 and sum(a != b for a, b in zip(before, after, strict=True)) == 1
            case "add":
                assert len(after) == 4 and [name for name in after if name in before] == before
            case "drop":
                assert len(after) == 2 and after == [name for name in before if name in after]
            case "reorder":
                assert after != before and sorted(map(str, after)) == before
            case "fresh":
                assert 2 <= len(after) <= 4 and not set(after) & set(before)
            case other:
                pytest.fail(other)


def test_all_moves_are_tried_where_they_are_possible() -> None:
    found = moves(showing(0, 1, 2))
    assert found.keys() == {"swap", "add", "drop", "reorder", "fresh"}
    assert found["swap"] > found["drop"] > 0
    assert moves(showing(0)).keys() == {"swap", "add", "fresh"}
    assert "add" not in moves(showing(0, 1, 2, 3))
    assert moves(showing(0), most=1, draws=50).keys() == {"swap", "fresh"}


def test_the_rest_of_the_candidate_stays() -> None:
    child = propose(showing(0, 1)).child
    assert child is not None and child.components["instructions"] == "Say yes."


def test_answers_that_are_no_text_are_shown_as_json() -> None:
    train = [example("a", {"label": "x", "n": 1}, text="t")]
    child = propose(showing(train=train), train=train).child
    assert child is not None
    assert parse_demonstrations(child.components[DEMONSTRATIONS]) == (Demonstration({"text": "t"}, '{"label": "x", "n": 1}', "a"),)


# --- what is never shown ----------------------------------------------------------------------------------------------


def test_examples_without_an_answer_are_never_shown() -> None:
    train = [example(f"e{n}", None if n % 2 else "yes") for n in range(8)]
    for seed in range(50):
        assert {"e1", "e3", "e5", "e7"}.isdisjoint(ids(propose(showing(train=train), train=train, seed=seed)))


def test_a_twin_of_what_is_shown_or_tried_is_left_out() -> None:
    """Rows with the same inputs, under other ids or none: one shown beside the other wastes room, and one that the minibatch
    tries would be answered by heart."""
    train = [example(f"e{n}", text=f"text {n % 3}") for n in range(9)]
    by_hand = candidate(**{DEMONSTRATIONS: '{"inputs": {"text": "text 0"}, "answer": "yes"}'})
    for seed in range(50):
        child = propose(by_hand, train=train, batch=[train[4]], seed=seed).child
        assert child is not None
        texts = [shown.inputs["text"] for shown in shown_by(child)]
        assert len(set(texts)) == len(texts) and "text 1" not in texts


def test_with_nothing_to_show_there_is_no_proposal() -> None:
    for parent, batch in ((showing(), TRAIN), (showing(0), TRAIN[1:])):
        proposal = propose(parent, batch=batch)
        assert proposal.child is None
        assert proposal.reason == "the train split has no example left to show"


def test_what_the_guards_refuse_is_drawn_again_and_then_given_up() -> None:
    tries: list[Candidate] = []

    def refuse(child: Candidate, until: int) -> str | None:
        tries.append(child)
        return None if len(tries) >= until else "this text was tried before"

    work = Demos(TRAIN, 4, 10)
    found = asyncio.run(work.propose(task(showing(0, 1), problem=lambda child: refuse(child, 5))))
    assert found.child is tries[4] and len(tries) == 5
    tries.clear()
    given_up = asyncio.run(work.propose(task(showing(0, 1), problem=lambda child: refuse(child, 10**6))))
    assert (given_up.child, given_up.reason, len(tries)) == (None, "this text was tried before", TRIES)


def test_a_shuffle_that_changes_nothing_is_no_proposal() -> None:
    """With no other example to show, only dropping and reordering are left."""
    for seed in range(30):
        proposal = propose(showing(0, 1), train=TRAIN[:2], seed=seed)
        assert proposal.child is not None and proposal.child != showing(0, 1)


# --- laws -------------------------------------------------------------------------------------------------------------

texts = st.text(max_size=6) | st.sampled_from(['"' * 20, "\n" * 20, "汉" * 8, "x" * 25, "same"])
values = texts | st.integers(-5, 5) | st.booleans() | st.lists(texts, max_size=2) | st.none()
rows = st.lists(st.tuples(values, values, values), min_size=1, max_size=10)


def made(rows: Sequence[tuple[object, object, object]]) -> list[Example]:
    return [Example(f"id{'_' * (n * 7 % 30)}{n}", {"a": a, "b": b}, expected) for n, (a, b, expected) in enumerate(rows)]


@settings(max_examples=50, deadline=None)
@given(rows, st.integers(1, 5), st.lists(st.integers(0, 9), unique=True, max_size=7), st.integers(0, 99), st.data())
def test_every_proposal_keeps_the_laws(
    rows: list[tuple[object, object, object]], most: int, shown: list[int], seed: int, data: st.DataObject
) -> None:
    train = made(rows)
    parent = showing(*(n for n in shown if n < len(train)), train=train)
    rest = [each for n, each in enumerate(train) if n not in shown]
    batch = data.draw(st.lists(st.sampled_from(rest), unique_by=lambda each: each.id)) if rest else []
    proposal = propose(parent, most=most, batch=batch, seed=seed, train=train)
    assert propose(parent, most=most, batch=batch, seed=seed, train=train) == proposal, "the same stream, the same child"
    if proposal.child is None:
        return
    after = shown_by(proposal.child)
    assert 1 <= len(after) <= most, "also where the seed showed more"
    names = [each.id for each in after]
    assert len(set(names)) == len(names)
    assert not set(names) & {each.id for each in batch}
    known = {each.id: each for each in train}
    assert all(each == demonstration_of(known[str(each.id)]) for each in after)


@settings(max_examples=50, deadline=None)
@given(
    rows=rows,
    most=st.integers(1, 5),
    by_hand=st.lists(st.tuples(values, texts.filter(str.strip)), max_size=3),
    style=st.sampled_from(["turns", "text"]),
    user=st.sampled_from(["{instructions} {a}", "{b}{b} {instructions}", "{a}: {b}, {instructions}"]),
    seed=st.integers(0, 99),
)
def test_the_largest_prompt_is_at_least_as_long_as_any_childs(
    rows: list[tuple[object, object, object]], most: int, by_hand: list[tuple[object, str]], style: str, user: str, seed: int
) -> None:
    """In bytes, in each way that an adapter can show demonstrations: budgets in tokens and money rest on it."""
    train = made(rows)
    parent = candidate(
        "Say {b}.", **{DEMONSTRATIONS: dump_demonstrations(Demonstration({"a": a, "b": "by hand"}, answer) for a, answer in by_hand)}
    )
    adapter = PromptAdapter(user=user, inputs=["a", "b"], demonstrations="turns" if style == "turns" else "text")
    work = Demos(train, most, 10)
    child = asyncio.run(work.propose(task(parent, seed=seed))).child
    if child is None:
        return
    asked = Example("asked", {"a": "?", "b": "!"})
    largest, proposed = (adapter.requests(each, asked)[0].messages for each in (work.largest(parent), child))
    assert len(largest) >= len(proposed)
    assert sum(len(m.content.encode()) for m in largest) >= sum(len(m.content.encode()) for m in proposed)


def test_the_largest_is_no_larger_than_it_has_to_be() -> None:
    """Field by field the longest few, each as often as it could be shown."""
    train = [example("a", "yes", text="x" * 9), example("b", "y" * 9, text="x"), example("c", "no", text="xx")]
    shown = shown_by(Demos(train, 2, 10).largest(showing(0, train=train)))
    assert [spell(each.inputs["text"]) for each in shown] == ["x" * 9, "xx"]
    assert [each.answer for each in shown] == ["y" * 9, "yes"]


def test_the_largest_is_largest_in_bytes() -> None:
    train = [example("a", text="x" * 9), example("b", text="汉" * 4)]
    (shown,) = shown_by(Demos(train, 1, 10).largest(showing(train=train)))
    assert shown.inputs["text"] == "汉" * 4


def test_it_calls_no_model() -> None:
    work = Demos(TRAIN, 4, 7)
    assert work.claim(showing(), True) == work.claim(showing(), False) == Claim()
    assert (work.name, work.minibatch, work.needs_failures) == ("demos", 7, False)
    proposal = propose(showing())
    assert (proposal.used.calls, proposal.used.uses, proposal.used.cells) == ({}, 0, 0)


def test_a_candidate_without_the_component_shows_nothing() -> None:
    assert shown_by(candidate()) == ()
