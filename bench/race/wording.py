"""The text of docs/quality.md and docs/quality-tables.md; page.py fills in numbers and tables."""

PAGE = """# Quality

![One cloud of points per tool, one point per data set: processor seconds relative to greedystep across, log loss relative to the best tool up](figures/race.svg)

{sentence}

{headline}
Each small mark of the figure is one data set, the large ones are medians; further left is faster, further down is better. Hollow
marks are default settings, filled ones a search over settings whose time counts. Arrows on the upper edge have more than three times
the least loss. In the table, losses within 1 % are the same, as are all below 0.002 (mushrooms); in brackets is the range over the sets.
Measured on {date} at commit {commit}, on 2 cores of an Intel Xeon virtual machine; the [appendix](quality-tables.md) has every set, and
the date of every part.

## How it was measured

- **Data**: 21 public sets of 120 to 60,000 training rows. A set with a test file is tested on it, the others on a fifth of the rows;
  the appendix says over how many splits a figure is the mean (criteo and sector are joined and split too; w1a is trained on 80 % of its training file).
- **greedystep** runs with one option, `--curves off`: all tools fit straight lines ([curves](method.md#curves) are compared elsewhere). Such data fits in memory, so it is taken to the optimum of its
  [penalised loss](algorithms.md), with penalty, scaling and calibration chosen on held-out rows.
- **Time** is processor seconds of one thread from a text file to a model: reading, scaling, the search and the last fit, but not the start
  of Python, the conversion to Vowpal Wabbit's text, or prediction. Tools take turns on each split; runs below 1 s are repeated five times
  and the median counts. Other work ran on the machine: times of short runs are within about 20 %.
- **A search** tries each setting on five folds (three on the largest sets) and learns the best on all rows. It starts no
  further setting after {budget} processor seconds; the appendix marks the searches that were cut short. Its held-out predictions also
  calibrate the model if this lowers the tool's median loss. LogisticRegression is searched with and without a scaler; the search with the
  lower held-out loss counts, with the time of both (on mnist only the one without was run).
  Missing are LIBLINEAR on mnist (not done after 7 minutes), and, not run, LogisticRegression on news20 and sector, SGDClassifier on 9 sets and
  `--freegrad` on 17.

| tool | default | search |
|---|---|---|
| Vowpal Wabbit 9.11.9 | logistic loss, one pass; `--oaa` with probabilities for several classes; room for every weight, shuffled rows | `-l` 0.5, 0.1, 2.5 with 1, 5, 20 passes |
| the same, `--freegrad` | the same | 1, 5, 20 passes |
| LIBLINEAR 2.3.0 | `-s 0 -B 1` (its own default, an SVM, has no probabilities) | `-c` from 0.001 to 1000 |
| SGDClassifier 1.9.1 | `loss="log_loss"` | `alpha` from 1e-7 to 0.01, with and without a scaler |
| LogisticRegression 1.9.1 | as it comes; with StandardScaler in front | ten `C` from 1e-4 to 1e4, with and without a scaler |

SGDClassifier diverges by default on data in raw units (cod-rna, wine, iris, breast_cancer, digits, madelon): its step sizes do not depend on the
size of the features. One pass of `--freegrad` is far from enough on sector (105 classes, 73 rows each): it predicts 40 % of the test rows correctly.
Vowpal Wabbit, LIBLINEAR and SGDClassifier learn several classes one against the rest, which costs them log loss on sets with many
classes; calibration corrects part of it. On wine a search can separate the held-out rows without a mistake; calibration then makes its
probabilities far too confident (LogisticRegression, SGDClassifier).

## Where greedystep is behind

Sets where some line of the first table has over 1 % less loss:

{behind}
{unlisted}wine and iris have only 35 and 30 test rows per split, so their losses vary much from split to split.

Faster than greedystep by the median over the sets: {faster}.

## Data set by data set

![Log loss against processor seconds, one panel per data set](figures/race-sets.svg)

Hollow: default. Filled: after a search. The star and the line are greedystep. A pale mark on the upper edge lies above the panel.

## Raw units in Python

Log loss (for the regressions, mean squared error) on test rows, and processor seconds of `fit` on arrays, default estimators, one thread:
`GreedystepClassifier()` or `GreedystepRegressor()` beside scikit-learn, on the first split.

{arrays}
A scaler in front changes little, because greedystep itself tries standardised features on held-out rows. The exception is *units*, whose columns
have means near 10^4 and standard deviations from 10^-3 to 10^4: it is given as libsvm text, whose values are rounded to floats. As an array such columns are
[measured from offsets](formats/csv.md#columns), and the loss is 0.9980 without a scaler (`GreedystepRegressor`, at commit 6963d886). Loss (of *units*, mean
squared error) without → with StandardScaler, mean over five splits:

{scaler}
## Regression

`--loss squared`, R² on test rows, mean over five splits; time as above.

{regression}
## Sets that were not looked at before

{n_unseen} tables of R packages, taken as they are, on one split. The list was made before greedystep was run on any of them; one, titles, later led to
a change of how rows are assigned to folds ([decision 0025](decisions/0025-rows-in-memory-are-solved.md)).

{unseen}
## Beside the best of 41 settings of other optimisers

SGD with 14 rates, Adagrad with 9, Adadelta with 8 and SCSG with 10 settings, up to ten passes, on 17 of the sets (all but scikit-learn's own): greedystep
is compared with the setting and pass that are best *on the test rows*, which no search can know. *Better* and *worse*:
the 95 % interval of the difference per test row excludes 0, and the difference is above 1 % of the loss (0.2 points of accuracy).

{grid}
Rows in memory are solved without an option; `--method gsa` is greedy step averaging, which streams and clusters use. The settings'
losses were measured on 2026-11-15; the best ones of {repeated} sets were run again at this commit with the same seeds, and {off}.

## Robustness

- Harmless changes to five sets (units, shifts, constant and copied columns, sorted rows): {n_bad} of {n_changes} cost more than 0.005 of
  accuracy{bad}.
- A file with each row copied 2, 3 or 5 times gives the same model, byte for byte: {copies} trials.
- The expected calibration error on the 17 sets is {low} to {high}.

Day after day, 100,000 rows per day, half of the weights flip before day 5; log loss on other rows of the day, mean of three seeds:

{drift}
Both methods on the same generated clicks (100,000 features, 20 per row, some much more frequent than others), tested on 200,000 other
rows. [A fixed rule](method.md) solves what fits in memory and leaves the rest to greedy step averaging, which reads a file several times
and a pipe once (`bench/order/crossover.py`):

{bound}
## Run it again

<!-- not run: an hour; real.quality_has_not_got_worse runs some sets of it -->
```sh
pip install -r bench/race/requirements.txt && apt-get install liblinear-tools
python3 bench/race/run.py --command build/release/greedystep --commit $(git rev-parse --short HEAD)
python3 bench/quality/run.py --greedystep build/release/greedystep
python3 bench/race/page.py      # this page, its appendix and figures from the result files
```

`bench/race/results.csv` and the tables of `bench/quality` hold the results; `bench/race/page.py` writes this page.
"""

