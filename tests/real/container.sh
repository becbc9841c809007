#!/bin/sh
# container.sh COMMAND: processors and memory are those that the affinity mask and the control groups of a process allow.
# As root it makes a group; where it cannot, that part is skipped.
set -eu
command=$(realpath "$1")
work=$(mktemp -d)
group='' memory_group=''
leave() {
    for made in $group $memory_group; do
        [ ! -d "$made" ] || rmdir "$made"
    done
    rm -rf "$work"
}
trap leave EXIT
cd "$work"
check() {
    [ "$2" = "$3" ] || { echo "$1: $2, not $3" >&2 && exit 1; }
    echo "$1: $2"
}
processors() {
    sed -nE '1s/.*"processors": ([0-9]+).*/\1/p' "$1"
}
"$command" generate --rows 3000 --features 100 --nnz 10 -o rows.svm --quiet
printf '1 1:1 4000000000:1\n0 2:1\n' > huge.svm
"$command" train rows.svm -o free --trace free.jsonl --quiet

first=$(taskset -p -c $$ | sed -E 's/.*: ([0-9]+).*/\1/')
taskset -c "$first" "$command" train rows.svm -o bound --trace bound.jsonl --quiet
check "processors under taskset" "$(processors bound.jsonl)" 1
cmp free bound

skip() {
    echo "SKIPPED: no group of processes: $1" >&2
    exit 77
}
own() {
    awk -F: -v name="$1" '{ n = split($2, all, ","); for (i = 1; i <= n; i++) if (all[i] == name) print $3 }' /proc/self/cgroup
}
[ "$(id -u)" = 0 ] || skip "this needs root"
if [ -f /sys/fs/cgroup/cgroup.controllers ]; then
    echo '+cpu +memory' > /sys/fs/cgroup/cgroup.subtree_control || skip "its controllers cannot be turned on"
    group=/sys/fs/cgroup/greedystep-$$
    mkdir "$group" || skip "it cannot be made"
    echo '150000 100000' > "$group/cpu.max"
    echo 64M > "$group/memory.max"
else
    group=/sys/fs/cgroup/cpu$(own cpu)/greedystep-$$
    memory_group=/sys/fs/cgroup/memory$(own memory)/greedystep-$$
    mkdir "$group" "$memory_group" || skip "it cannot be made"
    echo 67108864 > "$memory_group/memory.limit_in_bytes"
    echo 150000 > "$group/cpu.cfs_quota_us" || skip "this kernel has no quota of processors"
fi
in_group() {
    sh -c 'for group in $1; do echo $$ > "$group/cgroup.procs"; done; shift; exec "$@"' in_group "$group $memory_group" "$@"
}
in_group "$command" train rows.svm -o grouped --trace grouped.jsonl --quiet
available=$(processors free.jsonl)
check "processors with a quota of 1.5" "$(processors grouped.jsonl)" $((available < 2 ? available : 2))
cmp free grouped
! in_group "$command" train huge.svm -o huge 2> message || exit 1
check "memory limit in 64 MiB" "$(grep -o 'the memory limit of [^;]*' message)" "the memory limit of 32.0 MiB"
