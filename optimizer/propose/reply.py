"""Reading a reflection model's reply: exactly one fenced block, or no proposal at all."""

import re

FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})([^`\n]*)$")
THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
THOUGHT_OPEN = re.compile(r"<(think|thinking|reasoning)>", re.IGNORECASE)


class ReplyError(ValueError):
    """Why the reply holds no proposal, in words for the model that wrote it."""


def block(reply: str) -> str:
    """The text of the one fenced block. ReplyError where there is none, more than one, or one that is not closed."""
    text = THOUGHT.sub("", reply)
    if THOUGHT_OPEN.search(text):
        raise ReplyError("the reply broke off inside its reasoning")
    blocks: list[list[str]] = []
    fence = None
    for line in text.splitlines():
        mark = FENCE.match(line)
        if fence is None and mark:
            fence = mark[1]
            blocks.append([])
        elif fence is not None and mark and mark[1].startswith(fence) and not mark[2].strip():
            fence = None
        elif fence is not None:
            blocks[-1].append(line)
    if fence is not None:
        raise ReplyError("the block with the new text is not closed")
    if not blocks:
        raise ReplyError("the reply has no fenced block with the new text")
    if len(blocks) > 1:
        raise ReplyError(f"the reply has {len(blocks)} fenced blocks; it has to have exactly one, with the whole new text")
    return "\n".join(blocks[0]).strip()
