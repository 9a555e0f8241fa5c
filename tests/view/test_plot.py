"""Curves are chosen by label, grouped by unit, and never shown unasked."""

import warnings
from dataclasses import replace

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pytest
from matplotlib import pyplot
from numpy.testing import assert_allclose, assert_array_equal

import liaison
from liaison.errors import LiaisonError, NamingError
from liaison.simulation.record.trajectory import EventRecord, Series
from liaison.view import plot, save_plot
from liaison.view.plot import refined
from liaison.view.scene import sampled


@pytest.fixture(autouse=True)
def _nothing_is_shown(monkeypatch):
    monkeypatch.setattr(pyplot, "show", lambda *_: pytest.fail("show() was called"))
    yield
    pyplot.close("all")


def names(ax) -> list[str]:
    return [line.get_label() for line in ax.lines if not line.get_label().startswith("_")]


def test_positions_are_drawn_if_nothing_is_named(double_pendulum):
    ax = plot(double_pendulum.run)
    assert names(ax) == ["A", "B"]
    t, A = ax.lines[0].get_data()
    recorded = np.isin(t, double_pendulum.run.t)
    assert_array_equal(t[recorded], double_pendulum.run.t)
    assert_array_equal(A[recorded], double_pendulum.run["A"])
    assert_allclose(A, 0.9 * np.cos(2.5 * t), atol=1e-6)  # between the instants too
    assert ax.get_ylabel() == "angle [rad]"
    assert ax.get_xlabel() == "t [s]"
    assert ax.get_title(loc="left") == "double pendulum"


def test_each_unit_has_its_own_plot(double_pendulum):
    ax = plot(double_pendulum.run, "A*", "energy")
    axes = ax.figure.axes
    assert [names(one) for one in axes] == [["A"], ["A'"], ["energy.T", "energy.U"]]
    assert [one.get_ylabel() for one in axes] == [
        "angle [rad]",
        "angular velocity [rad/s]",
        "energy [J]",
    ]
    assert axes[-1].get_xlabel() == "t [s]"


def test_angles_in_degrees_on_request(double_pendulum):
    ax = plot(double_pendulum.run, "A", "A'", degrees=True)
    below = ax.figure.axes[1]
    assert ax.get_ylabel() == "angle [deg]"
    assert below.get_ylabel() == "angular velocity [deg/s]"
    t, A = ax.lines[0].get_data()
    shown = A[np.isin(t, double_pendulum.run.t)]
    assert_allclose(shown, np.degrees(double_pendulum.run["A"]), rtol=1e-14)


def test_events_are_marked(double_pendulum):
    ax = plot(double_pendulum.run, "A")
    assert [line.get_xdata()[0] for line in ax.lines if len(line.get_xdata()) == 2] == [0.63]
    assert "low" in [text.get_text() for text in ax.texts]
    assert len(plot(double_pendulum.run, "A", events=False).lines) == 1


def test_curves_go_where_they_are_told(double_pendulum):
    _, ax = pyplot.subplots()
    assert plot(double_pendulum.run, "A", ax=ax) is ax
    with pytest.raises(LiaisonError, match="one Axes cannot hold curves in 2 units"):
        plot(double_pendulum.run, "A*", ax=ax)


def test_an_unknown_label_is_refused(double_pendulum):
    with pytest.raises(NamingError, match="no label is named 'C'"):
        plot(double_pendulum.run, "C")


def test_a_plot_is_saved_whole(double_pendulum, tmp_path):
    save_plot(double_pendulum.run, tmp_path / "run.png", "A", "energy")
    picture = matplotlib.image.imread(tmp_path / "run.png")[..., :3]
    blue = np.array([0x00, 0x72, 0xB2]) / 255
    share = np.mean(np.abs(picture - blue).max(axis=-1) < 0.05)
    assert 0.001 < share < 0.05  # thin lines, but lines
    assert [x.name for x in tmp_path.iterdir()] == ["run.png"]
    assert not pyplot.get_fignums()


def test_an_unknown_form_is_refused(double_pendulum, tmp_path):
    with pytest.raises(LiaisonError, match=r"cannot be saved as 'run\.doc'"):
        save_plot(double_pendulum.run, tmp_path / "run.doc")
    assert not list(tmp_path.iterdir())


# events of contacts


@pytest.fixture(scope="module")
def bounces(examples):
    ball = examples / "reference" / "bouncing_ball.lsd"
    return liaison.simulate(ball, until=2.1, every=0.05)


def test_a_jump_is_drawn_as_a_jump(bounces):
    ax = plot(bounces, "H'")
    (line,) = [x for x in ax.get_lines() if len(x.get_xdata()) > 2]
    t, v = line.get_xdata(), line.get_ydata()
    assert np.all(np.diff(t) >= 0)
    for event in bounces.events:
        before, after = v[t == event.t]
        assert before == event.before[0] < 0 < after == event.v[0]
    slopes = np.diff(v)[np.diff(t) > 0] / np.diff(t)[np.diff(t) > 0]
    np.testing.assert_allclose(slopes, -9.81, rtol=1e-6)


