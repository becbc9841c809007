/* Parquet files and queries, read by DuckDB where its library is there. It is found at run time: nothing is linked. */
#ifndef GREEDYSTEP_CLI_DUCKDB_H
#define GREEDYSTEP_CLI_DUCKDB_H

#include <stddef.h>

#include <greedystep/data.h>

/* Of the library that is found now; NULL if there is none. */
const char *duckdb_version(void);
/* SELECT * from these Parquet files, whose names may have wildcards; to be freed, NULL if there is no memory. */
char *duckdb_query_of(const char *const *paths, size_t n_paths);
/* The rows of a query, a few thousand at a time; `again` runs it again. Gives an exit code, and has said what is wrong
 * if it is not EXIT_DONE. Takes the text over, which is from malloc. */
int duckdb_stream(char *sql, struct ArrowArrayStream *out, gsa_arrow_again *again);

#endif
