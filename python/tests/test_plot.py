"""Pictures show what is in the trace or the arrays, and are drawn where they are asked to be."""

from __future__ import annotations

import io
import json
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
import trace_events as events
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from greedystep import plot
from greedystep.plot_run import _recent_means, _ways
from greedystep.plot_scores import merge_small_bins, scores_of_arrays
from greedystep.plot_style import plain, short
from greedystep.plot_trace import Trace, TraceError, read_trace


@pytest.fixture(autouse=True)
def _close_figures():  # type: ignore[no-untyped-def]
    yield
    plt.close("all")


def xs(line: Line2D) -> list[float]:
    return [float(value) for value in np.asarray(line.get_xdata())]


def ys(line: Line2D) -> list[float]:
    return [float(value) for value in np.asarray(line.get_ydata())]


def texts(ax: Axes) -> list[str]:
    legend = ax.get_legend()
    found = [text.get_text() for text in ax.texts] + [label.get_text() for label in ax.get_yticklabels()]
    return found + ([text.get_text() for text in legend.get_texts()] if legend else [])


# ---- traces ---------------------------------------------------------------------------------------------------------


def test_a_trace_is_read_while_its_last_line_is_being_written(tmp_path: Path) -> None:
    path = events.write(tmp_path / "run.jsonl", [events.start(), events.progress(256)], '{"event": "progress", "ro')
    trace = read_trace(path)
    assert [event["rows"] for event in trace.progress] == [256]
    assert trace.end is None


