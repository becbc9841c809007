/* Finding the DuckDB library. */
#ifndef GREEDYSTEP_CLI_DUCKDB_FIND_H
#define GREEDYSTEP_CLI_DUCKDB_FIND_H

enum { DUCKDB_LACKING_SIZE = 32 };

/* Returns the library at the given path or, if that is NULL, in the usual places; NULL if not found. `lacking` is then
 * a library that Python's module needs and that is not there, libpython3.11 for instance, or empty. */
void *duckdb_find(const char *given, char lacking[DUCKDB_LACKING_SIZE]);

#endif
