"""The stand-in's world, which is its answer key.

A parcel has eight aspects, each with a secret code. A task model gives the right code for an aspect whose rule its prompt states
(`rule-zone`), mostly the right one where a worked example shows the aspect, and seldom else. Models disagree: for some of them one rule
spoils another aspect. A reflection model reads whatever text it gets: it keeps the rules that it finds, adds the rules that clues
(`clue-zone`) point to, now and then forgets or invents one, and answers in one fenced block. A judge model
tells the share of an answer's codes that are right, on each trait's own scale. A prompt that says "in words" gets its codes in a
sentence; a parser model reads them out of it.
"""

import hashlib
import json
import random
import re
from typing import Any

ASPECTS = ("carrier", "colour", "grade", "origin", "season", "shelf", "weight", "zone")
SPOILS = {"a": {}, "b": {"shelf": "zone"}, "c": {"zone": "shelf", "colour": "grade"}}
"""Model → rule → the aspect that the model gets wrong when it is told that rule."""

SIZES = {"train": 60, "val": 60, "test": 100}
FIRST_PARCEL = {"train": 1000, "val": 4000, "test": 7000}
SEED_TEXT = "Give the codes that are asked for, as one JSON object."

RULE, CLUE = re.compile(r"rule-([a-z]+)"), re.compile(r"clue-([a-z]+)")
SHOWN = re.compile(r'"([a-z]+)"\s*:\s*"[0-9a-f]{4}"')
GIVEN = re.compile(r'"([a-z]+)"\s*:\s*"(.{4})"')
WORDED = re.compile(r"the ([a-z]+) is (.{4})")
ASKED = re.compile(r"Parcel (\d+): ([a-z, ]+)\?")


def luck(*parts: object) -> float:
    """A number in [0, 1) that depends on its arguments alone."""
    text = json.dumps(parts, sort_keys=True)
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) / 2**64


def code(parcel: int, aspect: str) -> str:
    return f"{int(luck('code', parcel, aspect) * 0x10000):04x}"


def rows(split: str, size: int) -> list[dict[str, Any]]:
    """The data set's rows of one split: each asks for two to four aspects of a parcel."""
    made = []
    for parcel in range(FIRST_PARCEL[split], FIRST_PARCEL[split] + size):
        draw = random.Random(parcel)
        wanted = sorted(draw.sample(ASPECTS, draw.randint(2, 4)))
        made.append(
            {
                "id": f"{split}-{parcel}",
                "split": split,
                "inputs": {"question": f"Parcel {parcel}: {', '.join(wanted)}?"},
                "expected": {aspect: code(parcel, aspect) for aspect in wanted},
                "metadata": {"hints": {aspect: f"{aspect} was not looked up (clue-{aspect})" for aspect in wanted}},
            }
        )
    return made


def chance(model: str, aspect: str, text: str) -> float:
    """How probably a model gives the right code for an aspect under a prompt: the answer key of the whole world."""
    world, _, name = model.partition("-")
    if world == "null":
        return 0.6
    rules = set(RULE.findall(text))
    if aspect in {spoilt for rule, spoilt in SPOILS.get(name, {}).items() if rule in rules}:
        return 0.1
    strays = len(rules.difference(ASPECTS))
    if aspect in rules:
        return 0.97 - 0.05 * strays
    return 0.6 if aspect in SHOWN.findall(text) else 0.15


def answer(model: str, text: str, salt: str) -> str:
    """What a task model says to a prompt that ends in a question."""
    questions = ASKED.findall(text)
    if not questions:
        return "Which parcel?"
    parcel, wanted = int(questions[-1][0]), questions[-1][1].split(", ")
    codes = {}
    for aspect in wanted:
        # Half of the luck belongs to the item, so that some items stay hard under every prompt.
        drawn = luck(model, parcel, aspect) if luck("kind", parcel, aspect) < 0.5 else luck(model, parcel, aspect, salt)
        right = drawn < chance(model, aspect, text)
        codes[aspect] = code(parcel, aspect) if right else f"?{int(luck(salt, aspect) * 1000):03d}"
    if "in words" in text:
        return ", ".join(f"the {aspect} is {code}" for aspect, code in codes.items()) + "."
    return json.dumps(codes)


def reflect(text: str, salt: str) -> str:
    """What the reflection model says: a new instruction in a fenced block."""
    draw = random.Random(salt)
    rules = [rule for rule in dict.fromkeys(RULE.findall(text)) if draw.random() < 0.95]
    rules += [clue for clue in dict.fromkeys(CLUE.findall(text)) if clue not in rules and draw.random() < 0.6]
    if draw.random() < 0.1:
        rules.append(draw.choice(("tariff", "label", "stamp")))
    lines = [f"- rule-{rule}: look the {rule} up in its own table." for rule in rules]
    return "Here is a better text.\n```\n" + "\n".join([SEED_TEXT, *lines]) + "\n```"


def judge(system: str, user: str) -> str:
    """What the judge model says: each trait's value as high as the share of codes in the answer that are right."""
    parcel, aspects = ASKED.findall(user)[0]
    given = dict(GIVEN.findall(user.partition(" begins: answer\n")[2]))
    wanted = aspects.split(", ")
    share = sum(given.get(aspect) == code(int(parcel), aspect) for aspect in wanted) / len(wanted)
    said = {}
    for key, schema in json.loads(system.splitlines()[-1])["properties"].items():
        values = schema["properties"]["value"].get("enum", [False, True])
        said[key] = {"reason": f"{share:.0%} of the codes are right.", "value": values[int(share * (len(values) - 1))]}
    return json.dumps(said)


def parse(system: str, user: str) -> str:
    """What the parser model says: the codes that the answer states, each under its field."""
    stated = dict(WORDED.findall(user))
    return json.dumps({name: stated.get(name) for name in json.loads(system.splitlines()[-1])["properties"]})
