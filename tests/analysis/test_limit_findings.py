"""Limits: degrees, inverted, equal, missing, negative, neutral outside."""

import numpy as np
import pytest
from freeflyer.analysis.checks.checking import limit_findings
from freeflyer.model.description import Mimic
from planted import arm, with_joint

INF = np.inf


def found(description):
    return [(f.severity, f.code, f.subject) for f in limit_findings(description)]


def test_what_is_sound_has_no_findings():
    assert found(arm()) == []
    assert found(with_joint(arm(), "elbow", kind="prismatic", lower=(-90.0,), upper=(90.0,))) == []
    assert found(with_joint(arm(), "elbow", lower=(-4 * np.pi,), upper=(4 * np.pi,))) == []
    assert found(with_joint(arm(), "elbow", lower=(), upper=(), mimic=Mimic("shoulder"))) == []
    assert found(with_joint(arm(), "elbow", kind="continuous", lower=(), upper=())) == []
    (finding,) = limit_findings(with_joint(arm(), "elbow", lower=(), upper=(), velocity=(), effort=()))
    assert finding.sentence == "it has no position, velocity and effort limits"


@pytest.mark.parametrize(("changes", "expected"), [
    ({"lower": (-90.0,), "upper": (90.0,)}, ("warning", "limits-in-degrees")),
    ({"lower": (0.0,), "upper": (135.0,)}, ("warning", "limits-in-degrees")),
    ({"lower": (1.0,), "upper": (-1.0,)}, ("error", "limits-inverted")),
    ({"lower": (0.5,), "upper": (0.5,)}, ("warning", "limits-equal")),
    ({"lower": (0.5,), "upper": (1.5,)}, ("warning", "neutral-outside-limits")),
    ({"lower": (np.nan,), "upper": (1.0,)}, ("error", "limit-not-a-number")),
    ({"velocity": (-1.0,)}, ("error", "velocity-limit-negative")),
    ({"effort": (0.0,)}, ("warning", "effort-limit-zero")), ({"lower": (), "upper": ()}, ("note", "limits-missing")),
    ({"lower": (-INF,), "upper": (INF,)}, ("note", "limits-missing")), ({"effort": ()}, ("note", "limits-missing")),
])  # fmt: skip
def test_a_planted_defect_is_found_on_its_joint(changes, expected):
    assert found(with_joint(arm(), "elbow", **changes)) == [(*expected, "elbow")]
