"""Nothing that a Model holds can be changed."""

import copy
import freeflyer as ff
import numpy as np
import pickle
import pytest
from closeness import refused
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from readers_samples import zoo

COPIES = {"itself": lambda x: x, "copy": copy.copy, "deepcopy": copy.deepcopy, "pickle": lambda x: pickle.loads(pickle.dumps(x))}
MODELS = {"tree": ff.robots.quadruped, "closed": ff.robots.kangaroo_like, "zoo": lambda: ff.build(zoo())}
LISTS = (list, set, bytearray)


def held(x: object, path: str, seen: set[int]) -> Iterator[tuple[str, object]]:
    """Everything that is reached from x through fields, attributes, entries and bases of arrays, with the way to it."""
    if id(x) in seen or isinstance(x, str | int | float | bytes | type | None.__class__):
        return
    seen.add(id(x))
    yield path, x
    if is_dataclass(x):
        public = (name for name in dir(type(x)) if isinstance(getattr(type(x), name), property))
        for name, value in (vars(x) | {name: getattr(x, name) for name in (*(f.name for f in fields(x)), *public)}).items():
            yield from held(value, f"{path}.{name}", seen)
    elif isinstance(x, Mapping):
        for key, value in x.items():
            yield from held(value, f"{path}[{key!r}]", seen)
    elif isinstance(x, tuple | list):
        for k, value in enumerate(x):
            yield from held(value, f"{path}[{k}]", seen)
    elif isinstance(x, np.ndarray):
        yield from held(x.base, f"{path}.base", seen)


def open_places(x: object) -> list[str]:
    """The places that can be changed by ordinary means."""
    found = []
    for path, value in held(x, "x", set()):
        if isinstance(value, np.ndarray):
            try:
                value.setflags(write=True)
            except ValueError:
                continue
            value.setflags(write=False)
            found.append(path)
        elif isinstance(value, LISTS) or hasattr(value, "__setitem__"):
            found.append(path)
    return found


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("name", MODELS)
def test_nothing_of_a_model_can_be_changed(name, way):
    model = MODELS[name]()
    if name == "closed":
        ff.linkages.partition(model)
        ff.close_loops(model)
    again = COPIES[way](model)
    assert (open_places(again), open_places(COPIES[way](model.description))) == ([], [])


@pytest.mark.parametrize("way", COPIES)
def test_nothing_of_a_linkage_can_be_changed(way):
    assert open_places(COPIES[way](ff.linkages.partition(ff.robots.kangaroo_like()))) == []
    # As `linked` made it, after an edit, and with another split than that of the file's posture
    for model in (ff.robots.kangaroo_like(), ff.with_gravity(ff.robots.kangaroo_like(), (0.0, 1.0, -2.0))):
        linked = ff.close_loops(model)
        again = COPIES[way](linked)
        assert len(linked.topology) > len(model.topology)
        np.testing.assert_array_equal(again.topology, linked.topology)
        np.testing.assert_array_equal(again.parameters, linked.parameters)
        assert ff.close_loops(again) is again
        q = ff.linkages.partition(model).q
        for f in (ff.mass_matrix, ff.gravity_forces):
            np.testing.assert_array_equal(f(ff.close_loops(again), q), f(ff.close_loops(model), q))


def test_a_description_keeps_no_array_or_list_of_the_caller():
    X, com, links = np.eye(4), np.zeros(3), [ff.Link("a", ff.Inertia(1.0, np.zeros(3), np.eye(3)))]
    links.append(ff.Link("b", ff.Inertia(1.0, com, np.eye(3))))
    lower = [-1.0]
    description = ff.Description("two", links, [ff.Joint("j", "revolute", "a", "b", X, lower=lower, upper=[1.0])])
    model = ff.build(description)
    before = ff.mass_matrix(model, np.ones(1)).copy()
    X[0, 3], com[0], lower[0] = 5.0, 5.0, -0.5
    links.clear()
    assert (len(description.links), description.joints[0].lower) == (2, (-1.0,))
    for again in (ff.build(description), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(ff.mass_matrix(again, np.ones(1)), before)
    joint = ff.Joint("j", "revolute", "a", "b", [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], axis=(0, 0, 1))
    for x in (joint.placement, joint.axis, ff.Inertia(1, [0, 0, 0], [[1, 0, 0], [0, 1, 0], [0, 0, 1]]).rotational):
        assert x.dtype == np.float64
    description = replace(ff.robots.chain(2).description, gravity=np.array([0.0, 1.0, 2.0]))
    assert description.gravity == (0.0, 1.0, 2.0)
    model = ff.robots.chain(3)
    assert dict(model.frame_index) == {name: k for k, name in enumerate(model.frame_names)}
    with pytest.raises(TypeError, match="does not support item assignment"):
        model.frame_index["tip"] = 10**7


WRONG_PARTS = {
    "links that are names": (lambda d: replace(d, links=("a",)), r"links\[0\] of robot 'chain_2' must be a freeflyer.Link"),
    "joints in a generator": (lambda d: replace(d, joints=iter(d.joints)), "joints of robot 'chain_2' must be a tuple or a list"),
    "a loop among sites": (lambda d: replace(d, sites=(ff.Loop("l", "a", "b"),)), "must be a freeflyer.Site, got Loop"),
    "an inertia of its own kind": (lambda d: ff.Link("a", 3.0), "inertia of link 'a' must be a freeflyer.Inertia, got float"),
    "a mimic by name": (lambda d: replace(d.joints[0], mimic="joint_2"), "mimic of joint 'joint_1' must be a freeflyer.Mimic"),
    "a masked axis": (
        lambda d: ff.build(d.with_joint(replace(d.joints[0], axis=np.ma.masked_array([0.0, 0, 1], [1, 0, 0])))),
        "axis of joint 'joint_1' is a masked array",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG_PARTS)
def test_parts_that_are_none_are_refused(what):
    make, words = WRONG_PARTS[what]
    refused(ff.DescriptionError, words, lambda: make(ff.robots.chain(2).description))


def by_hand(model: ff.Model, **changes: object) -> ff.Model:
    return ff.Model(**({f.name: getattr(model, f.name) for f in fields(model) if f.init} | changes))


@pytest.mark.parametrize("make", [replace, by_hand])
@pytest.mark.parametrize("field", ["topology", "parameters", "nq", "name", "frame_index", "description"])
def test_a_model_cannot_be_made_from_parts(make, field):
    model = ff.robots.chain(3)
    with pytest.raises(ff.InputError, match=r"cannot be made from arrays.*freeflyer\.build\(dataclasses\.replace"):
        make(model, **{field: getattr(ff.robots.chain(4), field)})


@pytest.mark.parametrize("robot", MODELS)
def test_compiled_arrays_begin_at_cache_lines(robot):
    model = MODELS[robot]()
    several = [model, *([ff.close_loops(model)] if robot == "closed" else [])]
    for m in (*several, *map(copy.deepcopy, several)):
        assert m.topology.ctypes.data % 64 == m.parameters.ctypes.data % 64 == 0
