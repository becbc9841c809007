#!/bin/sh
# every.sh GREEDYSTEP TOOLS WHAT [STEP]: every command with its n-th call of some kinds failing, n = 1, 2, 3 ... (with a
# STEP: 1, 1 + STEP ...) until it has fewer calls. What must hold then is in every_fault.c. WHAT is
#   writes  write, fsync, rename, close, open, ftruncate; a disk that is full from the n-th write on
#   reads   read, lseek, stat, mmap, open
#   memory  malloc and its kin
#   threads pthread_create
#   parts   reads and writes that move a few bytes, and calls that a signal interrupts: nothing may change at all
here=$(cd "$(dirname "$0")" && pwd)
. "$here/prelude.sh"
. "$here/commands.sh"
what=$1
step=${2-1}
[ "$(uname -sm)" = 'Linux x86_64' ] || skip "faults below libc are made on Linux x86-64 only"

writes()
{
    faults write EIO --least 0 "$@"
    faults write ENOSPC --sticky --least 0 "$@"
    for kind in sync rename close truncate; do
        faults $kind EIO --least 0 "$@"
    done
    faults open EACCES --least 0 "$@"
}

reads()
{
    faults read EIO --least 0 "$@"
    faults read EIO --sticky --least 0 "$@"
    faults seek EIO --least 0 "$@"
    faults stat EIO --least 0 "$@"
    faults map ENOMEM --least 0 "$@"
    faults map ENOMEM --sticky --least 0 "$@"
    faults open EMFILE --sticky --least 0 "$@"
}

memory()
{
    faults memory ENOMEM --live --least 20 --step $step "$@"
}

threads()
{
    faults thread EAGAIN --least 0 "$@"
    faults thread EAGAIN --sticky --least 0 "$@"
}

parts()
{
    faults read EIO --short --least 0 "$@"
    faults write EIO --short --least 0 "$@"
    case $name in # the command's own files are stdio's, which makes no call again; see interposer.c
    traced | predict | inspect* | compare) return ;;
    esac
    for kind in read write open sync close; do
        faults $kind EIO --again --least 0 "$@"
    done
}

make_inputs 60
each_command "$what"
finish
