"""Lines and tables for people: whatever text they hold is shown as it is, never obeyed."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from optimizer.report.words import visible

ROOM = 76
"""Columns that a table needs."""


def show_table(console: Console, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Rows of cells; the first names the row, the others are told by their heads. Texts are shown as they are."""
    if not console.is_terminal or console.width < ROOM:
        for name, *cells in rows:
            told = [f"{head} {cell}".strip() for head, cell in zip(heads[1:], cells, strict=True) if cell]
            say(console, f"{name}: {', '.join(told)}")
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for head in heads:
        table.add_column(Text(visible(head)), overflow="fold")
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    console.print(table)


def say(console: Console, text: str, style: str = "") -> None:
    """A line of text that is not markup. Where nobody looks it is not wrapped."""
    console.print(Text(visible(text), style=style), soft_wrap=not console.is_terminal)
