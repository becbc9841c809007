/* The C interface of DuckDB, tried with 1.5, behind an Arrow stream.
 *
 *   1 The library is asked for once a stream, and stays until the process ends: it has threads of its own.
 *   2 Results are streamed: DuckDB keeps a few chunks ahead of the reader, whatever the size of the files. */
#include "duckdb.h"

#include "message.h"

#include <greedystep/arrow.h>

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What its header calls duckdb_result; other objects are pointers that only it knows. */
typedef struct result {
    uint64_t unused[3];
    void *columns;
    char *error;
    void *inside;
} result;

/* A call that gives an int fails with another than 0. Errors of conversions are objects of their own. */
typedef struct api {
    int (*open)(const char *path, void **database);
    int (*connect)(void *database, void **connection);
    int (*prepare)(void *connection, const char *sql, void **statement);
    const char *(*prepare_error)(void *statement);
    int (*start)(void *statement, void **pending);
    const char *(*start_error)(void *pending);
    int (*execute)(void *pending, result *out);
    const char *(*result_error)(result *of);
    uint64_t (*column_count)(result *of);
    const char *(*column_name)(result *of, uint64_t column);
    void *(*column_type)(result *of, uint64_t column);
    void *(*arrow_options)(result *of);
    void *(*arrow_schema)(void *options, void **types, const char **names, uint64_t n, struct ArrowSchema *out);
    void *(*next_chunk)(result of);
    void *(*arrow_array)(void *options, void *chunk, struct ArrowArray *out);
    bool (*has_error)(void *error);
    const char *(*error_text)(void *error);
    void (*free_error)(void **error), (*free_type)(void **type), (*free_chunk)(void **chunk);
    void (*free_options)(void **options), (*free_result)(result *of), (*free_pending)(void **pending);
    void (*free_statement)(void **statement), (*disconnect)(void **connection), (*close)(void **database);
} api;

static const struct {
    const char *name;
    size_t at;
} functions[] = {{"duckdb_open", offsetof(api, open)},
                 {"duckdb_connect", offsetof(api, connect)},
                 {"duckdb_prepare", offsetof(api, prepare)},
                 {"duckdb_prepare_error", offsetof(api, prepare_error)},
                 {"duckdb_pending_prepared_streaming", offsetof(api, start)},
                 {"duckdb_pending_error", offsetof(api, start_error)},
                 {"duckdb_execute_pending", offsetof(api, execute)},
                 {"duckdb_result_error", offsetof(api, result_error)},
                 {"duckdb_column_count", offsetof(api, column_count)},
                 {"duckdb_column_name", offsetof(api, column_name)},
                 {"duckdb_column_logical_type", offsetof(api, column_type)},
                 {"duckdb_result_get_arrow_options", offsetof(api, arrow_options)},
                 {"duckdb_to_arrow_schema", offsetof(api, arrow_schema)},
                 {"duckdb_fetch_chunk", offsetof(api, next_chunk)},
                 {"duckdb_data_chunk_to_arrow", offsetof(api, arrow_array)},
                 {"duckdb_error_data_has_error", offsetof(api, has_error)},
                 {"duckdb_error_data_message", offsetof(api, error_text)},
                 {"duckdb_destroy_error_data", offsetof(api, free_error)},
                 {"duckdb_destroy_logical_type", offsetof(api, free_type)},
                 {"duckdb_destroy_data_chunk", offsetof(api, free_chunk)},
                 {"duckdb_destroy_arrow_options", offsetof(api, free_options)},
                 {"duckdb_destroy_result", offsetof(api, free_result)},
                 {"duckdb_destroy_pending", offsetof(api, free_pending)},
                 {"duckdb_destroy_prepare", offsetof(api, free_statement)},
                 {"duckdb_disconnect", offsetof(api, disconnect)},
                 {"duckdb_close", offsetof(api, close)}};

static void *open_library(const char **name)
{
    const char *given = getenv("GREEDYSTEP_DUCKDB");
    *name = given != NULL ? given : "libduckdb.so";
    return dlopen(*name, RTLD_NOW | RTLD_LOCAL);
}

const char *duckdb_version(void)
{
    const char *name, *(*version)(void);
    void *library = open_library(&name), *symbol = library != NULL ? dlsym(library, "duckdb_library_version") : NULL;
    if (symbol == NULL)
        return NULL;
    memcpy(&version, &symbol, sizeof symbol);
    return version();
}

/* The library's functions. */
static int load(api *out)
{
    const char *name;
    void *library = open_library(&name);
    if (library == NULL && GREEDYSTEP_STATIC)
        return complain_failed("cannot read Parquet or --sql: this static build cannot load the DuckDB library; use "
                               "another build, or convert the rows to CSV");
    if (library == NULL)
        return complain_failed(
            "cannot load DuckDB, which reads Parquet and --sql: %s; install libduckdb 1.5 or later "
            "(libduckdb-linux-amd64.zip of github.com/duckdb/duckdb/releases), or set GREEDYSTEP_DUCKDB to its path",
            dlerror());
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *symbol = dlsym(library, functions[i].name);
        if (symbol == NULL) {
            dlclose(library);
            return complain_failed("%s has no %s; install DuckDB 1.5 or later", name, functions[i].name);
        }
        memcpy((char *)out + functions[i].at, &symbol, sizeof symbol);
    }
    return EXIT_DONE;
}

