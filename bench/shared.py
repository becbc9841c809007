"""Code that the benchmarks share: commands that must succeed, the machine, the data folder, and tables (CSV, Markdown).

Standard library only, so that the quick checks of CI need no package. Scripts of the folders below this one put it on
their path. look.py has the style of figures.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import lzma
import math
import os
import platform
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VOWPAL = (sys.executable, "-m", "vowpalwabbit")

Line = dict[str, str]


def say(text: str) -> None:
    print(text, flush=True)


# ---- commands and processes ------------------------------------------------------------------------------------------


def run(command: Iterable[object], env: Mapping[str, str] | None = None) -> str:
    """Standard output of a command that must succeed."""
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=env)
    if done.returncode != 0:
        raise SystemExit(f"failed: {' '.join(words)}\n{done.stderr[-2000:]}")
    return done.stdout


def timed(command: Iterable[object]) -> tuple[str, float]:
    """The same, and its seconds."""
    begun = time.monotonic()
    return run(command), time.monotonic() - begun


def given_command(path: Path | None) -> Path:
    """What --greedystep names."""
    if path is None or not path.is_file():
        print("--greedystep must name the command, such as build/release/greedystep", file=sys.stderr)
        raise SystemExit(2)
    return path.resolve()


def version_of(greedystep: Path) -> str:
    return run([greedystep, "--version"]).splitlines()[0].removeprefix("greedystep ").strip()


def process_status(process: object = "self") -> dict[str, int]:
    """The parent of a process and its kilobytes of memory, now and at its peak; nothing if it is gone."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return {}
    facts = dict(line.split(":", 1) for line in lines if ":" in line)
    return {name: int(facts[name].split()[0]) for name in ("PPid", "VmRSS", "VmHWM") if name in facts}


def machine() -> str:
    """What a benchmark ran on, in one line."""
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            model = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return f"{os.cpu_count()} cores, {model}, {platform.system()} {platform.machine()}"


def measured_at() -> dict[str, str]:
    """The date, the machine, and the commit of the program: this tree's, unless $GREEDYSTEP_COMMIT names another."""
    commit = os.environ.get("GREEDYSTEP_COMMIT") or run(["git", "-C", ROOT, "rev-parse", "--short=8", "HEAD"]).strip()
    return {"date": time.strftime("%Y-%m-%d", time.gmtime()), "machine": machine(), "commit": commit}


def measured(command: Iterable[object], env: Mapping[str, str] | None = None) -> dict[str, float]:
    """Seconds on the wall and of the processor, and the peak memory in kilobytes, of a command that must succeed."""
    words, begun = [str(word) for word in command], time.monotonic()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env)
    _, status, used = os.wait4(process.pid, 0)
    wall = time.monotonic() - begun
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"failed: {' '.join(words)}")
    return {"wall": wall, "processor": used.ru_utime + used.ru_stime, "peak": used.ru_maxrss}


# ---- data ------------------------------------------------------------------------------------------------------------

OPENERS = {".xz": lzma.open, ".bz2": bz2.open, ".gz": gzip.open}


def data_directory() -> Path:
    given = os.environ.get("GREEDYSTEP_DATA_DIR")
    return Path(given) if given else ROOT.parent / "shared" / "data"


def find_data(*names: str) -> Path | None:
    """The first of the names that the data directory has, plain or compressed."""
    paths = (data_directory() / (name + suffix) for name in names for suffix in ("", *OPENERS))
    return next((path for path in paths if path.is_file()), None)


def partial_name(path: Path) -> Path:
    """A name of this thread's own: two jobs may write the same file at once."""
    return path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}.partial")


def unpack(path: Path, folder: Path) -> Path:
    """A plain copy of a file in a folder of our own, made once: greedystep may be built without the codec."""
    opener = OPENERS.get(path.suffix)
    if opener is None:
        return path
    plain = folder / path.name.removesuffix(path.suffix)
    if not plain.exists():
        partial = partial_name(plain)
        with opener(path, "rb") as source, open(partial, "wb") as target:
            shutil.copyfileobj(source, target, 1 << 20)
        partial.rename(plain)
    return plain


def write_lines(path: Path, lines: Sequence[str]) -> None:
    """Whole or not at all."""
    partial = partial_name(path)
    partial.write_text("".join(lines), encoding="ascii")
    partial.rename(path)


# ---- numbers and tables ----------------------------------------------------------------------------------------------


def number(value: float) -> str:
    return "nan" if math.isnan(value) else f"{value:.6g}"


def mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


def log_loss(chances: Sequence[float], labels: Sequence[bool]) -> float:
    """Of the probabilities of the second of two classes, none nearer to 0 or 1 than 1e-15."""
    sure = (min(max(p, 1e-15), 1 - 1e-15) for p in chances)
    return -sum(math.log(p if y else 1 - p) for p, y in zip(sure, labels, strict=True)) / len(labels)


def read_table(path: Path) -> list[Line]:
    """The lines of a csv file, none if it has not been made."""
    if not path.exists():
        return []
    with open(path, newline="", encoding="ascii") as file:
        return list(csv.DictReader(file))


def write_table(path: Path, header: Sequence[str], lines: Iterable[Line]) -> None:
    partial = path.with_suffix(".partial")
    with open(partial, "w", newline="", encoding="ascii") as file:
        writer = csv.DictWriter(file, header, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
    partial.replace(path)


def markdown(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [
        "| " + " | ".join(header) + " |",
        "|" + "|".join("---" if i == 0 else "--:" for i in range(len(header))) + "|",
    ]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"