def test_events_of_contacts_are_named(bounces):
    ax = plot(bounces, "H")
    assert [x.get_text() for x in ax.texts] == ["floor impact"] * 3


def test_forces_of_contacts_are_plotted_by_name_and_not_over_their_jumps(bounces):
    ax = plot(bounces, "contacts.floor", "gaps.floor", "modes.floor")
    assert [x.get_ylabel() for x in ax.figure.axes] == ["force [N]", "length [m]", ""]
    (line,) = [x for x in ax.get_lines() if len(x.get_xdata()) > 2]
    assert np.count_nonzero(np.isnan(line.get_ydata())) == 6


def test_few_steps_are_drawn_as_the_curve_they_are_of(examples):
    run = liaison.simulate(examples / "reference" / "bouncing_ball.lsd", until=2.1)
    assert len(run) < 60
    ax = plot(run, "H", "H'")
    t, H = next(x for x in ax.get_lines() if len(x.get_xdata()) > 2).get_data()
    assert np.diff(t).max() < 2.1 / 799
    hits = [0.0, *(e.t for e in run.events)]
    speeds = [0.0, *(e.v[0] for e in run.events)]
    heights = [1.0, *(e.q[0] for e in run.events)]
    last = np.clip(np.searchsorted(hits, t, side="right") - 1, 0, None)
    since = t - np.array(hits)[last]
    falls = np.array(heights)[last] + np.array(speeds)[last] * since - 9.81 / 2 * since**2
    assert_allclose(H, falls, atol=1e-9)
    # both velocities at the instant of each impact, and no line between others
    t, v = next(x for x in ax.figure.axes[1].get_lines() if len(x.get_xdata()) > 2).get_data()
    for event in run.events:
        assert v[t == event.t].tolist() == [event.before[0], event.v[0]]


def test_modes_are_named(bounces, examples):
    ax = plot(bounces, "modes.floor")
    assert [x.get_text() for x in ax.get_yticklabels()] == ["open", "holds", "slips"]
    lost = liaison.simulate(examples / "degenerate_unilateral.lsd", until=3)
    ax = plot(lost, "modes.inwards")
    assert [x.get_text() for x in ax.get_yticklabels()] == ["open", "holds", "slips", "locked"]


def test_events_at_nearly_one_instant_are_told_together(double_pendulum):
    none = np.zeros(2)
    near = [EventRecord("stop", t, none, none, "impact") for t in (0.5, 0.505, 0.51, 1.5)]
    ax = plot(replace(double_pendulum.run, events=tuple(near)), "A")
    assert [x.get_text() for x in ax.texts] == ["stop impact × 3", "stop impact"]


