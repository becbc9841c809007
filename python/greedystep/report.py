"""A report of a run: ``python -m greedystep.report run.jsonl -o run.html``.

The report is a single HTML file without scripts or network access. It is made from the trace that
``greedystep train --trace run.jsonl`` writes, and works while the run continues.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence

from .plot_trace import Source, TraceError, read_trace

__all__ = ["main", "write_report"]


def write_report(run: Source, path: str | os.PathLike[str]) -> None:
    """Write the report of a run to a file, atomically."""
    from .report_page import page_of  # needs matplotlib, which may be missing

    html = page_of(run).encode("utf-8", "replace")
    target = os.path.realpath(path)
    handle, temporary = tempfile.mkstemp(prefix=os.path.basename(target) + ".", dir=os.path.dirname(target))
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(html)
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def _complain(text: str, code: int = 1) -> int:
    print(f"greedystep.report: {text}", file=sys.stderr)
    return code


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m greedystep.report",
        description="Draws one page about a run, from what `greedystep train --trace FILE` has written.",
    )
    parser.add_argument("trace", nargs="+", help="the file of --trace; the run may still be going on")
    parser.add_argument("-o", "--output", metavar="FILE", help="the page; without it, the trace's name with .html")
    given = parser.parse_args(arguments)
    if len(given.trace) > 1:
        return _complain(
            "one page is about one run; call it once a trace, or draw several into one picture with "
            "greedystep.plot.loss(trace, ax)",
            2,
        )
    path = given.trace[0]
    output = given.output or os.path.splitext(path)[0] + ".html"
    if os.path.realpath(output) == os.path.realpath(path):
        return _complain(f"{output} is the trace itself; give -o another name", 2)
    try:
        trace = read_trace(path)
    except (OSError, TraceError) as error:
        return _complain(f"cannot read {path}: {error.strerror}" if isinstance(error, OSError) else str(error))
    try:
        write_report(trace, output)
    except ImportError as error:
        return _complain(str(error))
    except OSError as error:
        return _complain(f"cannot write {output}: {error.strerror}")
    print(output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
