"""Export to ONNX with the operators of ai.onnx.ml: dense float32 rows in, label and probabilities out.

Names of inputs and outputs are those that skl2onnx gives to linear models, so that a model of ours can stand in for one
of scikit-learn's: ``X``; ``output_label`` and ``output_probability``, a tensor of [rows x classes]; ``variable``. Where
there are no probabilities (hinge losses) ``output_score`` is what ``decision_function`` returns. A model of a table
puts the means of its columns in place of NaN. If it has categories, the columns are inputs of their own, as skl2onnx
makes them, [rows x 1]: numbers of float32, texts, and dates as doubles, in days since 1970. An unknown text has no
effect. Numbers far from 0 do not fit float32: they are float64 if columns are measured from offsets, as is ``variable``
if predictions are far from 0.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ._contents import ModelContents
from ._core import DoubleArray
from ._schema import Schema
from .callbacks import NoticeWarning

#: Weights (features x outputs) above which a model is refused: rows are dense there, each as wide as the model.
MAX_WEIGHTS = 1_000_000

# Old enough for runtimes of the last years: LinearClassifier and LinearRegressor have not changed since 1, LabelEncoder
# since 2 (of 2019).
_OPSET, _OPSET_ML, _IR_VERSION = 13, 2, 8


def _columns_of(model: ModelContents) -> Schema | None:
    """Return the columns of a table; None: no table."""
    if model.schema is None:
        return None
    schema = Schema.of(model.schema)
    if schema.crosses:
        raise ValueError(f"cannot export the cross {schema.crosses[0]!r} to ONNX: train without it")
    if schema.per is not None:
        raise ValueError(f"cannot export the features per {schema.per!r} to ONNX: use greedystep to predict")
    if schema.texts:
        raise ValueError(f"cannot export the texts of column {schema.texts[0]!r} to ONNX: use greedystep to predict")
    if schema.others and not schema.features:
        raise ValueError("cannot export a model of Vowpal Wabbit text to ONNX: its rows have no columns")
    return schema


def _categories_of(model: ModelContents, schema: Schema) -> dict[str, dict[str, npt.NDArray[np.float32]]]:
    """Return the weights of the categories of every categorical column and part of a date, by their names."""
    parts = [f"{column} {part}" for column in schema.dates for part in _PARTS]
    found: dict[str, dict[str, npt.NDArray[np.float32]]] = {column: {} for column in [*schema.words, *parts]}
    features = model.features[model.features >= 2 * len(schema.numeric)]
    features = features[model._weights_of(features).any(axis=1)]
    sides = {feature for one in model._model.pairs() for feature in one.feature if feature >= 2 * len(schema.numeric)}
    features = np.union1d(features, np.array(sorted(sides), features.dtype))
    n_nameless = 0
    for feature, weights in zip(features, model._weights_of(features)):
        name = model._model.name(int(feature)) or ""
        columns = [column for column in found if name.startswith(f"{column}=")]
        if len(columns) > 1:
            raise ValueError(f"cannot tell whether {name!r} is of column {columns[0]!r} or {columns[1]!r}: rename one")
        n_nameless += not columns
        for column in columns:
            found[column][name[len(column) + 1 :]] = weights
    if n_nameless > 0:
        raise ValueError(
            f"cannot export {n_nameless} of {len(features)} categories to ONNX: a model keeps the names of its 65536 "
            "strongest features only; train with compact=True, or without the column of most categories (ignore=...)"
        )
    n_shared = len(features) ** 2 / 2.0 ** (schema.bits + 1)
    if n_shared >= 0.5:
        warnings.warn(
            f"about {n_shared:.0f} categories share a feature with another and are unknown to the exported model: "
            f"train with more bits than {schema.bits} (bits=...)",
            NoticeWarning,
            stacklevel=4,
        )
    return found


# Values of the parts of dates, in the order in which the graph counts them: days from a Thursday, months from March.
_PARTS = {
    "weekday": ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"],
    "month": ["Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec", "Jan", "Feb"],
    "hour": [str(hour) for hour in range(24)],
}


class _Graph:
    """Nodes and constants; names of tensors inside begin with "gs_", so that columns may have any other."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, operator: str, inputs: list[str], output: str, *more: str, **attributes: Any) -> str:
        """Add a node and return the name of its first output."""
        from onnx import helper

        domain = "ai.onnx.ml" if operator.startswith(("Linear", "Label")) else ""
        self.nodes.append(helper.make_node(operator, inputs, [output, *more], domain=domain, **attributes))
        return output

    def calc(self, operator: str, *inputs: Any, **attributes: Any) -> str:
        """Add a node whose inputs are tensors or whole numbers, and return the name of its output."""
        names = [
            one if isinstance(one, str) else self.constant(f"gs_{len(self.constants)}c", np.array(one, np.int64))
            for one in inputs
        ]
        return self.add(operator, names, f"gs_{len(self.nodes)}n", **attributes)

    def constant(self, name: str, values: npt.NDArray[Any]) -> str:
        """Add a constant and return its name."""
        from onnx import numpy_helper

        self.constants.append(numpy_helper.from_array(values, name))
        return name


