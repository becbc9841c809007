"""GreedystepClassifier, GreedystepRegressor and GreedystepLinearSVC: scikit-learn estimators.

``fit`` gives the same model, bit for bit, as the command's ``train``. Data that fits in memory is
solved to the penalised optimum. ``partial_fit`` learns rows as they come, each once, by greedy step
averaging; chunks of any size, and pickling in between, do not change a bit.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets

from ._core import DoubleArray
from ._errors import GreedystepValueError
from ._estimator import GreedystepEstimator
from ._given import Classes, Numbers
from ._keywords import has_parameters


@has_parameters
class _ClassifierBase(ClassifierMixin, GreedystepEstimator):  # type: ignore[misc]
    """Classes and their weights."""

    class_weight: Any = None

    def _labels(self, y: npt.NDArray[Any]) -> Any:
        return Classes(self.classes_).of(y)

    def _more_parameters(self) -> dict[str, Any]:
        return {"class_weight": "balanced" if self.class_weight == "balanced" else None}

    def _weigh_classes(self, y: npt.NDArray[Any], weights: Any) -> Any:
        """Return row weights multiplied by the class weights of the user."""
        if self.class_weight is None or isinstance(self.class_weight, str):
            if self.class_weight not in (None, "balanced"):
                raise ValueError(f"class_weight must be 'balanced', a dict or None, not {self.class_weight!r}")
            return weights
        of_classes = compute_sample_weight(self.class_weight, y).astype(np.float32)
        return of_classes if weights is None else of_classes * weights

    def _check_labels(self, y: Any) -> npt.NDArray[Any]:
        found = super()._check_labels(y)
        check_classification_targets(found)
        return found

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None, time: Any = None, offset: Any = None
    ) -> Any:
        """Train a model, with nothing to tune.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Frames may have text columns. A missing value (NaN, except in a sparse matrix) counts as the column's
            mean, with a feature that says so.
        y : array of shape (n_samples,)
            Labels.
        sample_weight : array of shape (n_samples,), optional
            Row weights; only their proportions matter.
        groups : array of shape (n_samples,) or str, optional
            Rows of one group, such as a person or a document, are held out together, so ``cv_loss_`` is that of new
            groups. Numbers, texts or dates; missing ones are one group. Or the name of a column of a frame, which is
            then no feature.
        time : array of shape (n_samples,) or str, optional
            The latest rows are held out, so ``cv_loss_`` is that of later rows. Numbers, dates or timestamps. Or the
            name of a column of a frame, which stays a feature.
        offset : array of shape (n_samples,), optional
            Margins of another model, such as its log-odds, to which the learned ones are added. ``predict`` and the
            other methods then need those of their rows.

        Returns
        -------
        self
        """
        y = self._check_labels(y)
        with self._unchanged_by_failure():
            X, held = self._take_held(X, groups, time, reset=True)
            X = self._check_features(X, reset=True)
            weights = self._weigh_classes(y, self._check_rows(X, y, sample_weight, held))
            self.classes_ = np.unique(y)
            if len(self.classes_) < 2:
                raise ValueError(
                    f"the data has one class, {self.classes_.tolist()[0]!r}: there is nothing to tell apart"
                )
            self._learn_all(X, y, weights, held, offset)
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: Iterable[Any] | None = None,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        time: Any = None,
        offset: Any = None,
    ) -> Any:
        """Learn each row once, as in a stream.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        classes : array, optional
            All classes; required in the first call.
        sample_weight : array of shape (n_samples,), optional
        groups, time : arrays of shape (n_samples,) or str, optional
            As in ``fit``. All calls need them, or none.
        offset : array of shape (n_samples,), optional
            As in ``fit``. All calls need it, or none.

        Returns
        -------
        self
        """
        is_first = not hasattr(self, "_fitted")
        if is_first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        y = self._check_labels(y)
        X, held = self._take_held(X, groups, time, reset=is_first)
        X = self._check_features(X, reset=is_first)
        weights = self._weigh_classes(y, self._check_rows(X, y, sample_weight, held))
        if classes is not None:
            told = np.unique(np.asarray(classes))
            if not is_first and not np.array_equal(told, self.classes_):
                raise ValueError(f"classes={told!r} is not the same as on the last call: {self.classes_!r}")
            self.classes_ = told
        if self._begin_partial():
            self._fitted.state.add_labels(Classes(self.classes_).told())
        self._learn_more(X, y, weights, held, offset)
        return self

    def decision_function(self, X: Any, *, offset: Any = None) -> DoubleArray:
        """Return w.x + b: for two classes that of the second, for more one per class."""
        return self._margins(X, offset)

    def predict(self, X: Any, *, offset: Any = None) -> npt.NDArray[Any]:
        """Return the most probable class of every row."""
        margins = self._margins(X, offset)
        best = margins > 0 if margins.ndim == 1 else margins.argmax(axis=1)
        return self.classes_[np.asarray(best, np.intp)]


class GreedystepClassifier(_ClassifierBase):
    """Logistic regression for two or more classes, with calibrated probabilities and nothing to tune.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        Weights of classes; "balanced": all classes have the same total weight.
    passes : int or "auto"
        Passes of greedy step averaging; "auto" or None: until the held-out loss stops falling.
    method : {"auto", "optimum", "gsa", "paper"}
        "auto": "optimum" for data that fits in memory, "gsa" for all else and ``partial_fit``;
        `passes`, `average`, `holdout` and ``order="file"`` choose "gsa" too. "optimum": the
        penalised optimum, with the penalty chosen by cross-validation; larger data is
        refused. "gsa": greedy step averaging, as streams are learned. "paper": Algorithm 1 of the
        paper.
    curves : {"auto", "off"}
        "auto": numeric columns have piecewise-linear curves where that is better on held-out rows; "off": all
        are lines, and there is always a ``coef_``.
    pairs : {"auto", "off"}
        "auto": pairs of columns act on one another beside their curves, where that is better on held-out rows.
    monotone : dict, sequence or None
        Columns of numbers with which the probability of the second class (of a regressor the prediction) never falls,
        1, or never rises, -1, when the number rises and all else stays: ``{"age": 1, "price": -1}`` of a frame; of an
        array ``{0: 1, 3: -1}``, or a sign or 0 for each column.
    scale, average, order, holdout
        The command's parameters of these names (``greedystep help train``).
    compact : bool
        Drop the weakest weights as long as the held-out loss stays within one standard error.
    fit_intercept : bool
        Learn a constant term.
    warm_start : bool
        ``fit`` starts from the weights of the previous fit.
    random_state : int, RandomState or None
        Seed for shuffling; None: 0, so equal data gives equal models. It changes
        nothing for an optimum.
    n_jobs : int or None
        Threads; None and -1: all processors. The result does not depend on it.
    verbose : bool
        Show the progress of ``fit``: a progress bar if tqdm is installed, otherwise periodic log lines.
    callback : callable or None
        Called with the progress of the run (:mod:`greedystep.callbacks`).

    Attributes
    ----------
    classes_, coef_, intercept_, n_features_in_, feature_names_in_, n_iter_
        As in scikit-learn's linear models; ``coef_`` has the features in use if categories were hashed
        (``get_feature_names_out``), and is missing in a model with curves.
    curves_ : list
        The curves of the columns that bend (:meth:`greedystep.Model.curves`); empty: all are lines.
    feature_importances_ : array
        Only in a model with curves: the standard deviation of what each column adds.
    coef_missing_ : array
        Coefficients of the missing-value indicators (NaN).
    method_ : str
        How the weights were found: "optimum", "gsa" or "paper".
    summary_ : dict
        The choices made on held-out rows (``C`` or ``alpha``, scaling, folds, calibration), and how good the model is
        on them (:attr:`greedystep.Model.summary`).
    cv_loss_ : float
        Mean loss of held-out rows, by cross-validation if the rows fit in memory.
    model_ : greedystep.Model
    """

    def _loss(self) -> str:
        return "logistic" if len(self.classes_) <= 2 else "softmax"

    def predict_proba(self, X: Any, *, offset: Any = None) -> DoubleArray:
        """Return the probability of every class, in the order of ``classes_``."""
        rows = self._check_features(X, reset=False)
        return self.model_.predict_proba(rows, n_jobs=self._n_threads(), offset=offset)

    def predict_log_proba(self, X: Any, *, offset: Any = None) -> DoubleArray:
        """Return the logarithm of the probability of every class."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X, offset=offset))


