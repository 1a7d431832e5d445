"""Damaged, broken and hostile files load into finite numbers or are refused in words, soon."""

import freeflyer as ff
import numpy as np
import os
import pytest
import random
import re
import signal
import time
from closeness import fresh, refused
from contextlib import contextmanager
from decimal import Decimal
from freeflyer.model.readers.mjcf.reading import read_mjcf
from freeflyer.model.load import read
from freeflyer.model.readers.safe_file import MAX_NUMBER, numbers
from functools import cache
from pathlib import Path
from readers_samples import MJ_PENDULUM, PENDULUM, zoo
from robots_on_disk import MODELS
from test_readers_loops import OURS, THEIRS
from test_readers_mjcf import MANY

NUMBER = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")
QUOTED = re.compile(r'"[^"]*"')
ATTRIBUTE = re.compile(r'[a-z_]+="')
ELEMENT = re.compile(r"<[a-z]+[^<>]*?/>")
TAG = re.compile(r"</?([a-z]+)")
NO_NUMBERS = ("nan", "inf", "-inf", "-1", "0", "1e308", "-1e308", "1e999", "1e-320", "abc", "", "1 2 3 4 5 6 7", "0 0 0", "0x10",
    "1_0", "٣", "9" * 30, "1e20", "--3", "1,5", "${pi}", "$(x)", "NaN 1 2", "1e", "+", "true", "1e9 1e9 1e9")  # fmt: skip
CHARACTERS = "\x00\x01\x08<>\"'&\u2028\ud7ff\U0010ffffé\t\n#:[]{}*!|"


def damaged(text: str, seed: int) -> str:
    """The text with one to six damages."""
    rng = random.Random(seed)
    for _ in range(rng.choice((1, 1, 1, 1, 2, 3, 6))):
        text = rng.choice(DAMAGES)(text, rng) or "<"
    return text


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
    i = rng.randrange(len(text))
    j = min(len(text), i + rng.randrange(1, longest))
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


BLOCK, BLOCKS = 50, 12  # 12 blocks of 50 seeds for each of four kinds of file: 2400 damaged files
each_block = pytest.mark.parametrize("block", [0, 1, *(pytest.param(k, marks=pytest.mark.slow) for k in range(2, BLOCKS))])
HANGS = 60  # s; the slowest of them takes a few hundredths of one: a reader that takes longer does not end


@cache
def originals(kind):
    """Good texts to damage."""
    many = MANY.format('<connect body1="hand" body2="finger0" anchor="0 0 .1"/>'
                       '<joint joint1="f0" joint2="a1" polycoef=".1 2 0 0 0"/>')  # fmt: skip
    texts = {"urdf": [PENDULUM, ff.to_urdf(zoo(0, ("universal", "helical", "fixed", "planar"))), ff.to_urdf(zoo(1))],
        "mjcf": [MJ_PENDULUM, many, ff.to_mjcf(zoo(0)), many], "yaml": [OURS, THEIRS]}[kind]  # fmt: skip
    names = {"urdf": ["five_bar/robot.urdf"], "mjcf": ["cassie/cassie.xml"]}.get(kind, [])
    return texts + [(MODELS / n).read_text() for n in names if (MODELS / n).exists()]


