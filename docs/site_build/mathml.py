"""Equations of the pages as MathML, which browsers draw without scripts: $...$ in a line, $$...$$ by itself."""

from __future__ import annotations

from typing import Any

from latex2mathml.converter import convert
from markdown import Extension, Markdown
from markdown.inlinepatterns import InlineProcessor

PATTERN = r"(?<![\\$])(\$\$?)(?![\s$])([^$]+?)(?<!\s)\1(?![$\d])"  # as in Pandoc: "5 $ and 6 $" is text
BEFORE_BACKSLASHES = 185  # and after code, which is 190


class Equation(InlineProcessor):
    def handleMatch(self, m: Any, data: str) -> tuple[str, int, int]:  # type: ignore[override]
        display = "block" if m[1] == "$$" else "inline"
        return self.md.htmlStash.store(convert(m[2], display=display)), m.start(0), m.end(0)


class Equations(Extension):
    def extendMarkdown(self, md: Markdown) -> None:
        md.inlinePatterns.register(Equation(PATTERN, md), "equations", BEFORE_BACKSLASHES)


def on_config(config: Any) -> Any:
    config.markdown_extensions.append(Equations())
    return config
