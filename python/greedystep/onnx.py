"""Export to ONNX with the linear operators of ai.onnx.ml: dense float32 rows in, label and probabilities out.

Names of inputs and outputs are those that skl2onnx gives to linear models, so that a model of ours can stand in for one
of scikit-learn's: ``X``; ``output_label`` and ``output_probability``, a tensor of [rows x classes]; ``variable``. Where
there are no probabilities (hinge losses) ``output_score`` is what ``decision_function`` returns. A model of a table
puts the means of its columns in place of NaN.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._schema import Schema

if TYPE_CHECKING:
    from .model import Model

#: Weights (features x outputs) above which a model is refused: rows are dense there, each as wide as the model.
MAX_WEIGHTS = 1_000_000

# Old enough for runtimes of the last years: LinearClassifier and LinearRegressor have not changed since 1.
_OPSET, _OPSET_ML, _IR_VERSION = 13, 1, 8


def _columns_of(model: Model) -> Schema | None:
    """Return the columns of a table that has numbers only; None: no table."""
    if model.schema is None:
        return None
    schema = Schema.of(model.schema)
    if schema.others:
        others = " and ".join(schema.others)
        raise ValueError(
            f"the model has features of {others}, which rows of numbers cannot stand for: keep it as it is "
            "(Model.save), or encode them (scikit-learn's OneHotEncoder) and train on the array"
        )
    return schema


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


def _fill_gaps(helper: Any, numpy_helper: Any, schema: Schema, n_weights: int) -> tuple[list[Any], list[Any], str]:
    """Return nodes and constants that put means in place of NaN, and the name of the result.

    If the model has weights for missing-value markers, these features follow the numbers.
    """
    nodes = [
        helper.make_node("IsNaN", ["X"], ["is_missing"]),
        helper.make_node("Where", ["is_missing", "means", "X"], ["numbers"]),
    ]
    means = [numpy_helper.from_array(schema.means, "means")]
    if n_weights == len(schema.numbers):
        return nodes, means, "numbers"
    nodes.append(helper.make_node("Cast", ["is_missing"], ["missing"], to=1))  # 1: float
    nodes.append(helper.make_node("Concat", ["numbers", "missing"], ["features"], axis=1))
    return nodes, means, "features"


def _label_names(classes: npt.NDArray[Any]) -> dict[str, list[Any]]:
    """Return labels in the form of the operators: 64-bit integers, or else texts."""
    if classes.dtype.kind in "biu" and (classes <= np.iinfo(np.int64).max).all():
        return {"classlabels_ints": [int(one) for one in classes]}
    return {"classlabels_strings": [str(one) for one in classes]}


def _classifier(helper: Any, rows: str, model: Model, coef: Any, intercept: Any, classes: npt.NDArray[Any]) -> Any:
    """Return nodes and the names of outputs with their shapes."""
    if len(classes) < 2:
        raise ValueError(f"the model knows one class, {classes.tolist()[0]!r}: there is nothing to tell apart")
    is_binary = len(coef) == 1
    if is_binary:  # the first class has the margin of the second, with its sign changed
        coef, intercept = np.vstack([-coef, coef]), np.hstack([-intercept, intercept])
    has_probabilities = model.loss in ("logistic", "softmax")
    out = "output_probability" if has_probabilities else "output_score"
    scores = "scores" if is_binary and not has_probabilities else out
    nodes = [
        helper.make_node(
            "LinearClassifier",
            [rows],
            ["output_label", scores],
            domain="ai.onnx.ml",
            coefficients=coef.ravel().tolist(),
            intercepts=intercept.tolist(),
            post_transform={"logistic": "LOGISTIC", "softmax": "SOFTMAX"}.get(model.loss, "NONE"),
            multi_class=0,
            **_label_names(classes),
        )
    ]
    if scores == out:
        return nodes, [(out, [None, len(classes)])]
    nodes.append(helper.make_node("Constant", [], ["second"], value_int=1))
    nodes.append(helper.make_node("Gather", ["scores", "second"], [out], axis=1))
    return nodes, [(out, [None])]


def _regressor(helper: Any, rows: str, model: Model, coef: Any, intercept: Any) -> Any:
    has_log_link = bool(model._model.info.has_log_link)
    node = helper.make_node(
        "LinearRegressor",
        [rows],
        ["margin" if has_log_link else "variable"],
        domain="ai.onnx.ml",
        coefficients=coef.ravel().tolist(),
        intercepts=intercept.tolist(),
        targets=1,
    )
    nodes = [node, helper.make_node("Exp", ["margin"], ["variable"])] if has_log_link else [node]
    return nodes, [("variable", [None, 1])]


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
        from onnx import TensorProto, checker, helper, numpy_helper
    except ImportError as failure:
        raise ImportError("to_onnx needs onnx: pip install onnx") from failure
    from ._library import version

    schema = _columns_of(model)
    coef = _dense_weights(model, schema, n_features)
    intercept = np.asarray(model.intercept, np.float32)
    classes = model.classes if classes is None else classes
    outputs = []
    before: list[Any] = []
    constants: list[Any] = []
    rows = "X"
    if schema is not None:
        before, constants, rows = _fill_gaps(helper, numpy_helper, schema, coef.shape[1])
    if classes is None:
        nodes, numbers = _regressor(helper, rows, model, coef, intercept)
    else:
        nodes, numbers = _classifier(helper, rows, model, coef, intercept, classes)
        kind = TensorProto.INT64 if "classlabels_ints" in _label_names(classes) else TensorProto.STRING
        outputs.append(helper.make_tensor_value_info("output_label", kind, [None]))
    outputs += [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in numbers]
    width = coef.shape[1] if schema is None else len(schema.numbers)
    taken = helper.make_tensor_value_info("X", TensorProto.FLOAT, [None, width])
    made = helper.make_model(
        helper.make_graph(before + nodes, "greedystep", [taken], outputs, constants),
        producer_name="greedystep",
        producer_version=version(),
        ir_version=_IR_VERSION,
        opset_imports=[helper.make_opsetid("", _OPSET), helper.make_opsetid("ai.onnx.ml", _OPSET_ML)],
    )
    columns = {} if schema is None else {"columns": "\n".join(schema.numbers)}
    helper.set_model_props(made, {"loss": model.loss, **columns})
    checker.check_model(made)
    return made
