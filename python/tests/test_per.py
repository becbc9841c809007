"""Customers with an intercept and slopes of their own."""

import numpy as np
import pandas as pd
import pytest

import greedystep


def visits(n, seed, customers=60):
    """Rows of customers, each with a level and a slope."""
    who = np.random.default_rng(3)
    base, slope = who.normal(size=customers), who.normal(0.5, 0.7, customers)
    rng = np.random.default_rng(seed)
    c, x = rng.integers(0, customers, n), rng.normal(size=(n, 2))
    y = 10 + base[c] + slope[c] * x[:, 0] - 0.3 * x[:, 1] + 0.5 * rng.normal(size=n)
    return pd.DataFrame({"age": 50 + 17 * x[:, 0], "who": c + 1000, "size": x[:, 1], "spent": y})


def loss(model, rows):
    """The mean squared error."""
    return float(np.mean((model.predict(rows.drop(columns="spent")) - rows["spent"]) ** 2))


def test_customers_have_their_own():
    rows, later = visits(1500, 1), visits(600, 2)
    model = greedystep.train(rows, label="spent", per="who")
    alone = greedystep.train(rows, label="spent", ignore=["who"])
    assert model.summary["customers"] == 60
    assert 0.5 < model.summary["customer_deviation"] < 2
    assert model.summary["common_loss"] > 3 * model.summary["held_out_loss"]
    assert loss(model, later) < 0.4 < 1 < loss(alone, later.drop(columns="who"))
    assert "who=1007" in model.feature_names
    assert "who=1007:age" in model.feature_names


def test_new_customers_have_what_all_have():
    rows = visits(1500, 1)
    model = greedystep.train(rows, label="spent", per="who")
    new = pd.DataFrame({"age": [20.0, 20.0, 70.0], "who": [7, None, 8], "size": [1.0, 1.0, 0.0]}, dtype=object)
    new = new.astype({"age": float, "size": float})
    predicted, explained = model.predict(new), model.explain(new)
    assert predicted[0] == predicted[1] != predicted[2]
    assert list(explained.feature_names) == ["age", "who", "size"]
    assert (explained.values[:, 1] == 0).all()
    known = model.explain(rows.drop(columns="spent").head(50))
    assert (known.values[:, 1] != 0).all()
    np.testing.assert_allclose(
        known.values.sum(axis=1) + known.base_values, model.predict(rows.drop(columns="spent").head(50)), rtol=1e-6
    )


def test_a_file_has_the_model_of_a_frame(tmp_path):
    rows = visits(500, 1)
    rows.to_csv(tmp_path / "rows.csv", index=False)
    frame = greedystep.train(rows, label="spent", per="who")
    file = greedystep.train(tmp_path / "rows.csv", label="spent", per="who")
    np.testing.assert_array_equal(frame.predict(rows), file.predict(rows))
    file.save(tmp_path / "m")
    again = greedystep.load(tmp_path / "m")
    np.testing.assert_array_equal(again.predict(rows), frame.predict(rows))
    later = greedystep.train(visits(500, 4), label="spent", start_from=frame)
    assert loss(later, visits(600, 2)) < loss(frame, visits(600, 2))


def test_labels_may_stand_beside_the_frame():
    rows = visits(500, 1)
    beside = greedystep.train(rows.drop(columns="spent"), rows["spent"].to_numpy(), per="who")
    np.testing.assert_allclose(
        beside.predict(rows.drop(columns="spent")), greedystep.train(rows, label="spent", per="who").predict(rows)
    )


def test_what_cannot_be_is_refused():
    rows = visits(200, 1)
    with pytest.raises(ValueError, match="per= is for tables and files"):
        greedystep.train(rows[["age", "size"]].to_numpy(), rows["spent"], per="who")
    with pytest.raises(ValueError, match="no column 'what'"):
        greedystep.train(rows, label="spent", per="what")
    model = greedystep.train(rows, label="spent", per="who")
    pytest.importorskip("onnx")
    with pytest.raises(ValueError, match="features per 'who'"):
        model.to_onnx()
