"""How fast answers are judged, and that folding a large one takes time in proportion to its length.

    python tests/benchmarks/answer_speed.py [--answers 100000] [--megabytes 5]

Answers of 200 words with a number in every tenth place, three acceptable answers, one of them at the end in one answer of two;
under plain containment, and with every setting on. Then `fold` on texts of one size, half of it and a quarter, each of them what
a regular expression that backtracks would be slowest on. Times are of one core, in CPU seconds; about a minute in all.
"""

import argparse
import random
import time
from collections.abc import Callable, Sequence
from functools import partial

from scoring.answer import score_answer
from scoring.matching import PLAIN, Matching
from scoring.text import fold

WORDS = [
    "The",
    "river",
    "at",
    "Köln",
    "carries",
    "much",
    "more",
    "water",
    "in",
    "spring,",
    "said",
    "Anna;",
    "but",
    "(usually)",
    "not",
    "so",
]
EXPECTED = ["1204.5", "12,400", "the old town"]
EVERY = Matching(
    numeric=True,
    case="fold",
    whole_words=True,
    hide_after_letters=True,
    max_characters=5000,
    last_characters=2000,
    rivals=["the new town", "no"],
    one_number=True,
)
LARGE = {
    "prose with numbers": "In 2019 it was 12,400 kg,  and 1,204.5 later. ",
    "digits": "1234567890",
    "grouped digits": "1,234",
    "no-break groups": "1\u00a0234",
    "broken groups": "1,23,",
    "commas": ",",
    "white space": " \t\n",
}


def seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def judge(texts: Sequence[str], matching: Matching) -> None:
    for text in texts:
        score_answer("item", text, EXPECTED, matching)


def answers(count: int) -> list[str]:
    """1000 different ones, again and again."""
    rng = random.Random(0)
    texts = []
    for index in range(1000):
        words = [f"{rng.randrange(10**6):,}" if place % 10 == 9 else rng.choice(WORDS) for place in range(199)]
        texts.append(" ".join([*words, EXPECTED[index % 3] if index % 2 else "nothing"]))
    return [texts[index % 1000] for index in range(count)]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--answers", type=int, default=100_000)
    parser.add_argument("--megabytes", type=float, default=5)
    arguments = parser.parse_args()
    texts = answers(arguments.answers)
    for name, matching in (("plain", PLAIN), ("every setting", EVERY)):
        took = seconds(partial(judge, texts, matching))
        print(f"answer_contains, {name:<14} {len(texts):>9,} answers {took:>7.2f} s {took / len(texts) * 1e6:>7.1f} µs each", flush=True)
    size = int(arguments.megabytes * 1_000_000)
    for name, part in LARGE.items():
        text = (part * (size // len(part.encode()) + 1)).encode()[:size].decode(errors="ignore")
        whole, half, quarter = (seconds(partial(fold, text[: len(text) // share])) for share in (1, 2, 4))
        print(f"fold, {name:<20} {arguments.megabytes:g} MB {whole:>6.3f} s, a half {half:.3f}, a quarter {quarter:.3f}", flush=True)


if __name__ == "__main__":
    main()
