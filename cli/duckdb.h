/* Parquet files, queries and files in object stores, read by DuckDB where its library is there. It is found at run
 * time: nothing is linked. */
#ifndef GREEDYSTEP_CLI_DUCKDB_H
#define GREEDYSTEP_CLI_DUCKDB_H

#include <stddef.h>

#include <greedystep/data.h>

/* Returns the version of the library that is found now; NULL if not found. */
const char *duckdb_version(void);
/* Returns a query that selects everything from these Parquet files, whose names may have wildcards; to be freed, NULL
 * if out of memory. */
char *duckdb_query_of(const char *const *paths, size_t n_paths);
/* Opens a stream of the rows of a query, a few thousand at a time; `again` runs the query again. Returns an exit code,
 * after a message if it is not EXIT_DONE. Takes over the text, which is from malloc. */
int duckdb_stream(char *sql, struct ArrowArrayStream *out, gsa_arrow_again *again);

typedef struct duckdb_names {
    char **at;
    size_t n;
} duckdb_names;
/* Gives access to files by DuckDB, s3://bucket/name for instance, and their names, among which patterns are expanded.
 * Gives an exit code, and has said what is wrong. The names, which begin as none, are to be freed in any case. */
int duckdb_open_files(const char *const *paths, size_t n_paths, gsa_file_source *out, duckdb_names *names);
void duckdb_free_names(duckdb_names *names);

#endif