/* ---- the stream ------------------------------------------------------------------------------------------------- */

typedef struct query {
    api duck;
    void *database, *connection, *statement, *pending, *options;
    result rows;
    char error[400];
} query;

/* EIO, and the text is kept for those who ask. */
static int keep_error(query *of, const char *text)
{
    snprintf(of->error, sizeof of->error, "DuckDB: %s", text != NULL ? text : "no reason given");
    of->error[strcspn(of->error, "\n")] = '\0'; /* more lines quote the query */
    return EIO;
}

/* Takes the object that a conversion gave. */
static int check_conversion(query *of, void *error)
{
    int code = error != NULL && of->duck.has_error(error) ? keep_error(of, of->duck.error_text(error)) : 0;
    of->duck.free_error(&error);
    return code;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    query *of = stream->private_data;
    uint64_t n = of->duck.column_count(&of->rows), i = 0;
    void **types = calloc((size_t)n + 1, sizeof *types);
    const char **names = calloc((size_t)n + 1, sizeof *names);
    for (; i < n && types != NULL && names != NULL; i++) {
        types[i] = of->duck.column_type(&of->rows, i);
        names[i] = of->duck.column_name(&of->rows, i);
    }
    *out = (struct ArrowSchema){0};
    int code = i == n ? check_conversion(of, of->duck.arrow_schema(of->options, types, names, n, out))
                      : keep_error(of, "out of memory");
    for (i = 0; types != NULL && i < n; i++)
        of->duck.free_type(&types[i]);
    free(types);
    free(names);
    return code;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    query *of = stream->private_data;
    *out = (struct ArrowArray){0};
    void *chunk = of->duck.next_chunk(of->rows);
    if (chunk == NULL) {
        const char *error = of->duck.result_error(&of->rows);
        return error != NULL && *error != '\0' ? keep_error(of, error) : 0;
    }
    int code = check_conversion(of, of->duck.arrow_array(of->options, chunk, out));
    of->duck.free_chunk(&chunk);
    return code;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
    return ((query *)stream->private_data)->error;
}

static void free_query(query *of)
{
    of->duck.free_options(&of->options);
    of->duck.free_result(&of->rows);
    of->duck.free_pending(&of->pending);
    of->duck.free_statement(&of->statement);
    of->duck.disconnect(&of->connection);
    of->duck.close(&of->database);
    free(of);
}

static void release(struct ArrowArrayStream *stream)
{
    free_query(stream->private_data);
    stream->release = NULL;
}

/* As far as the first rows; nonzero after keep_error. */
static int begin_query(query *of, const char *sql)
{
    if (of->duck.open(NULL, &of->database) != 0 || of->duck.connect(of->database, &of->connection) != 0)
        return keep_error(of, "it cannot be opened");
    if (of->duck.prepare(of->connection, sql, &of->statement) != 0)
        return keep_error(of, of->duck.prepare_error(of->statement));
    if (of->duck.start(of->statement, &of->pending) != 0)
        return keep_error(of, of->duck.start_error(of->pending));
    if (of->duck.execute(of->pending, &of->rows) != 0)
        return keep_error(of, of->duck.result_error(&of->rows));
    of->options = of->duck.arrow_options(&of->rows);
    return 0;
}

static int run_query(const char *sql, struct ArrowArrayStream *out)
{
    query *of = calloc(1, sizeof *of);
    if (of == NULL)
        return complain_failed("out of memory");
    int code = load(&of->duck);
    if (code != EXIT_DONE) {
        free(of);
        return code;
    }
    if (begin_query(of, sql) != 0) {
        code = complain_failed("%s", of->error);
        free_query(of);
        return code;
    }
    *out = (struct ArrowArrayStream){get_schema, get_next, get_last_error, release, of};
    return EXIT_DONE;
}

static int run_again(void *sql, struct ArrowArrayStream *out)
{
    return run_query(sql, out) == EXIT_DONE ? 0 : EIO;
}

int duckdb_stream(char *sql, struct ArrowArrayStream *out, gsa_arrow_again *again)
{
    *again = (gsa_arrow_again){.size = sizeof(gsa_arrow_again), run_again, free, sql};
    int code = run_query(sql, out);
    if (code != EXIT_DONE)
        free(sql);
    return code;
}

/* ---- Parquet ---------------------------------------------------------------------------------------------------- */

char *duckdb_query_of(const char *const *paths, size_t n_paths)
{
    static const char head[] = "SELECT * FROM read_parquet([", tail[] = "])";
    size_t size = sizeof head + sizeof tail;
    for (size_t i = 0; i < n_paths; i++)
        size += 2 * strlen(paths[i]) + 3;
    char *sql = malloc(size), *at = sql;
    if (sql == NULL)
        return NULL;
    at += snprintf(at, size, "%s", head);
    for (size_t i = 0; i < n_paths; i++) {
        *at++ = '\'';
        for (const char *from = paths[i]; *from != '\0'; from++) {
            if (*from == '\'')
                *at++ = '\'';
            *at++ = *from;
        }
        *at++ = '\'';
        if (i + 1 < n_paths)
            *at++ = ',';
    }
    memcpy(at, tail, sizeof tail);
    return sql;
}
