#!/bin/sh
# Parquet and SQL through DuckDB are the same rows, and train to the same model, as the same table as text.
# usage: duckdb.sh path/to/greedystep     (GREEDYSTEP_DUCKDB: where its library is, if it is not found by itself)
set -eu
greedystep=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
if ! "$greedystep" convert --sql "SELECT 1 AS y, 2 AS x" -o one.svm --quiet > /dev/null 2> why; then
    grep -q 'cannot find the DuckDB library' why || { cat why; exit 1; }
    echo "SKIPPED: no DuckDB library is found: Parquet and SQL are NOT tested"
    exit 77
fi
rows=20000
query="SELECT i % 2 AS clicked, CASE WHEN i % 5 = 0 THEN NULL ELSE i % 13 END AS n,
    CAST(i * 37 % 101 AS DOUBLE) / 4 AS x, 'town ' || (i % 7) AS town, i % 3 = 0 AS third FROM range($rows) AS r(i)"
awk -v rows=$rows 'BEGIN {
    print "clicked,n,x,town,third"
    for (i = 0; i < rows; i++)
        print i % 2 "," (i % 5 ? i % 13 : "") "," i * 37 % 101 / 4 ",town " i % 7 "," (i % 3 == 0)
}' > t.csv
"$greedystep" convert --sql "COPY ($query) TO 't.parquet' (FORMAT parquet)" --label 1 -o copied.svm --quiet > /dev/null
"$greedystep" convert t.csv --label clicked -o text.svm --quiet > /dev/null
"$greedystep" convert --sql "$query" --label clicked -o sql.svm --quiet > /dev/null
"$greedystep" convert 't*.parquet' --label clicked -o parquet.svm --quiet > /dev/null
cmp text.svm sql.svm
cmp text.svm parquet.svm
"$greedystep" train t.csv --bits 12 -o text --quiet > /dev/null
"$greedystep" train t.parquet --bits 12 -o parquet --quiet > /dev/null
cmp text parquet
"$greedystep" predict text t.parquet > from_parquet
"$greedystep" predict text t.csv > from_text
cmp from_parquet from_text

# `inspect` finds the same in both, but for what it says the input is.
"$greedystep" inspect t.csv --label clicked | tail -n +2 > looked_at_text
"$greedystep" inspect t.parquet --label clicked | tail -n +2 > looked_at_parquet
cmp looked_at_text looked_at_parquet
grep -q '^n  *number  *4000 (20 %)  *13 ' looked_at_parquet || { cat looked_at_parquet; exit 1; }

# What DuckDB refuses is told, before and while rows are read, and no model is left behind.
for bad in "SELECT nothing" "SELECT i % 2 AS y, CASE WHEN i = 8000 THEN error('ducks') ELSE i END AS x FROM range(9000) AS r(i)"; do
    ! "$greedystep" train --sql "$bad" --label y -o bad --quiet 2> why
    grep -q 'DuckDB: ' why || { cat why; exit 1; }
    [ ! -e bad ]
done
echo "$rows rows are the same as text, as SQL and as Parquet"
