"""A scorer of your own: what matters here beside being right."""

from adapters.answer import TracedAnswer
from adapters.example import Example


def kept(example: Example, answer: TracedAnswer) -> tuple[bool, str]:
    """No wanted message is thrown away. Spam that gets through costs a glance, a lost message may cost a friend."""
    lost = example.expected == "wanted" and answer.text.strip() == "spam"
    return not lost, "a wanted message was thrown away" if lost else ""
