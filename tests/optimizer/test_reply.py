"""A reply is one fenced block or no proposal, however it was written."""

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from optimizer.propose.reply import ReplyError, block

UNCLOSED = "not closed"
NONE = "no fenced block"
SEVERAL = "fenced blocks; it has to have exactly one"
NESTED = "the beginning of another one"
THOUGHT = "broke off inside its reasoning"


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("```\nnew text\n```", "new text"),
        ("Because of this:\n\n```\nnew text\n```\nThat is all.", "new text"),
        ("```markdown\n# Title\n\ntext\n```", "# Title\n\ntext"),
        ("~~~\nnew text\n~~~", "new text"),
        ("   ```\nnew text\n   ```", "new text"),
        ("```\r\none\r\ntwo\r\n```\r\n", "one\ntwo"),
        ("```\rone\rtwo\r```", "one\ntwo"),
        ("```\n\n\n  indented\n\nend  \n\n```", "indented\n\nend"),
        ("````\nUse\n```python\ncode\n```\nso.\n````", "Use\n```python\ncode\n```\nso."),
        ("````\nUse\n```\ncode\n```\n`````", "Use\n```\ncode\n```"),
        ("~~~~\nUse\n```\ncode\n```\n~~~\nso\n~~~~", "Use\n```\ncode\n```\n~~~\nso"),
        ("```\n~~~\n```", "~~~"),
        ("```\nuse ``` inline, or ```x``` so\n```", "use ``` inline, or ```x``` so"),
        ("```\n    ```\n```", "```"),
        ("```\n```", ""),
        ("```\nline\u2028separator\x0cfeed\x85next\x1cfile\n```", "line\u2028separator\x0cfeed\x85next\x1cfile"),
        ("say ```\nno\n\n```\nnew\n```", "new"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_the_text_of_the_one_block(reply: str, text: str) -> None:
    assert block(reply) == text


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("", NONE),
        ("new text", NONE),
        ("``\nnew text\n``", NONE),
        ("    ```\nindented code\n    ```", NONE),
        ("```inline```", NONE),
        ("```\nnew text", UNCLOSED),
        ("```", UNCLOSED),
        ("```\nnew text\n``", UNCLOSED),
        ("````\nnew text\n```", UNCLOSED),
        ("```\nnew text\n~~~", UNCLOSED),
        ("```\none\n```\n```\ntwo\n```", "has 2 " + SEVERAL),
        ("```\none\n```\n~~~\ntwo\n~~~\n```\nthree\n```", "has 3 " + SEVERAL),
        ("```\none\n```\nand\n```\ntwo", UNCLOSED),
        ("```\nUse\n```python\ncode\n```\nso.\n```", NESTED),
        ("```\nUse\n```python\ncode\n```\nso.", NESTED),
        ("```\nUse\n````python\ncode\n```", NESTED),
        ("```\nUse\n```\ncode\n```\nso.\n```", "has 2 " + SEVERAL),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_what_is_no_proposal(reply: str, why: str) -> None:
    with pytest.raises(ReplyError, match=why):
        block(reply)


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("<think>\nfirst ```\ndraft\n```\n</think>\n```\nfinal\n```", "final"),
        ("\n  <Thinking>hm</thinking>```\nfinal\n```\n", "final"),
        ("<reasoning>a <think> b</reasoning>\n```\nfinal\n```", "final"),
        ("<think></think>\n```\nfinal\n```", "final"),
        ("hm, or\n```\ndraft\n```\nno.\n</think>\n\n```\nfinal\n```", "final"),
        ("```\nThink in <think> and </think>, then answer.\n```", "Think in <think> and </think>, then answer."),
        ("So:\n```\nBegin with <think>.\n```", "Begin with <think>."),
        ("<think>a</think>\n```\nThink in <think>, end with </think>.\n```", "Think in <think>, end with </think>."),
    ],
    ids=["draft", "fence on its line", "other tag inside", "empty", "opened in the prompt", "pair in the text", "open in the text", "both"],
)
def test_reasoning_is_left_out_only_at_the_beginning(reply: str, text: str) -> None:
    assert block(reply) == text


@pytest.mark.parametrize("reply", ["<think>hm\n```\ndraft\n```", "<thinking>hm</think>\n```\ndraft\n```", " \n<reasoning>"])
def test_reasoning_that_was_cut_off_leaves_no_proposal(reply: str) -> None:
    with pytest.raises(ReplyError, match=THOUGHT):
        block(reply)


HOSTILE = {
    "opening tags": "<think>" * 140_000,
    "pairs of tags": "<think></think>" * 70_000,
    "tag after spaces": " " * 1_000_000 + "<think",
    "backticks": "`" * 1_000_000 + " x`",
    "tildes": "~" * 1_000_000 + "`",
    "tilde lines": "~~~ ~\n" * 150_000,
    "fences": "```\n" * 250_000,
    "lines": "\n" * 1_000_000,
    "returns": "\r" * 1_000_000,
    "one long line": "x" * 1_000_000,
    "half opened": "<" * 1_000_000,
}


@pytest.mark.parametrize("reply", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_reply_takes_no_longer_than_its_length(reply: str) -> None:
    """A megabyte in well under a second; anything quadratic would take minutes."""
    start = time.process_time()
    with pytest.raises(ReplyError) as caught:
        block(reply)
    assert time.process_time() - start < 5
    assert len(str(caught.value)) < 200


def test_a_long_text_comes_through() -> None:
    text = "line\n" * 200_000 + "end"
    assert block(f"```\n{text}\n```") == text


odd_lines = st.sampled_from(["```", "~~~", "```py", "", "<think>"])
lines = st.lists(st.text(st.characters(exclude_characters="\r\n"), max_size=12) | odd_lines, max_size=8)


@given(lines)
@example(["</think>"])
def test_a_text_in_a_long_enough_fence_comes_back(content: list[str]) -> None:
    """The way out that the instruction names, for any text."""
    longest = max((len(line) for line in content), default=0)
    fence = "`" * max(3, longest + 1)
    text = "\n".join(content)
    if "</" in text and "<think" not in text.partition("</")[0]:
        return  # a closing tag alone is taken for the end of reasoning
    assert block(f"Here:\n{fence}\n{text}\n{fence}\n") == text.strip()


@given(st.text(st.sampled_from("`~\n\r x<>/think"), max_size=60))
def test_any_reply_is_a_text_or_a_reason(reply: str) -> None:
    try:
        text = block(reply)
    except ReplyError as error:
        assert str(error)
    else:
        assert text == text.strip() and "\r" not in text
