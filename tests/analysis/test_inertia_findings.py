"""Each planted defect of a link is found, with its severity, on that link; a sound robot raises nothing."""

import numpy as np
import pytest
from dataclasses import replace
from freeflyer.analysis.checks.inertias import inertia_findings, reach
from freeflyer.model.description import Inertia, Joint, Link
from planted import arm, shifted, solid, with_inertia, with_joint


def found(description):
    return [(f.severity, f.code, f.subject) for f in inertia_findings(description)]


def test_what_is_sound_has_no_findings():
    assert found(arm()) == []
    plate = with_inertia(arm(), "upper", solid(moments=(0.01, 0.01, 0.02)))
    rod = with_inertia(plate, "lower", solid(moments=(0.02, 0.02, 0.0)))
    assert found(rod) == []
    a = np.deg2rad(40)
    R = np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]])
    turned = Inertia(2.0, np.zeros(3), R @ np.diag([0.04, 0.01, 0.01]) @ R.T)
    assert ("error", "triangle-inequality", "upper") in found(with_inertia(arm(), "upper", turned))
    assert found(with_inertia(arm(), "upper", Inertia())) == []
    assert reach(arm()) == pytest.approx(0.2 + 0.3 + 0.1)


@pytest.mark.parametrize(("inertia", "severity", "code"), [
    (solid(moments=(0.01, 0.01, 0.03)), "error", "triangle-inequality"),
    (solid(moments=(0.01, 0.01, 0.0200005)), "warning", "triangle-inequality"),  # rounding in a file
    (solid(moments=(-0.01, 0.02, 0.02)), "error", "negative-inertia"),
    (solid(mass=-1.0), "error", "negative-mass"),
    (solid(mass=np.nan), "error", "not-finite"),
    (
        Inertia(2.0, np.zeros(3), np.diag([1.0, 1, 1]) * 0.02 + np.triu(np.ones((3, 3)), 1) * 0.01),
        "error",
        "unsymmetric-inertia",
    ),
    (solid(mass=0.0), "error", "inertia-without-mass"),
    (solid(mass=2e4, moments=(200, 200, 100)), "warning", "mass-unit"),
    (solid(mass=1e-7, moments=(1e-9, 1e-9, 1e-9)), "warning", "mass-unit"),
    (solid(moments=(2e4, 2e4, 1e4)), "warning", "inertia-unit"),  # kg mm^2
    (solid(moments=(2e-9, 2e-9, 1e-9)), "warning", "inertia-unit"),
    (solid(moments=(0, 0, 0)), "note", "point-mass"),
    (solid(com=(0, 0, 100.0)), "warning", "far-centre"),  # mm
])  # fmt: skip
def test_a_planted_defect_is_found_on_its_link(inertia, severity, code):
    assert (severity, code, "upper") in found(with_inertia(arm(), "upper", inertia))


def test_findings_of_links_together():
    d = with_inertia(arm(), "lower", solid(moments=(-0.001, 0.01, 0.01)))
    assert ("error", "negative-inertia", "lower") in found(d)
    assert ("warning", "negative-inertia", "lower") in found(with_joint(d, "elbow", kind="fixed"))
    bare = with_inertia(arm(), "lower", Inertia())
    assert found(bare) == [("error", "massless-leaf", "lower")]
    assert found(with_joint(bare, "elbow", armature=(0.1,))) == [("note", "massless-leaf", "lower")]
    assert found(with_joint(bare, "elbow", kind="fixed")) == []
    tip = Joint("wrist", "revolute", "lower", "hand", shifted(0, 0, 0.3))
    d = with_inertia(arm(), "lower", Inertia())
    d = replace(d, links=(*d.links, Link("hand")), joints=(*d.joints, tip))
    assert found(d) == [("error", "massless-leaf", "hand")]
    d = with_joint(arm(), "elbow", placement=shifted(0, 0, 300.0))
    assert ("warning", "long-robot", "arm") in found(d)
