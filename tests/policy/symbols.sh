#!/bin/sh
# symbols.sh BUILD_KIND SOURCE_DIR STATIC_LIBRARY SHARED_LIBRARY: what the library may contain.
#
#   S1  no writable data, thread-local or not;
#   S2  it neither prints nor exits nor looks at the environment, the locale or a hidden random number;
#   S3  the shared library exports exactly the functions of tests/policy/abi.txt, which are those of the headers (abi.py);
#   S4  no text in it names an option of the command: a failure names the parameter (gsa_error), and a front end adds how
#       to set it.
#
# symbols.sh --list SHARED_LIBRARY prints the exports. BUILD_KIND is release, debug (asserts may abort)
# or instrumented (nothing can be said).
set -eu
nm=${NM:-nm}
LC_ALL=C
export LC_ALL

exports() {
    "$nm" -D --defined-only --extern-only "$1" | awk '{ print $3 }' | sort -u
}

# Symbols in writable sections; constants that need relocation (.data.rel.ro) are made read-only by the loader.
writable() {
    "$nm" --format=sysv "$1" | awk -F'|' '
        NF == 7 {
            gsub(/ /, "", $1)
            gsub(/ /, "", $7)
            if ($7 ~ /^(\.data|\.bss|\.tdata|\.tbss|\*COM\*)/ && $7 !~ /^\.data\.rel\.ro/ && $1 !~ /^\./)
                print $1 " (" $7 ")"
        }'
}

forbidden() {
    names='printf|puts|putchar|fprintf|fputs|fputc|putc|vprintf|vfprintf|perror|__printf_chk|__fprintf_chk'
    names="$names|__vprintf_chk|__vfprintf_chk|dprintf|exit|_exit|_Exit|quick_exit|abort|getenv|secure_getenv|setenv"
    names="$names|rand|srand|rand_r|random|srandom|drand48|arc4random|setlocale|uselocale|stdout|stderr|stdin|signal"
    names="$names|sigaction|raise|kill|system|popen"
    [ "$2" = release ] && names="$names|__assert_fail|__assert"
    "$nm" -u "$1" | awk '{ print $NF }' | grep -E -x "($names)" | sort -u
}

# The checks must find what they look for: a planted object has one of each.
check_self() {
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    cat > "$work/planted.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
int zeroed;
int set = 1;
_Thread_local int local = 2;
int planted(const char *s);
int planted(const char *s)
{
    static int counter;
    static const char *const lawful[] = {"a", "b"};
    counter += set + zeroed + local;
    if (!getenv(s))
        exit(printf("%s %d\n", lawful[counter % 2], counter));
    return counter;
}
C
    "${CC:-cc}" -std=c17 -fPIC -O0 -c "$work/planted.c" -o "$work/planted.o"
    [ "$(writable "$work/planted.o" | wc -l)" -eq 4 ] && [ "$(forbidden "$work/planted.o" release | wc -l)" -eq 3 ] || {
        echo "the checks do not see planted symbols:"
        writable "$work/planted.o"
        forbidden "$work/planted.o" release
        exit 1
    }
}

if [ "$1" = --list ]; then
    exports "$2"
    exit 0
fi
kind=$1 source=$2 static=$3 shared=$4
if [ "$kind" = instrumented ]; then
    echo "SKIPPED: sanitizers and coverage add symbols of their own; run this on a release build"
    exit 77
fi
check_self
failed=0

found=$(writable "$static")
[ -z "$found" ] || {
    echo "S1: the library has writable data:"
    echo "$found"
    failed=1
}
found=$(forbidden "$static" "$kind" || true)
[ -z "$found" ] || {
    echo "S2: the library must not call or use:"
    echo "$found"
    failed=1
}
exports "$shared" > "$work/exports"
awk '$1 == "function" && $2 != "mpi" { print $3 }' "$source/tests/policy/abi.txt" | sort | diff - "$work/exports" || {
    echo "S3: the exports differ from tests/policy/abi.txt (< expected, > found)"
    failed=1
}
if grep -rnE '"[^"]*--[a-z%]' "$source/src" ; then
    echo "S4: texts of the library must not name options of the command"
    failed=1
fi
[ $failed -eq 0 ] && echo "$(wc -l < "$work/exports") exports, no writable data, no forbidden call"
exit $failed
