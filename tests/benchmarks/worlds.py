"""Hidden worlds for search_worlds.py: tasks whose truth is known, and a reflection model for them. Everything follows from numbers.

A request asks for one to three things. For each there is a code, which nobody can know but from a rule in the prompt. A prompt that states
the rule makes the code mostly right; how often depends on the model. Rules that are misread make it worse; every useless line, and every
line beyond a few, weakens all others; some pairs of rules spoil each other. A prompt's worth is the exact mean chance, over requests that
no search sees, that all codes of a request are right.
"""

import json
import math
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import sha256

from adapters.answer import Usage
from adapters.clients.client import Capabilities, Completion, Request
from adapters.digest import Json
from adapters.example import Example
from optimizer.propose.reflection import ANEW

SEED = "Read the request and give the code of everything that is asked."
DEFECTIVE = "Read the request, mind Z1, Z2, Z3, Z4, X0, X1 and X2, and give the code of everything that is asked."
CODE = re.compile(r"\b([RXZ])(\d+)\b")
"""R: a rule. X: the rule misread. Z: a line of no use."""
STATEMENT = re.compile(r"(?<=\.)\s+")
UNSEEN = 300
"""Requests that no search sees."""
GENERIC = ["case", "matter", "topic", "item", "order", "client", "letter", "question", "entry", "point", "subject", "file"]
FORGETS, TAKES, MOST, MISREADS, INVENTS = 0.06, 0.6, 4, 0.12, 0.35
"""Of the reflection model, as chances: a line is left out, a hint is taken up (so many at most), it is misread, a line is made up."""
LONG, USELESS, MISREAD, SPOILT = 36.0, 0.98, 0.6, 0.55
"""Lines with which a prompt is followed 1/e as well; what is left of that by useless line; of a code's chance when its rule is misread, and
when another rule spoils it."""


@dataclass(frozen=True)
class Options:
    """`base`: the chance of a code without its rule. `strength`: how much prompts matter, 0 (not at all) to 1. `noise`: the share of codes
    that come out the other way. `reword`: a rewrite words every line anew. `paragraph`: prompts have one line. `opaque`: lines have no word
    in common with requests. `fickle`: the same question gets another answer each time. `examples`: in train, and in val.
    `defective`: the seed's first sentence, which every rewrite keeps, does harm."""

    rules: int = 12
    base: float = 0.25
    strength: float = 1.0
    noise: float = 0.0
    reword: bool = False
    paragraph: bool = False
    opaque: bool = False
    fickle: bool = False
    examples: int = 60
    defective: bool = False


