"""Units: the lines that candidates are made of, so that what is learned of a line holds wherever it stands."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from adapters.candidate import DEMONSTRATIONS, Candidate

FENCE = re.compile(r"\s*(`{3,}(?=[^`]*$)|~{3,})")
"""What opens a fenced block: the same characters, as many or more, on a line of their own close it (CommonMark 0.31, section 4.5)."""

MOST = 200
"""Units of a text. Of thousands, which the cells cannot tell apart, the belief would take minutes."""


@dataclass(frozen=True)
class Unit:
    """A line of a component's text, with the indented lines that belong to it; or a fenced block, whole."""

    component: str
    text: str


@lru_cache(maxsize=4096)
def units(candidate: Candidate) -> tuple[Unit, ...]:
    """Each once, in order, component by component. Every demonstration is one."""
    pairs = ((name, _lines(text) if name == DEMONSTRATIONS else _few(pieces(text))) for name, text in candidate.components.items())
    return tuple(dict.fromkeys(Unit(name, piece) for name, found in pairs for piece in found))


def pieces(text: str) -> list[str]:
    """The text's units. Blank lines are only kept inside of fenced blocks."""
    found: list[str] = []
    fence = ""
    for line in text.split("\n"):
        if fence:
            found[-1] += f"\n{line}"
            fence = "" if _closes(line.strip(), fence) else fence
        elif line.strip():
            if found and line[0].isspace():
                found[-1] += f"\n{line}"
            else:
                found.append(line)
            opened = FENCE.match(line)
            fence = opened[1] if opened else ""
    return found


def _few(found: Sequence[str]) -> list[str]:
    """Each once. Where there are too many, the last ones are one, so that a line more at the end leaves the first ones what they are."""
    each = list(dict.fromkeys(found))
    return each if len(each) <= MOST else [*each[: MOST - 1], "\n".join(each[MOST - 1 :])]


def _closes(line: str, fence: str) -> bool:
    return len(line) >= len(fence) and set(line) == {fence[0]}


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if line.strip()]


def assemble(components: Iterable[str], chosen: Sequence[Unit]) -> Candidate:
    """The candidate whose texts are the units, in their order."""
    texts: Mapping[str, list[str]] = {name: [] for name in components}
    for unit in chosen:
        texts[unit.component].append(unit.text)
    return Candidate({name: "\n".join(lines) for name, lines in texts.items()})
