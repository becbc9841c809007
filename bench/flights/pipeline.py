"""The same table by scikit-learn: what `greedystep train train.csv --label LABEL` is compared with.

usage: pipeline.py TRAIN TEST LABEL {linear,boosting}     prints the test loss and the seconds of processor time
"""

import sys
import time

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegressionCV, RidgeCV
from sklearn.metrics import log_loss, root_mean_squared_error
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler


def read(path, label):
    table = pd.read_csv(path, parse_dates=["time_hour"]).dropna(subset=[label])
    times = table.pop("time_hour")
    table["time"] = times.astype("int64") / 1e9
    table["time_hour"], table["time_weekday"], table["time_month"] = times.dt.hour, times.dt.weekday, times.dt.month
    return table.drop(columns=label), table[label]


def linear(is_class):
    numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    words = make_pipeline(
        SimpleImputer(strategy="constant", fill_value="none"), OneHotEncoder(handle_unknown="ignore", min_frequency=2)
    )
    columns = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")), (words, make_column_selector(dtype_exclude="number"))
    )
    model = LogisticRegressionCV(scoring="neg_log_loss", max_iter=1000) if is_class else RidgeCV(np.logspace(-1, 4, 6))
    return make_pipeline(columns, model)


def boosting(is_class):
    words = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    columns = make_column_transformer(
        (words, make_column_selector(dtype_exclude="number")), remainder="passthrough"
    )
    return make_pipeline(columns, HistGradientBoostingClassifier() if is_class else HistGradientBoostingRegressor())


train, test, label, kind = sys.argv[1:]
begun = time.process_time()
(x, y), (test_x, test_y) = read(train, label), read(test, label)
is_class = y.nunique() == 2
model = (linear if kind == "linear" else boosting)(is_class).fit(x, y)
seconds = time.process_time() - begun
loss = log_loss(test_y, model.predict_proba(test_x)) if is_class else root_mean_squared_error(test_y, model.predict(test_x))
print(f"{loss:.6f} {seconds:.2f}")
