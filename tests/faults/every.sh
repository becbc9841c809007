#!/bin/sh
# every.sh GREEDYSTEP TOOLS WHAT [STEP [NAME...]]: every command of commands.sh (or those of these names) with its n-th
# call of some kinds failing, n = 1, 2, 3 ... (with a STEP: 1, 1 + STEP ...) until it has fewer calls. What must hold then
# is in every_fault.c. WHAT is
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
[ $# -lt 2 ] || shift
shift
only=$* # empty: all
[ "$(uname -sm)" = 'Linux x86_64' ] || skip "faults below libc are made on Linux x86-64 only"

writes()
{
    told=--told
    case $name in
    kept | checkpoints | rounds) told= ;; # these may fail to be written: then there are none, or older ones
    esac
    faults write EIO $told "$@"
    faults write ENOSPC --sticky $told "$@"
    faults sync EIO $told "$@"
    faults rename EIO $told "$@"
    for kind in close truncate; do
        faults $kind EIO "$@"
    done
    faults open EACCES "$@"
}

reads()
{
    faults read EIO "$@"
    faults read EIO --sticky "$@"
    faults seek EIO "$@"
    [ "$name" = traced ] || faults stat EIO "$@" # the size of a file that it cannot tell is null there
    faults map ENOMEM "$@"
    faults map ENOMEM --sticky "$@"
    faults open EMFILE --sticky "$@"
}

# Address sanitizers look for leaks themselves, and take memory by ways of their own.
memory()
{
    live=--live
    ! grep -q __asan_init "$greedystep" || live=
    faults memory ENOMEM $live --step $step "$@"
}

threads()
{
    faults thread EAGAIN "$@"
    faults thread EAGAIN --sticky "$@"
}

parts()
{
    faults read EIO --short "$@"
    faults write EIO --short "$@"
    case $name in # the command's own files are stdio's, which makes no call again; see interposer.c
    traced | predict | export | inspect* | compare) return ;;
    esac
    for kind in read write open sync close; do
        faults $kind EIO --again "$@"
    done
}

make_inputs 60
each_command "$what"
finish
