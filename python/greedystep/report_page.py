"""The page about a run: its figures and tables, in their order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from . import plot
from . import report_text as words
from .plot_columns import draw, labels_of, of_trace, scale_of
from .plot_evaluation import evaluated
from .plot_pairs import draw_pair, largest_of, pairs_of
from .plot_trace import Source, Trace, TraceError
from .report_css import CSS
from .report_svg import draw_svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NEXT = "Blue: rows before the model is updated with them, by the weights at that moment"
_AGAIN = "; from the second pass on they have been seen before"
_AVERAGED = ": rows that the model is not trained on, by the averaged weights, which are the model"
_DOTTED = ". Dotted: a new pass"
_NO_EVALUATION = "The run has not come to its evaluation."
_NOT_EVALUATED = {
    "failed": "The run failed before its evaluation.",
    "stopped": "A run that was stopped is not evaluated; `greedystep evaluate MODEL DATA` does it.",
    "done": "The model or the rows of the run are no longer there, or could be read only once: give --test a file.",
}
_LEARNED = "Measured on training rows; expect worse on new data. Give --test a file to see how much."

# Columns that bend have a picture each, up to here.
_MAX_CURVES = 24
_MAX_PAIRS = 8


class _Page:
    """The sections of the page, with figures numbered across all of them."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.n_pictures = 0

    def add(self, html: str) -> None:
        self.parts.append(html)

    def section(self, title: str, html: str) -> None:
        if html:
            self.add(f"<section><h2>{title}</h2>{html}</section>")

    def picture(
        self, draw: Callable[[Axes], Any], title: str, caption: str = "", height: float = 3.3, width: float = 4.8
    ) -> str:
        self.n_pictures += 1
        svg = draw_svg(draw, self.n_pictures, title, width, height)
        below = f"<figcaption>{words.text(caption)}</figcaption>" if caption else ""
        return f"<figure>{svg}{below}</figure>"


def _pictures(figures: Sequence[str], kind: str = "") -> str:
    return f'<div class="{f"pictures {kind}".strip()}">{"".join(figures)}</div>' if figures else ""


def _caption_of_loss(trace: Trace) -> str:
    if not trace.progress:
        return ""
    several, few = len(trace.passes) > 1, 1 < len(trace.passes) <= 5
    held_out = any(event.get("held_out_loss") is not None for event in trace.passes)
    colors = " and ".join(["Orange"] * held_out + ["green"] * any(event.get("test") for event in trace.passes))
    averaged = f". {colors.capitalize()}{_AVERAGED}" if colors else ""
    return _NEXT + (_AGAIN if several else "") + averaged + (_DOTTED if few else "") + "."


def _learning(page: _Page, trace: Trace) -> str:
    if len(trace.progress) < 3 and len(trace.passes) < 2:
        return "<p>There are too few rows for pictures of the training.</p>" if trace.progress else ""
    about = "The mean of the step sizes that the rows propose; it is not a setting."
    figures = [
        page.picture(lambda ax: plot.loss(trace, ax), "Loss over the rows", _caption_of_loss(trace)),
        page.picture(lambda ax: plot.step(trace, ax), "Step over the rows", about),
    ]
    if len(trace.passes) > 1:
        figures.append(page.picture(lambda ax: plot.passes(trace, ax), "Loss after each pass"))
    return _pictures(figures)


def _quality(page: _Page, trace: Trace) -> str:
    try:
        evaluation = trace.evaluation()
    except TraceError:
        return f"<p>{_NOT_EVALUATED.get((trace.end or {}).get('status', ''), _NO_EVALUATION)}</p>"
    figures = []
    classes = evaluation.get("classes") or []
    if evaluation.get("scores", {}).get("score"):
        about = f"Positive rows are those of class {classes[1]['label']}." if len(classes) == 2 else ""
        figures.append(page.picture(lambda ax: plot.roc(trace, ax=ax), "ROC curve", about, 3.8))
        figures.append(page.picture(lambda ax: plot.precision_recall(trace, ax=ax), "Precision and recall", about, 3.8))
    if "probability" in evaluation.get("scores", {}) or evaluation.get("confidence", {}).get("weight"):
        about = "Observed frequency over predicted probability. Larger dots: more rows."
        figures.append(page.picture(lambda ax: plot.calibration(trace, ax=ax), "Calibration", about, 3.8))
    if evaluation.get("confusion"):
        about = "Rows: true class; columns: predicted class."
        height = 3.8 if len(classes) <= 4 else 4.6
        figures.append(page.picture(lambda ax: plot.confusion(trace, ax=ax), "Confusion matrix", about, height))
    elif classes:
        height = 1.2 + 0.19 * min(len(classes), 20)
        figures.append(page.picture(lambda ax: plot.classes(trace, ax=ax), "Classes most missed", "", height))
    if evaluation.get("predictions", {}).get("prediction"):
        figures.append(page.picture(lambda ax: plot.predictions(trace, ax=ax), "Prediction and truth", "", 3.8))
    if evaluation.get("residuals", {}).get("weight"):
        figures.append(page.picture(lambda ax: plot.residuals(trace, ax=ax), "Residuals", "", 3.8))
    note = f'<p class="note">{_LEARNED}</p>' if evaluation.get("rows") == "training" else ""
    return note + _pictures(figures)


def _features(page: _Page, trace: Trace) -> str:
    if trace.model is None or not trace.model.get("strongest"):
        return ""
    shown = min(len(trace.model["strongest"]), 25)
    about = "Importance: the weight times the standard deviation of the feature. A weight is for one unit of it."
    height = 1.0 + 0.19 * shown
    figure = page.picture(
        lambda ax: plot.weights(trace, top=shown, ax=ax), "Strongest features", about, height, width=5.2
    )
    return _pictures([figure]) + words.intercepts(trace) + words.strongest(trace)


def _columns(page: _Page, trace: Trace) -> str:
    """Return a small picture per column that bends, and the shares of all columns in the variance of the margins."""
    curves, labels = of_trace(trace), labels_of(trace)
    shown = curves[:_MAX_CURVES]
    scale = scale_of(shown) if shown else (0.0, 1.0)
    figures = [
        page.picture(lambda ax, one=one: draw(ax, one, labels, scale), str(one["name"]), "", 2.1, 2.8)  # type: ignore[misc]
        for one in shown
    ]
    pairs = pairs_of(trace)[:_MAX_PAIRS]
    largest = largest_of(pairs)
    maps = [
        page.picture(lambda ax, one=one: draw_pair(ax, one, labels, largest), " & ".join(one["names"]), "", 2.3, 2.8)  # type: ignore[misc]
        for one in pairs
    ]
    evaluation = next(iter(trace.evaluations.values()), {})
    columns = evaluation.get("columns") or []
    if not figures and not columns:
        return ""
    return (
        words.about_columns(trace, len(curves), len(figures), labels)
        + _pictures(figures, "small")
        + words.about_pairs(trace, len(maps))
        + (_pictures(maps, "small") if maps else "")
        + words.columns(trace)
    )


def page_of(run: Source) -> str:
    """Return the page about a run, as HTML."""
    trace, page = evaluated(run), _Page()
    page.add(words.head(trace))
    page.add(words.cards(trace))
    page.section("Quality", _quality(page, trace))
    page.section("Important features", _features(page, trace))
    page.section("Columns", _columns(page, trace))
    page.section("Training", _learning(page, trace))
    page.section("Metrics", words.metrics(trace))
    page.section("Chosen in training", words.chosen(trace))
    page.section("Data", words.data(trace) + words.class_balance(trace))
    page.section("Time", words.stages(trace))
    page.section("Parameters and versions", words.how(trace))
    title = words.text(trace.start.get("model", "a run"))
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f"<title>{title} - greedystep</title>\n<style>\n{CSS}\n</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(page.parts)
        + "\n</main>\n</body>\n</html>\n"
    )
