#!/usr/bin/env bash
# run.sh [--wheel] [FOLDER]: the Python package as users get it. Builds the source distribution, from that the wheel without a
# network, installs the wheel into an environment of its own, and runs linter, type checker, tests and the Python of
# the documentation against what is installed, not against the source tree; --wheel only builds. FOLDER (build/python) keeps the
# environment for the next run.
set -euo pipefail
cd "$(dirname "$0")/../.."
wheel_only=
[ "${1:-}" != --wheel ] || { wheel_only=yes && shift; }
folder=${1:-build/python}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
python=$folder/venv/bin/python
PIP_DISABLE_PIP_VERSION_CHECK=1
export PIP_DISABLE_PIP_VERSION_CHECK
unset PYTHONPATH GREEDYSTEP_LIBRARY GREEDYSTEP_COMMAND

[ -x "$python" ] || "${PYTHON:-python3}" -m venv "$folder/venv"
"$python" -m pip install -q build scikit-build-core ruff mypy pytest-xdist

# A namespace without a network, where the system lets us have one.
offline=()
unshare -rn true 2> /dev/null && offline=(unshare -rn)
rm -rf "$folder/dist"
"${offline[@]}" "$python" -m build -q --no-isolation --outdir "$folder/dist" .
wheel=$(ls "$folder"/dist/greedystep-*-py3-none-*.whl)
[ -z "$wheel_only" ] || exit 0

"$python" -m pip uninstall -q -y greedystep
"$python" -m pip install -q "${wheel}[sklearn,arrow,plot,test]"
checked=(python bench examples/{python,spark,ray,dask} tests/{spark,engines,docs} docs/site_hooks.py)
"$python" -m ruff check "${checked[@]}"
"$python" -m ruff format --check "${checked[@]}"
"$python" -m mypy

cd "$folder"
"$python" - << 'END'
import greedystep, pathlib, sys
place = pathlib.Path(greedystep.__file__)
assert pathlib.Path(sys.prefix) in place.parents, f"{place} is not the package that was installed"
END
PATH=$folder/venv/bin:$PATH
greedystep --version
pytest -q -n auto --dist loadfile -p no:cacheprovider -c "$OLDPWD/pyproject.toml" "$OLDPWD/python/tests"
"$python" "$OLDPWD/tests/docs/run.py" --command "$folder/venv/bin/greedystep" --python "$python"
