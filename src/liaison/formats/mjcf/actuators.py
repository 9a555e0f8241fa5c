"""Actuators of MJCF: a gain times an input, and a bias, along a joint, a tendon or at a site.

    force = (g₀ + g₁ l + g₂ l̇) u + b₀ + b₁ l + b₂ l̇,    l = gear · length     (actuators-1)

within `forcerange`; the effort along the joint or tendon is gear · force. u is the input
"NAME ctrl" within `ctrlrange`, or, where it is filtered first, a state z, "NAME act":

    integrator  ż = ctrl,    filter, filterexact  ż = (ctrl − z)/τ,               (actuators-2)

which stops at the ends of `actrange`.

Public names: Actuators.

Source: MUJOCO XML reference, section actuator, and Computation, actuation model.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, final

import liaison.model as model
from liaison.errors import NamingError, TextError
from liaison.expr import (
    PI,
    Expr,
    as_expr,
    maximum,
    minimum,
    select,
    sqrt,
    symbol,
)
from liaison.formats.lsd.formulas.values import plain
from liaison.formats.urdf.xml import Element, number_in, numbers_in
from liaison.spatial import dot

from .joints import rotation_vector
from .parts import Parts
from .poses import Poses
from .tendons import Tendon

TYPES = {
    "gaintype": ("fixed", "affine"),
    "biastype": ("none", "affine"),
    "dyntype": ("none", "integrator", "filter", "filterexact"),
}
SHORTCUTS = ("general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder")
TARGETS = ("joint", "jointinparent", "tendon", "site", "cranksite", "body")


@final
@dataclass
class Law:
    """Gain, bias and filter of an actuator, as defaults and shortcuts set them one by one."""

    attributes: dict[str, str] = field(default_factory=dict)
    gaintype: str = "fixed"
    gain: list[Any] = field(default_factory=lambda: [1, 0, 0])
    biastype: str = "none"
    bias: list[Any] = field(default_factory=lambda: [0, 0, 0])
    dyntype: str = "none"
    time: Any = 1  # of the filter [s]

    def set(self, tag: str, attributes: dict[str, str], element: Element) -> None:
        """What one default, or the element itself, sets."""
        self.attributes |= attributes
        own = Element(tag, attributes, element.place)
        getattr(self, f"as_{tag}")(own)

    def as_general(self, own: Element) -> None:
        """Every parameter by itself."""
        for key, known in TYPES.items():
            value = own.attributes.get(key, getattr(self, key))
            if value not in known:
                raise TextError(
                    f"{key!r} of {own} is {value!r}, which is not read.",
                    place=own.place,
                    hint=f"Read are {', '.join(known)}.",
                )
            setattr(self, key, value)
        for key, values in (("gainprm", self.gain), ("biasprm", self.bias)):
            words = own.attributes.get(key, "").split()
            for k, x in enumerate(numbers_in(own, key, len(words), "")[:3]):
                values[k] = plain(x)
        words = own.attributes.get("dynprm", "").split()
        for x in numbers_in(own, "dynprm", len(words), "")[:1]:
            self.time = plain(x)

    def as_motor(self, own: Element) -> None:
        """The input is the force."""
        self.gaintype, self.biastype, self.dyntype = "fixed", "none", "none"
        self.gain, self.bias = [1, 0, 0], [0, 0, 0]

    def as_position(self, own: Element) -> None:
        """kp (u − l) − kv l̇."""
        kp = self._value(own, "kp", self.gain[0])
        kv = self._value(own, "kv", -self.bias[2])
        self.gaintype, self.biastype = "fixed", "affine"
        self.gain, self.bias = [kp, 0, 0], [0, -kp, -kv]
        if "timeconst" in own.attributes:
            self.time = plain(number_in(own, "timeconst"))
            self.dyntype = "filterexact" if self.time else "none"

    def as_intvelocity(self, own: Element) -> None:
        """The same, of the integral of its input."""
        self.as_position(own)
        self.dyntype = "integrator"
        self.attributes["actlimited"] = "true"

    def as_velocity(self, own: Element) -> None:
        """kv (u − l̇)."""
        kv = self._value(own, "kv", self.gain[0])
        self.gaintype, self.biastype, self.dyntype = "fixed", "affine", "none"
        self.gain, self.bias = [kv, 0, 0], [0, 0, -kv]

    def as_damper(self, own: Element) -> None:
        """−kv u l̇."""
        kv = self._value(own, "kv", 0)
        self.gaintype, self.biastype, self.dyntype = "affine", "none", "none"
        self.gain, self.bias = [0, 0, -kv], [0, 0, 0]
        self.attributes["ctrllimited"] = "true"

    def as_cylinder(self, own: Element) -> None:
        """The pressure times an area, and a bias."""
        area = self._value(own, "area", self.gain[0])
        if "diameter" in own.attributes:
            across = number_in(own, "diameter")
            area = PI * (across * across / 4)
        words = own.attributes.get("bias", "").split()
        bias = [plain(x) for x in numbers_in(own, "bias", len(words), "")]
        self.time = self._value(own, "timeconst", self.time)
        self.gaintype, self.biastype, self.dyntype = "fixed", "affine", "filter"
        self.gain, self.bias = [area, 0, 0], [*bias, 0, 0, 0][:3] if bias else self.bias

    @staticmethod
    def _value(own: Element, key: str, default: Any) -> Any:
        return plain(number_in(own, key)) if key in own.attributes else default


@final
class Actuators:
    """Reads the actuators of a file into its parts; `lengths` are formulas, for sensors."""

    def __init__(self, root: Element, parts: Parts, tendons: dict[str, Tendon]) -> None:
        self.parts, self.tendons = parts, tendons
        self.lengths: dict[str, tuple[Expr, Expr]] = {}
        self.controls: list[tuple[str, str]] = []  # input of each, and its state or ""
        self.summed: dict[tuple[str, str], list[tuple[str, Any, Element]]] = {}
        for element in (x for group in root.all("actuator") for x in group.children):
            if element.tag in SHORTCUTS:
                self.actuator(element)
            else:  # keyframes count it
                self.controls.append(("", " act" if element.tag == "muscle" else ""))
        for (kind, name), efforts in self.summed.items():
            self.bounded(kind, name, efforts)

    def actuator(self, element: Element) -> None:
        """One actuator: its law, its input, and what it acts along."""
        law = self.law(element)
        filled = Element(element.tag, law.attributes, element.place)
        self.parts.fields.check(filled)
        name = element.attributes.get("name") or f"actuator {len(self.controls) + 1}"
        if name in (x.rpartition(" ")[0] for x, _ in self.controls if x):
            raise NamingError.double("actuators", name, place=element.place)
        u = self.input(name, law, filled)
        targets = [key for key in TARGETS if key in filled.attributes]
        if len(targets) != 1:
            named = " and ".join(targets) or "nothing"
            message = f"{element} acts on {named}; it acts on one thing."
            raise TextError(message, place=element.place)
        if "actuation" in self.parts.settings.disabled:
            return
        if targets[0] == "body":
            message = f"{element} acts on a body by its contacts, which is not read"
            self.parts.fields.drop(message, element)
        elif targets[0] == "cranksite":
            self.by_crank(name, filled, law, u)
        elif targets[0] == "site":
            self.at_site(name, filled, law, u)
        elif targets[0] == "tendon":
            self.along_tendon(name, filled, law, u)
        else:
            self.along_joint(name, filled, law, u, targets[0])

    def law(self, element: Element) -> Law:
        """The law of an actuator: the defaults of its class one by one, then its own."""
        settings, law = self.parts.settings, Law()
        default = settings.class_of(element.attributes.get("class", "main"), element)
        for tag, attributes in settings.actuators.get(default, ()):
            if tag in SHORTCUTS:
                law.set(tag, attributes, element)
        law.set(element.tag, element.attributes, element)
        return law

    def input(self, name: str, law: Law, element: Element) -> Any:
        """u: the control within its range, or the activation."""
        label, state = f"{name} ctrl", "" if law.dyntype == "none" else f"{name} act"
        self.controls.append((label, state))
        self.parts.inputs.append(model.Input(label, place=element.place))
        u: Any = symbol(label)
        limits = self.limits(element, "ctrl")
        if limits and "clampctrl" not in self.parts.settings.disabled:
            u = minimum(maximum(u, limits[0]), limits[1])
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
        """`ctrlrange`, `actrange` or `forcerange`, where it counts."""
        key, stated = f"{what}range", element.attributes.get(f"{what}limited", "auto")
        if stated not in ("true", "false", "auto"):
            known = ("true", "false", "auto")
            raise NamingError.unknown(
                f"value of '{what}limited'", stated, known, place=element.place
            )
        if stated == "false" or (key not in element.attributes and stated == "auto"):
            return None
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

    def along_joint(self, name: str, element: Element, law: Law, u: Any, key: str) -> None:
        """Along a hinge or slide, or with the axes of a ball or free body."""
        joint = self.parts.joint(element, key)
        if joint.type.nq != 1:
            self.in_space(name, element, law, u, joint)
            return
        label = joint.coordinates[0]
        length = symbol(label) + self.parts.references.get(joint.name, 0)
        measure = model.Coordinate(label)
        frame = self.parts.elements[joint.name]
        is_bounded = "actuatorfrcrange" in frame.attributes
        is_bounded &= frame.attributes.get("actuatorfrclimited", "auto") != "false"
        key_of = ("joint", joint.name) if is_bounded else None
        self.along(name, element, law, u, (measure, as_expr(length), symbol(f"{label}'")), key_of)

    def along_tendon(self, name: str, element: Element, law: Law, u: Any) -> None:
        """Along a tendon."""
        wish = element.get("tendon")
        if wish not in self.tendons:
            raise NamingError.unknown("tendon", wish, self.tendons, place=element.place)
        tendon = self.tendons[wish]
        is_bounded = "actuatorfrcrange" in tendon.element.attributes
        is_bounded &= tendon.element.attributes.get("actuatorfrclimited", "auto") != "false"
        key = ("tendon", wish) if is_bounded else None
        self.along(name, element, law, u, (tendon.measure, tendon.length, tendon.rate), key)

    def along(
        self,
        name: str,
        element: Element,
        law: Law,
        u: Any,
        on: tuple[model.Measure, Expr, Expr],
        bounded: tuple[str, str] | None,
    ) -> None:
        """A servo where the feedback is linear; a formula where it is not, or is bounded twice."""
        measure, length, rate = on
        g = self.gear(element)[0]
        self.lengths[name] = (as_expr(g * length), as_expr(g * rate))
        limits, place = self.limits(element, "force"), element.place
        ends: list[Any] = [None, None]
        if limits is not None:
            ends = sorted((g * x for x in limits), key=float)
        b0, b1, b2 = law.bias if law.biastype == "affine" else (0, 0, 0)
        is_linear = law.gaintype == "fixed" or not any(law.gain[1:])
        is_servo = is_linear and b1 <= 0 and b2 <= 0 and (limits is None or ends[1] >= 0)
        if bounded is None and is_servo:
            shift = as_expr(length) - _plain_length(measure, length)
            drive = as_expr(g * (law.gain[0] * u + b0 + b1 * g * shift))
            if not (b1 or b2 or limits):
                effort: model.Force = model.Actuator(name, measure, drive, place)
            else:
                effort = model.Servo(
                    name,
                    measure,
                    effort=drive,
                    stiffness=-g * g * b1,
                    damping=-g * g * b2,
                    limit=ends[1],
                    least=ends[0],
                    place=place,
                )
            self.parts.forces.append(effort)
            return
        formula = self.force(law, u, *self.lengths[name], limits) * g
        if bounded is None:
            self.parts.forces.append(model.Actuator(name, measure, as_expr(formula), place))
        else:
            self.summed.setdefault(bounded, []).append((name, (measure, formula), element))

    def force(self, law: Law, u: Any, length: Any, rate: Any, limits: Any) -> Any:
        """(actuators-1)."""
        gain = law.gain[0]
        if law.gaintype == "affine":
            gain = gain + law.gain[1] * length + law.gain[2] * rate
        total = gain * u
        if law.biastype == "affine":
            total = total + law.bias[0] + law.bias[1] * length + law.bias[2] * rate
        return total if limits is None else minimum(maximum(total, limits[0]), limits[1])

    def bounded(self, kind: str, name: str, efforts: list[tuple[str, Any, Element]]) -> None:
        """The sum of all efforts on a joint or tendon within its `actuatorfrcrange`."""
        frame = self.parts.elements[name] if kind == "joint" else self.tendons[name].element
        low, high = numbers_in(frame, "actuatorfrcrange", 2, "0 0")
        if low >= high:
            message = f"'actuatorfrcrange' of {frame} ends at {float(high):g}, below its begin."
            raise TextError(message, place=frame.place)
        total: Any = sum(formula for _, (_, formula), _ in efforts)
        label = efforts[0][0] if len(efforts) == 1 else f"actuators of {name}"
        effort = as_expr(minimum(maximum(total, plain(low)), plain(high)))
        measure = efforts[0][1][0]
        self.parts.forces.append(model.Actuator(label, measure, effort, efforts[0][2].place))

    def by_crank(self, name: str, element: Element, law: Law, u: Any) -> None:
        """Along the slider of a rod without mass between two sites.

        length = a − √(a² + rod² − d²), with d from slider to crank and a its part along z of the
        slider; the effort has the power force · rate.
        """
        crank, slider = (
            self.parts.site(element, "cranksite"),
            self.parts.site(element, "slidersite"),
        )
        rod, poses = number_in(element, "cranklength"), Poses(self.parts)
        if rod <= 0:
            message = f"'cranklength' of {element} is {float(rod):g}; it is positive."
            raise TextError(message, place=element.place)
        self.check_plain(element, law, element.get("cranksite"))
        R, p = poses.at(slider)
        d = poses.at(crank)[1] - p
        a = as_expr(dot(d, R[:, 2]))
        g = self.gear(element)[0]
        length = g * (a - sqrt(maximum(a * a + rod * rod - as_expr(dot(d, d)), 0)))
        (rate,) = poses.rates([length], crank.body, slider.body)
        self.lengths[name] = (as_expr(length), as_expr(rate))
        force = self.force(law, u, 0, 0, self.limits(element, "force"))
        power = model.Dissipation(name, as_expr(-force * rate), place=element.place)
        self.parts.forces.append(power)

    # ---- in space

    def in_space(self, name: str, element: Element, law: Law, u: Any, joint: model.Joint) -> None:
        """A torque on a ball, or a force in the ground's axes and a torque on a free body."""
        gear, limits = self.gear(element), self.limits(element, "force")
        if isinstance(joint.type, model.Free):
            self.check_plain(element, law, joint.name)
            length = rate = as_expr(0)
        else:
            turn = rotation_vector([symbol(x) for x in joint.coordinates])
            length = as_expr(dot(gear[:3], turn))
            rate = as_expr(dot(gear[:3], [symbol(x) for x in joint.speeds]))
        self.lengths[name] = (length, rate)
        force = self.force(law, u, length, rate, limits)
        parent, child = joint.predecessor, joint.successor
        axes = parent if "jointinparent" in element.attributes else child
        if isinstance(joint.type, model.Free):
            push = tuple(as_expr(x * force) for x in gear[:3])
            moment = tuple(as_expr(x * force) for x in gear[3:])
            self.wrench(f"{name} force", child, force=push)
            self.wrench(name, child, moment=moment, axes=axes)
            return
        moment = tuple(as_expr(x * force) for x in gear[:3])
        self.wrench(name, child, moment=moment, axes=axes)
        if parent.body != "ground":
            back = tuple(-x for x in moment)
            self.wrench(f"{name} back", parent, moment=back, axes=axes)

    def at_site(self, name: str, element: Element, law: Law, u: Any) -> None:
        """A force and a torque at a site, in its own axes or in those of another."""
        site = self.parts.site(element, "site")
        self.check_plain(element, law, element.get("site"))
        gear, force = self.gear(element), self.force(law, u, 0, 0, self.limits(element, "force"))
        push, turn = (tuple(as_expr(x * force) for x in part) for part in (gear[:3], gear[3:]))
        axes = site
        if "refsite" in element.attributes:
            axes = self.parts.site(element, "refsite")
            if self.moves(axes.body):
                message = f"'refsite' of {element} is on a body that moves, which is not read"
                self.parts.fields.drop(message, element)
                return
        self.wrench(name, site, force=push, moment=turn, axes=axes)

    def moves(self, body: str) -> bool:
        """Whether a joint carries a body."""
        carriers = {x.successor.body: x for x in self.parts.joints.values()}
        while body != "ground":
            if carriers[body].type.nv:
                return True
            body = carriers[body].predecessor.body
        return False

    def check_plain(self, element: Element, law: Law, where: str) -> None:
        """Rejects feedback of a place in space."""
        fed = [law.biastype == "affine" and any(law.bias[1:])]
        fed.append(law.gaintype == "affine" and any(law.gain[1:]))
        if any(fed):
            message = f"the feedback of {element} from {where!r} in space is not read"
            self.parts.fields.drop(message, element)

    def wrench(self, name: str, at: model.Marker, **parts: Any) -> None:
        """A force or moment, unless it is zero."""
        if any(x is not None and any(y is not as_expr(0) for y in x)
               for key, x in parts.items() if key != "axes"):  # fmt: skip
            self.parts.forces.append(model.PointWrench(name, at, **parts))


def _plain_length(measure: model.Measure, length: Expr) -> Expr:
    """What a measure itself counts, of a length in MuJoCo's count."""
    return symbol(measure.label) if isinstance(measure, model.Coordinate) else length
