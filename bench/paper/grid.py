"""The paper's grids: which methods run on which data set, and running `greedystep compare` over them.

results.csv has one line for (data, protocol, method, parameters, pass): mean, minimum and maximum over the seeds on the
test part. A mean is nan if any seed diverged. Protocols: paper-split is the split that the paper's own numbers
show (datasets.py), given-test the site's test file where the paper did not use it.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from datasets import BY_NAME, GIVEN_TEST, HERE, PAPER_SPLIT, Dataset, Files, training_file
from shared import Line, mean, number, read_table, run, unpack, write_table

PUBLISHED = HERE / "published.csv"
RESULTS = HERE / "results.csv"
MEASURES = ("loss", "accuracy", "auc", "mean_step")
KEY = ("data", "protocol", "method", "parameters", "pass")
HEADER = (*KEY, "n_seeds", *(f"{m}{end}" for m in MEASURES for end in ("", "_min", "_max")))

# Today's methods, as their authors run them. FURTHER: SPS without its bound, to show what that does, and DoG's initial
# radius made larger by factors of 100, as its authors advise where the step does not grow.
PEERS = ("dog", "polyak", "ftrl:0.01", "ftrl:0.1", "ftrl:1", "ftrl:10")
LARGER_RADII = ("dog:1e-4", "dog:1e-2")
FURTHER = {"a9a": ("polyak:0.5:1e6:0",), "news20.scale": LARGER_RADII, "sector.scale": LARGER_RADII}
LOWER_RATES = {"cod-rna": (1e-4, 1e-5, 3e-6, 1e-6, 3e-7, 1e-7), "madelon": (3e-9, 1e-9, 3e-10, 1e-10)}
PARALLEL = ("paper-shards:8", "paper-shards:32", "fregata:8", "fregata:32")
# Rough shares of the time, so that the longest begin first.
HEAVY = ("aloi.scale", "url", "rcv1.multiclass", "sector.scale", "mnist.scale", "news20.scale")
HEAVY_EXTRA_SEEDS = 2


def published_parameters(text: str) -> str:
    """'r=.1,B=200' of the paper's tables as `compare` writes it: 'r=0.1;B=200'."""
    pairs = [part.split("=") for part in text.replace(";", ",").split(",") if part]
    return ";".join(f"{name.strip()}={float(value):g}" for name, value in pairs)


def published_methods(data: str) -> list[str]:
    """SGD, Adadelta and SCSG with their knobs, in the paper's order, as --methods takes them."""
    methods: list[str] = []
    for row in read_table(PUBLISHED):
        if row["dataset"] != data or row["method"] in ("GSA", "best-printed"):
            continue
        values = [part.split("=")[1] for part in published_parameters(row["parameters"]).split(";")]
        method = ":".join([row["method"].lower(), *values])
        if method not in methods:
            methods.append(method)
    return methods


def rates_between(data: str, methods: Sequence[str]) -> list[str]:
    """SGD with 3 x 10^k inside the paper's range, and below it on raw data: its own grid is too coarse, and there too
    high, to find the best constant rate."""
    rates = [float(method.split(":")[1]) for method in methods if method.startswith("sgd:")]
    powers = range(math.floor(math.log10(min(rates))), math.ceil(math.log10(max(rates))) + 1)
    between = [3 * 10.0**k for k in powers if min(rates) < 3 * 10.0**k < max(rates)]
    tried = [f"sgd:{rate:g}" for rate in (*between, *LOWER_RATES.get(data, ()))]
    return [method for method in tried if method not in methods]


def schedule_free(data: str) -> list[str]:
    """10 times SGD's published rates, where the authors begin, and the smallest of these; on raw data, those below."""
    rates = [float(method.split(":")[1]) for method in published_methods(data) if method.startswith("sgd:")]
    if data in LOWER_RATES:
        rates = [rate for rate in LOWER_RATES[data] if f"{rate:g}".startswith(("1e", "0.0001"))]
    tried = sorted([*(10 * rate for rate in rates), min(rates)], reverse=True)
    return list(dict.fromkeys(f"schedule-free:{rate:g}" for rate in tried))


def peer_methods(data: str) -> tuple[str, ...]:
    return (*PEERS, *FURTHER.get(data, ()), *schedule_free(data))


def paper_methods(data: str) -> tuple[str, ...]:
    return ("paper", "paper:suffix", *published_methods(data))


def extra_methods(data: str) -> tuple[str, ...]:
    """What the paper does not have: rates between its own, today's peers, and learning in parallel."""
    return (*rates_between(data, published_methods(data)), "adagrad:0.1", "coin", *peer_methods(data), *PARALLEL)


