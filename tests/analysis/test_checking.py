"""The check: laws hold on sound robots, planted defects end as findings, and wrong dynamics are caught."""

import freeflyer as ff
import numpy as np
import pytest
from dataclasses import replace
from closeness import fresh
from freeflyer.analysis import check, identities
from freeflyer.analysis.checks import checking, inertias, laws
from freeflyer.model.description import POINT, WORLD, Coupling, Description, Inertia, Joint, Link, Loop, Mimic, Site
from planted import arm, shifted, solid, with_inertia, with_joint
from types import SimpleNamespace


def triples(findings):
    return [(f.severity, f.code, f.subject) for f in findings]


def inertia_findings(description):
    return triples(inertias.inertia_findings(description))


def limit_findings(description):
    return triples(checking.limit_findings(description))


def floating(description):
    return replace(description, joints=(Joint("root", "free", WORLD, "base"), *description.joints))


def test_a_sound_robot_obeys_every_law():
    result = check(ff.build(floating(arm())))
    assert triples(result.findings) == []
    assert not result.has_errors
    assert len(result.identities) >= 10
    assert all(law.holds for law in result.identities)
    kinds = ("spherical", "revolute", "helical", "cylindrical", "planar", "universal", "prismatic", "continuous")
    model = ff.robots.chain(8, kinds, base="free")
    assert [law.law for law in identities(model) if not law.holds] == []
    assert [x.law for x in identities(with_heavy_base()) if not x.holds] == []
    d = arm()
    result = check(ff.build(replace(d, links=d.links[:1], joints=())))
    assert result.identities == ()
    assert not result.has_errors
    model = ff.robots.chain(3)
    first, again, other = (tuple(law.residual for law in identities(model, seed=seed)) for seed in (1, 1, 2))
    assert first == again != other


@pytest.mark.parametrize("name", ff.robots.names())
def test_built_in_robots_have_no_errors(name):
    result = check(ff.robots.make(name))
    assert result.count("error") == 0
    assert all(law.holds for law in result.identities), [law for law in result.identities if not law.holds]


def test_singular_mass_matrices_are_found():
    result = check(ff.build(with_inertia(arm(), "lower", Inertia())))
    assert ("error", "massless-leaf", "lower") in triples(result.findings)
    assert ("error", "no-inertia", "elbow") in triples(result.findings)
    assert "identity" not in [f.code for f in result.findings]  # the laws that fail are explained
    assert not all(law.holds for law in result.identities)
    on_axis = Inertia(1.0, np.zeros(3), np.zeros((3, 3)))
    result = check(ff.build(with_inertia(arm(), "lower", on_axis)))
    assert ("error", "no-inertia", "elbow") in triples(result.findings)
    d = with_inertia(arm(), "upper", Inertia())
    d = with_joint(d, "elbow", placement=np.eye(4))
    (finding,) = [f for f in check(ff.build(d)).findings if f.code == "singular-mass-matrix"]
    assert "'shoulder'" in finding.sentence
    assert "'elbow'" in finding.sentence
    far = {"lower": (-1e16,), "upper": (1e16,)}
    d = with_joint(with_joint(arm(), "elbow", kind="continuous", **far), "shoulder", **far)
    assert all(law.holds for law in check(ff.build(floating(d))).identities)


def test_loops_couplings_and_notes():
    d = arm()
    links = (*d.links, Link("rod", solid()))
    joints = (*d.joints, Joint("swing", "revolute", "base", "rod", shifted(0, 0, 0.2)))
    sites = (Site("end_a", "lower", shifted(0, 0, 0.1)), Site("end_b", "rod", shifted(0.003, 0, 0.4)))
    loop = Loop("four_bar", "end_a", "end_b", POINT)
    result = check(ff.build(replace(d, links=links, joints=joints, sites=sites, loops=(loop,))))
    (gap,) = [f for f in result.findings if f.code == "open-loop"]
    assert (gap.subject, gap.values["position"]) == ("four_bar", pytest.approx(0.003, abs=1e-9))
    assert "3 mm" in gap.sentence
    assert "loops-not-closed" in [f.code for f in result.findings]  # by 0.01 mm: it is drawn stretched
    sites = (sites[0], Site("end_b", "rod", shifted(0, 0, 0.4)))
    d = replace(d, links=links, joints=joints, sites=sites, loops=(loop,))
    assert "open-loop" not in [f.code for f in check(ff.build(d)).findings]
    d = replace(arm(), couplings=(Coupling("gear", "elbow", "shoulder", (0.0, 1.0, 0.5)),), notes=("meshes were left out",))
    found = [(f.severity, f.code, f.subject) for f in checking.check_description(d)]
    assert found == [("warning", "coupling", "gear"), ("note", "reader", "arm")]
    d = with_joint(with_inertia(arm(), "upper", solid(moments=(0.01, 0.01, 0.03))), "shoulder", effort=())
    assert [f.severity for f in checking.check_description(d)] == ["error", "note"]


