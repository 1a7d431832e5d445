"""English of the pages and of public docstrings: short sentences of one clause, nouns in place of "what it is"."""

import inspect
import pytest
import re
from collections.abc import Iterator
from pathlib import Path
from public_names import public_names

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md")) + [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
LONGEST, WIDEST = 25, 140  # words of a sentence, columns of a line
HIDDEN = (  # code, equations, links, indented blocks, tables, headings
    r"```.*?^ *```", r"`[^`\n]*(?:\n[^`\n]*)?`", r"\$\$.*?\$\$", r"\$[^$]+\$", r"!?\[[^][]*\]\([^()]*\)", r"^ {4,}(?![ *]).*?$",
    r"^ *\|.*?$", r"^#.*?$",
)  # fmt: skip
MASKED = re.compile("|".join(HIDDEN), re.MULTILINE | re.DOTALL)
BREAK = re.compile(r"\n\s*\n|^ *(?:[*-]|\d+\.) |^[\x01\x02]+\n", re.MULTILINE)  # between paragraphs, items, blocks
SHORT = r"(?<!\be\.g)(?<!\bi\.e)(?<!\bal)(?<!\beqs)(?<!\beq)(?<!\bFig)(?<!\bFigs)(?<!\bsec)(?<!\.\.)"
END = re.compile(SHORT + r"[.?!][)*\"]*\s+(?=[\w(*\"\[\x01])")  # of a sentence
NAMES = re.compile(r"(?:\b[\w-]+, ){2,}(?:(?:and|or) )?[\w-]+|(?:[\x01]+, )+(?:(?:and|or) )?[\w-]*")
VERBS = (  # with and without a final s
    "accept act add agree appear ask become begin belong close come compute contain convert cost cover decide depend "
    "determine differ drift end fail fall find fit follow get give grow hang hold keep know leave let lie lose make "
    "mean meet move need pay read refer remain replace rest return run save say see serve show skip solve stand "
    "start stay take tell turn use work write"
)
FORMS = ("is are was were be has have had do does can cannot may must will would should goes go passes pass changes checks "
         "raises carries carry reaches went took made gave got cost bring brings calls knew counts matter "
         "matters differ exist enter fell miss meet exists bounds")  # fmt: skip
VERB = r"\b(?:" + "|".join([f"{verb}s?" for verb in VERBS.split()] + FORMS.split()) + r")\b"
RULES = {  # what is wrong, by what finds it in a sentence without its code
    '"what" in place of a noun': re.compile(r"\b[Ww]hat\b(?! to\b)(?![^?]*\?)"),
    "two clauses joined by a colon": re.compile(rf"{VERB}[^:]*[^:\s]:\s+(?!\d)(?:[^,;]|,(?=.*{VERB})){{0,400}}?{VERB}", re.DOTALL),
    "a fragment without a subject": re.compile(
        r"(?:Of|As|Likewise|From|By|With|Where|Not|To|In|At|On|Besides?|Without|Than) "
        rf"(?!.*(?:{VERB}|\b(?:it|they|this|we)\b)).*",
        re.DOTALL,
    ),
}
FILES = re.compile(r"papers/00\d")


def masked(text: str) -> str:
    """The text with code, equations and links replaced by as many marks, so that places stay the same."""
    def marks(found: re.Match[str]) -> str:
        block = found[0].lstrip()[:1] in "|#" or found[0].startswith("```")
        return re.sub(r"[^\n]", "\x02" if block else "\x01", found[0])

    return MASKED.sub(marks, text)


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
    """File, line, fault and text of each sentence that has a fault."""
    return [
        f"{where}:{line + text.count(chr(10), 0, begin)}: {wrong}: {' '.join(text[begin:end].split())}"
        for begin, end, wrong in faults(text)
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_sentences_of_a_page_are_short_and_whole(page: Path) -> None:
    where, text = page.relative_to(ROOT).as_posix(), page.read_text(encoding="utf-8")
    wrong = report(where, 1, text)
    code = re.sub(r"^```.*?^```", lambda m: "\n" * m[0].count("\n"), text, flags=re.MULTILINE | re.DOTALL)
    for number, line in enumerate(code.splitlines(), 1):
        if len(line) > WIDEST and not line.startswith(("|", "    ")):
            wrong.append(f"{where}:{number}: {len(line)} columns")
        if FILES.search(line) and line.lstrip().startswith(("|", "#")):
            wrong.append(f"{where}:{number}: a file's name in place of a paper's title")
    assert not wrong, "\n".join(wrong)


def parts(doc: str) -> str:
    """A docstring as paragraphs: entries without their names and indentation, examples blank."""
    lines, inside = [], False
    for line in re.sub(r"^Examples:(?:\n.*)*", "", doc, flags=re.MULTILINE).splitlines():
        title = re.match(r"(?:Args|Attributes|Raises|Returns|Source|Sources):", line)
        inside = bool(title) or (inside and line[:1] in ("", " "))
        text = re.sub(r"^ {4}(?:\*{0,2}\w+(?:, \*{0,2}\w+)*): ", "\n", line[title.end() :] if title else line)
        lines.append(("\n" if title else "") + (text.strip(" ") if inside else text))
    return "\n".join(lines)


@pytest.mark.parametrize("room", sorted({name.rpartition(".")[0] for name in public_names()}))
def test_sentences_of_public_docstrings_are_short_and_whole(room: str) -> None:
    wrong: list[str] = []
    for name, x in public_names().items():
        if name.rpartition(".")[0] == room:
            where = f"{inspect.unwrap(x).__module__} {name}"
            wrong += report(where, inspect.getsourcelines(x)[1], parts(inspect.getdoc(x) or ""))
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(("text", "wrong"), [
    ("A sole is flat. " + "It is a long word " * 5 + "in one sentence.", "28 words"),
    ("Read the code.\n\n* " + "one, " * 30 + "two and `three`.", ""), ("This is what it takes.", '"what" in place of a noun'),
    ("What is a sole?", ""), ("The message says what to do.", ""),
    ("A trace is short: its steps are the closed form.", "two clauses joined by a colon"), ("There are two forms: `a`, `b`.", ""),
    ("This is a list:\n\n* It is one item.", ""), ("Of the pushes.", "a fragment without a subject"),
    ("It runs. From sample to sample, s.", "a fragment without a subject"), ("From this the torques follow.", ""),
    ("See papers/003 (27).", "a file's name in place of a paper's title"),
    ("```python\nx = what(is_it)  # papers/003: it is, as it is\n```\n\n| what it is | Of it |\n\n# What it is\n", ""),
    (parts("It is.\n\nArgs:\n    a, b: (n,) array, m.\n    seed: Of the\n        pushes.\nReturns: (n,).\n"),
     "a fragment without a subject"),
    (parts("It is.\n\nRaises: InputError as `f`, and for what\nis no set.\n\nExamples:\n    >>> what\n    Of it.\n"),
     '"what" in place of a noun'),
])  # fmt: skip
def test_faults_are_found(text: str, wrong: str) -> None:
    assert [fault for *_, fault in faults(text)] == ([wrong] if wrong else [])