@contextmanager
def ends(what):
    """Interrupts what hangs, where the system has alarms."""

    def stop(*_):
        raise AssertionError(f"still reading after {HANGS} s: {what}")

    if not hasattr(signal, "SIGALRM"):
        yield
        return
    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(HANGS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def survives(action, what):
    """Runs the action: a model of finite numbers, or an error of ours; returns whether it loaded."""
    words, model = "it loaded, with a long message", None
    with ends(what):
        try:
            model = action()
        except ff.FreeflyerError as error:
            words = str(error)
    assert len(words) >= 20, what
    if model is not None:
        assert np.isfinite(model.parameters).all(), what
        assert np.isfinite([model.mass, *model.armature, *model.damping, *model.friction]).all(), what
        assert model.mass >= 0.0
        assert not np.isnan([*model.position_lower, *model.position_upper, *model.effort_limit]).any(), what
    return model is not None


@each_block
@pytest.mark.parametrize("kind", ["urdf", "mjcf"])
def test_damaged_text(kind, block, tmp_path, monkeypatch):
    """MuJoCo writes a log beside its warnings; none must appear where the user works."""
    monkeypatch.chdir(tmp_path)
    texts = originals(kind)
    loaded = 0
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        text = damaged(texts[seed % len(texts)], seed)
        if not text.lstrip().startswith("<"):
            text = "<" + text
        loaded += survives(lambda text=text: ff.load(text, base=None), (kind, seed))
    assert loaded < BLOCK  # the damage is real
    assert os.listdir(tmp_path) == []


@each_block
def test_damaged_bytes_in_files(block, tmp_path):
    """The same, through files, with single bits turned."""
    texts = originals("urdf") + originals("mjcf")
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        rng = fresh(seed)
        data = bytearray(texts[seed % len(texts)].encode())
        for at in rng.integers(len(data), size=int(rng.integers(1, 12))):
            data[at] ^= 1 << int(rng.integers(8))
        path = tmp_path / f"{seed}.xml"
        path.write_bytes(bytes(data))
        survives(lambda path=path: ff.load(path, base=None), ("bytes", seed))
    texts = originals("yaml")
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        path = tmp_path / f"{seed}.yaml"
        path.write_text(damaged(texts[seed % len(texts)], seed), encoding="utf-8", errors="surrogatepass")
        survives(lambda path=path: ff.load(zoo(0), base=None, loops=path), ("yaml", seed))


BOMB = f'<!DOCTYPE r [<!ENTITY a "{"x" * 1000}"><!ENTITY b "{"&a;" * 1000}"><!ENTITY c "{"&b;" * 1000}">]>'
OUTSIDE = '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
PARAMETER = '<!DOCTYPE r [<!ENTITY % p SYSTEM "http://example.org/x.dtd"> %p;]>'
REMOTE = '<!DOCTYPE r SYSTEM "http://example.org/x.dtd">'
DEEP = 100_000


@pytest.mark.parametrize("text", [PENDULUM, MJ_PENDULUM], ids=["urdf", "mjcf"])
@pytest.mark.parametrize("head", [BOMB, OUTSIDE, PARAMETER, REMOTE], ids=["bomb", "file", "parameter", "remote"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1"])
def test_document_types_and_entities(tmp_path, text, head, encoding):
    declaration = f'<?xml version="1.0" encoding="{encoding}"?>'
    inside = text.replace('"pendulum"', '"&c;"').replace("</", "&c;</", 1)
    path = tmp_path / "bomb"
    path.write_bytes((declaration + head + inside).encode(encoding))
    for source in (path, head + inside):
        refused(ff.FileError, "document type or entity declaration: refused", ff.load, source)


FLEX = '<flexcomp name="f" type="grid" count="3 3 1" spacing=".1 .1 .1" dim="2" mass="1"/>'
CABLE = ('<composite prefix="c" type="cable" count="4 1 1" curve="s" size="1"><geom type="capsule" size=".1"/>'
         "</composite>")  # fmt: skip
TEXTS = {
    "robot without links": ("<robot name='r'/>", "has no <link>"), "mujoco without bodies": ("<mujoco/>", "has no link"),
    "open tag": ("<robot", "not well-formed"), "two roots": ("<robot name='a'/><robot name='b'/>", "not well-formed"),
    "unknown entity": ("<robot name='&x;'/>", "not well-formed"), "null character": ("<robot name='\x00'/>", "not well-formed"),
    "lone surrogate": ("<robot name='\ud800'/>", "not Unicode text"),
    "deep": ("<robot>" * DEEP, "deeper than 500"), "deep links": ("<robot name='r'>" + "<link name='a'>" * DEEP, "deeper than 500"),
    "deep bodies": ("<mujoco><worldbody>" + "<body>" * DEEP, "deeper than 500"),
    "deep defaults": ("<mujoco>" + "<default>" * 400 + "</default>" * 400 + "</mujoco>", "refused by MuJoCo"),
    "deep frames": ("<mujoco>" + "<frame>" * 499 + "</frame>" * 499 + "</mujoco>", "refused by MuJoCo"),
    "long attribute": ("<robot name='" + "x" * 200_000 + "'/>", "200000 characters in 'name': refused"),
    "many elements": ("<robot name='r'>" + "<a/>" * 200_001 + "</robot>", "more than 200000 elements"),
    "long text": ("<robot name='r'>" + " " * 2**24 + "</robot>", "at most 16777216 are read"),

    "undeclared world": (PENDULUM.replace('<link name="base"/>', "").replace('parent link="base"', 'parent link="world"'),
                         "no link is named 'world'.*declare it, <link name=\"world\"/>"),
    "MJCF equality with a flex": (
        MJ_PENDULUM.replace("</body>", FLEX + "</body>").replace(
            "</worldbody>", '</worldbody><equality><weld body1="f_0" body2="rod"/></equality>'),
        "cannot be read: .*'f_0'.*left out before, for they are not read: <flexcomp> 'f' \\(line 2\\)"),
    "MJCF body of a flex alone": (
        MJ_PENDULUM.replace('<inertial pos="0 0 -0.5" mass="2" diaginertia="0.1 0.1 0.05"/>', FLEX),
        "cannot be read: .*mass and inertia.*left out before.*<flexcomp> 'f'"),
    "MJCF loop through a cable": (
        MJ_PENDULUM.replace("</body>", CABLE + "</body>").replace(
            "</worldbody>", '</worldbody><equality><connect body1="cB_last" body2="rod" anchor="0 0 0"/></equality>'),
        "cannot be read: .*'cB_last'.*left out before.*<composite> 'c'"),

    "huge mass": (PENDULUM.replace('mass value="2"', 'mass value="1e300"'), "give numbers up to"),
    "huge inertia": (PENDULUM.replace('ixy="0"', 'ixy="1e308"'), "every entry must be finite"),

    "MJCF huge": (MJ_PENDULUM.replace('pos="0 0 1"', 'pos="0 1e300 1"'), "give numbers up to"),
    "MJCF unknown body": (
        MJ_PENDULUM.replace("</worldbody>", '</worldbody><equality><weld body1="x" body2="rod"/></equality>'),
        "refused by MuJoCo"),
    "MJCF two bodies of one name": (
        MJ_PENDULUM.replace("</body>", '<body name="rod"><geom size="1"/></body></body>'), "refused by MuJoCo"),
}  # fmt: skip


@pytest.mark.parametrize("case", TEXTS)
def test_broken_text_is_refused_in_words(case):
    text, words = TEXTS[case]
    with ends(case), pytest.raises(ff.FreeflyerError, match=words):
        ff.load(text, base=None)


@pytest.mark.parametrize("reader", [ff.load, read, read_mjcf])
def test_paths_that_are_no_files(tmp_path, reader):
    (tmp_path / "robot.urdf").write_text(PENDULUM)
    (tmp_path / "empty").write_text("")
    (tmp_path / "blank").write_text(" \n\t ")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "dangling").symlink_to("gone")
    with open(tmp_path / "huge", "wb") as stream:
        stream.truncate(2**40)
    cases = {tmp_path / "none.urdf": "no .* at .*check the path", tmp_path: "is a folder.*robot.urdf",
             tmp_path / "empty": "is empty", tmp_path / "blank": "is empty", tmp_path / "pipe": "not a regular file",
             tmp_path / "loop": "cannot be read", tmp_path / "dangling": "no .* at", tmp_path / "huge": "1099511627776 bytes",
             "a\0b": "cannot be read", "x" * 5000: "cannot be read|no .* at", "": "is empty", "   ": "is empty",
             "not xml": "no .* at"}  # fmt: skip
    if Path("/dev/zero").exists():
        cases["/dev/zero"] = "not a regular file"
    for path, words in cases.items():
        refused(ff.FileError, words, reader, path)


@pytest.fixture
def fenced(tmp_path):
    """A folder with a robot, beside a file that its owner does not want read."""
    folder = tmp_path / "robot"
    folder.mkdir()
    (tmp_path / "secret.xml").write_text("<mujocoinclude><body name='secret'><geom size='1'/></body></mujocoinclude>")
    (folder / "link.xml").symlink_to(tmp_path / "secret.xml")
    (folder / "sub").mkdir()
    (folder / "self.xml").write_text('<mujoco><include file="self.xml"/></mujoco>')
    (folder / "a.xml").write_text('<mujocoinclude><include file="b.xml"/></mujocoinclude>')
    (folder / "b.xml").write_text('<mujocoinclude><include file="a.xml"/></mujocoinclude>')
    (folder / "bomb.xml").write_text(BOMB + "<mujocoinclude>&c;</mujocoinclude>")
    (folder / "broken.xml").write_text("<mujocoinclude>")
    os.mkfifo(folder / "pipe.xml")
    return folder


@pytest.mark.parametrize(("name", "words"), [
    ("../secret.xml", "outside the folder"), ("sub/../../secret.xml", "outside the folder"),
    ("link.xml", "outside the folder"), ("/etc/passwd", "outside the folder"), ("gone.xml", "no included"),
    ("", "empty or broken"), ("sub", "is a folder"), (".", "is a folder"), ("self.xml", "included twice"),
    ("a.xml", "included twice"), ("bomb.xml", "document type or entity"), ("broken.xml", "not well-formed"),
    ("pipe.xml", "not a regular file"), ("x" * 4000, "cannot be|no included"), ("http://example.org/x.xml", "no included"),
    ("file:///etc/passwd", "no included"), ("~/.bashrc", "no included"), ("..\\secret.xml", "no included"),
])  # fmt: skip
def test_includes_stay_in_the_folder(fenced, name, words):
    path = fenced / "robot.xml"
    path.write_text(f'<mujoco><worldbody><include file="{name}"/></worldbody></mujoco>')
    refused(ff.FileError, words, ff.load, path)


def test_includes_that_multiply(tmp_path):
    """Many includes, and includes of many elements."""
    for k in range(120):
        (tmp_path / f"{k}.xml").write_text("<mujocoinclude><body/></mujocoinclude>")
    path = tmp_path / "robot.xml"
    includes = "".join(f'<include file="{k}.xml"/>' for k in range(120))
    path.write_text(f"<mujoco><worldbody>{includes}</worldbody></mujoco>")
    refused(ff.FileError, "or 100 files are", ff.load, path)
    for k in range(3):
        (tmp_path / f"{k}.xml").write_text("<mujocoinclude>" + "<site/>" * 90_000 + "</mujocoinclude>")
    refused(ff.FileError, "more than 200000 elements with its included files", ff.load, path)


REPLICATE = '<mujoco><worldbody><replicate count="{}"><body name="b"/></replicate></worldbody></mujoco>'


@pytest.mark.parametrize("count", ["5000", " 5000", "+5000", "0000005000", "\t5000\n", "1234567890", "0" * 90 + "5000",
                                   "9" * 9000, " +00005000 "])  # fmt: skip
def test_copies_are_counted_in_every_notation_of_mujoco(count):
    """Else MuJoCo makes the copies in one call: minutes, and memory without bound."""
    with ends(count[:20]), pytest.raises(ff.FileError, match="more than 2000 elements: refused"):
        ff.load(REPLICATE.format(count), base=None)


@pytest.mark.parametrize("count", ["-3", "3.0", "3e3", "0x10", "two", "", "+ 3", "3 4", "٣", "\u00a03", "1_000", "++3",
                                   "0" * 90_000 + "x"])  # fmt: skip
def test_what_is_no_count_is_refused(count):
    begin = time.process_time()
    refused(ff.FileError, "expected a whole number of copies", lambda: ff.load(REPLICATE.format(count), base=None))
    assert time.process_time() - begin < 1.0


@pytest.mark.parametrize("count", ["2", " 2", "+2", "0002", "2 "])
def test_counts_that_mujoco_takes_are_taken(count):
    text = REPLICATE.format(count).replace("<body name", '<body pos="1 0 0" name')
    assert len(ff.load(text, base=None).description.links) == 2


@pytest.mark.parametrize("word", ["0" * 20_000 + "x", "." + "0" * 20_000 + "x", "0." + "0" * 20_000 + "x", "1" * 20_000,
                                  "1e" + "0" * 20_000 + "x", "1" * 401, "0" * 399 + "x", "+" * 400])  # fmt: skip
def test_long_numbers_take_no_time(word):
    begin = time.process_time()
    for where in ('xyz="0 0 -0.5"', 'value="2"', 'ixx="0.1"', 'lower="-1"'):
        name = where.split("=")[0]
        text = PENDULUM.replace(where, f'{name}="0 0 {word}"' if name == "xyz" else f'{name}="{word}"')
        refused(ff.FileError, r"characters|is not a finite number", ff.load, text)
    assert time.process_time() - begin < 1.0


def test_floats_with_all_their_digits():
    for x in (0.1, 1e300, 5e-324):
        assert numbers(f"{Decimal(x):f}"[:MAX_NUMBER], (1,), "here") == (float(f"{Decimal(x):f}"[:MAX_NUMBER]),)
    assert numbers("1. .5 -1.e3 +2E-1 00", (5,), "here") == (1.0, 0.5, -1000.0, 0.2, 0.0)
    for word in (".", "", "e5", "1e", "1e+", "-", "+.", "1.5.", "0x1", "1_0", "٣"):
        refused(ff.FileError, "", numbers, word, (1,), "here")