@has_parameters
class GreedystepLinearSVC(_ClassifierBase):
    """A linear support vector classifier: margins without probabilities, and nothing to tune.

    Parameters
    ----------
    loss : {"squared_hinge", "hinge"}
        The loss of rows on the wrong side of the margin.
    class_weight, passes, method, scale, curves, pairs, monotone, average, order, holdout, compact, fit_intercept, \
warm_start, random_state, n_jobs, verbose, callback
        As in :class:`GreedystepClassifier`.
    """

    loss: str = "squared_hinge"

    def _loss(self) -> str:
        if self.loss not in ("hinge", "squared_hinge"):
            raise ValueError(f"loss must be 'hinge' or 'squared_hinge', not {self.loss!r}")
        return self.loss


@has_parameters
class GreedystepRegressor(RegressorMixin, GreedystepEstimator):  # type: ignore[misc]
    """Least squares, or another regression, with nothing to tune.

    Parameters
    ----------
    loss : {"squared", "huber", "quantile", "poisson"}
        The loss to minimise: "huber" is for labels with outliers, "quantile" predicts a quantile of the labels of
        such rows, "poisson" is for counts and rates, which it predicts as e to the power of a weighted sum. Counts per
        unit of exposure are ``y / exposure`` with ``sample_weight=exposure``.
    quantile : float
        With ``loss="quantile"``: the share of labels to be below the predictions.
    passes, method, scale, curves, pairs, monotone, average, order, holdout, compact, fit_intercept, warm_start, \
random_state, n_jobs, verbose, callback
        As in :class:`GreedystepClassifier`.
    """

    loss: str = "squared"
    quantile: float = 0.5

    def _loss(self) -> str:
        if self.loss not in ("squared", "huber", "quantile", "poisson"):
            raise ValueError(f"loss must be 'squared', 'huber', 'quantile' or 'poisson', not {self.loss!r}")
        return self.loss

    def _more_parameters(self) -> dict[str, Any]:
        return {"quantile": self.quantile if self.loss == "quantile" else None}

    def _labels(self, y: npt.NDArray[Any]) -> Any:
        return Numbers(y)

    def _check_labels(self, y: Any) -> npt.NDArray[Any]:
        found = super()._check_labels(y)
        try:
            numbers = found.astype(np.float64) if found.dtype.kind not in "biuf" else found
        except (TypeError, ValueError) as failure:
            raise GreedystepValueError(
                f"a regression needs numbers in y, and the first label is {found[:1].tolist()[0]!r}: convert y, or use "
                "GreedystepClassifier for classes"
            ) from failure
        if not np.isfinite(numbers).all():
            raise ValueError("Input y contains infinity.")
        if self.loss == "poisson" and (numbers < 0).any():
            raise ValueError("Input y contains numbers below 0, and poisson loss is for counts and rates.")
        return numbers

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None, time: Any = None, offset: Any = None
    ) -> Any:
        """Train a model, with nothing to tune.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
        groups, time : arrays of shape (n_samples,) or str, optional
            Rows are held out by group, or by time (:meth:`GreedystepClassifier.fit`).
        offset : array of shape (n_samples,), optional
            Predictions of another model, to which the learned ones are added; of counts their logarithms.

        Returns
        -------
        self
        """
        y = self._check_labels(y)
        with self._unchanged_by_failure():
            X, held = self._take_held(X, groups, time, reset=True)
            X = self._check_features(X, reset=True)
            self._learn_all(X, y, self._check_rows(X, y, sample_weight, held), held, offset)
        return self

    def partial_fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None, time: Any = None, offset: Any = None
    ) -> Any:
        """Learn each row once, as in a stream.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
        groups, time : arrays of shape (n_samples,) or str, optional
            As in ``fit``. All calls need them, or none.
        offset : array of shape (n_samples,), optional
            As in ``fit``. All calls need it, or none.

        Returns
        -------
        self
        """
        y = self._check_labels(y)
        is_first = not hasattr(self, "_fitted")
        X, held = self._take_held(X, groups, time, reset=is_first)
        X = self._check_features(X, reset=is_first)
        weights = self._check_rows(X, y, sample_weight, held)
        self._begin_partial()
        self._learn_more(X, y, weights, held, offset)
        return self

    def predict(self, X: Any, *, offset: Any = None) -> DoubleArray:
        """Return the predicted value of every row."""
        rows = self._check_features(X, reset=False)
        return self.model_.predict(rows, n_jobs=self._n_threads(), offset=offset)

    def predict_interval(self, X: Any, coverage: float = 0.9) -> DoubleArray:
        """Return the lower and the upper end of an interval around each prediction, of shape (n_samples, 2).

        A share of about ``coverage`` (at most 0.99) of the labels of new rows is in their intervals, which come from
        the residuals of held-out rows.
        """
        rows = self._check_features(X, reset=False)
        return self.model_.predict_interval(rows, coverage, n_jobs=self._n_threads())

    @property
    def coef_(self) -> Any:
        """Weights, one per feature."""
        return super().coef_[0]

    @property
    def coef_missing_(self) -> Any:
        """Coefficients of the missing-value indicators, one per feature."""
        return super().coef_missing_[0]
