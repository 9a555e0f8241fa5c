"""Actuators of MJCF: a gain times an input, and a bias, along a joint, a tendon or at a site.

    force = (g₀ + g₁ l + g₂ l̇) u + b₀ + b₁ l + b₂ l̇,    l = gear · length     (actuators-1)

within `forcerange`; the effort along the joint or tendon is gear · force. u is the input
"NAME ctrl" within `ctrlrange`, or, where it is filtered first, a state z, "NAME act":

    integrator  ż = ctrl,    filter, filterexact  ż = (ctrl − z)/τ,               (actuators-2)

which stops at the ends of `actrange`. Where g₀ = −b₁ follows a turn, of a ball or against a site,
it goes there by the shorter way:

    g₀ (u − l)  →  g₀ γ atan2(sin x, cos x),    x = (u − l)/γ,    γ = ‖gear‖         (actuators-3)

Along a tendon with `actuatorfrcrange` all forces become smaller by one factor; along a hinge or
slide with one, the sum of what all actuators do there is cut off.

Public names: Actuators, Drive.

Source: MUJOCO XML reference, section actuator, and Computation, actuation model.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import liaison.model as model
from liaison.errors import NamingError, TextError
from liaison.expr import (
    ZERO,
    Expr,
    as_expr,
    atan2,
    cos,
    directional,
    maximum,
    minimum,
    select,
    sin,
    sqrt,
    symbol,
)
from liaison.formats.lsd.formulas.values import plain
from liaison.formats.urdf.xml import Element, number_in, numbers_in
from liaison.spatial import array, dot, product, quaternion_product

from .joints import rotation_vector
from .laws import SHORTCUTS, Law, law_of
from .parts import Parts
from .poses import Poses
from .tendons import Tendon
from .values import is_true, whole

TARGETS = ("joint", "jointinparent", "tendon", "site", "cranksite", "body")


@final
@dataclass(frozen=True)
class Drive:
    """What an actuator does: it has the power force · rate."""

    name: str
    force: Any
    rate: Expr
    element: Element
    joint: str = ""  # the hinge or slide it acts on, where that has an `actuatorfrcrange`


@final
@dataclass(frozen=True)
class Pull:
    """A force along a tendon whose sum with others is bounded, before its own limits."""

    name: str
    force: Any
    gear: Any
    limits: tuple[Any, Any] | None
    element: Element


@final
class Actuators:
    """Reads the actuators of a file into its parts; `lengths` are formulas, for sensors."""

    def __init__(
        self, root: Element, parts: Parts, tendons: dict[str, Tendon], lift: Expr = ZERO
    ) -> None:
        self.parts, self.tendons, self.lift = parts, tendons, lift
        self.poses = Poses(parts)
        self.lengths: dict[str, tuple[Expr, Expr]] = {}
        self.controls: list[tuple[str, str]] = []  # input of each, and its state or ""
        self.drives: list[Drive] = []
        self.pulls: dict[str, list[Pull]] = {}  # by tendon
        self.on_tendons: dict[str, str] = {}
        self.left_out: set[str] = set()  # names of those that are not read
        listed = [x for group in root.all("actuator") for x in group.children]
        self.is_on = bool(listed) and "actuation" not in parts.settings.disabled
        self.ranges = self.joint_ranges()
        for element in listed:
            if element.tag in SHORTCUTS:
                self.actuator(element)
            else:  # keyframes count it
                self.controls.append(("", " act" if element.tag == "muscle" else ""))
                self.left_out.add(element.attributes.get("name", ""))
        for tendon, pulls in self.pulls.items():
            self.bounded_tendon(self.tendons[tendon], pulls)
        for name, limits in self.ranges.items() if self.is_on else ():
            self.bounded_joint(name, limits)

    def joint_ranges(self) -> dict[str, tuple[Any, Any]]:
        """`actuatorfrcrange` of hinges and slides; it has no effect on others, and is noted."""
        ranges = {}
        for name, element in self.parts.elements.items():
            if self.parts.joints[name].type.nq != 1:
                if "actuatorfrcrange" in element.attributes:
                    note = f"'actuatorfrcrange' of {element} has no effect: it has several axes"
                    self.parts.notes.append(f"{note} (line {element.place.line})")
                continue
            limits = self.limits(element, "actuatorfrc")
            if limits is not None:
                ranges[name] = limits
        return ranges

    def actuator(self, element: Element) -> None:
        """One actuator: its law, its input, and what it acts along."""
        settings = self.parts.settings
        default = settings.class_of(element.attributes.get("class", "main"), element)
        law, filled = law_of(element, settings.actuators[default])
        self.parts.fields.check(filled)
        law.is_idle = whole(filled, "group", "0") in settings.idle
        if law.is_balanced and law.bias[2] > 0:
            message = f"the bias of {element} ends with a damping ratio, which is not read"
            if "dampratio" not in element.attributes:  # which is named already
                self.parts.fields.drop(message, element)
            law.bias[2] = 0
        name = element.attributes.get("name") or f"actuator {len(self.controls) + 1}"
        if name in (x.rpartition(" ")[0] for x, _ in self.controls if x):
            raise NamingError.double("actuators", name, place=element.place)
        u = self.input(name, law, filled)
        targets = [key for key in TARGETS if key in filled.attributes]
        if len(targets) != 1:
            named = " and ".join(targets) or "nothing"
            message = f"{element} acts on {named}; it acts on one thing."
            raise TextError(message, place=element.place)
        _check_sites(element, targets[0])
        if targets[0] == "body":
            message = f"{element} acts on a body by its contacts, which is not read"
            self.left_out.add(name)
            self.parts.fields.drop(message, element)
        elif targets[0] == "cranksite":
            self.by_crank(name, filled, law, u)
        elif targets[0] == "site":
            self.at_site(name, filled, law, u)
        elif targets[0] == "tendon":
            self.along_tendon(name, filled, law, u)
        else:
            self.along_joint(name, filled, law, u, targets[0])

    def input(self, name: str, law: Law, element: Element) -> Any:
        """u: the control within its range, or the activation."""
        label, state = f"{name} ctrl", "" if law.dyntype == "none" else f"{name} act"
        self.controls.append((label, state))
        self.parts.inputs.append(model.Input(label, place=element.place))
        u: Any = symbol(label)
        limits = self.limits(element, "ctrl")
        if limits and "clampctrl" not in self.parts.settings.disabled:
            u = minimum(maximum(u, limits[0]), limits[1])
        if not state and self.limits(element, "act") is not None:
            message = f"{element} has 'actrange', but no activation."
            raise TextError(message, place=element.place, hint="Give a dyntype, or no actrange.")
        return self.activation(state, law, u, element) if state else u

    def activation(self, state: str, law: Law, u: Any, element: Element) -> Any:
        """The state of a filter, by (actuators-2)."""
        z: Any = symbol(state)
        if law.dyntype == "integrator":
            rate = u
        elif law.time > 0:
            rate = (u - z) / law.time
        else:
            message = f"the time of the filter of {element} is {float(law.time):g} s"
            raise TextError(f"{message}; it is positive.", place=element.place)
        limits = self.limits(element, "act")
        if limits:
            inwards = select(z - limits[1], minimum(rate, 0), rate)
            rate = select(limits[0] - z, maximum(rate, 0), inwards)
            z = minimum(maximum(z, limits[0]), limits[1])
        rate = 0 if "actuation" in self.parts.settings.disabled else rate
        self.parts.forces.append(model.Memory(state, as_expr(rate), place=element.place))
        return z

    def limits(self, element: Element, what: str) -> tuple[Any, Any] | None:
        """`ctrlrange`, `actrange`, `forcerange` or `actuatorfrcrange`, where it counts."""
        key, stated = f"{what}range", element.attributes.get(f"{what}limited", "auto")
        if stated not in ("true", "false", "auto"):
            known = ("true", "false", "auto")
            raise NamingError.unknown(
                f"value of '{what}limited'", stated, known, place=element.place
            )
        if stated == "false" or (key not in element.attributes and stated == "auto"):
            return None
        if stated == "auto" and not self.parts.settings.has_auto_limits:
            message = f"{element} has {key!r}, but does not say whether it is limited."
            hint = f"Set {what}limited='true' or 'false'."
            raise TextError(message, place=element.place, hint=hint)
        low, high = (plain(x) for x in numbers_in(element, key, 2, "0 0"))
        if low >= high:
            if stated == "auto" and low == high == 0:
                return None
            message = f"{key!r} of {element} ends at {float(high):g}, not above its begin."
            raise TextError(message, place=element.place)
        return low, high

    def gear(self, element: Element) -> list[Any]:
        """Up to six numbers; the rest are zero."""
        words = element.attributes.get("gear", "1").split()
        if not 0 < len(words) <= 6:
            message = f"'gear' of {element} has {len(words)} numbers; it takes up to 6."
            raise TextError(message, place=element.place)
        gear = [plain(x) for x in numbers_in(element, "gear", len(words), "1")]
        return gear + [0] * (6 - len(gear))

    # ---- what it acts along

    def apply(self, load: model.Force) -> None:
        """A load more, where actuation is on."""
        if self.is_on:
            self.parts.forces.append(load)

    def along_joint(self, name: str, element: Element, law: Law, u: Any, key: str) -> None:
        """Along a hinge or slide, or with the axes of a ball or free body."""
        joint = self.parts.joint(element, key)
        if joint.type.nq != 1:
            self.in_space(name, element, law, u, joint)
            return
        label = joint.coordinates[0]
        length = symbol(label) + self.parts.references.get(joint.name, 0)
        on = (model.Coordinate(label), as_expr(length), symbol(f"{label}'"))
        self.along(name, element, law, u, on, joint.name if joint.name in self.ranges else "")

    def along_tendon(self, name: str, element: Element, law: Law, u: Any) -> None:
        """Along a tendon."""
        wish = element.get("tendon")
        if wish not in self.tendons:
            raise NamingError.unknown("tendon", wish, self.tendons, place=element.place)
        tendon, g = self.tendons[wish], self.gear(element)[0]
        self.on_tendons[name] = wish
        if self.limits(tendon.element, "actuatorfrc") is None:
            self.along(name, element, law, u, (tendon.measure, tendon.length, tendon.rate), "")
            return
        self.lengths[name] = length, rate = as_expr(g * tendon.length), as_expr(g * tendon.rate)
        force = self.force(law, u, length, rate, None)
        pull = Pull(name, force, g, self.limits(element, "force"), element)
        self.pulls.setdefault(wish, []).append(pull)

    def along(
        self,
        name: str,
        element: Element,
        law: Law,
        u: Any,
        on: tuple[model.Measure, Expr, Expr],
        joint: str,
    ) -> None:
        """A servo where the feedback is linear; a formula where it is not, or is bounded twice."""
        measure, length, rate = on
        g, limits = self.gear(element)[0], self.limits(element, "force")
        self.lengths[name] = (as_expr(g * length), as_expr(g * rate))
        force = self.force(law, u, *self.lengths[name], limits)
        self.drives.append(Drive(name, force, self.lengths[name][1], element, joint))
        if joint:
            return
        servo = None if law.is_idle else self.servo(name, element, law, u, on)
        if servo is not None:
            self.apply(servo)
        elif as_expr(force * g) is not ZERO:
            self.apply(model.Actuator(name, measure, as_expr(force * g), element.place))

    def servo(
        self, name: str, element: Element, law: Law, u: Any, on: tuple[model.Measure, Expr, Expr]
    ) -> model.Force | None:
        """A servo or a motor, where the feedback is linear and its limits include no effort."""
        measure, length, _ = on
        g, limits, place = self.gear(element)[0], self.limits(element, "force"), element.place
        ends: list[Any] = [None, None]
        if limits is not None:
            ends = sorted((g * x for x in limits), key=float)
        b0, b1, b2 = law.bias if law.biastype == "affine" else (0, 0, 0)
        is_linear = law.gaintype == "fixed" or not any(law.gain[1:])
        if not (is_linear and b1 <= 0 and b2 <= 0 and (limits is None or ends[1] >= 0)):
            return None
        shift = as_expr(length) - _plain_length(measure, length)
        drive = as_expr(g * (law.gain[0] * u + b0 + b1 * g * shift))
        if not (b1 or b2 or limits):
            return model.Actuator(name, measure, drive, place)
        return model.Servo(
            name,
            measure,
            effort=drive,
            stiffness=-g * g * b1,
            damping=-g * g * b2,
            limit=ends[1],
            least=ends[0],
            place=place,
        )

    def force(self, law: Law, u: Any, length: Any, rate: Any, limits: Any, turn: Any = None) -> Any:
        """(actuators-1), with (actuators-3) where it follows a turn of that many radians.

        Where its group is off there is none.
        """
        total: Any = 0
        if not law.is_idle:
            gain = law.gain[0]
            if law.gaintype == "affine":
                gain = gain + law.gain[1] * length + law.gain[2] * rate
            total = gain * u
            if law.biastype == "affine" and turn is not None and law.follows:
                error = as_expr((u - length) / turn)
                nearest = turn * atan2(sin(error), cos(error))
                total = gain * nearest + law.bias[0] + law.bias[2] * rate
            elif law.biastype == "affine":
                total = total + law.bias[0] + law.bias[1] * length + law.bias[2] * rate
        return total if limits is None else minimum(maximum(total, limits[0]), limits[1])

    # ---- bounds of sums

    def bounded_tendon(self, tendon: Tendon, pulls: list[Pull]) -> None:
        """Forces along a tendon, all by one factor smaller where their sum is out of its range."""
        limits = self.limits(tendon.element, "actuatorfrc")
        low, high = limits if limits is not None else (0, 0)
        if low > 0 or high < 0:
            message = f"'actuatorfrcrange' of {tendon.element} does not include 0."
            raise TextError(message, place=tendon.element.place)
        total: Any = sum((x.force for x in pulls), as_expr(0))
        within = minimum(maximum(total, low), high)
        safe = select(total * total, total, 1)
        share = select(total * total, within / safe, 1)
        effort: Any = 0
        for pull in pulls:
            force = within if len(pulls) == 1 else pull.force * share
            if pull.limits is not None:
                force = minimum(maximum(force, pull.limits[0]), pull.limits[1])
            rate = as_expr(pull.gear * tendon.rate)
            self.drives.append(Drive(pull.name, force, rate, pull.element))
            effort = effort + pull.gear * force
        label = pulls[0].name if len(pulls) == 1 else f"actuators of {tendon.name}"
        place = pulls[0].element.place
        self.apply(model.Actuator(label, tendon.measure, as_expr(effort), place))

    def bounded_joint(self, name: str, limits: tuple[Any, Any]) -> None:
        """The sum of all that actuators do along a joint within its `actuatorfrcrange`.

        The load is what the sum lacks without the actuators that act on other things, too.
        """
        label = self.parts.joints[name].coordinates[0]
        own = [x for x in self.drives if x.joint == name]
        others: Any = as_expr(0)
        for drive in (x for x in self.drives if x.joint != name):
            others = others + drive.force * self.share(drive.rate, label)
        element = self.parts.elements[name]
        if is_true(element, "actuatorgravcomp"):
            others = others + self.share(self.lift, label)
        if not own and others is ZERO and limits[0] <= 0 <= limits[1]:
            return
        total = others
        for drive in own:
            total = total + drive.force * self.share(drive.rate, label)
        effort = as_expr(minimum(maximum(total, limits[0]), limits[1]) - others)
        word = own[0].name if len(own) == 1 else f"actuators of {name}"
        place = own[0].element.place if own else element.place
        self.apply(model.Actuator(word, model.Coordinate(label), effort, place))

    # ---- what sensors read

    @property
    def forces(self) -> dict[str, Any]:
        """The force of each actuator, before what joints bound."""
        return {x.name: x.force if self.is_on else 0 for x in self.drives}

    def pull(self, tendon: str) -> Any:
        """The sum of the forces of the actuators on a tendon."""
        names = [name for name, wish in self.on_tendons.items() if wish == tendon]
        return sum((self.forces[x] for x in names), as_expr(0))

    def effort(self, name: str) -> Any:
        """What all actuators do along a hinge or slide."""
        label = self.parts.joints[name].coordinates[0]
        total: Any = as_expr(0)
        if not self.is_on:
            return total
        for drive in self.drives:
            total = total + drive.force * self.share(drive.rate, label)
        if is_true(self.parts.elements[name], "actuatorgravcomp"):
            total = total + self.share(self.lift, label)
        limits = self.ranges.get(name)
        return total if limits is None else minimum(maximum(total, limits[0]), limits[1])

    def share(self, power: Expr, label: str) -> Expr:
        """What a power that is linear in speeds does along a coordinate."""
        return directional([power], {symbol(f"{label}'"): as_expr(1)})[0]

    # ---- in space

    def by_crank(self, name: str, element: Element, law: Law, u: Any) -> None:
        """Along the slider of a rod without mass between two sites.

        length = a − √(a² + rod² − d²), with d from slider to crank and a its part along z of the
        slider; the effort has the power force · rate.
        """
        crank, slider = (
            self.parts.site(element, "cranksite"),
            self.parts.site(element, "slidersite"),
        )
        rod, poses = number_in(element, "cranklength"), self.poses
        if rod <= 0:
            message = f"'cranklength' of {element} is {float(rod):g}; it is positive."
            raise TextError(message, place=element.place)
        R, p = poses.at(slider)
        d = poses.at(crank)[1] - p
        a = as_expr(dot(d, R[:, 2]))
        g = self.gear(element)[0]
        length = g * (a - sqrt(maximum(a * a + rod * rod - as_expr(dot(d, d)), 0)))
        (rate,) = poses.rates([length], crank.body, slider.body)
        self.by_power(name, element, law, u, (as_expr(length), as_expr(rate)))

    def by_power(
        self, name: str, element: Element, law: Law, u: Any, on: tuple[Expr, Expr],
        turn: Any = None,
    ) -> None:  # fmt: skip
        """An effort of the power force · rate, where that is linear in the rate without limits."""
        length, rate = self.lengths[name] = on
        limits = self.limits(element, "force")
        damped = law.bias[2] if law.biastype == "affine" else 0
        damped = damped + (law.gain[2] * u if law.gaintype == "affine" else 0)
        damped = as_expr(0 if law.is_idle else damped)
        if damped is not ZERO and limits is not None:
            message = f"'forcerange' of {element} with feedback of its rate is not read"
            self.left_out.add(name)
            self.parts.fields.drop(message, element)
            return
        still = self.force(law, u, length, 0, limits, turn)
        self.drives.append(Drive(name, still + damped * rate, rate, element))
        power = as_expr(-(still * rate + damped * Fraction(1, 2) * rate * rate))
        if power is not ZERO:
            self.apply(model.Dissipation(name, power, place=element.place))

    def in_space(self, name: str, element: Element, law: Law, u: Any, joint: model.Joint) -> None:
        """A torque on a ball, or a force in the ground's axes and a torque on a free body."""
        gear, limits = self.gear(element), self.limits(element, "force")
        parent, child = joint.predecessor, joint.successor
        is_free = isinstance(joint.type, model.Free)
        spin = array([symbol(x) for x in joint.speeds[:3]])
        if "jointinparent" in element.attributes:
            q = array([symbol(x) for x in joint.coordinates])
            spin = product(joint.type.pose(q)[0], spin)
        if is_free:
            push, turn = gear[:3], gear[3:]
            moved = self.poses.rates([symbol(x) for x in joint.coordinates[:3]], child.body)
            length, rate, size = as_expr(0), as_expr(dot(push, moved) + dot(turn, spin)), None
        else:
            push, turn = [0, 0, 0], gear[:3]
            length = as_expr(dot(turn, rotation_vector([symbol(x) for x in joint.coordinates])))
            rate, size = as_expr(dot(turn, spin)), _size(turn)
        self.lengths[name] = (length, rate)
        force = self.force(law, u, length, rate, limits, size)
        self.drives.append(Drive(name, force, rate, element))
        axes = parent if "jointinparent" in element.attributes else child
        moment = tuple(as_expr(x * force) for x in turn)
        if is_free:
            self.wrench(f"{name} force", child, force=tuple(as_expr(x * force) for x in push))
        self.wrench(name, child, moment=moment, axes=axes)
        if parent.body != "ground":
            back = tuple(-x for x in moment)
            self.wrench(f"{name} back", parent, moment=back, axes=axes)

    def at_site(self, name: str, element: Element, law: Law, u: Any) -> None:
        """A force and a torque at a site, in its own axes or in those of another."""
        site = self.parts.site(element, "site")
        gear, poses = self.gear(element), self.poses
        is_against = "refsite" in element.attributes
        axes = self.parts.site(element, "refsite") if is_against else site
        if self.moves(axes.body) and is_against:
            message = f"'refsite' of {element} is on a body that moves, which is not read"
            self.left_out.add(name)
            self.parts.fields.drop(message, element)
            return
        R, far = poses.at(axes)
        p = list(poses.at(site)[1])
        push, turn = (product(R, array(part)) for part in (gear[:3], gear[3:]))
        rate = as_expr(dot(push, poses.rates(p, site.body)) + dot(turn, poses.turning(site.body)))
        length, size = as_expr(0), None
        if is_against:
            back = [x if k == 0 else -x for k, x in enumerate(poses.quaternion(axes))]
            angles = rotation_vector(list(quaternion_product(back, poses.quaternion(site))))
            length = as_expr(dot(push, array(p) - far) + dot(gear[3:], angles))
            size = None if any(gear[:3]) else _size(gear[3:])
        self.lengths[name] = (length, rate)
        force = self.force(law, u, length, rate, self.limits(element, "force"), size)
        self.drives.append(Drive(name, force, rate, element))
        loads = (tuple(as_expr(x * force) for x in part) for part in (gear[:3], gear[3:]))
        self.wrench(name, site, **dict(zip(("force", "moment"), loads, strict=True)), axes=axes)

    def moves(self, body: str) -> bool:
        """Whether a joint carries a body."""
        return any(self.poses.joints[x].type.nv for x in self.poses.path(body))

    def wrench(self, name: str, at: model.Marker, **parts: Any) -> None:
        """A force or moment, unless it is zero."""
        if any(x is not None and any(y is not as_expr(0) for y in x)
               for key, x in parts.items() if key != "axes"):  # fmt: skip
            self.apply(model.PointWrench(name, at, **parts))


def _check_sites(element: Element, target: str) -> None:
    """Rejects what only actuators at a site or of a slider-crank have, of others."""
    for key, owner in (
        ("refsite", "site"),
        ("slidersite", "cranksite"),
        ("cranklength", "cranksite"),
    ):
        if key in element.attributes and target != owner:
            message = f"{element} has {key!r}, but acts on a {target}; it goes with {owner!r}."
            raise TextError(message, place=element.place)


def _size(turn: list[Any]) -> Any:
    """The length of an axis with a gear; nothing where it is zero."""
    square = sum(x * x for x in turn)
    return sqrt(as_expr(square)) if square else None


def _plain_length(measure: model.Measure, length: Expr) -> Expr:
    """What a measure itself counts, of a length in MuJoCo's count."""
    return symbol(measure.label) if isinstance(measure, model.Coordinate) else length
