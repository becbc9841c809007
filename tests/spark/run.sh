#!/usr/bin/env bash
# run.sh [--fetch | --short | --oldest] [FOLDER]: the Python package on Apache Spark, from the wheel that tests/python/run.sh has left
# in FOLDER/dist (build/python): all of tests/spark with the current Spark; --short: those marked every_spark; --oldest:
# these, with the oldest Spark that is supported; --fetch: only gets the current Spark, which needs no wheel. FOLDER keeps an
# environment for each. Without a JRE, or where pip cannot get Spark, it says so and succeeds.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
oldest='' marked=() current='pyspark[connect]>=4,<5'
PIP_DISABLE_PIP_VERSION_CHECK=1
export PIP_DISABLE_PIP_VERSION_CHECK

# fetch FOLDER PYSPARK: an environment with one Spark.
fetch() {
    { [ -x "$1/bin/python" ] || "${PYTHON:-python3}" -m venv "$1"; } && "$1/bin/python" -m pip install -q "$2" pandas pytest
}

case ${1:-} in
--fetch)
    fetch "${2:-build/python}/spark4" "$current"
    exit
    ;;
--oldest) oldest=yes marked=(-m every_spark) && shift ;;
--short) marked=(-m every_spark) && shift ;;
esac
folder=${1:-build/python}
wheel=$(ls "$folder"/dist/greedystep-*-py3-none-*.whl)
folder=$(cd "$folder" && pwd)
wheel=$folder/dist/$(basename "$wheel")
unset PYTHONPATH SPARK_HOME GREEDYSTEP_LIBRARY GREEDYSTEP_COMMAND

skip() {
    echo "***Skipped: Spark is NOT tested: $1"
    exit 0
}

# install NAME PYSPARK: an environment with the wheel and one Spark.
install() {
    fetch "$folder/$1" "$2" &&
        "$folder/$1/bin/python" -m pip install -q "$2" "${wheel}[spark]" &&
        "$folder/$1/bin/python" -m pip install -q --force-reinstall --no-deps "$wheel"
}

# run NAME [PYTEST ARGUMENTS]
run() {
    local name=$1
    shift
    printf '\n%d s: ' "$SECONDS"
    "$folder/$name/bin/python" -c 'import pyspark; print("Spark", pyspark.__version__)'
    (cd "$folder" && "$name/bin/pytest" -q -p no:cacheprovider --disable-warnings --durations 5 \
        -c "$root/pyproject.toml" "$@" "$root/tests/spark")
}

[ -n "${JAVA_HOME:-}" ] || command -v java > /dev/null || skip "there is no JRE (openjdk-17-jre-headless)"
if [ -n "$oldest" ]; then
    install spark3 'pyspark>=3.5,<4' || skip "pip cannot install pyspark 3.5"
    run spark3 "${marked[@]}"
else
    install spark4 "$current" || skip "pip cannot install pyspark 4"
    run spark4 "${marked[@]}"
fi
echo "$SECONDS s in all"
