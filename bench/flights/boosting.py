"""Boosted trees as they come: boosting.py TRAIN TEST LABEL prints the test loss and the processor seconds."""

from pipeline import main
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder


def make_model(label):
    words = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    is_word = make_column_selector(dtype_exclude="number")
    columns = make_column_transformer((words, is_word), remainder="passthrough")
    return make_pipeline(
        columns, HistGradientBoostingClassifier() if label == "late" else HistGradientBoostingRegressor()
    )


if __name__ == "__main__":
    main(make_model)
