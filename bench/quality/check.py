"""The small check for CI: are both methods as good as the committed tables say? Under a minute, standard library only.

On a few sets, with the first seeds: the mean over them may not be worse than that of the same seeds in auto.csv by more
than TOLERANCE. And the cell of the grid that auto is compared with must still give what grid.csv says, so that the two
stay comparable. A missing set is skipped with a message; the exit code is 77 if all are.
"""

from __future__ import annotations

from cells import ANY, collect, compare, overall, read_grid, specification
from context import VARIANTS, Bench, evaluate, forget, train
from sets import KNOWN, Set, splits
from shared import find_data, mean, read_table, say

NAMES = ("w1a", "breast-cancer_scale", "dna.scale", "mushrooms", "criteo_8k", "protein.val")
TOLERANCE = {"loss": 0.02, "accuracy": 0.005}  # of the committed loss; of accuracy
EQUAL = 0.002  # losses below are the same: mushrooms is told apart without a mistake
CELL_TOLERANCE = 0.01  # the cells are the same arithmetic, so that this is only for the sake of other compilers
SEEDS = 2
SKIPPED = 77


def check_auto(bench: Bench, of: Set, variant: str) -> int:
    committed = {
        x["seed"]: x for x in read_table(KNOWN.table("auto")) if (x["data"], x["variant"]) == (of.name, variant)
    }
    parts = [part for part in splits(of, bench) if str(part.seed) in committed]
    if not parts:
        say(f"MISSING  {of.name} {variant}: not in auto.csv; run the stage auto")
        return 1
    found: dict[str, list[float]] = {"loss": [], "accuracy": []}
    for part in parts:
        model = bench.folder / f"{part.key}.{variant}.model"
        train(bench, part.train, model, part.seed, VARIANTS[variant])
        said = evaluate(bench, model, part.test)
        forget(model)
        found["loss"].append(said["log_loss"])
        found["accuracy"].append(said["accuracy"])
    old = {column: mean([float(committed[str(part.seed)][column]) for part in parts]) for column in found}
    new = {column: mean(values) for column, values in found.items()}
    worse = (
        new["loss"] > max(old["loss"] * (1 + TOLERANCE["loss"]), EQUAL)
        or new["accuracy"] < old["accuracy"] - TOLERANCE["accuracy"]
    )
    figures = f"loss {new['loss']:.4f} (committed {old['loss']:.4f})"
    figures += f", accuracy {new['accuracy']:.4f} (committed {old['accuracy']:.4f})"
    say(f"{'WORSE   ' if worse else 'ok      '} {of.name} {variant}: {figures}")
    return int(worse)


def check_cell(bench: Bench, of: Set) -> int:
    """The best cell by log loss, with the first seed: within the committed spread and a little."""
    cell = overall(read_grid(KNOWN), of.name, "loss", ANY)
    if cell is None:
        say(f"MISSING  {of.name}: not in grid.csv; run the stage grid")
        return 1
    part = splits(of, bench)[0]
    values: dict = {}
    method = specification(cell["method"], cell["parameters"])
    collect(values, compare(bench, part, [method], int(cell["pass"]), 1))
    loss = next(by_column["loss"][0] for (_, _, at), by_column in values.items() if at == int(cell["pass"]))
    low, high = (float(cell[end]) for end in ("low", "high"))
    is_inside = low * (1 - CELL_TOLERANCE) <= loss <= high * (1 + CELL_TOLERANCE)
    state = "ok      " if is_inside else "CHANGED "
    say(f"{state} {of.name} {method}: loss {loss:.4f} (committed {low:.4f}..{high:.4f})")
    return int(not is_inside)


def run(bench: Bench) -> int:
    bench = Bench(bench.greedystep, bench.folder, SEEDS, bench.jobs)
    chosen = [of for of in KNOWN.sets if of.name in NAMES and find_data(of.name)]
    if not chosen:
        say(f"SKIPPED: none of {', '.join(NAMES)} is there (set GREEDYSTEP_DATA_DIR)")
        return SKIPPED
    if not read_table(KNOWN.table("auto")) or not read_table(KNOWN.table("grid")):
        say("SKIPPED: there is no auto.csv or grid.csv to check against; run bench/quality/run.py")
        return SKIPPED
    failures = 0
    for of in chosen:
        failures += sum(check_auto(bench, of, variant) for variant in VARIANTS) + check_cell(bench, of)
    for name in NAMES:
        if name not in [of.name for of in chosen]:
            say(f"SKIPPED: {name} is not there")
    say("no regression" if failures == 0 else f"{failures} failed")
    return 1 if failures else 0