def _dense_weights(model: ModelContents, schema: Schema | None, n_features: int | None) -> npt.NDArray[np.float32]:
    """Return the weights, [outputs x features], of as many features as rows have, and of missing-value markers."""
    n = n_features if n_features is not None else model.n_features
    if schema is not None:
        if n_features is not None:
            schema.check_width(n_features)
        n = len(schema.numbers) if model.n_features <= len(schema.numbers) else 2 * len(schema.numbers)
    n_outputs = model._model.info.n_outputs
    if n * n_outputs > MAX_WEIGHTS:
        raise ValueError(
            f"{n} features x {n_outputs} output(s) are more than the {MAX_WEIGHTS} weights that rows as wide as the "
            "model make sense for: keep it as it is (Model.save; the command predicts from sparse rows), or train on "
            "fewer features"
        )
    return model._wide_coef(n)


def _fill_gaps(graph: _Graph, rows: str, schema: Schema, n_weights: int) -> str:
    """Subtract offsets, put means in place of NaN and return the name of the result.

    If the model has weights for missing-value markers, these features follow the numbers.
    """
    raw, dtype = rows, np.float64 if schema.offsets.any() else np.float32
    if schema.offsets.any():
        graph.add("Sub", [rows, graph.constant("gs_offsets", schema.offsets)], "gs_deviations")
        rows = graph.add("Cast", ["gs_deviations"], "gs_measured", to=1)  # 1: float
    is_missing = graph.add("IsNaN", [rows], "gs_is_nan")
    for i, values in enumerate(schema.sentinels):
        equal = graph.add(
            "Equal", [raw, graph.constant(f"gs_sentinels_{i}", values.astype(dtype))], f"gs_is_sentinel_{i}"
        )
        is_missing = graph.add("Or", [is_missing, equal], f"gs_is_missing_{i}")
    graph.add("Identity", [is_missing], "gs_is_missing")
    graph.add("Where", ["gs_is_missing", graph.constant("gs_means", schema.means), rows], "gs_numbers")
    if n_weights == len(schema.numeric):
        return "gs_numbers"
    graph.add("Cast", ["gs_is_missing"], "gs_missing", to=1)  # 1: float
    return graph.add("Concat", ["gs_numbers", "gs_missing"], "gs_features", axis=1)


def _bend(graph: _Graph, model: ModelContents, rows: str, coef: Any) -> tuple[str, Any, DoubleArray]:
    """Add a feature for every piece of a curve to rows in double: how far a value has come in it, from 0 to 1.

    Returns the name of the rows, the weights, [outputs x features], and what all curves have at their lowest knots.
    Steps from there on nearly cancel.
    """
    start = np.zeros(len(coef))
    curves = model._model.curves()
    if not curves:
        return rows, coef, start
    columns: list[int] = []
    low, width, steps = [], [], []
    for one in curves:
        knots = np.ctypeslib.as_array(one.knot, (one.n_knots,)).astype(np.float64)
        values = model._weights_of(np.arange(one.first, one.first + one.n_knots)).astype(np.float64)
        columns += [one.feature] * (one.n_knots - 1)
        low.append(knots[:-1])
        width.append(np.diff(knots))
        steps.append(np.diff(values, axis=0).T)
        start += values[0]

    def constant(name: str, values: Any) -> str:
        return graph.constant(f"gs_{name}", np.asarray(values, np.float64))

    picked = graph.calc("Gather", rows, columns, axis=1)
    off = graph.calc("Sub", picked, constant("low_knots", np.concatenate(low)))
    come = graph.calc("Div", off, constant("pieces", np.concatenate(width)))
    pieces = graph.calc("Clip", come, constant("none_of_a_piece", 0), constant("all_of_a_piece", 1))
    return graph.calc("Concat", rows, pieces, axis=1), np.hstack([coef, *steps]), start


