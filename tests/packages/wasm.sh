#!/bin/sh
# Models as WebAssembly modules, by examples/browser/greedystep.js in Node: every prediction has the bits of the library, from
# numbers, categories, dates, missing cells, curves and pairs. The module of the site is what examples/browser/flights.sh makes.
# usage: wasm.sh COMMAND      ZIG: the compiler; GREEDYSTEP_CACHE: where scripts/dependencies keeps it (build/cache)
set -eu
GREEDYSTEP=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
bits=$(dirname "$GREEDYSTEP")/tests/cli/export_bits
source=$(cd "$(dirname "$0")/../.." && pwd)
for zig in "${ZIG:-}" "${GREEDYSTEP_CACHE:-$source/build/cache}"/tools/lib/python*/site-packages/ziglang/zig; do
    [ ! -x "$zig" ] || break
done
for each in "$zig" "$bits" "$(command -v node || echo node)"; do
    [ -x "$each" ] || {
        echo "SKIPPED: there is no $each"
        exit 77
    }
done
export GREEDYSTEP ZIG="$zig"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A table with everything that a column can be, but for texts and customers, which are not exported. Cells of words are of
# every length that is hashed in its own way; the last rows are new ones.
awk 'BEGIN {
    srand(5)
    print "place,seen,a,b,c,stamp,odd \"name\"\\,code,two,three,n"
    for (i = 0; i < 2000; i++) {
        a = rand() * 4 - 2; b = rand() * 4 - 2; c = rand() < 0.1 ? -999 : int(rand() * 100)
        y = (a > 0 ? a : -a) - b * b / 3 + a * b / 2 + (c > 50) + (i % 7 == 2) + rand() / 5
        long = ""
        for (k = i % 400; k > 0; k--) long = long (k % 5 ? "x" : "ü")
        printf "%s,2026-%02d-%02dT%02d:%02d:%02d,%s,%.5f,%s,%d,%.4f,%s,%s,%s,%.3f\n",
            (i % 11 ? "p" i % 7 : "NA"), 1 + i % 12, 1 + i % 28, i % 24, i % 60, i % 59, (i % 13 ? sprintf("%.4f", a) : i % 2 ? "" : "?"),
            b, (i % 17 ? c : "unknown"), 1700000000 + int(rand() * 1000), rand(), long, (y > 0.6 ? "yes" : "no"),
            (y > 1 ? "high" : y > 0 ? "middle" : "low"), y + 5
    }
}' | sed '1s/.*/place,seen,a,b,c,stamp,"odd ""name"" \\ ü",code,two,three,n/' > "$work/table.csv"

# check NAME LABEL OTHERS [OPTIONS]: trained with this label, without the other labels
check() {
    name=$1 label=$2 others=$3
    shift 3
    "$GREEDYSTEP" train "$work/table.csv" --label "$label" --ignore "$others" --missing -999 -q -o "$work/$name.model" "$@" > "$work/log" 2>&1 &&
        python3 "$source/scripts/wasm" "$work/$name.model" "$work/$name.wasm" > "$work/log" 2>&1 || {
        cat "$work/log"
        exit 1
    }
    "$bits" "$work/$name.model" "$work/table.csv" > "$work/$name.bits"
    node "$source/tests/packages/wasm.mjs" "$source/examples/browser/greedystep.js" "$work/$name.wasm" "$work/table.csv" "$work/$name.bits"
}
check two two three,n
check straight two three,n --curves off
check three three two,n
check number n two,three
check hinge two three,n --loss hinge
check count n two,three --loss poisson
"$GREEDYSTEP" export "$work/two.model" --name t -o "$work/two.c"
grep -q t_pair "$work/two.c" && grep -q 't_number' "$work/two.c" || {
    echo "the model of two classes has no pairs or no offsets: the test needs another table"
    exit 1
}

# Numbered features, whose rows the caller makes.
"$GREEDYSTEP" generate --rows 1000 --features 40 --nnz 12 -o "$work/table.svm"
"$GREEDYSTEP" train "$work/table.svm" -q -o "$work/plain.model"
python3 "$source/scripts/wasm" "$work/plain.model" "$work/plain.wasm" > "$work/log"
"$bits" "$work/plain.model" "$work/table.svm" > "$work/plain.bits"
node "$source/tests/packages/wasm.mjs" "$source/examples/browser/greedystep.js" "$work/plain.wasm" "$work/table.svm" "$work/plain.bits"

sh "$source/examples/browser/flights.sh" "$work" > "$work/log"
cmp "$work/flights.wasm" "$source/examples/browser/flights.wasm" || {
    echo "run examples/browser/flights.sh examples/browser"
    exit 1
}
[ "$(wc -c < "$work/flights.wasm")" -lt 40000 ]
echo "the module of the site is the one that is made now"