def test_a_broken_line_in_the_middle_is_named(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text('{"event": "start"}\nnonsense\n{"event": "end"}\n')
    with pytest.raises(TraceError, match="line 2"):
        read_trace(path)


def test_a_line_that_a_killed_run_left_before_it_was_resumed_is_passed_over(tmp_path: Path) -> None:
    path = events.write(tmp_path / "run.jsonl", [events.start(), events.progress(256)], '{"event": "prog\n')
    with path.open("a") as file:
        file.write(json.dumps(events.start(rows_before=256)) + "\n" + json.dumps(events.progress(512)) + "\n")
    assert [event["rows"] for event in read_trace(path).progress] == [256, 512]


@pytest.mark.parametrize("text", ["", "[1, 2]\n", '{"event": "end"}\n'])
def test_what_is_no_trace_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "other"
    path.write_text(text)
    with pytest.raises(TraceError, match="--trace"):
        read_trace(path)


def test_events_that_nobody_knows_are_passed_over() -> None:
    assert read_trace([events.start(), {"event": "later"}, events.end()]).end is not None


def test_rows_that_a_resumed_run_learns_again_count_once() -> None:
    trace = read_trace(
        [
            events.start(),
            *(events.progress(rows) for rows in (256, 512, 768)),
            events.passed(700, 1),
            events.start(resumed=True, rows_before=512),
            events.progress(640),
        ]
    )
    assert [event["rows"] for event in trace.progress] == [256, 512, 640]
    assert trace.passes == [] and trace.n_starts == 2


def test_the_test_rows_are_evaluated_in_preference_to_those_learned() -> None:
    test, training = events.two_classes(rows="test"), events.two_classes(rows="training")
    both = read_trace([*training[:-1], *(e for e in test if e["event"] == "evaluation")])
    assert both.evaluation()["rows"] == "test"
    assert both.evaluation("training")["rows"] == "training"
    with pytest.raises(TraceError, match="no evaluation"):
        read_trace([events.start()]).evaluation()


# ---- every picture --------------------------------------------------------------------------------------------------

PICTURES = [
    (plot.loss, events.two_classes()),
    (plot.step, events.two_classes()),
    (plot.passes, events.two_classes()),
    (plot.roc, events.two_classes()),
    (plot.precision_recall, events.two_classes()),
    (plot.calibration, events.two_classes()),
    (plot.calibration, events.many_classes(5)),
    (plot.confusion, events.two_classes()),
    (plot.confusion, events.many_classes(20)),
    (plot.classes, events.many_classes(30)),
    (plot.residuals, events.regression()),
    (plot.predictions, events.regression()),
    (plot.weights, events.two_classes()),
    (plot.weights, events.many_classes(5)),
]


@pytest.mark.parametrize(("draw", "run"), PICTURES)
def test_a_picture_is_drawn_into_the_axes_given_or_into_new_ones(draw, run) -> None:  # type: ignore[no-untyped-def]
    figure, (left, right) = plt.subplots(1, 2)
    assert draw(run, ax=right) is right
    assert right.get_title(loc="left") and not left.has_data()
    new = draw(run)
    assert new.figure is not figure
    new.figure.canvas.draw()


@pytest.mark.parametrize(
    ("draw", "run"),
    [
        (plot.roc, events.regression()),
        (plot.confusion, events.many_classes(30)),
        (plot.residuals, events.two_classes()),
        (plot.calibration, events.two_classes(probabilities=False)),
        (plot.weights, [events.start()]),
        (plot.classes, events.regression()),
    ],
)
def test_a_picture_that_a_run_has_nothing_for_says_so(draw, run) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(TraceError):
        draw(run)


def test_a_run_that_has_just_begun_has_pictures() -> None:
    for draw in (plot.loss, plot.step, plot.passes):
        assert any("no " in text for text in texts(draw([events.start()])))


# ---- a run ----------------------------------------------------------------------------------------------------------


def test_the_loss_is_drawn_over_the_rows_with_held_out_and_test_rows() -> None:
    run = [events.start(), *(events.progress(256 * i, loss=1 / i) for i in range(1, 9))]
    run += [events.passed(2048, 1, 0.5, test={"log_loss": 0.7}), events.end()]
    ax = plot.loss(run)
    drawn = {line.get_label(): line for line in ax.get_lines()}
    assert ys(drawn["held-out rows (model)"]) == [0.45]
    assert ys(drawn["test file (model)"]) == [0.7]
    assert xs(drawn["next rows (weights in motion)"]) == [256 * i for i in range(1, 9)]
    assert ax.get_yscale() == "log"


def test_the_smoothed_loss_is_the_mean_of_the_last_third_of_the_rows() -> None:
    lines = [events.progress(100, loss=8.0), events.progress(300, loss=2.0), events.progress(400, loss=5.0)]
    assert _recent_means(lines, 0) == pytest.approx([8.0, 2.0, (2.0 * 200 + 5.0 * 100) / 300])


def test_the_test_loss_of_numbers_is_half_the_squared_error() -> None:
    ax = plot.passes([events.start(), events.passed(100, 1, test={"rmse": 0.4})])
    drawn = {line.get_label(): line for line in ax.get_lines()}
    assert ys(drawn["test file (model)"]) == [pytest.approx(0.08)]


def test_the_test_loss_of_counts_is_half_the_deviance_and_huber_has_none() -> None:
    counts = {"rmse": 3.0, "poisson_deviance": 1.0}
    ax = plot.passes([events.start(), events.passed(100, 1, test=counts)])
    assert [ys(line) for line in ax.get_lines() if line.get_label() == "test file (model)"] == [[0.5]]
    huber = {**events.start(), "parameters": {"loss": "huber"}}
    ax = plot.passes([huber, events.passed(100, 1, test={"rmse": 3.0})])
    assert "test file (model)" not in [line.get_label() for line in ax.get_lines()]


def test_a_way_of_learning_that_was_given_up_is_told_apart_by_its_step() -> None:
    lines = [events.progress(100 * i, step=1e-8 if i < 4 else 0.1) for i in range(1, 9)]
    given_up, kept = _ways(read_trace([events.start(), *lines, events.end(step=0.12)]))
    assert [e["rows"] for e in given_up] == [100, 200, 300]
    assert [e["rows"] for e in kept] == [400, 500, 600, 700, 800]
    given_up, kept = _ways(read_trace([events.start(), *lines[:3], events.end(step=0.12)]))
    assert len(given_up) == 3 and kept == []
    given_up, kept = _ways(read_trace([events.start(), *lines[:3]]))
    assert given_up == [] and len(kept) == 3


def test_a_way_that_was_given_up_does_not_set_the_scale_of_the_loss() -> None:
    lines = [events.progress(100 * i, step=1e-8 if i < 4 else 0.1, loss=12 if i < 4 else 0.8 / i) for i in range(1, 9)]
    assert plot.loss([events.start(), *lines, events.end(step=0.12)]).get_ylim()[1] < 1


# ---- curves ---------------------------------------------------------------------------------------------------------


def some_scores() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(5)
    label = random.random(300) < 0.3
    return label.astype(int), np.round(random.normal(label * 1.0, 1.0), 1)


def test_the_area_under_the_roc_curve_is_the_share_of_pairs_in_order() -> None:
    label, score = some_scores()
    pairs = [(p > n) + 0.5 * (p == n) for p in score[label == 1] for n in score[label == 0]]
    assert scores_of_arrays(label, score, None, None).area() == pytest.approx(np.mean(pairs))
    line = plot.roc(label, score).get_lines()[1]
    x, y = np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)
    assert np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2) == pytest.approx(np.mean(pairs))
    assert (x[0], y[0], x[-1], y[-1]) == (0, 0, 1, 1)


