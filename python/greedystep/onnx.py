"""Export to ONNX with the operators of ai.onnx.ml: dense float32 rows in, label and probabilities out.

Names of inputs and outputs are those that skl2onnx gives to linear models, so that a model of ours can stand in for one
of scikit-learn's: ``X``; ``output_label`` and ``output_probability``, a tensor of [rows x classes]; ``variable``. Where
there are no probabilities (hinge losses) ``output_score`` is what ``decision_function`` returns. A model of a table
puts the means of its columns in place of NaN. If it has categories, the columns are inputs of their own, as skl2onnx
makes them: numbers of float32 and texts, [rows x 1]; an unknown text has no effect.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._schema import Schema
from .callbacks import NoticeWarning

if TYPE_CHECKING:
    from .model import Model

#: Weights (features x outputs) above which a model is refused: rows are dense there, each as wide as the model.
MAX_WEIGHTS = 1_000_000

# Old enough for runtimes of the last years: LinearClassifier and LinearRegressor have not changed since 1, LabelEncoder
# since 2 (of 2019).
_OPSET, _OPSET_ML, _IR_VERSION = 13, 2, 8


def _columns_of(model: Model) -> Schema | None:
    """Return the columns of a table of numbers and categories; None: no table."""
    if model.schema is None:
        return None
    schema = Schema.of(model.schema)
    if schema.dates:
        raise ValueError(
            f"cannot export column {schema.dates[0]!r} to ONNX, which has no dates: train without it (ignore=...), or "
            "give it as a number of days and its weekday and month as columns of text"
        )
    if schema.crosses:
        raise ValueError(f"cannot export the cross {schema.crosses[0]!r} to ONNX: train without it")
    if schema.others and not schema.words:
        raise ValueError("cannot export a model of Vowpal Wabbit text to ONNX: its rows have no columns")
    return schema


def _categories_of(model: Model, schema: Schema) -> dict[str, dict[str, npt.NDArray[np.float32]]]:
    """Return the weights of the categories of every categorical column, by their names."""
    found: dict[str, dict[str, npt.NDArray[np.float32]]] = {column: {} for column in schema.words}
    weights, first = model.coef.T, 2 * schema.n_numeric
    features = first + np.flatnonzero(weights[first:].any(axis=1))
    n_nameless = 0
    for feature in features:
        name = model._model.name(int(feature)) or ""
        columns = [column for column in schema.words if name.startswith(f"{column}=")]
        if len(columns) > 1:
            raise ValueError(f"cannot tell whether {name!r} is of column {columns[0]!r} or {columns[1]!r}: rename one")
        n_nameless += not columns
        for column in columns:
            found[column][name[len(column) + 1 :]] = weights[feature]
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

    def constant(self, name: str, values: npt.NDArray[Any]) -> str:
        """Add a constant and return its name."""
        from onnx import numpy_helper

        self.constants.append(numpy_helper.from_array(values, name))
        return name


def _dense_weights(model: Model, schema: Schema | None, n_features: int | None) -> npt.NDArray[np.float32]:
    """Return the weights, [outputs x features], of as many features as rows have, and of missing-value markers."""
    n = n_features if n_features is not None else model.n_features
    if schema is not None:
        if n_features is not None:
            schema.check_width(n_features)
        n = len(schema.numbers) if model.n_features <= len(schema.numbers) else 2 * len(schema.numbers)
    n_outputs = model.coef.shape[0]
    if n * n_outputs > MAX_WEIGHTS:
        raise ValueError(
            f"{n} features x {n_outputs} output(s) are more than the {MAX_WEIGHTS} weights that rows as wide as the "
            "model make sense for: keep it as it is (Model.save; the command predicts from sparse rows), or train on "
            "fewer features"
        )
    return model._wide_coef(n)


def _fill_gaps(graph: _Graph, rows: str, schema: Schema, n_weights: int) -> str:
    """Put means in place of NaN and return the name of the result.

    If the model has weights for missing-value markers, these features follow the numbers.
    """
    graph.add("IsNaN", [rows], "gs_is_missing")
    graph.add("Where", ["gs_is_missing", graph.constant("gs_means", schema.means), rows], "gs_numbers")
    if n_weights == len(schema.numbers):
        return "gs_numbers"
    graph.add("Cast", ["gs_is_missing"], "gs_missing", to=1)  # 1: float
    return graph.add("Concat", ["gs_numbers", "gs_missing"], "gs_features", axis=1)


def _margins(graph: _Graph, model: Model, schema: Schema) -> str:
    """Add up the margins of a table with categories, without intercepts, and return the name of the result."""
    parts, weights = [], model.coef.T
    if schema.numbers:
        numbers = graph.add("Concat", schema.numbers, "gs_columns", axis=1)
        n = 2 * len(schema.numbers)
        dense = np.zeros((n, weights.shape[1]), np.float32)
        dense[: len(weights)] = weights[:n]
        features = _fill_gaps(graph, numbers, schema, n)
        parts.append(graph.add("MatMul", [features, graph.constant("gs_weights", dense)], "gs_of_numbers"))
    flat = graph.constant("gs_flat", np.array([-1], np.int64))
    for i, (column, categories) in enumerate(_categories_of(model, schema).items()):
        n = len(categories)
        table = np.zeros((n + 1, weights.shape[1]), np.float32)  # the last row: an unknown or missing text
        table[:n] = list(categories.values()) or 0
        keys = list(categories) or [""]
        graph.add("Reshape", [column, flat], f"gs_text{i}")
        graph.add(
            "LabelEncoder",
            [f"gs_text{i}"],
            f"gs_at{i}",
            keys_strings=keys,
            values_int64s=range(len(keys)),
            default_int64=n,
        )
        parts.append(
            graph.add("Gather", [graph.constant(f"gs_table{i}", table), f"gs_at{i}"], f"gs_of_text{i}", axis=0)
        )
    return graph.add("Sum", parts, "gs_margins")


def _label_names(classes: npt.NDArray[Any]) -> dict[str, list[Any]]:
    """Return labels in the form of the operators: 64-bit integers, or else texts."""
    if classes.dtype.kind in "biu" and (classes <= np.iinfo(np.int64).max).all():
        return {"classlabels_ints": [int(one) for one in classes]}
    return {"classlabels_strings": [str(one) for one in classes]}


def _classifier(
    graph: _Graph, rows: str, model: Model, coef: Any, intercept: Any, classes: npt.NDArray[Any]
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


def _regressor(graph: _Graph, rows: str, model: Model, coef: Any, intercept: Any) -> list[tuple[str, list[Any]]]:
    """Add the regression and return names and shapes of its outputs."""
    has_log_link = bool(model._model.info.has_log_link)
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


def to_onnx(model: Model, *, n_features: int | None = None, classes: npt.NDArray[Any] | None = None) -> Any:
    """Return a model as an ``onnx.ModelProto``, as :meth:`greedystep.Model.to_onnx` does.

    Parameters
    ----------
    model : Model
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
    intercept = np.asarray(model.intercept, np.float32)
    if schema is not None and schema.words:
        rows, coef = _margins(graph, model, schema), np.eye(len(intercept), dtype=np.float32)
        texts = set(schema.words)
        inputs = [
            helper.make_tensor_value_info(name, TensorProto.STRING if name in texts else TensorProto.FLOAT, [None, 1])
            for name in schema.features
        ]
    else:
        coef = _dense_weights(model, schema, n_features)
        rows = "X" if schema is None else _fill_gaps(graph, "X", schema, coef.shape[1])
        width = coef.shape[1] if schema is None else len(schema.numbers)
        inputs = [helper.make_tensor_value_info("X", TensorProto.FLOAT, [None, width])]
    outputs = []
    if classes is None:
        numbers = _regressor(graph, rows, model, coef, intercept)
    else:
        numbers = _classifier(graph, rows, model, coef, intercept, classes)
        kind = TensorProto.INT64 if "classlabels_ints" in _label_names(classes) else TensorProto.STRING
        outputs.append(helper.make_tensor_value_info("output_label", kind, [None]))
    outputs += [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in numbers]
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
