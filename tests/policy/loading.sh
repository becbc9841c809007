#!/bin/sh
# No library is taken from the current folder, from the folder of the data or by a relative path: what the command loads
# when it runs (DuckDB, MPI) is looked for where the system has libraries, beside the command, beside the folders of PATH
# that are absolute (DuckDB), or where a variable says.
# usage: loading.sh COMMAND SOVERSION      CC from the environment
set -eu
command=$1 soversion=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
printf '%s\n' '#include <stdio.h>' \
    '__attribute__((constructor)) static void got_in(void) { fclose(fopen("got-in", "w")); }' > trap.c
if ! ${CC:-cc} -shared -fPIC -o libduckdb.so trap.c 2> /dev/null; then
    echo "SKIPPED: no compiler makes a library that this machine can load"
    exit 77
fi
for name in openmpi mpich; do
    cp libduckdb.so "libgreedystep_mpi_$name.so.$soversion"
done
for library in libjansson.so.4 libz.so.1 libzstd.so.1 liblzma.so.5 libbz2.so.1.0 libmpi.so.40 libmpich.so.12; do
    cp libduckdb.so "$library"
done
mkdir lib && cp lib*.so* lib
printf '1 1:1\n0 2:1\n' > rows.svm
printf 'PAR1 and not much more PAR1' > rows.parquet
unset GREEDYSTEP_DUCKDB GREEDYSTEP_MPI LD_LIBRARY_PATH
"$command" --version > /dev/null
"$command" train rows.svm -o model --quiet > /dev/null
"$command" train rows.parquet -o model --quiet > /dev/null 2>&1 || true
mkdir bin
PATH=.:bin:lib:$PATH "$command" train rows.parquet -o model --quiet > /dev/null 2>&1 || true
PMI_RANK=0 PMI_SIZE=2 timeout 5 "$command" train rows.svm -o model --quiet > /dev/null 2>&1 || true
[ ! -e got-in ] || {
    echo "a library of the current folder was loaded"
    exit 1
}
# The trap works: an absolute folder of PATH, and a variable that names it, are trusted.
if PATH=$PATH HOME=/nowhere "$command" --version | grep -q '^duckdb *no'; then
    PATH=$work/bin:$PATH HOME=/nowhere "$command" --version > /dev/null
    [ -e got-in ] || {
        echo "a library beside a folder of PATH was not found"
        exit 1
    }
    rm got-in
fi
GREEDYSTEP_DUCKDB=$work/libduckdb.so "$command" --version > /dev/null
[ -e got-in ] || {
    echo "the trap of this test does not work"
    exit 1
}
echo "no library of the current folder was loaded"
