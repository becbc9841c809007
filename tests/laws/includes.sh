#!/bin/sh
# includes.sh SOURCE_DIR: who may include whom, for every file of src/ and cli/. The table is `allowed` below:
#
#   base      libc, the public core header; hash.c also xxhash.h       never a sibling
#   core      base (but no files), the public core header, plain libc  never stdio, time, threads, data
#   solve     base (but no files), core, the public core header, plain libc
#   store     base, the public core header, core/snapshot.h, libc, jansson
#   baseline  base, core's losses and kernels
#   data      base, the public headers, libc; a codec also its one library
#   engine    the public headers, base, core/engine.h, solve/solve.h, data/hand_over.h, plain libc, pthreads    never MPI
#   mpi       the public headers (of which mpi.h has <mpi.h>), libc, pthreads    never another room
#   cli       the public headers, base, its own headers, libc, jansson; compare*.c also baseline
#
# It first checks itself on a planted tree.
set -eu

# is_plain_libc HEADER: touches neither files nor clock nor threads.
is_plain_libc() {
    case $1 in
    assert.h | ctype.h | errno.h | float.h | inttypes.h | limits.h | math.h | stdalign.h | stdarg.h) ;;
    stdbool.h | stddef.h | stdint.h | stdlib.h | string.h) ;;
    *) return 1 ;;
    esac
}

is_libc() {
    case $1 in
    fcntl.h | poll.h | stdio.h | sys/mman.h | sys/stat.h | sys/types.h | time.h | unistd.h) ;;
    *) is_plain_libc "$1" ;;
    esac
}

# allowed FILE INCLUDE: FILE from the root, INCLUDE with its quotes or angle brackets.
allowed() {
    bare=${2#?}
    bare=${bare%?}
    case "$bare $1" in
    'greedystep/mpi.h src/mpi/'*) ;;
    'greedystep/mpi.h '*) return 1 ;;
    esac
    case $1 in
    src/base/*)
        case "$1 $2" in
        *' "base/'* | *' <greedystep/greedystep.h>' | 'src/base/hash.c <xxhash.h>') ;;
        'src/base/workers.h <pthread.h>' | 'src/base/workers.c <signal.h>' | 'src/base/workers.c <stdatomic.h>') ;;
        *' <'*) is_libc "$bare" ;;
        *) return 1 ;;
        esac
        ;;
    src/core/*)
        case $2 in
        '"base/atomic_file.h"') return 1 ;;
        '"base/'* | '"core/'* | '<greedystep/greedystep.h>') ;;
        '<'*) is_plain_libc "$bare" ;;
        *) return 1 ;;
        esac
        ;;
    src/solve/*)
        case $2 in
        '"base/atomic_file.h"') return 1 ;;
        '"base/'* | '"core/'* | '"solve/'* | '<greedystep/greedystep.h>') ;;
        '<'*) is_plain_libc "$bare" ;;
        *) return 1 ;;
        esac
        ;;
    src/store/*)
        case $2 in
        '"base/'* | '"store/'* | '"core/snapshot.h"' | '<greedystep/greedystep.h>' | '<jansson.h>') ;;
        '<'*) is_libc "$bare" ;;
        *) return 1 ;;
        esac
        ;;
    src/baseline/*)
        case $2 in
        '"base/'* | '"core/loss/'* | '"core/kernel/'* | '"baseline/'* | '<greedystep/greedystep.h>') ;;
        '<'*) is_plain_libc "$bare" ;;
        *) return 1 ;;
        esac
        ;;
    src/data/*)
        case "${1#src/data/} $2" in
        *' "base/'* | *' "data/'* | *' <greedystep/greedystep.h>' | *' <greedystep/data.h>' | *' <greedystep/arrow.h>') ;;
        'codec/gzip.c <zlib.h>' | 'codec/zstd.c <zstd.h>' | 'codec/zstd.c <zstd_errors.h>') ;;
        'codec/xz.c <lzma.h>' | 'codec/bzip2.c <bzlib.h>') ;;
        'reader.h <stdatomic.h>' | 'keep.h <stdatomic.h>') ;; # progress, asked by another thread
        'keep.c <sys/statvfs.h>' | 'keep.c <sys/resource.h>') ;; # how much room there is for a temporary file
        'format/digits.h <emmintrin.h>') ;; # only where the compiler says that there is SSE2
        'format/number.c <locale.h>' | 'format/number.c <xlocale.h>') ;; # to be independent of the process's locale
        *' <'*) is_libc "$bare" ;;
        *) return 1 ;;
        esac
        ;;
    src/engine/*)
        case "$1 $2" in
        *' "base/'* | *' "engine/'* | *' <greedystep/'*.h'>' | *' <pthread.h>') ;;
        'src/engine/local.c "core/engine.h"' | 'src/engine/evaluate.c "core/engine.h"' | 'src/engine/optimum.c "solve/solve.h"') ;;
        'src/engine/block.c "data/hand_over.h"') ;;
        'src/engine/rounds.c <time.h>') ;; # where the time of a round goes
        'src/engine/predict.c <stdatomic.h>') ;; # a flag that readers ask without a lock
        *' <'*) is_plain_libc "$bare" ;;
        *) return 1 ;;
        esac
        ;;
    src/mpi/*)
        case $2 in
        '"mpi/'* | '<greedystep/'*'.h>' | '<pthread.h>' | '<sched.h>' | '<signal.h>') ;;
        '<'*) is_libc "$bare" ;;
        *) return 1 ;;
        esac
        ;;
    cli/*)
        case "$1 $2" in
        *' "base/'* | *' <greedystep/'*.h'>' | *' <jansson.h>' | *' <signal.h>' | *' <stdatomic.h>' | *' <locale.h>') ;;
        'cli/style.c <strings.h>' | 'cli/style.c <sys/ioctl.h>') ;; # what a terminal is called, and how wide it is
        'cli/trace.c <sys/resource.h>') ;; # the most memory that a run had
        'cli/train_checkpoint.c <dirent.h>') ;; # what a killed process has left
        'cli/cluster.c <dlfcn.h>' | 'cli/duckdb.c <dlfcn.h>') ;; # a library that may be there or not
        *' <'*) is_libc "$bare" ;;
        cli/compare*.c' "baseline/'*) ;;
        *' "'*/*) return 1 ;;
        *) [ -f "$root/cli/$bare" ] ;;
        esac
        ;;
    *) return 1 ;; # in no room
    esac
}

