"""The list of reproductions: every key leads to one that is whole."""

import freeflyer as ff
import freeflyer_papers as papers
import inspect
import pytest
import re
from closeness import refused
from freeflyer_papers import registry
from pathlib import Path


@pytest.mark.parametrize("key", papers.names())
def test_every_key_leads_to_a_reproduction(key):
    paper = papers.reproduction(key)
    assert paper.key == key
    assert len(paper.paper) > 20
    assert list(inspect.signature(paper.compute).parameters)[1:] == list(paper.options)


def test_the_page_and_the_keys():
    assert list(papers.names()) == sorted(registry.MODULES)
    assert "linearization" in papers.names()
    # Code of docs/papers.md runs, and its comments hold
    text = (Path(__file__).parents[2] / "docs" / "papers.md").read_text(encoding="utf-8")
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(compile(block, "docs/papers.md", "exec"), {})
    assert papers.reproduction("kangaroo").options == ("robot", "peer")
    assert "fig13_squat" in papers.reproduction("kangaroo").captions


@pytest.mark.parametrize("key", ["linearisation", "", None, 3, ["linearization"]])
def test_unknown_keys_come_with_what_exists(key):
    refused(ff.UnknownNameError, "linearization", papers.reproduction, key)
