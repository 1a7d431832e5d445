"""Pairs of expressions that differ in numbers and in their limb alone: of one state, one instruction computes both in two lanes.

Limbs that are alike, as a left and a right leg, are found in the tree. Results that belong to them are compared, then their
operands, and so on down to the inputs (superword-level parallelism: Larsen, Amarasinghe, Exploiting Superword Level Parallelism
with Multimedia Instruction Sets, 2000). Then come the terms of sums in which limbs meet.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from itertools import product
from typing import Any

from freeflyer.kernels.compiler.one_robot.expressions import Expression, Scalar, operands
from freeflyer.kernels.compiler.one_robot.fewer_terms import records
from freeflyer.kernels.compiler.one_robot.tracing import Formulas
from freeflyer.kernels.entry import Entry
from freeflyer.kernels.model import layout as L

Unit = tuple[Expression, ...]  # what is computed at once: an expression, or a pair
SUMS = ("+", "-")
LINEAR = (*SUMS, "*", "negative")  # with one operand that is no number: a multiple of it, or a number more
Twins = dict[int, int]  # a coordinate of a limb -> that of its twin


class Pairs:
    """`second`: what goes into the second lane, by what goes into the first; `first`: the reverse."""

    def __init__(self, twins: dict[int, Twins]) -> None:
        self.second: dict[Expression, Expression] = {}
        self.first: dict[Expression, Expression] = {}
        self.twins = twins  # by the number of an input
        self.reverse = {k: {b: a for a, b in x.items()} for k, x in twins.items()}

    def add(self, x: Expression, y: Expression) -> None:
        """Makes pairs of x and y and of what they are computed from, as far as both are computed alike. Signs, and numbers that are
        zero or one in one of the limbs, do not end the comparison."""
        waiting: list[tuple[Scalar, Scalar]] = [(x, y)]
        while waiting:
            x, y = waiting.pop()
            if self._alike(x, y):
                self.second[x], self.first[y] = y, x
                waiting += () if x.operation == "input" else self.operands(x, y)
            elif type(x) is Expression and type(y) is Expression and x is not y and not self._taken(x, y):
                a, b = list(operands(x)), list(operands(y))
                if x.operation in SUMS and y.operation in SUMS and len(a) == len(b) == 2:
                    waiting += self.operands(x, y)
                elif x.operation in LINEAR and len(a) == 1:
                    waiting.append((a[0], y))
                elif y.operation in LINEAR and len(b) == 1:
                    waiting.append((x, b[0]))

    def _taken(self, *xs: Expression) -> bool:
        return any(x in self.first or x in self.second for x in xs)

    def _alike(self, x: Scalar, y: Scalar) -> bool:
        if type(x) is not Expression or type(y) is not Expression or x is y or x.operation != y.operation:
            return False
        if self._taken(x, y):
            return False
        if x.operation == "input":
            k, i = x.operands
            return y.operands == (k, self.twins.get(k, {}).get(i))
        return [type(z) for z in x.operands] == [type(z) for z in y.operands]

    def operands(self, x: Expression, y: Expression) -> list[tuple[Scalar, Scalar]]:
        """The operands of x beside those of y. Those of sums and products may change places."""
        a, b = x.operands, y.operands
        if (x.operation in ("+", "*") or x.operation != y.operation) and self._fit(a, b[::-1]) > self._fit(a, b):
            b = b[::-1]
        return list(zip(a, b))

    def _fit(self, a: Sequence[Scalar], b: Sequence[Scalar]) -> float:
        def fit(x: Scalar, y: Scalar) -> float:
            if type(x) is not Expression or type(y) is not Expression:
                return 0.0 if type(x) is type(y) else -9.0
            if self.second.get(x) is y:
                return 2.0
            return 1.0 if x is y else -1.0 if self._taken(x, y) else 0.5 * (x.operation == y.operation)

        return sum(map(fit, a, b))

    def add_terms(self, expressions: Sequence[Expression]) -> bool:
        """Makes pairs of terms that are alike in sums; whether there were any."""
        alike, lane = self._likeness(expressions)
        uses = Counter(y for x in expressions for y in operands(x))
        count, seen = len(self.second), set()
        for x in reversed(expressions):
            if x in seen or x.operation not in SUMS or self._taken(x):
                continue
            terms: dict[int | None, list[Expression]] = {None: [], 0: [], 1: []}  # by lane
            waiting = [x]
            while waiting:
                y = waiting.pop()
                if y.operation in SUMS and not self._taken(y) and (y is x or uses[y] == 1):
                    seen.add(y)
                    waiting += operands(y)
                else:
                    terms[lane[y]].append(y)
            places = {k: sorted(terms[k], key=lambda y: y.number) for k in (0, 1)}
            for a in list(places[0]):
                b = next((b for b in places[1] if alike[a] == alike[b]), None)
                if b is not None:
                    places[0].remove(a)
                    places[1].remove(b)
                    self.add(a, b)
            if len(places[0]) == len(places[1]):
                for a, b in zip(places[0], places[1]):
                    self.add(a, b)
        return len(self.second) > count

    def _likeness(self, expressions: Sequence[Expression]) -> tuple[dict[Expression, int], dict[Expression, int | None]]:
        """Of each expression a number that is the same for those computed alike, and the lane of what it is computed from."""
        alike: dict[Expression, int] = {}
        lane: dict[Expression, int | None] = {}
        known: dict[Any, int] = {}
        for x in expressions:
            below = [alike[y] for y in operands(x)]
            fact: tuple[Any, ...] = ("+" if x.operation in SUMS else x.operation, *sorted(below))
            lanes = {lane[y] for y in operands(x)} - {None}
            lane[x] = lanes.pop() if len(lanes) == 1 else None
            if x.operation == "input":
                k, i = x.operands
                twins, reverse = self.twins.get(k, {}), self.reverse.get(k, {})
                fact, lane[x] = ("input", k, reverse.get(i, i)), 0 if i in twins else 1 if i in reverse else None
            elif self._taken(x):
                fact, lane[x] = ("pair", self.first.get(x, x).number), int(x in self.first)
            linear = x.operation in LINEAR and len(below) == 1
            alike[x] = below[0] if linear else known.setdefault(fact, len(known))
        return alike, lane

    def ordered(self, expressions: Sequence[Expression]) -> list[Unit]:
        """Expressions alone and in pairs, each behind what it is computed from. Pairs that wait for each other are given up."""
        unit_of: dict[Expression, Unit] = {}
        missing: dict[Unit, int] = {}  # operands that are yet to come
        users: dict[Expression, list[Expression]] = defaultdict(list)
        ready: list[tuple[int, Unit]] = []
        found: dict[Expression, Unit] = {}

        def enter(*unit: Expression) -> None:
            missing[unit] = sum(y not in found for x in unit for y in operands(x))
            unit_of.update(dict.fromkeys(unit, unit))
            if not missing[unit]:
                heappush(ready, (unit[-1].number, unit))

        for x in expressions:
            for y in operands(x):
                users[y].append(x)
            if x not in self.first:
                enter(x, *([self.second[x]] if x in self.second else []))
        while len(found) < len(expressions):
            if ready:
                _, unit = heappop(ready)
                found.update(dict.fromkeys(unit, unit))
                for other in (unit_of[x] for y in unit for x in users[y]):
                    missing[other] -= 1
                    if not missing[other]:
                        heappush(ready, (other[-1].number, other))
            else:
                waiting = (unit for x, unit in unit_of.items() if x not in found and len(unit) == 2)
                x, y = min(waiting, key=lambda unit: min(z.number for z in unit))
                del self.second[x], self.first[y]
                enter(x)
                enter(y)
        return list(dict.fromkeys(found.values()))


def pairs(entry: Entry, topology: Sequence[int], of: Formulas) -> Pairs:
    """Pairs among an entry's formulas."""
    positions, velocities = twin_coordinates(topology)
    at = topology[L.LINKAGE_AT]
    first = topology[at + L.INDEPENDENTS_AT] if at > 0 else 0
    free = {topology[first + k]: k for k in range(topology[L.N_INDEPENDENT] if at > 0 else 0)}
    rates = {free[a]: free[b] for a, b in velocities.items() if a in free and b in free}
    of_inputs, of_outputs = {"q": positions, "v": velocities, "u": rates}, {"nv": velocities, "nu": rates}
    found = Pairs({k: of_inputs.get(letter, {}) for k, letter in enumerate(entry.inputs)})
    for row, names, shape in zip(of.outputs, entry.outputs, entry.shapes(topology)[entry.input_count :]):
        twins = [of_outputs.get(name, {}) for name in names]
        for place, index in enumerate(product(*map(range, shape)) if row else ()):
            other = 0
            for i, twin, n in zip(index, twins, shape):
                other = n * other + twin.get(i, i)
            x, y = row[place], row[other]
            if other != place and type(x) is Expression and type(y) is Expression:
                found.add(x, y)
    while found.add_terms(of.expressions):
        pass
    return found


