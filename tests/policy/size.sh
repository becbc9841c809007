#!/bin/sh
# size.sh SOURCE_DIR: src/, cli/ and compare/ stay small enough to be read in a week. Lines are counted by cloc, without comments
# and blank lines. The budget of a folder is a picture of where code belongs, and only printed; the three
# together have limits.
set -eu
command -v cloc > /dev/null || { echo "SKIPPED: cloc is not installed" && exit 77; }
cd "$1"
count() {
    cloc --quiet --csv --include-lang="C,C/C++ Header" "$1" | awk -F, 'END { print $NF }'
}
line() {
    printf '%-12s %6d of %6d\n' "$1" "$2" "$3"
}
for pair in base:2450 data:9200 learn:6000 solve:3100 merge:1380 model:1150 store:1600 train:2600 mpi:470; do
    line "src/${pair%:*}" "$(count "src/${pair%:*}")" "${pair#*:}"
done
line cli "$(count cli)" 8200
line compare "$(count compare)" 2400
failed=0
for pair in src:37900 cli:8660 compare:1900; do
    lines=$(count "${pair%:*}")
    echo "${pair%:*} has $lines lines of code (the limit is ${pair#*:})"
    [ "$lines" -lt "${pair#*:}" ] || failed=1
done
[ $failed = 1 ] || exit 0
echo "too large: make something else shorter, or raise the limit in tests/policy/size.sh and say in the commit why" >&2
exit 1
