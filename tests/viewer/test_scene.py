"""What is drawn beside the links: loops with their gaps, force arrows of point feet and soles, inertias, centre of mass."""

import freeflyer as ff
import numpy as np
import pytest
from freeflyer.plots.film_scene import FORCE_SHARE
from freeflyer.viewer import scene
from freeflyer.viewer.motions import motion
from freeflyer.viewer.picture import picture
from runs import control_run, quadruped
from seeds import fresh


def weight(model: ff.Model) -> float:
    return model.mass * float(np.linalg.norm(model.gravity))


def test_arrows_of_point_feet_stand_on_the_feet_and_show_the_forces():
    run = quadruped()
    model, m = run.model, motion(run)
    assert [foot.kind for foot in m.feet] == ["point"] * 4
    k = len(run.t) - 1
    q, forces = m.at(k, [0])
    arrows = scene.force_arrows(model, q[0], forces[0], m.feet, 2.0)
    assert len(arrows) == 4
    scale = FORCE_SHARE * 2.0 / weight(model)
    for (begin, end), foot in zip(arrows, m.feet):
        X = ff.frame_pose(model, run.q[k], foot.frame)
        assert begin == pytest.approx(X[:3, 3], abs=1e-12)
        assert end - begin == pytest.approx(scale * X[:3, :3] @ run.forces[foot.name][k, :3])
    total = (arrows[:, 1] - arrows[:, 0]).sum(axis=0) / scale
    a = np.gradient(run.v, run.t, axis=0)[k - 2]
    assert total[2] == pytest.approx(weight(model), rel=0.2), a


def test_arrows_of_soles_stand_in_the_centre_of_pressure():
    result = control_run()
    model, m = result.stance.model, motion(result)
    q, forces = m.at(60, [0])
    arrows = scene.force_arrows(model, q[0], forces[0], m.feet, 1.0)
    assert len(arrows) == 2
    for (begin, _), foot in zip(arrows, m.feet):
        X, w = ff.frame_pose(model, q[0], foot.frame), forces[0][foot.name]
        local = X[:3, :3].T @ (begin - X[:3, 3])
        moment = w[3:] - np.cross(local, w[:3])  # about the arrow's begin
        assert np.abs(moment[:2]).max() < 1e-9 * weight(model)
    total = (arrows[:, 1] - arrows[:, 0]).sum(axis=0)
    assert total == pytest.approx([0.0, 0.0, FORCE_SHARE], abs=0.05)


def test_equal_forces_have_equal_arrows_and_small_ones_none():
    model, rng = ff.robots.quadruped(), fresh("arrows")
    feet = [ff.contacts.point(name) for name in model.frame_names if name.endswith("_foot")]
    feet = motion(quadruped())._replace(feet=feet).feet and motion(quadruped()).feet
    for _ in range(10):
        q, size = ff.random_configuration(model, rng), rng.uniform(0.05, 2.0) * weight(model)
        way = rng.normal(size=(4, 3))
        forces = {f.name: np.append(size * w / np.linalg.norm(w), np.zeros(3)) for f, w in zip(feet, way)}
        arrows = scene.force_arrows(model, q, forces, feet, 1.0)
        assert np.linalg.norm(arrows[:, 1] - arrows[:, 0], axis=1) == pytest.approx([FORCE_SHARE * size / weight(model)] * 4)
        forces[feet[0].name] *= 0.009 * weight(model) / size
        forces[feet[1].name] = np.full(6, np.nan)
        assert len(scene.force_arrows(model, q, forces, feet, 1.0)) == 2


