"""Whether a component's texts are sums of lines is told by what proposals have made of them."""

import pytest
from pieces import candidate

from adapters.candidate import DEMONSTRATIONS, Candidate
from optimizer.rewrites import Rewrites

RULES = "first rule\nsecond rule\nthird rule\nfourth rule"


def whole(before: str, *after: str, speaking: float = 1.0) -> bool:
    rewrites = Rewrites()
    for text in after:
        rewrites.add(candidate(before), candidate(text))
    return rewrites.whole({"instructions": speaking}) == {"instructions"}


@pytest.mark.parametrize(
    ("before", "after", "speaking", "expected"),
    [
        (RULES, f"{RULES}\nfifth rule", 1.0, False),
        (RULES, "first rule\nsecond rule\nother words", 1.0, False),
        (RULES, "first rule\nall\nthe others\nworded anew", 1.0, True),
        (RULES, f"{RULES}\nfifth rule", 0.2, True),
        (RULES, f"{RULES}\nfifth rule", 0.25, False),
        (RULES, "one paragraph of it all", 1.0, True),
        ("Do it.", "Do it well.\nfirst rule", 1.0, False),
        ("Do it.", "Do it well.", 1.0, True),
    ],
    ids=["added", "half kept", "reworded", "speaks of nothing", "speaks enough", "paragraph", "a short text tells nothing", "one line"],
)
def test_by_rewrite(before: str, after: str, speaking: float, expected: bool) -> None:
    assert whole(before, after, speaking=speaking) == expected


def test_the_mean_over_the_rewrites_decides() -> None:
    kept, anew = f"{RULES}\nmore", "a\nb\nc"
    assert not whole(RULES, kept, anew)
    assert whole(RULES, kept, anew, anew)


def test_nothing_is_known_before_the_first_rewrite_and_demonstrations_are_lines_always() -> None:
    rewrites = Rewrites()
    assert rewrites.whole({"instructions": 0.0}) == set()
    parent = Candidate({"instructions": "Do.", DEMONSTRATIONS: ""})
    rewrites.add(parent, parent.replace(**{DEMONSTRATIONS: "{}"}))
    assert rewrites.whole({"instructions": 0.0, DEMONSTRATIONS: 0.0}) == set()
