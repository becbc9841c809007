#!/usr/bin/env bash
# run.sh [--fetch] [FOLDER]: the examples for Ray and Dask on clusters of this machine, and the fields of those for Kubernetes, with
# the wheel that tests/python/run.sh has left in FOLDER/dist (build/python). FOLDER keeps an environment for them; --fetch only
# makes that, which needs no wheel. Where pip cannot get the engines, it says so and succeeds.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
PIP_DISABLE_PIP_VERSION_CHECK=1
export PIP_DISABLE_PIP_VERSION_CHECK
unset PYTHONPATH GREEDYSTEP_LIBRARY GREEDYSTEP_COMMAND RAY_ADDRESS DASK_SCHEDULER_ADDRESS

fetch() {
    { [ -x "$1/bin/python" ] || "${PYTHON:-python3}" -m venv "$1"; } &&
        "$1/bin/python" -m pip install -q ray 'dask[distributed]' numpy scipy pyarrow pyyaml jsonschema pytest
}

if [ "${1:-}" = --fetch ]; then
    fetch "${2:-build/python}/engines"
    exit
fi
folder=$(cd "${1:-build/python}" && pwd)
fetch "$folder/engines" || {
    echo "***Skipped: Ray and Dask are NOT tested: pip cannot install them"
    exit 0
}
"$folder/engines/bin/python" -m pip install -q --force-reinstall --no-deps "$folder"/dist/greedystep-*-py3-none-*.whl
(cd "$folder" && engines/bin/pytest -q -p no:cacheprovider --disable-warnings --durations 5 \
    -c "$root/pyproject.toml" "$root/tests/engines")
echo "$SECONDS s in all"