def twin_coordinates(topology: Sequence[int]) -> tuple[Twins, Twins]:
    """Of q and of v, coordinates of limbs that hang on the same body and consist of the same joints, by pairs of limbs."""
    below: dict[int, list[int]] = defaultdict(list)
    kinds: dict[int, int] = {}  # the same number for limbs that are alike
    known: dict[Any, int] = {}
    bodies = records(topology)
    for i, body in reversed(list(enumerate(bodies))):
        below[i].sort(key=lambda k: (kinds[k], k))
        kinds[i] = known.setdefault((body[L.KIND], body[L.COLUMN_COUNT], *(kinds[k] for k in below[i])), len(known))
        below[body[L.PARENT]].insert(0, i)
    positions: Twins = {}
    velocities: Twins = {}
    for a, b in _twin_bodies(0, below, kinds):
        x, y = bodies[a], bodies[b]
        count = x[L.COLUMN_COUNT]
        velocities.update((x[L.FIRST_V] + k, y[L.FIRST_V] + k) for k in range(count))
        positions.update((x[L.FIRST_Q] + k, y[L.FIRST_Q] + k) for k in range(count + (x[L.KIND] in L.QUATERNION)))
    return positions, velocities


def _twin_bodies(root: int, below: dict[int, list[int]], kinds: dict[int, int]) -> Iterator[tuple[int, int]]:
    waiting, both = [root], []
    while waiting:
        alone: dict[Any, int] = {}
        for i in below[waiting.pop()]:
            if kinds[i] in alone:
                both.append((alone.pop(kinds[i]), i))
            else:
                alone[kinds[i]] = i
        waiting += alone.values()
    while both:
        a, b = both.pop()
        yield a, b
        both += zip(below[a], below[b])
