#!/bin/sh
# A released program and its library: position independent, relocations read-only before anything runs, no stack that can
# be executed, no segment that can be written and executed, guarded stacks, checked string functions, no path to load
# libraries from that somebody else could write to.
# usage: hardening.sh FILE...      READELF from the environment
set -eu
readelf=${READELF:-readelf}
command -v "$readelf" > /dev/null || {
    echo "SKIPPED: there is no $readelf"
    exit 77
}
failed=0
complain() {
    echo "$1: $2"
    failed=1
}
for file in "$@"; do
    header=$("$readelf" -hW "$file") segments=$("$readelf" -lW "$file") dynamic=$("$readelf" -dW "$file")
    symbols=$("$readelf" --dyn-syms -W "$file")
    echo "$header" | grep -q 'Type: *DYN' || complain "$file" "is not position independent"
    echo "$segments" | grep -q GNU_RELRO || complain "$file" "has no read-only relocations"
    echo "$dynamic" | grep -q 'BIND_NOW\|Flags: NOW' || complain "$file" "binds functions as they are called (-z now)"
    echo "$segments" | grep -q 'GNU_STACK.* RW ' || complain "$file" "has an executable stack"
    ! echo "$segments" | grep -q 'LOAD.*RWE' || complain "$file" "has a segment that can be written and executed"
    ! echo "$dynamic" | grep -q TEXTREL || complain "$file" "has relocations in its code"
    echo "$symbols" | grep -q __stack_chk_fail || complain "$file" "has no stack protector"
    echo "$symbols" | grep '__[a-z]*_chk' | grep -qv __stack_chk ||
        complain "$file" "has no checked string functions (_FORTIFY_SOURCE)"
    # The build tree may have a path to libraries that are not the system's; empty and relative ones are the danger.
    ! echo "$dynamic" | grep -E 'R(UN)?PATH' | grep -E '\[(:|[^/$])|:[^/$]|:\]' ||
        complain "$file" "looks for libraries relative to the current folder"
done
[ "$failed" = 0 ]
echo "hardened: $*"