def _hats(graph: _Graph, value: str, knots: DoubleArray) -> str:
    """Return the shares of values, [rows x 1], in all knots; a 0 has none if it is beyond them."""
    n = len(knots)
    steps = np.eye(n - 1, n, 1) - np.eye(n - 1, n)  # a piece takes from its lower knot, and gives to the upper
    bounds = [graph.constant(f"gs_{len(graph.constants)}h", np.asarray(one)) for one in (knots[:-1], np.diff(knots))]
    come = graph.calc("Div", graph.calc("Sub", value, bounds[0]), bounds[1])
    ends = [graph.constant(f"gs_{len(graph.constants)}h", np.array(one)) for one in (0.0, 1.0)]
    moved = graph.calc("MatMul", graph.calc("Clip", come, *ends), graph.constant(f"gs_{len(graph.constants)}h", steps))
    hats = graph.calc("Add", moved, graph.constant(f"gs_{len(graph.constants)}h", np.eye(1, n)))
    if knots[0] <= 0 <= knots[-1]:
        return hats
    is_none = graph.calc("Equal", value, graph.constant(f"gs_{len(graph.constants)}h", np.array(0.0)))
    return graph.calc("Mul", hats, graph.calc("Cast", graph.calc("Not", is_none), to=11))


def _add_pairs(graph: _Graph, model: ModelContents, value_of: Callable[[int], str]) -> list[str]:
    """Return what pairs of columns add to margins, each [rows x outputs], from the values of features, [rows x 1]."""
    found, hats = [], {}
    for one in model._model.pairs():
        n = (one.n_knots[0], one.n_knots[1])
        for i, feature in enumerate(one.feature):
            if feature not in hats:
                knots = np.ctypeslib.as_array(one.knot[i], (n[i],)).astype(np.float64)
                hats[feature] = _hats(graph, value_of(feature), knots)
        first = graph.calc("Reshape", hats[one.feature[0]], [-1, n[0], 1])
        second = graph.calc("Reshape", hats[one.feature[1]], [-1, 1, n[1]])
        nodes = graph.calc("Reshape", graph.calc("Mul", first, second), [-1, n[0] * n[1]])
        values = model._weights_of(np.arange(one.first, one.first + n[0] * n[1])).astype(np.float64)
        found.append(graph.calc("MatMul", nodes, graph.constant(f"gs_{len(graph.constants)}p", values)))
    return found


def _part_of_date(graph: _Graph, days: str, part: str) -> str:
    """Return the tensor of a part of dates, as a position in ``_PARTS``."""
    whole = graph.calc("Floor", days)
    if part == "hour":  # the hour has begun if it is less than 4 ms away
        rest = graph.calc("Mul", graph.calc("Sub", days, whole), graph.constant("gs_24" + days, np.array(24.0)))
        late = graph.calc("Add", rest, graph.constant("gs_4ms" + days, np.array(1e-6)))
        return graph.calc("Cast", graph.calc("Floor", late), to=7)  # 7: int64
    day = graph.calc("Cast", whole, to=7)
    if part == "weekday":
        return graph.calc("Mod", day, 7)
    # The civil calendar, in eras of 400 years that begin with a March (Hinnant, "chrono-compatible date algorithms").
    at = graph.calc("Mod", graph.calc("Add", day, 719468), 146097)
    leaps = graph.calc("Sub", graph.calc("Div", at, 1460), graph.calc("Div", at, 36524))
    leaps = graph.calc("Add", leaps, graph.calc("Div", at, 146096))
    year = graph.calc("Div", graph.calc("Sub", at, leaps), 365)
    before = graph.calc("Add", graph.calc("Mul", year, 365), graph.calc("Div", year, 4))
    day_of_year = graph.calc("Sub", at, graph.calc("Sub", before, graph.calc("Div", year, 100)))
    return graph.calc("Div", graph.calc("Add", graph.calc("Mul", day_of_year, 5), 2), 153)


