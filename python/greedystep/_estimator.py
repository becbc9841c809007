"""The base of the estimators: parameters, inputs, fitting, and weights as scikit-learn shows them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
from joblib import effective_n_jobs
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, column_or_1d, validate_data

from . import _library as c
from ._arrow import open_table
from ._columns import Frozen, check_same, open_rows
from ._contents import Curve, Summary
from ._core import DoubleArray, Reader, State, reader_options, signs_of
from ._data import column_at, columns_of, frame_with, with_offset, without
from ._given import Given, check_labelled
from ._held import Held, held_by
from ._keywords import has_parameters, not_needed
from ._rows import TEXT, collected, columns_of_words, features_of, has_words, is_frame, no_numbers
from ._run import Run
from ._schema import Schema
from .callbacks import Callback, shown
from .explanation import Explanation
from .model import Model
from .onnx import to_onnx
from .training import parameter_names, parameter_texts, train_on, warn_of_few


def _method_of(state: State) -> str:
    return c.text_of(state.summary().method) or ""


class _Fitted:
    """A state and its model, which is made on first use."""

    def __init__(self, state: State, *, is_open: bool, frozen: Frozen | None = None) -> None:
        self.state = state
        self.frozen = frozen  # for rows to come; None: the first rows have yet to decide
        self.is_open = is_open  # partial_fit goes on with it, fit has ended it
        self._model: Model | None = None

    @property
    def model(self) -> Model:
        if self._model is None:
            self._model = Model(self.state.finish(), self.state, self.frozen and self.frozen.means)
        return self._model

    def forget_model(self) -> None:
        self._model = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_model": None}


@has_parameters
class GreedystepEstimator(BaseEstimator):  # type: ignore[misc]
    """The base of the three estimators: parameters, inputs, fitting, and weights as scikit-learn shows them."""

    passes: int | str | None = "auto"
    method: str = "auto"
    scale: str = "auto"
    curves: str = "auto"
    pairs: str = "auto"
    monotone: Any = None
    average: str = "auto"
    order: str = "auto"
    holdout: str | None = "auto"
    compact: bool = False
    fit_intercept: bool = True
    warm_start: bool = False
    random_state: Any = None
    n_jobs: int | None = None
    verbose: bool | int = False
    callback: Callback | None = None

    def set_params(self, **params: Any) -> Any:
        """Set parameters; a hyperparameter of other packages is refused with what happens instead."""
        for name in params:
            if not_needed(name):
                raise ValueError(not_needed(name))
        return super().set_params(**params)

    # ---- what the three differ in ---------------------------------------------------------------

    def _loss(self) -> str:
        raise NotImplementedError

    def _labels(self, y: npt.NDArray[Any]) -> Any:
        raise NotImplementedError

    def _more_parameters(self) -> dict[str, Any]:
        return {}

    # ---- what goes in ---------------------------------------------------------------------------

    def _seed(self) -> int:
        if self.random_state is None:
            return 0
        if isinstance(self.random_state, (int, np.integer)) and self.random_state >= 0:
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _n_threads(self) -> int:
        """Return the number of threads: fewer if joblib runs several fits in parallel."""
        return int(effective_n_jobs(-1 if self.n_jobs is None else self.n_jobs))

    def _texts(self) -> dict[str, str]:
        """Return the library's parameters: attributes of their names, and those that scikit-learn names otherwise."""
        same = {name: getattr(self, name) for name in parameter_names() if hasattr(self, name)}
        own = {"loss": self._loss(), "intercept": bool(self.fit_intercept), "seed": self._seed()}
        return parameter_texts({**same, **own, "compact": bool(self.compact), **self._more_parameters()})

    def _check_features(self, X: Any, *, reset: bool) -> Any:
        """Return X in a form that can be read, with its width and names stored or compared."""
        X = collected(X, lists=True)
        if not reset:
            X = without(X, getattr(self, "_no_features", ()))
        if is_frame(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
            if len(X) == 0:
                raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
            return X
        try:
            return validate_data(
                self,
                X,
                reset=reset,
                accept_sparse=("csr", "csc", "coo"),
                dtype="numeric",
                ensure_all_finite=sparse.issparse(X) or "allow-nan",
            )
        except ValueError as failure:
            if "string" not in str(failure):
                raise
            raise no_numbers(failure) from failure

    def _take_held(self, X: Any, groups: Any, time: Any, *, reset: bool) -> tuple[Any, Held | None]:
        """Return X without a column of groups, and the groups or times of the rows."""
        X, found = collected(X, lists=True), held_by(groups, time, ("groups", "time"))
        held = None
        if found is not None and isinstance(found[2], str):
            by, argument, column = found
            if not columns_of(X):
                raise ValueError(f"{argument}= names a column, and X is no frame: give an array of {by}s")
            held = Held(by, column_at(X, column, argument), argument, column)
        elif found is not None:
            held = Held(found[0], found[2], found[1])
        no_features = [] if held is None else held.no_features
        if reset:
            self._no_features = no_features  # later rows may have the column, too
        return without(X, no_features), held

    def _check_labels(self, y: Any) -> npt.NDArray[Any]:
        if y is None:
            raise ValueError(
                f"requires y to be passed, but the target y is None: {type(self).__name__} learns from labels"
            )
        check_labelled(y)
        found: npt.NDArray[Any] = column_or_1d(y, warn=True)
        return found

    def _check_rows(self, X: Any, y: npt.NDArray[Any], sample_weight: Any, held: Held | None) -> Any:
        """Return the weights, after all lengths have been compared."""
        n_rows = X.shape[0]
        if len(y) != n_rows:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: X has {n_rows} and y has {len(y)}"
            )
        if held is not None:
            held.check_length(n_rows)
        if sample_weight is None:
            return None
        return _check_sample_weight(sample_weight, X, dtype=np.float32, ensure_non_negative=True)

    def _open(
        self,
        X: Any,
        y: npt.NDArray[Any],
        weights: Any,
        held: Held | None,
        run: Run,
        frozen: Frozen | None,
        offset: Any,
    ) -> Reader | Given:
        labels, is_paper, column = self._labels(y), self.method == "paper", None
        if offset is not None:
            X, column = with_offset(X, offset, frozen)
        if not has_words(X):
            return open_rows(
                features_of(X),
                labels,
                weights,
                run,
                frozen,
                learns=True,
                without_offsets=is_paper,
                held=held,
                has_offset=offset is not None,
                monotone=self.monotone if frozen is None else None,
            )
        schema = None if frozen is None or frozen.schema is None else Schema.of(frozen.schema)
        if schema is not None:
            check_same(held, schema)
        table, names = frame_with(X, labels.column(), weights, held, schema)
        options = reader_options(
            label=names["label"],
            weight=names.get("weight"),
            offset=column if schema is None else None,
            categorical=labels.as_words(names["label"]),
            text=[TEXT] if schema is None and columns_of(X) == [TEXT] else (),
            monotone=signs_of(self.monotone, columns_of(X)) if schema is None else None,
            remember_names=True,
            without_offsets=is_paper,
        )
        if held is not None and schema is None:
            held.tell(options, names[held.by], is_feature=held.by == "time" and held.column == names["time"])
        return open_table(table, options, run)

    # ---- learning -------------------------------------------------------------------------------

    @contextmanager
    def _unchanged_by_failure(self) -> Iterator[None]:
        """Put all attributes back if a fit fails or is interrupted, the width and names of its data among them."""
        before = dict(vars(self))
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _learn_all(self, X: Any, y: npt.NDArray[Any], weights: Any, held: Held | None, offset: Any) -> None:
        texts = self._texts()
        before = self._fitted if self.warm_start and hasattr(self, "_fitted") else None
        state = State.new(texts) if before is None else State.start_from(before.state, texts)
        run = Run(self._n_threads())
        frozen = None if before is None else before.frozen
        opened = self._open(X, y, weights, held, run, frozen, offset)
        if isinstance(opened, Reader):
            opened.follow(frozen and frozen.schema)
        with shown(self.verbose, self.callback) as callback:
            train_on(state, opened, callback, run, 3)
        self._fitted: _Fitted = _Fitted(state, is_open=False, frozen=frozen or Frozen(state.schema, opened.means()))
        self.n_iter_ = max(1, int(state.summary().pass_))
        if held is not None:
            warn_of_few(self._fitted.model, state, 3)

    def _learn_more(self, X: Any, y: npt.NDArray[Any], weights: Any, held: Held | None, offset: Any) -> None:
        if has_words(X):
            raise ValueError(
                f"partial_fit takes only numbers, and column {columns_of_words(X)[0]!r} holds none; use fit for it"
            )
        if self.monotone is not None:
            raise ValueError("partial_fit learns row by row, which keeps no signs: use fit, or leave monotone= out")
        fitted = self._fitted
        if not fitted.is_open:
            fitted = _Fitted(self._reopened(fitted.state), is_open=True, frozen=fitted.frozen)
        frozen, has_offset = fitted.frozen, offset is not None
        if has_offset:
            X, _ = with_offset(X, offset, frozen)
        state, features, labels, run = fitted.state, features_of(X), self._labels(y), Run(1)
        as_is = self.method == "paper"
        opened = open_rows(
            features, labels, weights, run, frozen, without_offsets=as_is, held=held, has_offset=has_offset
        )
        if isinstance(opened, Reader):  # the first rows have gaps, or are far from 0
            opened.follow(None)
            frozen = Frozen(opened.schema)
            state.set_schema(frozen.schema)
            opened.close()
            opened = open_rows(features, labels, weights, run, frozen, held=held)
        assert isinstance(opened, Given)
        self._fitted = fitted
        fitted.forget_model()
        for bounds in opened.bounds():
            state.update(opened.block(*bounds))
        names = features.names if frozen is None or frozen.schema is None else Schema.of(frozen.schema).feature_names
        if names:
            state.set_names(names)
        fitted.frozen = frozen or Frozen(None, opened.means())
        self.n_iter_ = 1

    def _reopened(self, state: State) -> State:
        """Return a state that can learn more rows after ``fit``.

        An optimum continues as it is: its averaging counts its rows, so 100 more rows have their share. A run of greedy
        step averaging has chosen its best pass; a new run starts from there, and holds out no rows, because
        calibration on a tenth of 100 rows does harm.
        """
        if _method_of(state) == "optimum":
            return state.fork(1)
        return State.start_from(state, {**self._texts(), "holdout": "none"})

    def _begin_partial(self) -> bool:
        """Return whether this is the first call of ``partial_fit``, which then makes the state."""
        if hasattr(self, "_fitted"):
            return False
        self._fitted = _Fitted(State.new(self._texts()), is_open=True)
        return True

    # ---- what comes out -------------------------------------------------------------------------

    def _margins(self, X: Any, offset: Any = None) -> DoubleArray:
        rows = self._check_features(X, reset=False)
        return self.model_.decision_function(rows, n_jobs=self._n_threads(), offset=offset)

    @property
    def model_(self) -> Model:
        """The model, to save, merge or inspect."""
        check_is_fitted(self)
        return self._fitted.model

    @property
    def method_(self) -> str:
        """How the weights were found: "optimum", "gsa" or "paper"."""
        check_is_fitted(self)
        return _method_of(self._fitted.state)

    @property
    def summary_(self) -> Summary:
        """Choices made on held-out rows, and how good the model is on them (:attr:`greedystep.Model.summary`)."""
        return self.model_.summary

    @property
    def cv_loss_(self) -> float:
        """Mean loss of held-out rows, by cross-validation if the rows fit in memory; NaN if none were held out."""
        return float(self.model_.summary.get("held_out_loss", math.nan))

    def explain(self, X: Any, background: Any = None, *, offset: Any = None) -> Explanation:
        """Return what every column contributes to the margin of every row (:meth:`greedystep.Model.explain`).

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        background : array or frame, optional
            Rows to compare with, such as the training rows, for SHAP values.
        offset : array of shape (n_samples,), optional
            As in ``fit``; there is no background then.
        """
        rows = self._check_features(X, reset=False)
        others = None if background is None else self._check_features(background, reset=False)
        return self.model_.explain(rows, others, offset=offset)

    def to_onnx(self) -> Any:
        """Return the model as an ``onnx.ModelProto`` (:meth:`greedystep.Model.to_onnx`)."""
        return to_onnx(self.model_, n_features=self.n_features_in_, classes=getattr(self, "classes_", None))

    def _weights(self, first: int) -> Any:
        """Return the weights of n_features_in_ features from `first` on."""
        found = self.model_.coef[:, first : first + self.n_features_in_]
        weights = np.zeros((found.shape[0], self.n_features_in_))
        weights[:, : found.shape[1]] = found
        return weights

    def _has_words(self) -> bool:
        schema = self.model_.schema
        return schema is not None and bool(Schema.of(schema).others)

    @property
    def coef_(self) -> Any:
        """Weights of the columns; if categories were hashed, of the features in use (``get_feature_names_out``)."""
        if self.model_._curves:
            raise AttributeError(
                'the columns of the model bend: see curves_ and feature_importances_, or fit with curves="off"'
            )
        return self.model_.coef.astype(np.float64) if self._has_words() else self._weights(0)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Return the names of the columns of ``coef_``: those of X or, if categories were hashed, `column=category`.

        Parameters
        ----------
        input_features : None
            Ignored.
        """
        names = self.model_.feature_names if self._has_words() else getattr(self, "feature_names_in_", None)
        return np.array([f"x{i}" for i in range(self.n_features_in_)] if names is None else names, object)

    @property
    def curves_(self) -> list[Curve]:
        """The curves of the columns that bend, as :meth:`greedystep.Model.curves` has them; none: all are lines."""
        return self.model_.curves()

    @property
    def feature_importances_(self) -> DoubleArray:
        """For every column the standard deviation of what it adds to a margin, of a model with curves.

        Others have ``coef_``, by which scikit-learn selects.
        """
        curves = self.model_._curves
        if not curves:
            raise AttributeError("a model without curves has coef_")
        deviations = np.zeros(self.n_features_in_)
        for one in self.model_._model.strongest(2 * self.n_features_in_):
            if one.feature < self.n_features_in_:
                deviations[one.feature] = one.importance
        return deviations

    @property
    def coef_missing_(self) -> Any:
        """Coefficients of the missing-value indicators."""
        if self._has_words():
            raise AttributeError("if categories were hashed, coef_ has the weights of all features in use")
        schema = self.model_.schema  # markers follow all numbers, an offset among them
        return self._weights(self.n_features_in_ if schema is None else len(Schema.of(schema).numeric))

    @property
    def intercept_(self) -> DoubleArray:
        """Constant terms, of features as they are: offsets of columns are part of it."""
        return self.model_.intercept if self._has_words() else self.model_._plain_intercept()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags
