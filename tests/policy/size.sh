#!/bin/sh
# size.sh SOURCE_DIR: src/ stays small enough to be read in a week. Lines are counted by cloc, without comments and blank
# lines; src/baseline, which the library does not link, is counted apart (docs/decisions/0011).
set -eu
command -v cloc > /dev/null || { echo "SKIPPED: cloc is not installed" && exit 77; }
count() {
    cloc --quiet --csv --include-lang="C,C/C++ Header" "$@" | awk -F, 'END { print $NF }'
}
library=$(count --fullpath --not-match-d=src/baseline "$1/src")
baseline=$(count "$1/src/baseline")
echo "src has $library lines of code (the limit is 35000), src/baseline $baseline (1000)"
[ "$library" -lt 35000 ] && [ "$baseline" -lt 1000 ] && exit
echo "too large: make something else shorter, or raise the limit in tests/policy/size.sh and say in the commit why" >&2
exit 1
