#!/bin/sh
# The command for WASI, under wasmtime: models and states of tables have the same bytes as those of COMMAND, also where they
# replace others.
# usage: wasi.sh COMMAND BUILD      PYTHON: has the package wasmtime; GREEDYSTEP_CACHE: where libraries are kept (build/cache)
set -eu
command=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") build=$2
source=$(cd "$(dirname "$0")/../.." && pwd)
cache=${GREEDYSTEP_CACHE:-$source/build/cache}
"${PYTHON:-python3}" -c 'import wasmtime' 2> /dev/null || {
    echo "SKIPPED: no wasmtime in ${PYTHON:-python3} (pip install wasmtime)"
    exit 77
}
"$source/scripts/dependencies" wasm32-wasi "$cache/wasm32-wasi"
mkdir -p "$build"
cmake -S "$source" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release "-DCMAKE_C_FLAGS_RELEASE=-O2 -DNDEBUG" \
    -DCMAKE_TOOLCHAIN_FILE="$source/cmake/foreign.cmake" -DGREEDYSTEP_SYSROOT="$cache/wasm32-wasi" -DGREEDYSTEP_MPI=OFF \
    -DGREEDYSTEP_ZLIB=OFF -DGREEDYSTEP_ZSTD=OFF -DGREEDYSTEP_LZMA=OFF -DGREEDYSTEP_BZIP2=OFF > "$build/log" 2>&1 &&
    cmake --build "$build" --target greedystep_cli >> "$build/log" 2>&1 || {
    cat "$build/log"
    exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/here" "$work/there"

# there WORDS...: the module, which sees one folder, as its own
there() {
    timeout 300 "${PYTHON:-python3}" - "$build/greedystep.wasm" "$work/there" "$@" << 'END'
import sys, wasmtime
engine = wasmtime.Engine()
linker = wasmtime.Linker(engine)
linker.define_wasi()
config = wasmtime.WasiConfig()
config.argv = ["greedystep", *sys.argv[3:]]
config.inherit_stdout()
config.inherit_stderr()
config.preopen_dir(sys.argv[2], ".")
store = wasmtime.Store(engine)
store.set_wasi(config)
instance = linker.instantiate(store, wasmtime.Module.from_file(engine, sys.argv[1]))
try:
    instance.exports(store)["_start"](store)
except wasmtime.ExitTrap as end:
    sys.exit(end.code)
END
}
for table in flights visits; do
    cp "$source/examples/data/$table.csv" "$work/here"
    cp "$source/examples/data/$table.csv" "$work/there"
done
for words in "train visits.csv --label bought -o visits.model -q" "train flights.csv --label late -o flights.model -q" \
    "train flights.csv --label late -o flights.model -q --method gsa" "predict flights.model flights.csv -q"; do
    # shellcheck disable=SC2086 # words
    (cd "$work/here" && "$command" $words > printed)
    # shellcheck disable=SC2086
    there $words > "$work/there/printed"
    diff -r "$work/here" "$work/there"
    echo "the same bytes: $words"
done
