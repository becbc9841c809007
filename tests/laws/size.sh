#!/bin/sh
# size.sh SOURCE_DIR: the library stays small enough to be read.
set -eu
most=12000
lines=$(find "$1/src" -type f \( -name '*.c' -o -name '*.h' -o -name '*.def' \) -exec cat {} + | wc -l)
echo "src/ has $((lines)) lines, the most is $most"
[ "$lines" -lt "$most" ]
