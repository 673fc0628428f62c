"""Whether a component's texts are sums of lines is told by what proposals have made of them."""

import pytest
from pieces import candidate

from adapters.candidate import DEMONSTRATIONS, Candidate
from optimizer.rewrites import Rewrites

RULES = "first rule\nsecond rule\nthird rule\nfourth rule"


def whole(before: str, *after: str, silent: bool = False) -> bool:
    rewrites = Rewrites()
    for text in after:
        rewrites.add(candidate(before), candidate(text))
    return rewrites.whole({"instructions"} if silent else set()) == {"instructions"}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (RULES, f"{RULES}\nfifth rule", False),
        (RULES, "first rule\nsecond rule\nother words", False),
        (RULES, "first rule\nall\nthe others\nworded anew", True),
        (RULES, "one paragraph of it all", True),
        ("Do it.", "Do it well.\nfirst rule", False),
        ("Do it.", "Do it well.", True),
    ],
    ids=["added", "half kept", "reworded", "paragraph", "a short text tells nothing", "one line"],
)
def test_by_rewrite(before: str, after: str, expected: bool) -> None:
    assert whole(before, after) == expected


def test_where_lines_speak_of_no_example_texts_are_whole() -> None:
    assert whole(RULES, f"{RULES}\nfifth rule", silent=True)


def test_the_mean_over_the_rewrites_decides() -> None:
    kept, anew = f"{RULES}\nmore", "a\nb\nc"
    assert not whole(RULES, kept, anew)
    assert whole(RULES, kept, anew, anew)


def test_nothing_is_known_before_the_first_rewrite_and_demonstrations_are_lines_always() -> None:
    rewrites = Rewrites()
    assert rewrites.whole({"instructions"}) == set()
    parent = Candidate({"instructions": "Do.", DEMONSTRATIONS: ""})
    rewrites.add(parent, parent.replace(**{DEMONSTRATIONS: "{}"}))
    assert rewrites.whole({"instructions", DEMONSTRATIONS}) == set()