class World:
    def __init__(self, number: int, options: Options, models: Sequence[str]) -> None:
        self.number, self.options, self.models = number, options, models
        self.seed = DEFECTIVE if options.defective else SEED
        rng = random.Random(f"world {number}")
        syllables = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
        names = rng.sample([a + b + c for a in syllables for b in syllables[:12] for c in ("", "n", "s")], 4 * options.rules + 40)
        self._words = [names[4 * rule : 4 * rule + 4] for rule in range(options.rules)]
        self._filler = names[4 * options.rules :]
        self._follow = {model: [_followed(rng) for _ in range(options.rules)] for model in models}
        pairs = [(a, b) for a in range(options.rules) for b in range(a)]
        self._spoils = rng.sample(pairs, options.rules // 4)
        self._weights = [1 / (1 + 0.15 * rule) for rule in range(options.rules)]
        self.asked: dict[str, list[int]] = {}
        """Request → the things that it asks for."""
        sizes = {"train": options.examples, "val": options.examples, "unseen": UNSEEN}
        self.splits = {split: [self._example(f"{split}{n}", rng) for n in range(size)] for split, size in sizes.items()}

    def _example(self, name: str, rng: random.Random) -> Example:
        things: list[int] = []
        for _ in range(rng.choice((1, 1, 2, 2, 3))):
            things += [thing for thing in rng.choices(range(self.options.rules), self._weights) if thing not in things]
        words = [*(word for thing in things for word in rng.sample(self._words[thing], 2)), *rng.sample(self._filler, 4)]
        rng.shuffle(words)
        request = f"{name}: {' '.join(words)}"
        self.asked[request] = things
        return Example(name, {"request": request}, {str(thing): f"R{thing}" for thing in things})

    # --- the truth ------------------------------------------------------------------------------------------------

    def chances(self, model: str, text: str, request: str) -> list[float]:
        """By thing that is asked for, how likely its code comes out right."""
        options, said = self.options, CODE.findall(text)
        rules, misread = ({int(n) for kind, n in said if kind == letter} for letter in "RX")
        force = math.exp(-((len(said) / LONG) ** 2)) * USELESS ** sum(kind == "Z" for kind, _ in said)
        hard = _normal(self.number, request)
        found = []
        for thing in self.asked[request]:
            chance = self._follow[model][thing] if thing in rules else options.base
            spoilt = any(thing == late and early in rules for late, early in self._spoils) and thing in rules
            chance *= force * (SPOILT if spoilt else 1.0) * (MISREAD if thing in misread else 1.0)
            chance = options.base + options.strength * (chance - options.base)
            found.append(1 / (1 + math.exp(hard) * (1 - chance) / chance))
        return found

    def worth(self, text: str) -> float:
        """0..1: the mean over models and requests that no search sees."""
        requests = [str(example.inputs["request"]) for example in self.splits["unseen"]]
        return sum(math.prod(self.chances(m, text, r)) for m in self.models for r in requests) / len(requests) / len(self.models)

    @cached_property
    def best(self) -> float:
        """The worth of the best set of rules that taking in and leaving out one at a time finds."""
        chosen: frozenset[int] = frozenset()
        while True:
            flips = [chosen ^ {rule} for rule in range(self.options.rules)]
            better = max(flips, key=self._set_worth)
            if self._set_worth(better) <= self._set_worth(chosen):
                return self._set_worth(chosen)
            chosen = better

    @lru_cache(maxsize=1024)  # noqa: B019  (worlds are few, and live as long as the program)
    def _set_worth(self, rules: frozenset[int]) -> float:
        return self.worth(" ".join(f"R{rule}." for rule in sorted(rules)))

    # --- the models -----------------------------------------------------------------------------------------------

    def answer(self, model: str, text: str, request: str, seed: int | None) -> str:
        """The same for the same question, but for fickle models, which go by the seed too."""
        codes, luck = {}, (seed,) if self.options.fickle else ()
        for thing, chance in zip(self.asked[request], self.chances(model, text, request), strict=True):
            right = _uniform(self.number, model, text, request, thing, *luck) < chance
            turned = _uniform("noise", self.number, model, text, request, thing, *luck) < self.options.noise
            codes[str(thing)] = f"R{thing}" if right != turned else "R?"
        return json.dumps(codes)

    def reflect(self, prompt: str, salt: object) -> str:
        """Keeps most of the text, where that is asked for, and takes up some of the hints that the feedback holds."""
        rng = random.Random(f"{self.number} {salt} {_uniform(prompt)}")
        text = prompt.split("# The text now\n\n")[1].split("\n\n# How it did", maxsplit=1)[0].strip()
        first, *rest = [SEED] if ANEW in prompt else STATEMENT.split(text)
        hints = sorted({int(n) for line in re.findall(r"Feedback: wrong: (.*)", prompt) for n in re.findall(r"R(\d+)", line)})
        mended = {f"X{hint}" for hint in hints if rng.random() < 0.5}
        kept = [line for line in rest if rng.random() >= FORGETS and not mended & set(_codes(line))]
        new = [hint for hint in hints if f"R{hint}" not in _codes(" ".join(kept)) and rng.random() < TAKES]
        rng.shuffle(new)
        codes = [f"X{hint}" if rng.random() < MISREADS else f"R{hint}" for hint in new[:MOST]]
        codes += [f"Z{rng.randrange(10**5)}"] if rng.random() < INVENTS else []
        kept = [self.line(_codes(line)[0], rng) if self.options.reword and _codes(line) else line for line in kept]
        lines = [first, *kept, *(self.line(code, rng) for code in codes if code not in _codes(" ".join(kept)))]
        return f"```\n{(' ' if self.options.paragraph else chr(10)).join(lines)}\n```"

    def line(self, code: str, rng: random.Random) -> str:
        if code[0] == "Z":
            return f"Always mind the {' '.join(rng.sample(GENERIC, 2))} as in {code}."
        words = self._words[int(code[1:])]
        if self.options.opaque:
            return f"Policy {code} is to be followed."
        if self.options.reword:
            return f"{' '.join(rng.sample(GENERIC, 3))} {' '.join(rng.sample(words, 2))} {rng.choice(GENERIC)} {code}."
        return f"When it is about {words[0]} or {words[1]}, the code is {code}."


def _followed(rng: random.Random) -> float:
    return rng.uniform(0.4, 0.6) if rng.random() < 0.2 else rng.uniform(0.8, 0.97)


def _codes(text: str) -> list[str]:
    return [kind + number for kind, number in CODE.findall(text)]


def _uniform(*parts: object) -> float:
    return int.from_bytes(sha256(repr(parts).encode()).digest()[:6]) / 2**48


@lru_cache(maxsize=100_000)
def _normal(*parts: object) -> float:
    return random.Random(repr(parts)).gauss(0, 0.7)


class Client:
    """A model client of a world. `model`: one of the world's models, or `reflection`."""

    def __init__(self, world: World, model: str) -> None:
        self._world, self.model, self.calls = world, model, 0
        self.capabilities = Capabilities(seed=True, exact=not world.options.fickle)

    @property
    def identity(self) -> Mapping[str, Json]:
        return {"model": self.model}

    def ceiling(self, request: Request) -> Usage:
        return Usage(1, 1, 0.0)

    async def complete(self, request: Request) -> Completion:
        self.calls += 1
        said = [message.content for message in request.messages]
        text = self._world.reflect(said[0], (len(said), request.seed)) if self.model == "reflection" else self._answer(said, request.seed)
        return Completion(text, "stop", Usage(1, 1, 0.0), 0.0)

    def _answer(self, said: Sequence[str], seed: int | None) -> str:
        return self._world.answer(self.model, said[0], said[1], seed)

    async def close(self) -> None:
        """There is nothing to close."""