def _margins(graph: _Graph, model: ModelContents, schema: Schema) -> str:
    """Add up the margins of a table with categories in double, and return the name of the result.

    Terms of dates, which are thousands of days, nearly cancel with the intercept.
    """
    n_outputs = model._model.info.n_outputs
    parts = [graph.constant("gs_intercepts", np.asarray(model.intercept, np.float64))]
    categories = _categories_of(model, schema)
    places_of: dict[str, tuple[str, list[str]]] = {}  # of categories and parts of dates
    features = ""

    def look_up(column: str, keys: list[str], places: str) -> None:
        """Add the weights of categories; the place behind the last is an unknown or missing one."""
        places_of[column] = places, keys
        none = np.zeros(n_outputs)
        table = np.array([*(categories[column].get(key, none) for key in keys), none], np.float64)
        parts.append(graph.calc("Gather", graph.constant(f"gs_{column}", table), places, axis=0))

    if schema.numeric:
        n = 2 * len(schema.numeric)
        dense = model._weights_of(np.arange(n)).astype(np.float64)
        casts = set() if schema.offsets.any() else set(schema.dates)
        columns = [graph.calc("Cast", one, to=1) if one in casts else one for one in schema.numeric]
        features = _fill_gaps(graph, graph.calc("Concat", *columns, axis=1), schema, n)
        features = graph.calc("Cast", features, to=11)  # 11: double
        bent, coef, start = _bend(graph, model, features, dense.T)
        parts.append(graph.calc("MatMul", bent, graph.constant("gs_weights", coef.T)))
        parts.append(graph.constant("gs_lowest", start))
    for column in schema.words:
        keys = list(categories[column])
        if keys:
            text = graph.calc("Reshape", column, [-1])
            codes = {"keys_strings": keys, "values_int64s": range(len(keys)), "default_int64": len(keys)}
            look_up(column, keys, graph.calc("LabelEncoder", text, **codes))
    for i, column in enumerate(schema.dates):
        flat = graph.calc("Reshape", column, [-1])
        is_missing = graph.calc("IsNaN", flat)
        days = graph.calc("Where", is_missing, graph.constant(f"gs_none{i}", np.array(0.0)), flat)
        for part, keys in _PARTS.items():
            if categories[f"{column} {part}"]:
                places = graph.calc("Where", is_missing, len(keys), _part_of_date(graph, days, part))
                look_up(f"{column} {part}", keys, places)

    def value_of(feature: int) -> str:
        if feature < 2 * len(schema.numeric):
            return graph.calc("Gather", features, [feature], axis=1)
        name = model._model.name(feature) or ""
        column = next(one for one in categories if name.startswith(f"{one}="))
        places, keys = places_of[column]
        is_there = graph.calc("Equal", places, keys.index(name[len(column) + 1 :]))
        return graph.calc("Reshape", graph.calc("Cast", is_there, to=11), [-1, 1])

    parts += _add_pairs(graph, model, value_of)
    return graph.add("Sum", parts, "gs_margins")


def _label_names(classes: npt.NDArray[Any]) -> dict[str, list[Any]]:
    """Return labels in the form of the operators: 64-bit integers, or else texts."""
    if classes.dtype.kind in "biu" and (classes <= np.iinfo(np.int64).max).all():
        return {"classlabels_ints": [int(one) for one in classes]}
    return {"classlabels_strings": [str(one) for one in classes]}


def _classifier(
    graph: _Graph, rows: str, model: ModelContents, coef: Any, intercept: Any, classes: npt.NDArray[Any]
) -> list[tuple[str, list[Any]]]:
    """Add the classifier and return names and shapes of its outputs."""
    if len(classes) < 2:
        raise ValueError(f"the model knows one class, {classes.tolist()[0]!r}: there is nothing to tell apart")
    is_binary = len(coef) == 1
    if is_binary:  # the first class has the margin of the second, with its sign changed
        coef, intercept = np.vstack([-coef, coef]), np.hstack([-intercept, intercept])
    has_probabilities = model.loss in ("logistic", "softmax")
    out = "output_probability" if has_probabilities else "output_score"
    scores = "gs_scores" if is_binary and not has_probabilities else out
    graph.add(
        "LinearClassifier",
        [rows],
        "output_label",
        scores,
        coefficients=coef.ravel().tolist(),
        intercepts=intercept.tolist(),
        post_transform={"logistic": "LOGISTIC", "softmax": "SOFTMAX"}.get(model.loss, "NONE"),
        multi_class=0,
        **_label_names(classes),
    )
    if scores == out:
        return [(out, [None, len(classes)])]
    graph.add("Constant", [], "gs_second", value_int=1)
    graph.add("Gather", ["gs_scores", "gs_second"], out, axis=1)
    return [(out, [None])]


def _is_far(model: ModelContents) -> bool:
    """Return whether predictions are so far from 0, compared to their spread, that float32 does not hold them."""
    spread = sum(one.importance for one in model.strongest(1000))
    return not model._model.info.has_log_link and 0 < 1024 * spread < abs(model.intercept[0])


