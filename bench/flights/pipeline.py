"""The table of run.py by scikit-learn: pipeline.py TRAIN TEST LABEL prints the test loss and the processor seconds."""

import sys
import time

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegressionCV, RidgeCV
from sklearn.metrics import log_loss, root_mean_squared_error
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler


def read(path, label):
    table = pd.read_csv(path, parse_dates=["time_hour"]).dropna(subset=[label])
    at = table.pop("time_hour").dt
    table["days"] = at.as_unit("s").astype("int64") / 86400
    table["weekday"], table["month_name"], table["hour_utc"] = at.day_name(), at.month_name(), at.hour.astype(str)
    return table.drop(columns=label), table[label]


def make_model(label):
    numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    words = make_pipeline(SimpleImputer(strategy="constant", fill_value="none"), OneHotEncoder(handle_unknown="ignore"))
    is_number, is_word = make_column_selector(dtype_include="number"), make_column_selector(dtype_exclude="number")
    columns = make_column_transformer((numbers, is_number), (words, is_word))
    if label == "late":
        return make_pipeline(
            columns,
            LogisticRegressionCV(scoring="neg_log_loss", max_iter=1000, l1_ratios=(0,), use_legacy_attributes=False),
        )
    return make_pipeline(columns, RidgeCV(np.logspace(-1, 4, 6), cv=5))


def main(make):
    train, test, label = sys.argv[1:4]
    x, y = read(train, label)
    model = make(label).fit(x, y)
    seconds = time.process_time()
    x, y = read(test, label)
    loss = log_loss(y, model.predict_proba(x)) if label == "late" else root_mean_squared_error(y, model.predict(x))
    print(f"{loss:.6f} {seconds:.2f}")


if __name__ == "__main__":
    main(make_model)
