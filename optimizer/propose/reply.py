"""Reading a reflection model's reply: exactly one fenced block, or no proposal at all."""

import re

FENCE = re.compile(r" {0,3}(`{3,}+|~{3,}+)([^`]*)")
LINE_END = re.compile(r"\r\n|\n|\r")
TAG = re.compile(r"<(/?)(think|thinking|reasoning)>", re.IGNORECASE)


class ReplyError(ValueError):
    """Why the reply holds no proposal, in words for the model that wrote it."""


def block(reply: str) -> str:
    """The text of the one fenced block, its lines ended by newlines, without blank lines around it.

    ReplyError where there is no block, more than one, or one that is not closed or holds the beginning of another. Reasoning that
    the reply begins with, in tags, is left out.
    """
    blocks: list[list[str]] = []
    fence = None
    for line in LINE_END.split(_answer(reply)):
        mark = FENCE.fullmatch(line)
        if fence is None:
            if mark:
                fence = mark[1]
                blocks.append([])
        elif mark is None or not mark[1].startswith(fence):
            blocks[-1].append(line)
        elif mark[2].strip():
            raise ReplyError(f"the block holds the beginning of another one, {line.strip()[:40]!r}; fence the whole with a longer fence")
        else:
            fence = None
    if fence is not None:
        raise ReplyError("the block with the new text is not closed")
    if not blocks:
        raise ReplyError("the reply has no fenced block with the new text")
    if len(blocks) > 1:
        raise ReplyError(f"the reply has {len(blocks)} fenced blocks; it has to have exactly one, with the whole new text")
    return "\n".join(blocks[0]).strip()


def _answer(reply: str) -> str:
    """What comes after the reasoning that some models begin with. Elsewhere such tags are a part of the text."""
    first = TAG.search(reply)
    if first is None:
        return reply
    if first[1]:  # the model's prompt had opened it
        return reply[first.end() :]
    if reply[: first.start()].strip():
        return reply
    end = re.compile(f"</{first[2]}>", re.IGNORECASE).search(reply, first.end())
    if end is None:
        raise ReplyError("the reply broke off inside its reasoning")
    return reply[end.end() :]