@pytest.mark.parametrize(("function", "spoil", "law"), [
    ("coriolis_matrix", lambda C: 1.01 * C, "C v + g = bias"),
    ("coriolis_matrix", lambda C: np.swapaxes(C, -1, -2), "C v + g = bias"),
    ("gravity_forces", lambda g: 1.001 * g, "dV/dq = g"),
    ("mass_matrix", lambda M: M + np.triu(1e-6 * np.ones(M.shape[-2:]), 1), "M = M^T"),
    ("mass_matrix", lambda M: 1.001 * M, "M Minv = 1"),
    ("kinetic_energy", lambda T: 1.001 * T, "T = v^T M v / 2"),
    ("potential_energy", lambda V: 1.001 * V, "d(T+V)/dt = v . tau"),
    ("forward_dynamics", lambda a: a + 1e-6, "ID(FD(tau)) = tau"),
    ("inverse_dynamics", lambda t: t + 1e-6, "M a + bias = ID(a)"),
    ("centroidal_momentum", lambda h: 1.001 * h, "A_G v = h"),
])  # fmt: skip
def test_wrong_dynamics_break_a_law(monkeypatch, function, spoil, law):
    right = getattr(ff, function)
    replace_functions(monkeypatch, {function: lambda *args, **kw: spoil(right(*args, **kw))})
    broken = [x.law for x in identities(ff.build(floating(arm()))) if not x.holds]
    assert law in broken


@pytest.mark.parametrize("base", ["fixed", "planar", "free"])
@pytest.mark.parametrize("size", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_laws_hold_where_forces_are_zero_but_for_rounding(kind, size, base):
    """A turntable or a gantry has no gravity forces, one hinge without weight no bias forces; robots are of 1 mm to 100 m."""
    M = solid(size**3, tuple(size * np.array([0.1, 0.2, 0.0])), tuple(size**5 * np.array([0.01, 0.012, 0.015])))
    axes = [np.eye(3)[2]] * 2 if kind == "revolute" else [*np.eye(3)[:2]]
    joints = tuple(Joint(f"j{k}", kind, f"l{k}", f"l{k + 1}", shifted(0.3 * size, 0, 0.1 * size), axis=axes[k]) for k in (0, 1))
    for n, gravity in ((1, (0, 0, -9.81)), (2, (0, 0, -9.81)), (1, (0, 0, 0))):
        links = tuple(Link(f"l{k}", M) for k in range(n + 1))
        root = () if base == "fixed" else (Joint("root", base, "world", "l0"),)
        model = ff.build(Description("table", links, root + joints[:n], gravity=np.array(gravity, float)))
        assert [law.law for law in identities(model, seed=int(fresh(kind, base).integers(1000))) if not law.holds] == []


def replace_functions(monkeypatch, functions) -> None:
    """Other functions for the laws alone, in place of those of the library."""
    monkeypatch.setattr(laws, "E", SimpleNamespace(**vars(laws.E) | functions))
    for name in vars(laws).keys() & functions.keys():
        monkeypatch.setattr(laws, name, functions[name])


def with_heavy_base() -> ff.Model:
    """A floating arm whose base has armature, as MJCF's defaults give it."""
    return ff.build(with_joint(floating(arm()), "root", armature=(1.0,) * 6))


def test_flight_that_is_not_straight_breaks_a_law_of_its_own(monkeypatch):
    """Forces of velocity left out everywhere alike do no work: no other law depends on them."""
    weightless = ff.with_gravity

    def bare(model):
        return weightless(ff.build(with_joint(model.description, "root", armature=())), model.gravity)

    solve, M, right = np.linalg.solve, ff.mass_matrix, {n: getattr(ff, n) for n in ("bias_forces", "coriolis_matrix")}
    wrong = {
        **{name: lambda model, q, v, f=f: f(bare(model), q, v) for name, f in right.items()},
        "inverse_dynamics": lambda model, q, v, a: np.einsum("bij,bj->bi", M(model, q), a) + wrong["bias_forces"](model, q, v),
        "forward_dynamics": lambda model, q, v, tau: solve(
            M(model, q), (tau - wrong["bias_forces"](model, q, v))[..., None]
        )[..., 0],
    }
    replace_functions(monkeypatch, wrong)
    assert [x.law for x in identities(with_heavy_base()) if not x.holds] == ["d(X M v)/dt = 0"]


def test_sound_inertias_have_no_findings():
    assert inertia_findings(arm()) == []
    plate = with_inertia(arm(), "upper", solid(moments=(0.01, 0.01, 0.02)))
    rod = with_inertia(plate, "lower", solid(moments=(0.02, 0.02, 0.0)))
    assert inertia_findings(rod) == []
    a = np.deg2rad(40)
    R = np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]])
    turned = Inertia(2.0, np.zeros(3), R @ np.diag([0.04, 0.01, 0.01]) @ R.T)
    assert ("error", "triangle-inequality", "upper") in inertia_findings(with_inertia(arm(), "upper", turned))
    assert inertia_findings(with_inertia(arm(), "upper", Inertia())) == []
    assert inertias.reach(arm()) == pytest.approx(0.2 + 0.3 + 0.1)


