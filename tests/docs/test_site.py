"""The site builds with strict links, and neither the build nor a page takes anything from the network."""

import os
import pytest
import re
import subprocess
import sys
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from public_names import ROOMS, public_names

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
NEEDED = ("mkdocs", "material", "mkdocstrings", "latex2mathml")
LOADED = {"link": "href", "script": "src", "img": "src", "iframe": "src", "source": "src", "object": "data"}  # unasked
NO_NETWORK = """
import runpy, socket, sys
def refuse(*arguments, **options):
    raise RuntimeError("the build of the site asks the network")
socket.socket.connect = socket.socket.connect_ex = refuse
socket.getaddrinfo = refuse
sys.argv = ["mkdocs", "build", "--strict", "--site-dir", sys.argv[1]]
runpy.run_module("mkdocs", run_name="__main__")
"""


class Page(HTMLParser):
    """What a page loads from elsewhere, and the equations that stand in it as text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.outside: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        source = given.get(LOADED.get(tag, ""), "") or ""
        if re.match(r"(?:\w+:)?//", source) and given.get("rel") != "canonical":
            self.outside.append(source)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    absent = [name for name in NEEDED if find_spec(name) is None]
    if absent:
        pytest.skip(f'no {absent[0]}: pip install ".[docs]"')
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run([sys.executable, "-c", NO_NETWORK, str(folder)], cwd=ROOT, capture_output=True, text=True,
                          timeout=300, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"})  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_pages(site: Path) -> None:
    for page in (ROOT / "docs").rglob("*.md"):
        assert (site / page.relative_to(ROOT / "docs").with_suffix(".html")).is_file()
    pages = list(site.rglob("*.html"))
    assert len(pages) > 40
    for page in pages:
        assert Page(page.read_text()).outside == [], page.name
    for sheet in site.rglob("*.css"):
        assert not re.search(r"url\([\"']?(?:\w+:)?//", sheet.read_text()), sheet.name
    text = (site / "theory" / "linearization.html").read_text()
    assert text.count('display="block"') == text.count('<math xmlns="http://www.w3.org/1998/Math/MathML" display="block">') > 2
    body = re.sub(r"<(pre|code|script|style|math)\b.*?</\1>", "", text, flags=re.DOTALL)
    assert "$" not in body
    assert "\\" not in body


def test_the_reference(site: Path) -> None:
    for room in ROOMS:
        page = (site / "reference" / f"{room or 'index'}.html").read_text()
        for name in (name for name in public_names() if name.rpartition(".")[0] == room):
            assert f'id="freeflyer.{name}"' in page, name
    # With their defaults: 'rtol, atol: ...' would have none
    text = (site / "reference" / "sim.html").read_text()
    simulate = text[text.index('id="freeflyer.sim.simulate"') :]
    for name, default in (("rtol", "1e-08"), ("atol", "1e-10")):
        row = re.search(rf"<code>{name}</code>.*?</tr>", simulate, re.DOTALL)
        assert row
        assert f"<code>{default}</code>" in row[0]