@dataclass(frozen=True)
class Job:
    dataset: Dataset
    protocol: str
    files: Files
    methods: tuple[str, ...]
    seeds: int


def seeds_of_extra(data: str, seeds: int) -> int:
    return min(seeds, HEAVY_EXTRA_SEEDS) if data in HEAVY else seeds


def peer_jobs(present: dict[str, Files], seeds: int) -> list[Job]:
    return [
        Job(BY_NAME[name], PAPER_SPLIT, files, peer_methods(name), seeds_of_extra(name, seeds))
        for name, files in present.items()
    ]


def jobs_for(present: dict[str, Files], seeds: int) -> list[Job]:
    jobs = []
    for name, files in present.items():
        dataset = BY_NAME[name]
        protocols = [PAPER_SPLIT]
        if not dataset.given_test and files.test:
            protocols.append(GIVEN_TEST)
        jobs += [Job(dataset, protocol, files, paper_methods(name), seeds) for protocol in protocols]
        jobs.append(Job(dataset, PAPER_SPLIT, files, extra_methods(name), seeds_of_extra(name, seeds)))
    order = {name: at for at, name in enumerate(HEAVY)}
    return sorted(jobs, key=lambda job: order.get(job.dataset.name, len(order)))


def compare(greedystep: Path, job: Job, folder: Path, extra: Sequence[str] = ()) -> list[Line]:
    """The lines of `greedystep compare` for a job."""
    command = [str(greedystep), "compare", str(training_file(job.dataset, job.files, folder))]
    if (job.protocol == GIVEN_TEST or job.dataset.given_test) and job.files.test:
        command += ["--test", str(unpack(job.files.test, folder))]
    with tempfile.NamedTemporaryFile(suffix=".csv", dir=folder) as out:
        command += ["--methods", ",".join(job.methods), "--passes", str(job.dataset.run_passes)]
        command += ["--seeds", str(job.seeds), "--quiet", *extra, "-o", out.name]
        run(command)
        return read_table(Path(out.name))


DEFAULTS = (";gamma=0", ";beta=1;l1=0;l2=0", ";beta=0.9;warmup=0.25", ";bound=1;tau=2")


def without_defaults(parameters: str) -> str:
    """A method's numbers without those that are left as they are: Adadelta's gamma is the paper's choice."""
    for default in DEFAULTS:
        parameters = parameters.removesuffix(default)
    return parameters


def aggregate(job: Job, lines: Iterable[Line]) -> list[Line]:
    """Mean, least and greatest over the seeds, on the test part."""
    groups: dict[tuple[str, str, str], list[Line]] = {}
    for line in lines:
        if line["split"] == "test":
            parameters = without_defaults(line["parameters"])
            groups.setdefault((line["method"], parameters, line["pass"]), []).append(line)
    results = []
    for (method, parameters, at), group in groups.items():
        result = dict(zip(KEY, (job.dataset.name, job.protocol, method, parameters, at), strict=True))
        result["n_seeds"] = str(len(group))
        for measure in MEASURES:
            values = [float(line[measure]) for line in group if line[measure] not in ("", "nan")]
            whole = len(values) == len(group)
            result[measure] = number(mean(values)) if whole else ("nan" if measure == "loss" else "")
            result[measure + "_min"] = number(min(values)) if whole else ""
            result[measure + "_max"] = number(max(values)) if whole else ""
        results.append(result)
    return results


def run_jobs(greedystep: Path, jobs: Sequence[Job], folder: Path, at_once: int) -> tuple[list[Line], dict]:
    """All jobs, at_once at a time; their results, and the seconds of each."""
    seconds: dict[str, float] = {}

    def one(job: Job) -> list[Line]:
        begun = time.monotonic()
        lines = aggregate(job, compare(greedystep, job, folder))
        took = round(time.monotonic() - begun, 1)
        seconds[f"{job.dataset.name}, {job.protocol}, {len(job.methods)} methods"] = took
        print(f"{job.dataset.name:20} {job.protocol:12} {len(job.methods):3} methods {took:8.1f} s", flush=True)
        return lines

    with ThreadPoolExecutor(at_once) as pool:
        parts = list(pool.map(one, jobs))
    return [line for part in parts for line in part], seconds


def write_results(lines: Sequence[Line]) -> None:
    """In the order of DATASETS, the paper's split first, then as they come."""
    ranks = {name: at for at, name in enumerate(BY_NAME)}
    lines = sorted(lines, key=lambda line: (ranks[line["data"]], line["protocol"] != PAPER_SPLIT))
    write_table(RESULTS, HEADER, lines)
