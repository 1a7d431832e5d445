"""The tree of links as lines of text: only branches indent, so that a chain of a hundred links stays readable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from freeflyer.analysis.facts import LinkRow


@dataclass(frozen=True)
class TreeLine:
    """One link: the guides to its left, and its row."""

    guides: str
    link: LinkRow


def tree_lines(links: Sequence[LinkRow]) -> list[TreeLine]:
    """Lines for links given depth first; a link that is its parent's only child continues in the parent's column."""
    children: dict[str | None, list[LinkRow]] = {}
    for link in links:
        children.setdefault(link.parent, []).append(link)
    lines = []
    stack = [(root, "", "") for root in reversed(children.get(None, []))]
    while stack:
        link, first, rest = stack.pop()  # guides of this line, and of the lines below that continue it
        lines.append(TreeLine(first, link))
        below = children.get(link.name, [])
        if len(below) == 1:
            stack.append((below[0], rest, rest))
            continue
        last = len(below) - 1
        stack += reversed([(c, rest + ("└─ " if i == last else "├─ "), rest + ("   " if i == last else "│  "))
            for i, c in enumerate(below)])  # fmt: skip
    return lines