def test_long_names_of_events_leave_the_plot_its_height(double_pendulum, tmp_path):
    none = np.zeros(2)
    names = [f"r_foot on the ground[{k}]: sliding" for k in range(4)]
    events = tuple(EventRecord(x, 0.5, none, none, "sticks") for x in names)
    ax = plot(replace(double_pendulum.run, events=events), "A")
    assert [x.get_text() for x in ax.texts] == ["r_foot on the ground[0]: sliding s…"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        save_plot(replace(double_pendulum.run, events=events), tmp_path / "a.png", "A")
    assert not ax.texts[0].get_in_layout()


# other pictures


def test_a_phase_portrait_is_drawn_between_instants_too(double_pendulum):
    ax = plot(double_pendulum.run, x="A", y="A'")
    x, y = ax.lines[0].get_data()
    assert len(x) > len(double_pendulum.run)
    assert_allclose((x / 0.9) ** 2 + (y / (0.9 * 2.5)) ** 2, 1.0, atol=1e-5)
    assert ax.get_xlabel() == "A [rad]"
    assert ax.get_ylabel() == "angular velocity [rad/s]"
    degrees = plot(double_pendulum.run, x="A", y="A'", degrees=True)
    assert degrees.get_xlabel() == "A [deg]"
    assert_allclose(degrees.lines[0].get_data()[0], np.degrees(x))


def test_every_curve_may_have_a_plot_or_all_one(double_pendulum):
    axes = plot(double_pendulum.run, "A", "B", "energy.T", subplots=True)
    assert [names(ax) for ax in axes] == [["A"], ["B"], ["energy.T"]]
    one = plot(double_pendulum.run, "A", "energy.T", subplots=False)
    assert names(one) == ["A", "energy.T"]
    assert one.get_ylabel() == "angle [rad], energy [J]"
    assert len(one.figure.axes) == 1


def test_a_second_scale_is_on_the_right(double_pendulum):
    ax = plot(double_pendulum.run, "A", secondary_y="A'", title="both")
    left, right = ax.figure.axes
    assert left is ax
    assert (names(left), names(right)) == (["A"], ["A'"])
    assert right.get_ylabel() == "angular velocity [rad/s]"
    assert right.yaxis.get_ticks_position() == "right"
    assert left.lines[0].get_color() != right.lines[0].get_color()
    assert [x.get_text() for x in left.get_legend().get_texts()] == ["A", "A' (right)"]
    assert ax.get_title(loc="left") == "both"
    with pytest.raises(LiaisonError, match="all curves are on the right"):
        plot(double_pendulum.run, "A", secondary_y="A")


def test_the_legend_is_beside_the_curves(double_pendulum):
    ax = plot(double_pendulum.run, "A", "B", secondary_y="A'")
    ax.figure.canvas.draw()
    legend, plotted = ax.get_legend().get_window_extent(), ax.get_window_extent()
    assert legend.x0 >= plotted.x1
    assert legend.x1 <= ax.figure.bbox.x1 + 1


def test_kinds_and_scales(double_pendulum):
    run = double_pendulum.run
    assert plot(run, "A", kind="scatter").lines[0].get_marker() == "."
    assert plot(run, "A", kind="step").lines[0].get_drawstyle() == "steps-post"
    counted = plot(run, "A", kind="hist")
    assert counted.get_xlabel() == "angle [rad]"
    assert counted.patches
    assert plot(run, "energy.T", logy=True).get_yscale() == "log"
    with pytest.raises(NamingError, match="kind of plot is named 'pie'"):
        plot(run, "A", kind="pie")
    _, own = pyplot.subplots()
    assert plot(run, "A", "energy.T", subplots=False, ax=own) is own


@pytest.mark.parametrize(
    ("unit", "words"),
    [
        ("rpm", "angular velocity [rpm]"),
        ("deg/s^2", "angular acceleration [deg/s^2]"),
        ("mm", "length [mm]"),
        ("kN", "force [kN]"),
        ("kJ", "energy [kJ]"),
        ("N*m", "torque [N*m]"),
        ("Hz", "frequency [Hz]"),
        ("kg^2", "x [kg^2]"),
        ("", "x"),
    ],
)
def test_units_have_the_name_of_what_they_measure(unit, words):
    from liaison.view.plot import Curve, _axis_label

    curve = Curve("x", unit, np.zeros(1), np.zeros(1))
    assert _axis_label([curve]) == words


def test_labels_in_a_list_are_labels(double_pendulum):
    assert names(plot(double_pendulum.run, ["A", "B"])) == ["A", "B"]


def test_what_is_left_out_is_counted_among_what_was_asked_for(double_pendulum):
    forces = double_pendulum.run.series["reactions"]
    unknown = np.zeros(forces.values.shape, dtype=bool)
    unknown[:, :, 5] = True
    lost = Series(forces.values, forces.unit, forces.axes, unknown)
    run = replace(double_pendulum.run, series={**double_pendulum.run.series, "reactions": lost})
    assert plot(run, "reactions.B.Fx").get_title(loc="right") == ""
    assert plot(run, "reactions.B.*").get_title(loc="right").startswith("1 curve left out")
    assert plot(run, "reactions").get_title(loc="right").startswith("2 curves left out")


def test_an_output_is_called_by_its_own_name():
    run = liaison.simulate("examples/pendulum.lsd", until=0.1, every=0.05)
    axes = liaison.plot(run, "tip_height")
    assert [x.get_text() for x in axes.get_legend().get_texts()] == ["tip_height"]
    assert [x.get_label() for x in axes.get_lines()][:1] == ["tip_height"]


def test_curves_between_coarse_instants_are_the_motion(examples):
    """A crank that turns a sixth of a turn from one recorded instant to the next."""
    coarse = liaison.simulate(examples / "four_bar.lsd", until=1, every=0.1)
    fine = refined(coarse)
    truth = liaison.simulate(examples / "four_bar.lsd", until=1, every=fine.t, rtol=1e-11)
    assert len(fine.t) > 500
    assert np.max(np.abs(fine.q - truth.q)) < 1e-6
    assert np.max(np.abs(fine.v - truth.v)) < 1e-5


def test_frames_between_coarse_instants_close_the_loop(examples):
    coarse = liaison.simulate(examples / "four_bar.lsd", until=1, every=0.015)
    shown = sampled(coarse, 1.0, 60.0)
    coupler, rocker = (shown.pose(name) for name in ("coupler", "rocker"))
    tips = [pose[:, :3, 3] + length * pose[:, :3, 0] for pose, length in
            ((coupler, 0.3), (rocker, 0.35))]  # fmt: skip
    assert len(shown.t) == 61
    assert np.max(np.abs(tips[0] - tips[1])) < 1e-9


def test_a_run_from_a_file_that_is_too_coarse_is_drawn_as_recorded(examples, tmp_path):
    liaison.simulate(examples / "four_bar.lsd", until=1, every=0.1).save(tmp_path / "a.nc")
    coarse = liaison.load(tmp_path / "a.nc")
    assert refined(coarse) is coarse


def test_forces_and_energies_are_drawn_without_integrating_again(double_pendulum, monkeypatch):
    def resample(*_, **__):
        raise AssertionError

    monkeypatch.setattr(type(double_pendulum.run), "resample", resample)
    assert names(plot(double_pendulum.run, "energy.*")) == ["energy.T", "energy.U"]
