"""Pairs of columns that act on one another, in Python."""

from __future__ import annotations

import subprocess
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import greedystep
from greedystep import GreedystepClassifier, GreedystepRegressor
from greedystep._contents import Pair
from greedystep.report import write_report


def rows(n: int = 2000, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2, 2, (n, 4)).astype(np.float32)
    return x, x[:, 0] * x[:, 1] + np.abs(x[:, 2]) + rng.normal(0, 0.2, n)


def interpolated(pair: Pair, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return what a surface adds to rows, from its knots and values."""
    shares = []
    for knots, value in zip(pair.knots, (first, second)):
        shares.append(np.array([np.interp(value, knots, unit) for unit in np.eye(len(knots))]))
    (grid,) = pair.values
    cells = product(range(len(pair.knots[0])), range(len(pair.knots[1])))
    added: np.ndarray = np.sum([grid[i, j] * shares[0][i] * shares[1][j] for i, j in cells], axis=0)
    return added


def test_a_product_of_two_columns_is_found_and_new_rows_gain() -> None:
    x, y = rows()
    new, truth = rows(1000, 1)
    curves, pairs = (GreedystepRegressor(pairs=form).fit(x, y) for form in ("off", "auto"))
    assert curves.model_.pairs() == []
    assert set(pairs.model_.pairs()[0].names) == {"1", "2"}
    assert pairs.summary_["pairs"] in (6, 8)
    off = [np.sqrt(np.mean((one.predict(new) - truth) ** 2)) for one in (curves, pairs)]
    assert off[0] > 1 and off[1] < 0.3


def test_parts_of_columns_and_pairs_add_up_to_the_margin() -> None:
    x, y = rows()
    model = GreedystepRegressor(pairs="auto").fit(x, y).model_
    found = model.explain(x[:50])
    np.testing.assert_allclose(found.values.sum(axis=1) + found.base_values, model.predict(x[:50]), rtol=1e-6)
    for pair in model.pairs():
        place = list(found.feature_names).index(" & ".join(pair.names))
        first, second = (x[:50, int(name) - 1].astype(float) for name in pair.names)
        np.testing.assert_allclose(found.values[:, place], interpolated(pair, first, second), atol=1e-5)


def test_surfaces_have_a_mean_of_nothing_over_the_rows() -> None:
    x, y = rows()
    model = GreedystepRegressor(pairs="auto").fit(x, y).model_
    for pair in model.pairs():
        assert abs((pair.values[0] * pair.share).sum()) < 0.02 * pair.deviation


def test_files_keep_pairs(tmp_path: Path) -> None:
    x, y = rows()
    model = GreedystepClassifier(pairs="auto").fit(x, y > 1).model_
    assert len(model.pairs()) > 0
    model.save(f"{tmp_path}/pairs.model")
    loaded = greedystep.load(f"{tmp_path}/pairs.model")
    np.testing.assert_array_equal(loaded.predict(x), model.predict(x))
    assert [pair.names for pair in loaded.pairs()] == [pair.names for pair in model.pairs()]
    assert loaded.n_features == 4


def run_graph(model: greedystep.Model, inputs: dict[str, np.ndarray]) -> np.ndarray:
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(model.to_onnx().SerializeToString(), providers=["CPUExecutionProvider"])
    found: np.ndarray = session.run(None, inputs)[-1]
    return found


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_graphs_have_the_pairs_of_arrays(n_classes: int) -> None:
    x, y = rows()
    x[:, 3] = np.where(x[:, 3] > 0, x[:, 3] + 5, 0)  # often 0, and far from it
    y += np.where(x[:, 3] > 0, x[:, 0], 0)
    if n_classes == 0:
        model = GreedystepRegressor(pairs="auto").fit(x, y).model_
    else:
        model = GreedystepClassifier(pairs="auto").fit(x, np.digitize(y, [1, 3][: n_classes - 1])).model_
    assert any("4" in pair.names for pair in model.pairs())
    outside = np.vstack([x[:500], 3 * x[:200]])
    predicted = model.predict(outside) if n_classes == 0 else model.predict_proba(outside)
    np.testing.assert_allclose(run_graph(model, {"X": outside}), predicted.reshape(len(outside), -1), atol=2e-5)


def test_graphs_have_the_pairs_of_tables() -> None:
    pandas = pytest.importorskip("pandas")
    x, y = rows()
    words = np.where(np.arange(len(x)) % 3 == 0, "red", "blue")
    y += np.where(words == "red", x[:, 2], -x[:, 2])
    table = pandas.DataFrame({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "w": words, "y": y})
    table.loc[table.index % 7 == 0, "b"] = np.nan
    model = greedystep.train(table, label="y", pairs="auto", loss="squared")
    assert any("w=" in name for pair in model.pairs() for name in pair.names)
    inputs = {name: table[[name]].to_numpy(np.float32 if name != "w" else object) for name in "abcw"}
    found = run_graph(model, inputs).ravel()
    np.testing.assert_allclose(found, model.predict(table.drop(columns="y")), atol=2e-5)


def test_linear_models_refuse_pairs() -> None:
    x, y = rows()
    model = GreedystepRegressor(pairs="auto").fit(x, y).model_
    with pytest.raises(ValueError, match="curves"):
        model.to_sklearn()


def test_maps_have_a_picture_of_each_pair() -> None:
    pytest.importorskip("matplotlib").use("agg")
    from greedystep import plot

    x, y = rows()
    model = GreedystepRegressor(pairs="auto").fit(x, y).model_
    axes = plot.pairs(model, top=3)
    assert len(axes) == 3
    assert (axes[0].get_xlabel(), axes[0].get_ylabel()) == ("1", "2")
    with pytest.raises(ValueError, match='pairs="auto"'):
        plot.pairs(GreedystepRegressor(pairs="off").fit(x, y))


def test_a_report_shows_at_most_eight_maps(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib").use("agg")
    x, y = rows()
    lines = [",".join(f"{value:.4f}" for value in (label, *row)) for label, row in zip(y, x)]
    (tmp_path / "rows.csv").write_text("y,a,b,c,d\n" + "\n".join(lines) + "\n")
    train = [
        "greedystep",
        "train",
        "rows.csv",
        "--label",
        "y",
        "--pairs",
        "auto",
        "-o",
        "m",
        "--trace",
        "t.jsonl",
        "-q",
    ]
    subprocess.run(train, cwd=tmp_path, check=True)
    write_report(tmp_path / "t.jsonl", tmp_path / "t.html")
    page = (tmp_path / "t.html").read_text()
    n_pairs = len(greedystep.load(tmp_path / "m").pairs())
    assert "A map shows" in page
    assert page.count("a &amp; b") >= 2  # the picture's title, and the table of shares
    assert page.count(" &amp; ") >= min(n_pairs, 8)
