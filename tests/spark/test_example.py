"""The example runs as its head says and prints what examples/expected has."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="Spark is NOT tested: pyspark is not there")

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def environment(**more: str) -> dict[str, str]:
    """Return the environment without what Spark Connect left in it in an earlier test."""
    from spark_cluster import SHORT_LIVED

    env = {"JAVA_TOOL_OPTIONS": SHORT_LIVED}
    env |= {name: value for name, value in os.environ.items() if not name.startswith("SPARK_")}
    return env | {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"} | more


@pytest.mark.skipif(
    not (os.environ.get("JAVA_HOME") or shutil.which("java")), reason="Spark is NOT tested: there is no JRE"
)
@pytest.mark.parametrize("remote", [{}, {"SPARK_REMOTE": "local[2]"}], ids=["classic", "connect"])
def test_the_example_prints_what_is_expected(tmp_path, remote):
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "spark" / "train.py")],
        cwd=tmp_path,
        env=environment(**remote),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout == (EXAMPLES / "expected" / "spark.txt").read_text()


@pytest.mark.skipif(
    not (os.environ.get("JAVA_HOME") or shutil.which("java")), reason="Spark is NOT tested: there is no JRE"
)
def test_the_guide_shows_what_it_prints():
    root = EXAMPLES.parent
    command = Path(sys.executable).with_name("greedystep")
    guide = root / "docs" / "guides" / "from-spark-mllib.md"
    words = [
        sys.executable,
        root / "tests" / "docs" / "run.py",
        "--python",
        sys.executable,
        "--command",
        command,
        guide,
    ]
    done = subprocess.run(
        [str(word) for word in words], env=environment(), capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout
    assert "left out" not in done.stdout