# check ROOT: prints every violation; fails if there is one.
check() {
    root=$1
    (cd "$root" && find src cli -type f \( -name '*.[ch]' -o -name '*.def' \) | sort | while read -r file; do
        sed -n "s|^[[:space:]]*#[[:space:]]*include[[:space:]]*\([^[:space:]].*\)|$file \1|p" "$file"
    done) | {
        violations=0
        while read -r file include _; do
            allowed "$file" "$include" && continue
            echo "$file must not include $include"
            violations=$((violations + 1))
        done
        [ $violations -eq 0 ]
    }
}

plant() {
    mkdir -p "$(dirname "$planted/$1")"
    printf '%s\n' "$2" > "$planted/$1"
}

# Each planted file breaks the law once, but for those called fine.
check_self() {
    planted=$(mktemp -d)
    trap 'rm -rf "$planted"' EXIT
    plant src/base/sibling.c '#include "core/state.h"'
    plant src/base/library.c '#include <xxhash.h>'
    plant src/core/prints.c '#include <stdio.h>'
    plant src/core/clock.c '  #  include <time.h>'
    plant src/core/files.c '#include "base/atomic_file.h"'
    plant src/core/loss/data.h '#include <greedystep/data.h>'
    plant src/store/inside.c '#include "core/state.h"'
    plant src/data/learns.c '#include "core/snapshot.h"'
    plant src/data/codec/gzip.c '#include <lzma.h>'
    plant src/engine/inside.c '#include "data/reader.h"'
    plant src/engine/rounds.c '#include "core/engine.h"'
    plant src/solve/files.c '#include "base/atomic_file.h"'
    plant src/solve/learns.c '#include "engine/job.h"'
    plant src/engine/cluster.c '#include <greedystep/mpi.h>'
    plant src/mpi/inside.c '#include "base/error.h"'
    plant src/mpi/direct.c '#include <mpi.h>'
    plant cli/cluster.c '#include <greedystep/mpi.h>'
    plant src/mpi/fine.c '#include <greedystep/mpi.h>'
    plant src/orphan.c '#include <string.h>'
    plant src/core/hidden.c '#include HEADER'
    plant cli/inside.c '#include "core/state.h"'
    plant cli/missing.c '#include "missing.h"'
    plant cli/train.c '#include "baseline/optimizer.h"'
    plant cli/compare.h '#include "baseline/optimizer.h"'
    plant cli/compare_inside.c '#include "core/loss/loss.h"'
    plant cli/fine_tools.c '#include "base/error.h"'
    plant src/store/fine.c '#include "core/snapshot.h"'
    plant src/base/hash.c '#include <xxhash.h>'
    plant src/data/codec/xz.c '#include <lzma.h>'
    plant cli/fine.h '#include <greedystep/train.h> /* public */'
    plant cli/fine.c '#include "fine.h"'
    plant cli/compare_fine.c '#include "baseline/optimizer.h"'
    if found=$(check "$planted"); then
        echo "the check does not see planted violations"
        exit 1
    fi
    [ "$(printf '%s\n' "$found" | wc -l)" -eq 24 ] && ! printf '%s\n' "$found" | grep -q fine || {
        echo "the check finds the wrong things in the planted tree:"
        printf '%s\n' "$found"
        exit 1
    }
}

check_self
check "$1" || exit 1
echo "every include is lawful"
