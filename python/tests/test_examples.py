"""Every example runs, shows what it says, and stands in the README with what it prints.

``python test_examples.py`` writes the outputs of a run into the README.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "python"
EXAMPLES = sorted(path.name for path in FOLDER.glob("*.py"))


def run_example(name: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning:__main__", str(FOLDER / name)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def block_of(name: str) -> re.Pattern[str]:
    """Return what finds the output of an example in the README."""
    return re.compile(rf"(\$ python {re.escape(name)}\n)(.*?)(?=```)", re.DOTALL)


def words_of(text: str) -> list[str]:
    """Return the words of a text, in no order: numbers, and what is sorted by them, differ from machine to machine."""
    return sorted(re.sub(r"[+-]?\d[\d.]*", "#", text).split())


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_runs_and_prints_what_the_readme_says(name):
    done = run_example(name)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    if done.stdout.startswith("SKIPPED"):
        pytest.skip(done.stdout.strip())
    shown = block_of(name).search((FOLDER / "README.md").read_text())
    assert shown, f"{name} is not in examples/python/README.md"
    assert words_of(done.stdout) == words_of(shown[2])


def test_the_readme_lists_nothing_else():
    assert len(EXAMPLES) > 10
    text = (FOLDER / "README.md").read_text()
    assert sorted(re.findall(r"^\$ python (\S+)$", text, re.MULTILINE)) == EXAMPLES
    assert set(re.findall(r"\[\w+\.py\]\((\S+)\)", text)) == set(EXAMPLES)


def main() -> None:
    readme = FOLDER / "README.md"
    for name in EXAMPLES:
        done = run_example(name)
        if done.returncode != 0 or done.stdout.startswith("SKIPPED"):
            sys.exit(f"{name}: {done.stdout}{done.stderr}")
        shown = done.stdout
        readme.write_text(block_of(name).sub(lambda found, shown=shown: found[1] + shown, readme.read_text()))


if __name__ == "__main__":
    main()
