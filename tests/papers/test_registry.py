"""Every key leads to a reproduction."""

import freeflyer as ff
import freeflyer_papers as papers
import inspect
import pytest
from closeness import refused
from freeflyer_papers import registry


@pytest.mark.parametrize("key", papers.names())
def test_every_key_leads_to_a_reproduction(key):
    paper = papers.reproduction(key)
    assert paper.key == key
    assert len(paper.paper) > 20
    assert list(inspect.signature(paper.compute).parameters)[1:] == list(paper.options)


def test_the_keys_and_what_is_behind_them():
    assert list(papers.names()) == sorted(registry.MODULES)
    assert "linearization" in papers.names()
    assert papers.reproduction("kangaroo").options == ("robot", "peer")
    assert "fig13_squat" in papers.reproduction("kangaroo").captions


@pytest.mark.parametrize("key", ["linearisation", "", None, 3, ["linearization"]])
def test_unknown_keys_come_with_what_exists(key):
    refused(ff.UnknownNameError, "linearization", papers.reproduction, key)
