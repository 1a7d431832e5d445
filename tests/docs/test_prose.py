"""English of the pages and of public docstrings: short sentences of one clause, nouns in place of "what it is"."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from public_names import public_names

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md")) + [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
LONGEST, WIDEST = 25, 140  # words of a sentence, columns of a line
CODE = r"```.*?^ *```|`[^`\n]*(?:\n[^`\n]*)?`|\$\$.*?\$\$|\$[^$]+\$|!?\[[^][]*\]\([^()]*\)|^ {4,}(?![ *]).*?$|^ *\|.*?$|^#.*?$|^ *>>> .*"
MASKED = re.compile(CODE, re.MULTILINE | re.DOTALL)
BREAK = re.compile(r"\n\s*\n|^ *(?:[*-]|\d+\.) |^[\x01\x02]+\n", re.MULTILINE)  # between paragraphs, items, blocks
SHORT = r"(?<!\be\.g)(?<!\bi\.e)(?<!\bal)(?<!\beqs)(?<!\beq)(?<!\bFig)(?<!\bFigs)(?<!\bsec)(?<!\.\.)"
END = re.compile(SHORT + r"[.?!][)*\"]*\s+(?=[\w(*\"\[\x01])")  # of a sentence
NAMES = re.compile(r"(?:\b[\w-]+, ){2,}(?:(?:and|or) )?[\w-]+|(?:[\x01]+, )+(?:(?:and|or) )?[\w-]*")
VERB = (
    r"\b(?:is|are|was|were|be|has|have|had|do|does|can|cannot|may|must|will|would|should|takes?|gives?|makes?|holds?|needs?|keeps?|"
    r"comes?|goes|go|stands?|says?|shows?|follows?|gets?|uses?|reads?|runs?|returns?|computes?|differs?|becomes?|begins?|ends?|"
    r"costs?|lies?|turns?|moves?|acts?|depends?|agrees?|remains?|adds?|saves?|grows?|falls?|leaves?|writes?|works?|means?|sees?|"
    r"tells?|knows?|finds?|meets?|starts?|passes|pass|changes|checks|converts?|fails?|raises|accepts?|contains?|carries|carry|reaches|"
    r"appears?|lets?|pays?|solves?|went|took|made|gave|got|serves?|belongs?|refers?|stays?|cost|bring|brings|decides?|calls|fits?|knew|"
    r"hangs?|pulls?|pushes|push|counts|matter|matters|differ|asks?|exist|enter|fell|miss|closes?|meet|determines?|exists|loses?|skips?|covers?|bounds|replaces?|rests?|drifts?)\b"
)
RULES = {  # what is wrong, by what finds it in a sentence without its code
    '"what" in place of a noun': re.compile(r"\b[Ww]hat\b(?! to\b)(?![^?]*\?)"),
    "two clauses joined by a colon": re.compile(rf"{VERB}[^:]*[^:\s]:\s+(?!\d)(?:[^,;]|,(?=.*{VERB})){{0,400}}?{VERB}", re.DOTALL),
    "a fragment without a subject": re.compile(
        rf"(?:Of|As|Likewise|From|By|With|Where|Not|To|In|At|On|Beside|Besides|Without|Than) (?!.*(?:{VERB}|\b(?:it|they|this|we)\b)).*", re.DOTALL
    ),
}
FILES = re.compile(r"papers/00\d")


def masked(text: str) -> str:
    """The text with code, equations and links replaced by as many marks, so that places stay the same."""
    return MASKED.sub(lambda m: re.sub(r"[^\n]", "\x02" if m[0].lstrip()[:1] in "|#>" or m[0].startswith("```") else "\x01", m[0]), text)


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Begin and end of each sentence of a page or docstring."""
    hidden = masked(text)
    begin = 0
    for stop in [*BREAK.finditer(hidden), None]:
        end = stop.start() if stop else len(text)
        first = begin
        for full in [*END.finditer(hidden, begin, end), None]:
            last = len(hidden[: full.end() if full else end].rstrip())
            if re.search(r"[A-Za-z]", hidden[first:last]):
                yield first + len(hidden[first:last]) - len(hidden[first:last].lstrip()), last
            first = full.end() if full else end
        begin = stop.end() if stop else end


def faults(text: str) -> Iterator[tuple[int, int, str]]:
    """Begin and end of each sentence that has a fault, and the fault."""
    marks = masked(text)
    for begin, end in sentences(text):
        hidden = re.sub(r'"[^"]*"', '""', marks[begin:end])  # words and colons of titles do not count
        words = len(re.findall(r"\b(?:a|[A-Za-z][\w'/-]+)", NAMES.sub("", hidden)))
        for wrong, pattern in RULES.items():
            if pattern.match(hidden) if "fragment" in wrong else pattern.search(hidden):
                yield begin, end, wrong
        if words > LONGEST:
            yield begin, end, f"{words} words"
        if FILES.search(text[begin:end]):
            yield begin, end, "a file's name in place of a paper's title"


def report(where: str, line: int, text: str) -> list[str]:
    return [f"{where}:{line + text[:begin].count(chr(10))}: {wrong}: {' '.join(text[begin:end].split())}" for begin, end, wrong in faults(text)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_sentences_of_a_page_are_short_and_whole(page: Path) -> None:
    where, text = page.relative_to(ROOT).as_posix(), page.read_text(encoding="utf-8")
    wrong = report(where, 1, text)
    code = re.sub(r"^```.*?^```", lambda m: "\n" * m[0].count("\n"), text, flags=re.MULTILINE | re.DOTALL)
    for number, line in enumerate(code.splitlines(), 1):
        if len(line) > WIDEST and not line.lstrip().startswith("|"):
            wrong.append(f"{where}:{number}: {len(line)} columns")
        if FILES.search(line) and line.lstrip().startswith(("|", "#")):
            wrong.append(f"{where}:{number}: a file's name in place of a paper's title")
    assert not wrong, "\n".join(wrong)


def parts(doc: str) -> str:
    """A docstring as paragraphs: entries without their names and indentation, examples blank."""
    lines, inside = [], False
    for line in re.sub(r"^Examples:(?:\n.*)*", "", doc, flags=re.MULTILINE).splitlines():
        title = re.match(r"(?:Args|Attributes|Raises|Returns|Source|Sources):", line)
        inside = bool(title) or inside and line[:1] in ("", " ")
        text = re.sub(r"^ {4}(?:\*{0,2}\w+(?:, \*{0,2}\w+)*): ", "\n", line[title.end() :] if title else line)
        lines.append(("\n" if title else "") + (text.strip(" ") if inside else text))
    return "\n".join(lines)


@pytest.mark.parametrize("room", sorted({name.rpartition(".")[0] for name in public_names()}))
def test_sentences_of_public_docstrings_are_short_and_whole(room: str) -> None:
    wrong: list[str] = []
    for name, x in public_names().items():
        if name.rpartition(".")[0] == room:
            where = f"{Path(inspect.getsourcefile(inspect.unwrap(x)) or '').relative_to(ROOT)} {name}"
            wrong += report(where, inspect.getsourcelines(x)[1], parts(inspect.getdoc(x) or ""))
    assert not wrong, "\n".join(wrong)