def test_average_precision_counts_thresholds() -> None:
    label, score = some_scores()
    total, before = 0.0, 0.0
    for threshold in sorted(set(score), reverse=True):
        said = score >= threshold
        recall = (said & (label == 1)).sum() / (label == 1).sum()
        total += (recall - before) * label[said].mean()
        before = recall
    assert scores_of_arrays(label, score, None, None).average_precision() == pytest.approx(total)


def test_weights_of_rows_count_and_the_positive_label_can_be_named() -> None:
    twice = scores_of_arrays([0, 1, 1, 0], [1.0, 2.0, 0.0, 3.0], [1, 2, 1, 3], None)
    apart = scores_of_arrays([0, 1, 1, 1, 0, 0, 0], [1.0, 2.0, 2.0, 0.0, 3.0, 3.0, 3.0], None, None)
    assert twice.area() == pytest.approx(apart.area())
    assert scores_of_arrays(["a", "b", "c"], [1, 2, 3], None, "a").area() == 0
    with pytest.raises(ValueError, match="positive"):
        scores_of_arrays(["a", "b", "c"], [1, 2, 3], None, None)
    with pytest.raises(ValueError, match="per row"):
        scores_of_arrays([0, 1], [1, 2, 3], None, None)


def test_calibration_is_the_share_of_positives_by_predicted_probability() -> None:
    said = np.repeat([0.15, 0.55, 0.95], 100)
    label = np.concatenate([np.arange(100) < 10, np.arange(100) < 60, np.arange(100) < 90]).astype(int)
    line = plot.calibration(label, said).get_lines()[1]
    assert xs(line) == pytest.approx([0.15, 0.55, 0.95])
    assert ys(line) == pytest.approx([0.1, 0.6, 0.9])


def test_small_bins_join_their_neighbours_and_nothing_is_lost() -> None:
    said, so, weight = np.array([0.1, 0.2, 0.5, 0.9]), np.array([0.0, 1.0, 0.5, 1.0]), np.array([5.0, 500, 600, 3])
    x, y, w = merge_small_bins(said, so, weight)
    assert list(w) == [505, 603]
    assert np.sum(w * x) == pytest.approx(np.sum(weight * said)) and np.sum(w * y) == pytest.approx(np.sum(weight * so))


def test_one_class_alone_has_no_area() -> None:
    ax = plot.roc([1, 1, 1], [0.1, 0.2, 0.3], positive=1)
    assert any("undefined" in text for text in texts(ax))


# ---- classes, numbers, weights --------------------------------------------------------------------------------------