def test_loops_are_lines_whose_gap_is_that_of_the_residual():
    model, rng = ff.robots.kangaroo_like(), fresh("loops")
    closed = ff.close_loops(model)
    q = ff.random_configuration(closed, rng)
    found = scene.loop_lines(closed, q)
    assert found.lines.shape == (3 * len(model.loops), 2, 3)
    assert found.gap.max() < 1e-8
    between = found.lines[1::3]
    for loop, (a, b) in zip(model.loops, between):
        if all(loop.mask[:3]):
            assert np.linalg.norm(b - a) < 1e-6
    name = model.actuated[1]
    opened = q.copy()
    opened[model.joint(name).iq] += 0.01
    gap = scene.loop_lines(model, opened).gap
    residual = np.abs(ff.linkages.constraint_residual(model, opened))
    assert gap.max() == pytest.approx(residual.max())
    assert gap.max() > scene.OPEN
    colours = [p.colour for p in scene.overlay(model, opened, ["loops"])]
    assert scene.RED in colours
    assert scene.RED not in [p.colour for p in scene.overlay(closed, q, ["loops"])]


def test_ellipsoids_have_the_inertia_of_their_links():
    model = ff.robots.make("humanoid")
    for link, X, half in scene.inertia_half_axes(model):
        inertia = model.description.link(link).inertia
        squares = half**2
        moments = inertia.mass / 5.0 * (squares.sum() - squares)
        exact = X[:3, :3] @ np.diag(moments) @ X[:3, :3].T
        assert exact == pytest.approx(np.asarray(inertia.rotational), rel=1e-6, abs=1e-6 * inertia.rotational.max())
        assert X[:3, 3] == pytest.approx(inertia.com)
        assert np.linalg.det(X[:3, :3]) == pytest.approx(1.0)


def test_the_centre_of_mass_and_frames_are_drawn_where_they_are():
    model = ff.robots.make("humanoid")
    q = ff.random_configuration(model, fresh("com"))
    q[2] = 1.5
    (piece,) = scene.overlay(model, q, ["com"], floor=-0.2)
    c = ff.center_of_mass(model, q)
    low, high = piece.mesh.vertices.min(axis=0), piece.mesh.vertices.max(axis=0)
    assert 0.5 * (low + high)[:2] == pytest.approx(c[:2], abs=1e-6)
    assert low[2] == pytest.approx(-0.2, abs=0.01)
    x, y, z = scene.overlay(model, q, ["frames"])
    size = 0.06 * scene.robot_size(model)
    for k, p in enumerate((x, y, z)):
        tip = ff.frame_pose(model, q, model.link_names[0])
        assert np.abs(p.mesh.vertices - (tip[:3, 3] + size * tip[:3, k])).sum(axis=1).min() < 0.02 * size + 2e-3


def test_pictures_show_every_layer_and_refuse_others():
    model = ff.robots.chain(2)
    plain = picture(model, width=80, height=80)
    for layer in ("com", "frames", "inertias"):
        assert (picture(model, width=80, height=80, layers=[layer]) != plain).any()
    with pytest.raises(ff.InputError, match="layers"):
        picture(model, layers=["springs"])
    with pytest.raises(ff.InputError, match="width"):
        picture(model, width=10**6)
    with pytest.raises(ff.InputError, match="q"):
        picture(model, [0.0])
    empty = ff.build(ff.Description("point", (ff.Link("a"),), (ff.Joint("j", "fixed", "world", "a"),)))
    assert (picture(empty, width=20, height=20) == 255).all()


def test_pictures_refuse_forces_that_act_on_nothing_and_numbers_that_are_none():
    model = ff.robots.quadruped()
    (foot, *_) = feet = [ff.contacts.point(name) for name in model.frame_names if name.endswith("_foot")]
    wrench = weight(model) * np.array([0.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    small = {"width": 60, "height": 60}
    name = foot.name
    assert (picture(model, forces={name: wrench}, feet=feet, **small) != picture(model, feet=feet, **small)).any()
    for arguments, named in (({"forces": {"nope": wrench}, "feet": feet}, "nope"), ({"forces": {name: wrench}}, "feet="),
                             ({"forces": {name: wrench[:3]}, "feet": feet}, name), ({"floor": np.nan}, "floor"),
                             ({"azimuth": np.nan}, "azimuth"), ({"camera": (1, 2)}, "camera")):  # fmt: skip
        with pytest.raises(ff.FreeflyerError, match=named):
            picture(model, **small, **arguments)
