#!/bin/sh
# run.sh BUILD_DIR [REQUESTS]: the time of a prediction from cells, in C and in Python, while models are replaced (C) and
# with FastAPI's part left out. Prints tables; docs/serving.md has them. Needs a built library, and Python with the package's
# needs. The first lines check that each answer is that of one of the two models, to the bit.
set -eu
build=$(realpath "$1")
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cc=${CC:-cc}
"$cc" -O2 -Wall -Wextra -I"$root/include" "$root/bench/serving/latency.c" -o "$work/latency" \
    -L"$build/src" -lgreedystep -Wl,-rpath,"$build/src" -pthread
date -u +%F
git -C "$root" rev-parse --short HEAD
sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1
"$work/latency" 20000 1
"$work/latency" "${2:-200000}"
GREEDYSTEP_LIBRARY=$build/src/libgreedystep.so PYTHONPATH=$root/python "${PYTHON:-python3}" "$root/bench/serving/one_row.py"
