"""Seeded damage to robot files: cut, copied, swapped and replaced pieces, numbers that are none."""

import random
import re

NUMBER = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")
QUOTED = re.compile(r'"[^"]*"')
ATTRIBUTE = re.compile(r'[a-z_]+="')
ELEMENT = re.compile(r"<[a-z]+[^<>]*?/>")
TAG = re.compile(r"</?([a-z]+)")
NO_NUMBERS = ("nan", "inf", "-inf", "-1", "0", "1e308", "-1e308", "1e999", "1e-320", "abc", "", "1 2 3 4 5 6 7", "0 0 0",
              "0x10", "1_0", "٣", "9" * 30, "1e20", "--3", "1,5", "${pi}", "$(x)", "NaN 1 2", "1e", "+", "true",
              "1e9 1e9 1e9")  # fmt: skip
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


def _found(pattern: re.Pattern[str], new, group: int = 0):
    """Damage of one place of a pattern, by another one of them or at random; the text itself where there is none."""

    def damage(text: str, rng: random.Random) -> str:
        found = list(pattern.finditer(text))
        if not found:
            return text
        a, b = rng.choice(found), rng.choice(found)
        return text[: a.start(group)] + new(b, rng) + text[a.end(group) :]

    return damage


def _spanned(text: str, rng: random.Random, longest: int, times: int) -> str:
    """A span none or two times."""
    i, j = _span(text, rng, longest)
    return text[:i] + text[i:j] * times + text[j:]


def _character(text: str, rng: random.Random) -> str:
    i = rng.randrange(len(text))
    return text[:i] + rng.choice(CHARACTERS) + text[i + 1 :]


_number = _found(NUMBER, lambda m, rng: rng.choice(NO_NUMBERS))
_same = lambda m, rng: m.group()
_drop = _found(ELEMENT, lambda m, rng: "")
DAMAGES = (lambda text, rng: text[: rng.randrange(len(text))], lambda text, rng: _spanned(text, rng, 200, 0), lambda text,
           rng: _spanned(text, rng, 500, 2), _character, _number, _number, _number, _number, _found(QUOTED, _same),
           _found(QUOTED, _same), _found(ATTRIBUTE, _same), _found(TAG, lambda m, rng: m.group(1), 1), _drop, _drop,
           _found(ELEMENT, lambda m, rng: m.group() * 2))  # fmt: skip
