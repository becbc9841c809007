#!/bin/sh
# Runs the commands of the README's quick start ("$ ..." in its first console block) in an empty folder.
# usage: quick_start.sh README.md path/to/greedystep
set -eu
readme=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
PATH=$(cd "$(dirname "$2")" && pwd):$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
awk '/^```console/ { on = 1; next } /^```/ { if (on) exit } on && /^\$ / { print substr($0, 3) }' "$readme" > commands
[ "$(wc -l < commands)" -ge 5 ] || { echo "the README has no quick start"; exit 1; }
{ echo 'set -e'; cat commands; } > run
sh run > output
cat output
# It must have learned something: the classes are about even, so guessing is right half of the time.
awk '$1 == "accuracy" { found = 1; if ($2 < 0.65) { print "accuracy " $2 " is no better than guessing"; exit 1 } }
     END { if (!found) { print "no accuracy was printed"; exit 1 } }' output
[ "$(tail -n 3 output | grep -cE '^[01] 0\.[0-9]+$')" -eq 3 ] || { echo "no predictions were printed"; exit 1; }
