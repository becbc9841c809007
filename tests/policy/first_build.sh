#!/bin/sh
# The first build, as the quick start has it, compiles neither tests nor fuzzers.
# usage: first_build.sh SOURCE      CC from the environment
set -eu
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
command -v ninja > /dev/null || { echo "SKIPPED: ninja is not here"; exit 77; }
cd "$source"
cmake --preset release -B "$work/build" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
ninja -C "$work/build" -t commands all > "$work/steps"
if grep -E ' -c [^ ]*/(tests|fuzz)/' "$work/steps"; then
    echo "the first build compiles tests or fuzzers"
    exit 1
fi
echo "the first build takes $(wc -l < "$work/steps") steps, none of tests or fuzzers"
