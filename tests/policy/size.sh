#!/bin/sh
# size.sh SOURCE_DIR: src/ stays small enough that one person can read it in a week. Comments and blank lines help the
# reader and do not count; src/baseline, which the library does not link, is counted apart (docs/decisions/0011).
set -eu
count() {
    find "$@" -type f \( -name '*.c' -o -name '*.h' -o -name '*.def' \) -exec cat {} + |
        grep -cvE '^[[:space:]]*(/\*|\*|$)'
}
library=$(count "$1/src" -path "$1/src/baseline" -prune -o)
baseline=$(count "$1/src/baseline")
echo "src/ has $library lines of code (the most is 28300), src/baseline $baseline (1000)"
[ "$library" -lt 28300 ] && [ "$baseline" -lt 1000 ] && exit
echo "too large: make something else shorter (what is there twice?), or raise the limit in tests/policy/size.sh and say in the commit why" >&2
exit 1