def _regressor(
    graph: _Graph, rows: str, model: ModelContents, coef: Any, intercept: Any, is_far: bool
) -> list[tuple[str, list[Any]]]:
    """Add the regression and return names and shapes of its outputs."""
    has_log_link = bool(model._model.info.has_log_link)
    if is_far:
        graph.add("Cast", [rows], "gs_doubles", to=11)  # 11: double
        graph.add("MatMul", ["gs_doubles", graph.constant("gs_coef", coef.T.astype(np.float64))], "gs_sums")
        graph.add("Add", ["gs_sums", graph.constant("gs_intercept", intercept)], "variable")
        return [("variable", [None, 1])]
    graph.add(
        "LinearRegressor",
        [rows],
        "gs_margin" if has_log_link else "variable",
        coefficients=coef.ravel().tolist(),
        intercepts=intercept.tolist(),
        targets=1,
    )
    if has_log_link:
        graph.add("Exp", ["gs_margin"], "variable")
    return [("variable", [None, 1])]


def to_onnx(model: ModelContents, *, n_features: int | None = None, classes: npt.NDArray[Any] | None = None) -> Any:
    """Return a model as an ``onnx.ModelProto``, as :meth:`greedystep.Model.to_onnx` does.

    Parameters
    ----------
    model : greedystep.Model
    n_features : int, optional
        Width of the rows; None: that of the model.
    classes : array, optional
        Names of the classes, in their order; None: those of the model.
    """
    try:
        from onnx import TensorProto, checker, helper
    except ImportError as failure:
        raise ImportError("to_onnx needs onnx: pip install onnx") from failure
    from ._library import version

    graph, schema = _Graph(), _columns_of(model)
    classes = model.classes if classes is None else classes
    intercept = np.asarray(model.intercept, np.float64)
    is_far = classes is None and _is_far(model)
    has_offsets = schema is not None and bool(schema.offsets.any())
    number, predicted = TensorProto.DOUBLE if has_offsets else TensorProto.FLOAT, TensorProto.FLOAT
    if schema is not None and schema.others:
        rows, coef = _margins(graph, model, schema), np.eye(len(intercept), dtype=np.float32)
        rows = rows if is_far else graph.calc("Cast", rows, to=1)
        intercept = np.zeros_like(intercept)
        kinds = {**dict.fromkeys(schema.words, TensorProto.STRING), **dict.fromkeys(schema.dates, TensorProto.DOUBLE)}
        inputs = [helper.make_tensor_value_info(name, kinds.get(name, number), [None, 1]) for name in schema.features]
    else:
        coef = _dense_weights(model, schema, n_features)
        rows = "X" if schema is None else _fill_gaps(graph, "X", schema, coef.shape[1])
        width = coef.shape[1] if schema is None else len(schema.numbers)
        if model._model.curves():
            doubles = graph.calc("Cast", rows, to=11)  # 11: double
            rows, coef, start = _bend(graph, model, doubles, coef)
            rows = graph.calc("MatMul", rows, graph.constant("gs_weights", coef.T))
            rows = graph.calc("Add", rows, graph.constant("gs_lowest", start))
            parts = _add_pairs(graph, model, lambda feature: graph.calc("Gather", doubles, [feature], axis=1))
            rows = graph.calc("Sum", rows, *parts) if parts else rows
            if not is_far:
                rows = graph.calc("Cast", rows, to=1)  # 1: float
            coef = np.eye(len(intercept), dtype=np.float32)
        inputs = [helper.make_tensor_value_info("X", number, [None, width])]
    outputs = []
    if classes is None:
        predicted = TensorProto.DOUBLE if is_far else predicted
        numbers = _regressor(graph, rows, model, coef, intercept, is_far)
    else:
        numbers = _classifier(graph, rows, model, coef, intercept, classes)
        kind = TensorProto.INT64 if "classlabels_ints" in _label_names(classes) else TensorProto.STRING
        outputs.append(helper.make_tensor_value_info("output_label", kind, [None]))
    outputs += [helper.make_tensor_value_info(name, predicted, shape) for name, shape in numbers]
    taken = {one.name for one in inputs} & {one.name for one in outputs}
    if taken:
        raise ValueError(f"cannot export column {taken.pop()!r}: an output of the graph has this name; rename it")
    made = helper.make_model(
        helper.make_graph(graph.nodes, "greedystep", inputs, outputs, graph.constants),
        producer_name="greedystep",
        producer_version=version(),
        ir_version=_IR_VERSION,
        opset_imports=[helper.make_opsetid("", _OPSET), helper.make_opsetid("ai.onnx.ml", _OPSET_ML)],
    )
    columns = {} if schema is None else {"columns": "\n".join(schema.features)}
    helper.set_model_props(made, {"loss": model.loss, **columns})
    checker.check_model(made)
    return made
