"""A trained model, read-only, with the state from which training continues if there is one."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from ctypes import byref, sizeof
from typing import Any, Callable

import numpy as np
import numpy.typing as npt

from . import _library as c
from ._contents import ModelContents
from ._core import DoubleArray, Handle, Reader, State, new_object, reader_options
from ._data import Rows, open_data, with_offset
from ._errors import call
from ._given import Given
from ._keywords import suggests_keywords
from ._one import predicted_one
from ._rows import collected
from ._run import Run
from ._schema import Schema
from .callbacks import NoticeWarning
from .explanation import Explanation, explain
from .onnx import to_onnx

Fill = Callable[[c.Batch, DoubleArray], None]


def _threads(n_jobs: int | None) -> int:
    """Return the number of threads of a keyword; 0: one per processor."""
    if n_jobs is None or n_jobs < 0:
        return 0
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0; leave it out to use all processors")
    return n_jobs


def _fill_given(given: Given, width: int, fill: Fill, n_jobs: int | None = None) -> DoubleArray:
    """Return `width` numbers for every row, computed in blocks in parallel."""
    out = np.empty((given.n_rows, width))
    bounds = list(given.bounds())

    def fill_block(which: tuple[int, int]) -> None:
        fill(given.block(*which), out[which[0] : which[1]])

    n_threads = min(_threads(n_jobs) or c.library().gsa_machine_processors(), len(bounds))
    if n_threads <= 1:
        for which in bounds:
            fill_block(which)
        return out
    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(fill_block, bounds))
    return out


def _fill_read(reader: Reader, width: int, fill: Fill) -> DoubleArray:
    """Return `width` numbers for every row of a reader."""
    parts: list[DoubleArray] = []
    batch = c.Batch()
    while reader.next(batch):
        parts.append(np.empty((batch.n_rows, width)))
        fill(batch, parts[-1])
    return np.concatenate(parts) if parts else np.empty((0, width))


class Evaluation(dict[str, float]):
    """Metrics by name, as the command's ``evaluate`` prints them.

    With two classes the second is the positive one: precision, recall, f1, the counts true_negatives,
    false_positives, false_negatives and true_positives at `threshold`, and the threshold with the highest f1.

    Attributes
    ----------
    classes : dict
        Per class: rows, predicted rows, correct predictions, precision, recall and f1.
    """

    classes: dict[str, dict[str, float]]


def _class_metrics(metrics: Handle, labels: list[str]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    one = c.ClassMetrics(size=sizeof(c.ClassMetrics))
    names = [name for name, *_ in c.ClassMetrics._fields_[1:]]
    while c.library().gsa_metrics_class_at(metrics.pointer, len(found), byref(one)) == c.OK:
        found[labels[len(found)]] = {name: float(getattr(one, name)) for name in names}
    return found


def finished(metrics: Handle, labels: list[str] | None = None) -> Evaluation:
    """Return the metrics of all added rows, by name."""
    call("gsa_metrics_finish", metrics.pointer)
    found = Evaluation()
    found.classes = _class_metrics(metrics, labels) if labels is not None else {}
    metric = c.Metric()
    while c.library().gsa_metrics_at(metrics.pointer, len(found), byref(metric)) == c.OK:
        found[c.text_of(metric.name) or ""] = float(metric.value)
    return found


class Model(ModelContents):
    """A trained model, as :func:`greedystep.train` and :func:`greedystep.load` return it.

    Attributes
    ----------
    loss : str
        "logistic", "softmax", "squared", "huber", "quantile", "poisson", "hinge" or "squared_hinge".
    classes : array or None
        The labels, sorted; None for a regression.
    n_features : int
        Highest feature number seen + 1; knots of curves do not count.
    method : str
        How the weights were found: "optimum", "gsa" or "paper".
    n_rows, n_passes : int
        Rows and passes learned; for an optimum, distinct rows.
    """

    # ---- predicting -----------------------------------------------------------------------------

    def _fill(
        self, data: Any, width: int, fill: Fill, ignore: Iterable[str], n_jobs: int | None, offset: Any = None
    ) -> DoubleArray:
        run = Run(_threads(n_jobs))
        options = reader_options(without_labels=True, ignore=ignore)
        rows = collected(data)
        if offset is not None:
            rows, _ = with_offset(rows, offset, self._frozen)
        opened = open_data(rows, options, run, frozen=self._frozen)
        if isinstance(opened, Given):
            return _fill_given(opened, width, fill, n_jobs)
        opened.follow(self.schema)
        self._check_kind(opened)
        numbers = _fill_read(opened, width, fill)
        opened.close()
        return numbers

    def _check_kind(self, reader: Reader) -> None:
        """Raise an error for a table if the model has no columns."""
        if self.schema is None and reader.schema is not None:
            raise ValueError("this is a table, and the model was trained on rows that came with feature numbers")

    @suggests_keywords
    def decision_function(
        self, data: Any, *, ignore: Iterable[str] = (), n_jobs: int | None = None, offset: Any = None
    ) -> DoubleArray:
        """Return w.x + b of every row: one number, or one per class if there are more than two."""
        n_outputs = self._model.info.n_outputs
        margins = self._fill(data, n_outputs, self._model.margins, ignore, n_jobs, offset)
        return margins[:, 0] if n_outputs == 1 else margins

    @suggests_keywords
    def predict_proba(
        self, data: Any, *, ignore: Iterable[str] = (), n_jobs: int | None = None, offset: Any = None
    ) -> DoubleArray:
        """Return the probability of every class, in the order of ``classes``."""
        if not self._model.info.has_probabilities:
            raise ValueError(f"a model of {self.loss} loss has no probabilities")
        return self._fill(data, self._model.width, self._model.predict, ignore, n_jobs, offset)

    @suggests_keywords
    def predict(
        self, data: Any, *, ignore: Iterable[str] = (), n_jobs: int | None = None, offset: Any = None
    ) -> npt.NDArray[Any]:
        """Return the predicted label, or value, of every row.

        Parameters
        ----------
        data
            Anything that :func:`greedystep.train` takes; its labels are ignored.
        ignore : list of str
            Columns of a table that the model does not know.
        n_jobs : int, optional
            Threads for arrays; None: all processors.
        offset : array, optional
            The offsets of rows in arrays, or in frames without their column, if the model was trained with them.
        """
        if self._model.info.has_log_link:
            return self._fill(data, 1, self._model.predict, ignore, n_jobs, offset)[:, 0]
        margins = self.decision_function(data, ignore=ignore, n_jobs=n_jobs, offset=offset)
        if self.classes is None:
            return margins
        best = margins > 0 if margins.ndim == 1 else margins.argmax(axis=1)
        if len(self.classes) == 1:
            best = np.zeros(len(margins), np.intp)
        return self.classes[np.asarray(best, np.intp)]

    def predict_one(self, row: Mapping[str, Any] | Sequence[Any]) -> Any:
        """Return the predicted label, or value, of one row, as :meth:`predict` does, in microseconds; for servers.

        Threads may call it at the same time.

        Parameters
        ----------
        row : dict or sequence
            The cells by the names of their columns, in any order, further ones ignored; or in the order of the
            columns that the model was trained on, without the label. A cell is a number, a text, a date, or None.
        """
        info = self._model.info
        if info.has_log_link:
            return predicted_one(self, self._model, self._frozen, row, "gsa_model_predict", 1)[0]
        margins = predicted_one(self, self._model, self._frozen, row, "gsa_model_margins", info.n_outputs)
        if self.classes is None:
            return margins[0]
        best = int(margins[0] > 0) if len(margins) == 1 else margins.index(max(margins))
        return self.classes[best if len(self.classes) > 1 else 0].item()

    def predict_proba_one(self, row: Mapping[str, Any] | Sequence[Any]) -> list[float]:
        """Return the probability of every class for one row, in the order of ``classes``; see :meth:`predict_one`."""
        if not self._model.info.has_probabilities:
            raise ValueError(f"a model of {self.loss} loss has no probabilities")
        return predicted_one(self, self._model, self._frozen, row, "gsa_model_predict", self._model.width)

    @suggests_keywords
    def predict_interval(
        self,
        data: Any,
        coverage: float = 0.9,
        *,
        ignore: Iterable[str] = (),
        n_jobs: int | None = None,
    ) -> DoubleArray:
        """Return the lower and the upper end of an interval around each predicted number, of shape (n_rows, 2).

        A share of about ``coverage`` of new labels is in their intervals, which come from the residuals of held-out
        rows. Intervals are wide where such rows spread.

        Parameters
        ----------
        data
            As in :meth:`predict`.
        coverage : float
            Above 0, and at most 0.99.
        ignore, n_jobs
            As in :meth:`predict`.
        """
        if self.classes is not None:
            raise ValueError("intervals are of numbers, and this model predicts classes")
        predictions = np.ascontiguousarray(self.predict(data, ignore=ignore, n_jobs=n_jobs), np.float64)
        return self._model.intervals(coverage, predictions)

    @suggests_keywords
    def explain(
        self, data: Any, background: Any = None, *, ignore: Iterable[str] = (), offset: Any = None
    ) -> Explanation:
        """Return what every column contributes to the margin of every row (``decision_function``).

        The margin is ``base_values`` plus the sum of a row's ``values``. Features of one column, such as its
        categories, are added up.

        Parameters
        ----------
        data : frame, table or array
        background : frame, table or array, optional
            Rows to compare with, such as the training rows: contributions are then relative to their mean (the SHAP
            values of a linear model), and ``base_values`` is their mean margin. None: a contribution is weight times
            value, and ``base_values`` is the intercept.
        ignore : list of str
            Columns of a table that the model does not know.
        offset : array, optional
            As in ``predict``.
        """
        rows = data if offset is None else with_offset(collected(data), offset, self._frozen)[0]
        return explain(self, rows, background, ignore)

    @suggests_keywords
    def evaluate(
        self,
        data: Any,
        y: Any = None,
        *,
        label: str | None = None,
        weight: Any = None,
        exposure: Any = None,
        offset: Any = None,
        ignore: Iterable[str] = (),
        labels: Any = None,
        n_jobs: int | None = None,
    ) -> Evaluation:
        """Return metrics of labelled data, by name, as the command's ``evaluate`` prints them.

        Labels that the model does not know count as wrong, with a warning; if it knows none, that is an error.
        """
        run = Run(_threads(n_jobs))
        rows = Rows(data, y, label, weight, ignore=ignore, exposure=exposure, labels=labels, offset=offset)
        reader = rows.open(run, self._frozen, without_weights=True)
        self._check_kind(reader)
        metrics = Handle(new_object("gsa_metrics_new", self._model.pointer), "gsa_metrics_free")
        run.call("gsa_evaluate", metrics.pointer, reader.pointer, byref(run.struct))
        reader.close()
        found = finished(metrics, self._model.labels())
        if "unknown_labels" in found:
            labels = [c.text_of(c.library().gsa_metrics_unknown_label(metrics.pointer, i)) for i in range(3)]
            warnings.warn(
                f"the model does not know the labels of {found['unknown_labels']:.0f} of {found['rows']:.0f} rows "
                f"({100 * found['unknown_labels'] / found['rows']:.3g} %), such as "
                f"{', '.join(repr(label) for label in labels if label is not None)}: they count as wrong",
                NoticeWarning,
                stacklevel=3,
            )
        return found

    # ---- elsewhere ------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str], *, state: bool = True) -> None:
        """Write the model to a file, and the state from which training continues to ``path.state``.

        Parameters
        ----------
        path : path
            The file, which the command can read too.
        state : bool
            False: the model alone.
        """
        name = os.fspath(path)
        if state and self._state is not None:
            self._state.save(name + ".state")
        self._model.save(name)

    def merge(self, *others: Model, base: Model | None = None) -> Model:
        """Return one model, merged from several that were trained on different rows.

        Parameters
        ----------
        *others : Model
            With their states, as :func:`greedystep.train` makes and :func:`greedystep.load` finds
            them.
        base : Model, optional
            The model that all of them started from, if there was one.
        """
        names = [one._frozen.names for one in (self, *others)]
        if all(one is not None and one.are_all for one in names) and any(one != names[0] for one in names):
            raise ValueError("the models were trained on frames with other columns, or in another order")
        states = [one._need_state() for one in (self, *others)]
        merged = State.merge(states, None if base is None else base._need_state())
        return Model(merged.finish(), merged, self._frozen.means, self._frozen.names)

    def _need_state(self) -> State:
        if self._state is None:
            raise ValueError("this model has no state beside it: only the model file was there")
        return self._state

    def to_onnx(self, *, n_features: int | None = None) -> Any:
        """Return the model as an ``onnx.ModelProto``, which runs without greedystep.

        It takes ``X``, dense rows of float32 (float64 if columns far from 0 are measured from offsets), and gives
        ``output_label`` (integers where all labels are, else texts)
        with ``output_probability`` or, of hinge losses, ``output_score``; of numbers, ``variable``. A model of a
        table, or of an array with gaps, fills in NaN as it does itself; for others there must be none. A model of a
        table with text or dates takes one input per column, [rows x 1]: float32, text, or days since 1970 as doubles.
        Models of crosses and dense ones of more than a million weights are refused.

        Parameters
        ----------
        n_features : int, optional
            Width of the rows; None: the highest feature that was seen.
        """
        return to_onnx(self, n_features=n_features)

    def to_sklearn(self, *, n_features: int | None = None) -> Any:
        """Return a scikit-learn estimator that gives the same predictions.

        A LogisticRegression, LinearRegression, PoissonRegressor or LinearSVC with weights and classes filled in.

        Parameters
        ----------
        n_features : int, optional
            Width of the rows; None: the highest feature that was seen.
        """
        if self.schema is not None and self.n_features > len(Schema.of(self.schema).numbers):
            raise ValueError(
                "the model fills in missing numbers or hashes words, which linear models of scikit-learn cannot: keep "
                "it as it is (Model.save), or use to_onnx, which fills in numbers"
            )
        if self._curves:
            raise ValueError('linear models of scikit-learn have no curves: use to_onnx, or train with curves="off"')
        from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor
        from sklearn.svm import LinearSVC

        made: Any
        coef, intercept = self._wide_coef(n_features).astype(np.float64), self._plain_intercept()
        if self.classes is None:
            made = PoissonRegressor(alpha=0) if self._model.info.has_log_link else LinearRegression()
            if self._model.info.has_log_link:
                made._base_loss = made._get_loss()
            coef, intercept = coef[0], intercept[0]
        else:
            has_probabilities = bool(self._model.info.has_probabilities)
            made = LogisticRegression() if has_probabilities else LinearSVC()
            made.classes_ = self.classes
            made.n_iter_ = np.array([self.n_passes], np.int32)
        made.coef_, made.intercept_ = coef, intercept
        made.n_features_in_ = coef.shape[-1]
        return made
