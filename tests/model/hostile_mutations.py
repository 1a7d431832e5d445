"""Seeded damage to robot files: cut, copied, swapped and replaced pieces, numbers that are none."""

import random
import re

NUMBER = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")
QUOTED = re.compile(r'"[^"]*"')
ATTRIBUTE = re.compile(r'[a-z_]+="')
ELEMENT = re.compile(r"<[a-z]+[^<>]*?/>")
TAG = re.compile(r"</?([a-z]+)")
NO_NUMBERS = (
    "nan", "inf", "-inf", "-1", "0", "1e308", "-1e308", "1e999", "1e-320", "abc", "", "1 2 3 4 5 6 7", "0 0 0", "0x10",
    "1_0", "٣", "9" * 30, "1e20", "--3", "1,5", "${pi}", "$(x)", "NaN 1 2", "1e", "+", "true", "1e9 1e9 1e9",
)  # fmt: skip
CHARACTERS = "\x00\x01\x08<>\"'&\u2028\ud7ff\U0010ffffé\t\n#:[]{}*!|"


def damaged(text: str, seed: int) -> str:
    """The text with one to six damages."""
    rng = random.Random(seed)
    for _ in range(rng.choice((1, 1, 1, 1, 2, 3, 6))):
        text = rng.choice(DAMAGES)(text, rng) or "<"
    return text


def _span(text: str, rng: random.Random, longest: int) -> tuple[int, int]:
    i = rng.randrange(len(text))
    return i, min(len(text), i + rng.randrange(1, longest))


def _truncate(text: str, rng: random.Random) -> str:
    return text[: rng.randrange(len(text))]


def _cut(text: str, rng: random.Random) -> str:
    i, j = _span(text, rng, 200)
    return text[:i] + text[j:]


def _repeat(text: str, rng: random.Random) -> str:
    i, j = _span(text, rng, 500)
    return text[:j] + text[i:j] + text[j:]


def _character(text: str, rng: random.Random) -> str:
    i = rng.randrange(len(text))
    return text[:i] + rng.choice(CHARACTERS) + text[i + 1 :]


def _number(text: str, rng: random.Random) -> str:
    found = list(NUMBER.finditer(text))
    m = rng.choice(found) if found else None
    return text if m is None else text[: m.start()] + rng.choice(NO_NUMBERS) + text[m.end() :]


def _swap(pattern: re.Pattern[str], group: int = 0):
    def damage(text: str, rng: random.Random) -> str:
        found = list(pattern.finditer(text))
        if not found:
            return text
        a, b = rng.choice(found), rng.choice(found)
        return text[: a.start(group)] + b.group(group) + text[a.end(group) :]

    return damage


def _drop_element(text: str, rng: random.Random) -> str:
    found = list(ELEMENT.finditer(text))
    m = rng.choice(found) if found else None
    return text if m is None else text[: m.start()] + text[m.end() :]


def _copy_element(text: str, rng: random.Random) -> str:
    found = list(ELEMENT.finditer(text))
    if not found:
        return text
    a, b = rng.choice(found), rng.choice(found)
    return text[: a.start()] + b.group() + text[a.start() :]


DAMAGES = (
    _truncate, _cut, _repeat, _character, _number, _number, _number, _number, _swap(QUOTED), _swap(QUOTED),
    _swap(ATTRIBUTE), _swap(TAG, 1), _drop_element, _drop_element, _copy_element,
)  # fmt: skip
