#!/usr/bin/env python3
"""run.py --build DIR: what learning by MPI costs, on one machine and between network namespaces.

Stages: ranks compares one rank with two, of one thread each, on click rows from a cache. merge compares what a round
costs beside learning, with many features, with a bare MPI_Allreduce of as many bytes as the state has, through memory
and through links of 1 Gbit/s. network: four namespaces with links of 100 Mbit/s. Runs that are compared take turns.
Prints a line of JSON per run and one per result (results.jsonl); model.py fits its constants to them. Namespaces need
root.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from statistics import median

sys.path.append(str(Path(__file__).resolve().parent.parent))
import shared

HERE = Path(__file__).resolve().parent
NETWORK = HERE.parent.parent / "tests" / "mpi" / "network.sh"
NAME = f"gs{os.getpid()}"
STATE_BYTES = 16  # of a feature
FULL = {"rows": 20_000_000, "features": 100_000, "nnz": 20}
# Rounds begin after four rows per feature.
WIDE = {"rows": 48_000_000, "features": 10_000_000, "nnz": 4}
QUICK = {"rows": 1_600_000, "features": 100_000, "nnz": 20}
QUICK_WIDE = {"rows": 1_600_000, "features": 300_000, "nnz": 4}
PARTS = ("fork", "learn", "wait", "merge", "sent")
PROCESS_ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def tell(**line: object) -> None:
    print(json.dumps(line), flush=True)


def run(*command: object) -> str:
    return shared.run(command, PROCESS_ENVIRONMENT)


class Memory:
    """Ranks on this machine, by shared memory."""

    bandwidth = None

    def __init__(self, ranks: int) -> None:
        self.ranks = ranks

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def command(self) -> list[str]:
        flags = "--oversubscribe --bind-to none --mca mpi_yield_when_idle 1"
        return ["mpirun.openmpi", *flags.split(), "-n", str(self.ranks)]


class Namespaces:
    """One rank per network namespace, by TCP on links of so many Mbit/s in each direction."""

    def __init__(self, ranks: int, megabits: int) -> None:
        self.ranks, self.megabits = ranks, megabits
        self.bandwidth = megabits * 125_000

    def __enter__(self) -> Namespaces:
        run("sh", str(NETWORK), "up", NAME, str(self.ranks), f"{self.megabits}mbit")
        return self

    def __exit__(self, *_: object) -> None:
        run("sh", str(NETWORK), "down", NAME)

    def command(self) -> list[str]:
        hosts = ",".join(f"10.77.0.{i + 1}" for i in range(self.ranks))
        options = {"plm_rsh_agent": f"sh {NETWORK} rsh {NAME}", "btl": "tcp,self", "btl_tcp_if_include": "eth0",
                   "oob_tcp_if_include": "eth0", "mpi_yield_when_idle": "1"}  # fmt: skip
        flags = [word for name, value in options.items() for word in ("--mca", name, value)]
        return ["sh", str(NETWORK), "run", NAME, "0", "mpirun.openmpi", *flags,
                "--host", hosts, "--bind-to", "none", "-n", str(self.ranks)]  # fmt: skip

    def bytes_out(self) -> int:
        """Bytes that node 0 has sent, with what TCP and the launcher add."""
        told = run("ip", "-n", f"{NAME}0", "-s", "-j", "link", "show", "dev", "eth0")
        return int(json.loads(told)[0]["stats64"]["tx"]["bytes"])


def make_rows(given: argparse.Namespace, size: dict[str, int]) -> Path:
    path = Path(given.folder).resolve() / f"clicks-{size['rows']}-{size['features']}-{size['nnz']}.gsac"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        options = [word for name, value in size.items() for word in (f"--{name}", str(value))]
        run(given.command, "generate", *options, "--skew", "1", "--noise", "0.1", "--quiet", "-o", str(path))
    return path


def train(
    given: argparse.Namespace, where: Memory | Namespaces, size: dict[str, int], stage: str, passes: int = 1
) -> dict[str, object]:
    """One run; its line has the sums over all rounds, as rank 0 saw them, and the seconds before the first."""
    rows, folder = make_rows(given, size), Path(given.folder).resolve()
    model, trace = folder / f"model-{where.ranks}", folder / "trace.jsonl"
    before = where.bytes_out() if isinstance(where, Namespaces) else 0
    began = time.monotonic()
    options = ["--passes", str(passes), "--threads", "1", "--quiet", "--json", "--trace", str(trace)]
    told = run(*where.command(), given.command, "train", str(rows), "-o", str(model), *options)
    wall = time.monotonic() - began
    summary = json.loads(told)
    rounds = [one for one in map(json.loads, trace.open()) if one["event"] == "round"]
    line: dict[str, object] = {"stage": stage, **size, "classes": 2, "ranks": where.ranks, "threads": 1}
    line |= {"bandwidth": where.bandwidth, "seconds": summary["seconds"], "wall": wall, "rounds": len(rounds)}
    line |= {"copies": sum(one["shards"] for one in rounds), "round_rows": sum(one["rows"] for one in rounds)}
    line |= {part: sum(one[part] for one in rounds) for part in PARTS}
    line["beside"] = [one["fork"] + one["wait"] + one["merge"] for one in rounds]
    if rounds:
        first = rounds[0]
        line["first"] = first["seconds"] - sum(first[part] for part in PARTS if part != "sent")
    if isinstance(where, Namespaces):
        line["link_bytes"] = where.bytes_out() - before
    tell(**line)
    return line


def middle(lines: list[dict[str, object]], name: str) -> float:
    return median(line[name] for line in lines)


def same_model(given: argparse.Namespace, one: int, other: int) -> bool:
    folder = Path(given.folder).resolve()
    return (folder / f"model-{one}").read_bytes() == (folder / f"model-{other}").read_bytes()


def ranks(given: argparse.Namespace) -> None:
    size = QUICK if given.quick else FULL
    lines: dict[int, list[dict[str, object]]] = {1: [], 2: []}
    for _ in range(given.repeats):
        for n in lines:
            lines[n].append(train(given, Memory(n), size, "ranks"))
    one, two = (middle(lines[n], "seconds") for n in (1, 2))
    tell(result="ranks", **size, one=one, two=two, ratio=one / two, same_bytes=same_model(given, 1, 2))


def merge(given: argparse.Namespace) -> None:
    size = QUICK_WIDE if given.quick else WIDE
    program = Path(given.folder).resolve() / "allreduce"
    program.parent.mkdir(parents=True, exist_ok=True)
    run("mpicc.openmpi", "-O2", str(HERE / "allreduce.c"), "-o", str(program))
    train(given, Memory(1), size, "merge")
    for kind in ("memory", "1 Gbit/s"):
        bare, lines = [], []
        with Memory(2) if kind == "memory" else Namespaces(2, 1000) as where:
            for _ in range(given.repeats):
                told = run(*where.command(), str(program), str(STATE_BYTES * size["features"]), "5")
                bare.append(float(told))
                tell(
                    stage="allreduce",
                    bytes=STATE_BYTES * size["features"],
                    ranks=2,
                    bandwidth=where.bandwidth,
                    seconds=bare[-1],
                )
                lines.append(train(given, where, size, "merge", 3))
        if len(lines[0]["beside"]) < 2:
            sys.exit(f"fewer than two rounds were learned of {size}")
        # Memory of copies is made for the first round, and used again from then on.
        first, last = (median(one["beside"][i] for one in lines) for i in (0, -1))
        tell(result="merge", through=kind, features=size["features"], first_round=first, last_round=last,
             allreduce=median(bare), first_ratio=first / median(bare), last_ratio=last / median(bare))  # fmt: skip


def network(given: argparse.Namespace) -> None:
    size = QUICK if given.quick else FULL
    lines, alone = [], []
    for _ in range(given.repeats):
        alone.append(train(given, Memory(1), size, "network"))
        with Namespaces(4, 100) as where:
            lines.append(train(given, where, size, "network"))
    parts = {name: middle(lines, name) for name in ("seconds", "first", *PARTS, "link_bytes")}
    tell(result="network", **size, ranks=4, alone=middle(alone, "seconds"), **parts, same_bytes=same_model(given, 1, 4))


def main() -> None:
    stages = {"ranks": ranks, "merge": merge, "network": network}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stage", nargs="*", help=f"some of {', '.join(stages)}; all of them")
    parser.add_argument("--build", required=True, help="where greedystep was built")
    parser.add_argument("--folder", default="build/mpi", help="where rows and models go")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="sizes that take a minute")
    given = parser.parse_args()
    given.command = str(Path(given.build).resolve() / "greedystep")
    given.repeats = min(given.repeats, 2) if given.quick else given.repeats
    tell(**shared.measured_at(), repeats=given.repeats)
    for name in given.stage or stages:
        if name not in stages:
            parser.error(f"no stage {name}")
        stages[name](given)


if __name__ == "__main__":
    main()
