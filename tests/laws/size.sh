#!/bin/sh
# size.sh SOURCE_DIR: src/ stays small enough that one person can read it in a week. Comments and blank lines help the
# reader and do not count.
set -eu
most=12000
all=$(find "$1/src" -type f \( -name '*.c' -o -name '*.h' -o -name '*.def' \) -exec cat {} + | wc -l)
code=$(find "$1/src" -type f \( -name '*.c' -o -name '*.h' -o -name '*.def' \) -exec cat {} + |
    grep -cvE '^[[:space:]]*(/\*|\*|$)')
echo "src/ has $((all)) lines, $((code)) of them code; the most is $most of code"
[ "$code" -lt "$most" ]
