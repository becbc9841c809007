"""Plain columns on Apache Spark: train on the executors, evaluate with Spark's evaluator, save, load, predict.

    pip install '.[spark]'                                  # from the root of a clone; Spark needs a JRE, 17 or later
    python examples/spark/train.py                          # the cores of this machine; PYSPARK_PYTHON: which Python
    spark-submit --master spark://host:7077 train.py        # a cluster: docs/spark.md, "Shipping it"

Prints the text of examples/expected/spark.txt.
"""

import tempfile

from pyspark.ml.evaluation import BinaryClassificationEvaluator
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from greedystep.spark import GreedystepClassificationModel, GreedystepClassifier

N_ROWS = 200_000  # in two partitions: few enough for one task to solve, enough for two tasks to learn in parallel


def uniform(number):
    """Return a column of numbers from 0 to 1 that depend on the row's id only, as a file's would."""
    return F.pmod(F.xxhash64("id", F.lit(number)), F.lit(1 << 20)) / (1 << 20)


spark = SparkSession.builder.appName("greedystep example").config("spark.ui.enabled", "false").getOrCreate()

city = F.element_at(F.array(*map(F.lit, ["oslo", "lima", "rome"])), (1 + F.floor(3 * uniform(1))).cast("int"))
rows = spark.range(0, N_ROWS, 1, 2).select("id", city.alias("city"), (18 + 60 * uniform(2)).alias("age"))
margin = F.when(rows.city == "oslo", 1.5).otherwise(-0.5) + (F.col("age") - 48) / 10
rows = rows.withColumn("label", (uniform(3) < 1 / (1 + F.exp(-margin))).cast("double"))
train, test = rows.where("id % 5 > 0"), rows.where("id % 5 = 0")

for method in ("gsa", "auto"):  # gsa: how frames larger than memory are learned
    model = GreedystepClassifier(inputCols=["city", "age"], method=method).fit(train)
    auc = BinaryClassificationEvaluator().evaluate(model.transform(test))
    print(f"method {model.model.method}, tasks {model.summary.n_shards}: AUC of rows that it has not seen {auc:.3f}")

with tempfile.TemporaryDirectory() as folder:  # on a cluster: a path that all machines see, hdfs:// or s3a://
    model.write().overwrite().save(f"{folder}/model")
    loaded = GreedystepClassificationModel.load(f"{folder}/model")
    for row in loaded.transform(test.where("id < 15")).collect():
        print(f"{row.city}, {row.age:.0f} years: {row.prediction:g}, probability {row.probability[1]:.3f}")
spark.stop()