def test_the_confusion_matrix_counts_rows_and_shares_of_lines() -> None:
    ax = plot.confusion(["a", "a", "a", "b"], ["a", "a", "b", "b"])
    assert {"2\n66.7 %", "1\n33.3 %", "1\n100.0 %"} == {text.get_text() for text in ax.texts}
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]


def test_residuals_are_label_minus_prediction_as_shares_of_all_rows() -> None:
    truth = np.arange(1000.0)
    ax = plot.residuals(truth, truth - np.linspace(-1, 1, 1000))
    heights, edges, _ = ax.patches[0].get_data()  # type: ignore[attr-defined]
    assert edges[0] == pytest.approx(-0.99, abs=0.01) and edges[-1] == pytest.approx(0.99, abs=0.01)
    assert 98 < heights.sum() < 100
    assert any("lie outside" in text for text in texts(ax))


def test_predictions_have_the_mean_of_the_labels_beside_them() -> None:
    said = np.linspace(0, 10, 400)
    line = plot.predictions(said + 1, said).get_lines()[1]
    assert np.asarray(line.get_ydata()) - np.asarray(line.get_xdata()) == pytest.approx(np.ones(40))


def test_the_strongest_weight_is_on_top() -> None:
    ax = plot.weights({"weak": 0.1, "against": -3.0, "for": 2.0}, top=2)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["for", "against"]
    assert [bar.get_width() for bar in ax.patches] == [2.0, -3.0]  # type: ignore[attr-defined]


@pytest.mark.filterwarnings("ignore:Glyph")
@pytest.mark.parametrize("name", ["$x^{$", "a_b", "\x00\n", r"\frac{", "日本", "x" * 500, "100 $ or 200 $"])
def test_names_are_drawn_as_they_are(name: str) -> None:
    ax = plot.weights([name, "other"], [1.0, 2.0])
    assert isinstance(ax.figure, Figure)
    ax.figure.savefig(io.StringIO(), format="svg")
    assert len(plain(name).replace(r"\$", "$")) <= 32


def test_numbers_are_short() -> None:
    assert [short(n) for n in (0, 7, 999, 1000, 12345, 4.56e6, 2e9)] == ["0", "7", "999", "1k", "12.3k", "4.56M", "2G"]


# ---- comparisons ----------------------------------------------------------------------------------------------------

CSV = """data,method,parameters,pass,seed,split,loss,accuracy,auc,mean_step,seconds
d,gsa,,1,0,train,9,0.8,,0.1,1
d,gsa,,1,0,test,0.5,0.8,,0.1,1
d,gsa,,2,0,test,0.4,0.8,,0.1,1
d,gsa,,1,1,test,0.7,0.8,,0.1,1
d,gsa,,2,1,test,0.6,0.8,,0.1,1
d,sgd,rate=10,1,0,test,nan,,,0.1,1
d,sgd,rate=10,2,0,test,nan,,,0.1,1
"""


def test_a_comparison_shows_the_mean_over_seeds_after_each_pass(tmp_path: Path) -> None:
    path = tmp_path / "compare.csv"
    path.write_text(CSV)
    ax = plot.comparison(path)
    gsa, sgd = ax.get_lines()
    assert xs(gsa) == [1, 2]
    assert ys(gsa) == pytest.approx([0.6, 0.5])
    assert sgd.get_label() == "sgd rate=10 (diverged)"


def test_a_comparison_may_be_a_data_frame(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "compare.csv"
    path.write_text(CSV)
    gsa = plot.comparison(pandas.read_csv(path), measure="accuracy").get_lines()[0]
    assert gsa.get_label() == "gsa" and ys(gsa) == pytest.approx([0.8, 0.8])
    with pytest.raises(ValueError, match="compare"):
        plot.comparison({"method": ["gsa"]})


def test_a_trace_is_taken_as_it_is() -> None:
    trace = Trace(start=events.start(), n_starts=1)
    assert read_trace(trace) is trace