@pytest.mark.parametrize(("inertia", "severity", "code"), [
    (solid(moments=(0.01, 0.01, 0.03)), "error", "triangle-inequality"),
    (solid(moments=(0.01, 0.01, 0.0200005)), "warning", "triangle-inequality"),  # rounding in a file
    (solid(moments=(-0.01, 0.02, 0.02)), "error", "negative-inertia"),
    (solid(mass=0.0), "error", "inertia-without-mass"),
    (solid(mass=2e4, moments=(200, 200, 100)), "warning", "mass-unit"),
    (solid(mass=1e-7, moments=(1e-9, 1e-9, 1e-9)), "warning", "mass-unit"),
    (solid(moments=(2e4, 2e4, 1e4)), "warning", "inertia-unit"),  # kg mm^2
    (solid(moments=(2e-9, 2e-9, 1e-9)), "warning", "inertia-unit"),
    (solid(moments=(0, 0, 0)), "note", "point-mass"),
    (solid(com=(0, 0, 100.0)), "warning", "far-centre"),  # mm
])  # fmt: skip
def test_a_planted_defect_is_found_on_its_link(inertia, severity, code):
    assert (severity, code, "upper") in inertia_findings(with_inertia(arm(), "upper", inertia))


def test_findings_of_links_together():
    d = with_inertia(arm(), "lower", solid(moments=(-0.001, 0.01, 0.01)))
    assert ("error", "negative-inertia", "lower") in inertia_findings(d)
    assert ("warning", "negative-inertia", "lower") in inertia_findings(with_joint(d, "elbow", kind="fixed"))
    bare = with_inertia(arm(), "lower", Inertia())
    assert inertia_findings(bare) == [("error", "massless-leaf", "lower")]
    assert inertia_findings(with_joint(bare, "elbow", armature=(0.1,))) == [("note", "massless-leaf", "lower")]
    assert inertia_findings(with_joint(bare, "elbow", kind="fixed")) == []
    tip = Joint("wrist", "revolute", "lower", "hand", shifted(0, 0, 0.3))
    d = with_inertia(arm(), "lower", Inertia())
    d = replace(d, links=(*d.links, Link("hand")), joints=(*d.joints, tip))
    assert inertia_findings(d) == [("error", "massless-leaf", "hand")]
    d = with_joint(arm(), "elbow", placement=shifted(0, 0, 300.0))
    assert ("warning", "long-robot", "arm") in inertia_findings(d)


INF = np.inf


def test_sound_limits_have_no_findings():
    assert limit_findings(arm()) == []
    assert limit_findings(with_joint(arm(), "elbow", kind="prismatic", lower=(-90.0,), upper=(90.0,))) == []
    assert limit_findings(with_joint(arm(), "elbow", lower=(-4 * np.pi,), upper=(4 * np.pi,))) == []
    assert limit_findings(with_joint(arm(), "elbow", lower=(), upper=(), mimic=Mimic("shoulder"))) == []
    assert limit_findings(with_joint(arm(), "elbow", kind="continuous", lower=(), upper=())) == []
    (finding,) = checking.limit_findings(with_joint(arm(), "elbow", lower=(), upper=(), velocity=(), effort=()))
    assert finding.sentence == "it has no position, velocity and effort limits"


@pytest.mark.parametrize(("changes", "expected"), [
    ({"lower": (-90.0,), "upper": (90.0,)}, ("warning", "limits-in-degrees")),
    ({"lower": (0.0,), "upper": (135.0,)}, ("warning", "limits-in-degrees")),
    ({"lower": (0.5,), "upper": (0.5,)}, ("warning", "limits-equal")),
    ({"lower": (0.5,), "upper": (1.5,)}, ("warning", "neutral-outside-limits")),
    ({"lower": (-1.5,), "upper": (-0.5,)}, ("warning", "neutral-outside-limits")),
    ({"effort": (0.0,)}, ("warning", "effort-limit-zero")), ({"lower": (), "upper": ()}, ("note", "limits-missing")),
    ({"lower": (-INF,), "upper": (INF,)}, ("note", "limits-missing")), ({"effort": ()}, ("note", "limits-missing")),
])  # fmt: skip
def test_a_planted_defect_is_found_on_its_joint(changes, expected):
    assert limit_findings(with_joint(arm(), "elbow", **changes)) == [(*expected, "elbow")]


def test_a_law_that_fails_is_an_error_with_its_numbers(monkeypatch):
    failed = laws.Identity("A = B", "both sides agree", 0.25, 1e-9)
    monkeypatch.setattr(checking, "identities", lambda model, seed: (failed, laws.Identity("C = C", "one side", 0.0, 1e-9)))
    (found,) = [f for f in check(ff.robots.chain(2)).findings if f.code == "identity"]
    assert (found.severity, found.values) == ("error", {"residual": 0.25, "tolerance": 1e-9})
    assert "residual 0.25, tolerance 1e-09" in found.sentence