APPENDIX = """# Quality: all tables

Every set of [quality.md](quality.md), which says how it was measured. `bench/race/page.py` writes this page. The best of a line is bold.

## Data sets

{sizes}
## Log loss, default settings

{loss}
## Log loss after a search

Loss after the search → after calibration by its held-out predictions; in brackets, both relative to greedystep on the same splits, and
the processor seconds of the search and the last fit. A star marks a search that ended early because its time was used up; a dash
means not measured. SGDClassifier and Vowpal Wabbit were searched on the first split only, where there are five.

{searched}
## Processor seconds, default settings

With reading the text:

{time}
Without reading it:

{fit}
## Accuracy, default settings

{accuracy}
## Accuracy after a search

{accuracy_searched}
## Area under the ROC curve, default settings

{auc}
## Sets that were not looked at before

Log loss, then processor seconds with reading, on the first split.

{unseen}
## Beside the best of 41 settings

Mean over five splits or orders of the rows (two on letter, usps, news20, sector and mnist).

### Log loss by setting

{grid_loss}
### Accuracy by setting

{grid_accuracy}
## Calibration

Expected calibration error: confidence against accuracy in 15 bins of equal width.

{calibration}
## Changes that should not matter

Log loss / accuracy, on at most the first 20,000 test rows (those of cod-rna have one class only). The last two changes make a different problem; beside them is the loss of predicting
the class shares of the test labels.

{robust}
## Day after day, without drift

{still}
## When each part was measured

{dates}"""
