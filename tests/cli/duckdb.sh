# Parquet and queries where DuckDB's library is not there; tests/real/duckdb.sh has the rest.
. "$PRELUDE"
export GREEDYSTEP_DUCKDB=./nowhere/libduckdb.so
try greedystep train 'clicks/*.parquet' --label clicked -o m
try greedystep train --sql 'SELECT 1 AS y' -o m
printf 'y,x\n1,2\n0,3\n' >t.csv
try greedystep train clicks.parquet t.csv -o m
try greedystep train t.csv --sql 'SELECT 1 AS y' -o m
try greedystep compare --sql 'SELECT 1 AS y' -o c.csv
try greedystep train -o m
absent m m.state
