/* The C interface of DuckDB, tried with 1.5 and 2.0: rows as an Arrow stream, and bytes of files in object stores.
 *
 *   1 The library is opened once per stream, and stays loaded until the process ends: it has threads of its own.
 *   2 Results are streamed: DuckDB keeps a few chunks ahead of the reader, whatever the size of the files. */
#include "duckdb.h"

#include "duckdb_find.h"
#include "message.h"

#include <greedystep/arrow.h>

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The struct that DuckDB's header calls duckdb_result; other objects are opaque pointers. */
typedef struct result {
    uint64_t unused[3];
    void *columns;
    char *error;
    void *inside;
} result;

/* The functions of DuckDB in use: return type, our name, its name after duckdb_, parameters. A function that returns an
 * int fails with a value other than 0. Errors of conversions are objects of their own. */
#define FUNCTIONS(F)                                                                                  \
    F(int, open, open, (const char *path, void **database))                                           \
    F(int, connect, connect, (void *database, void **connection))                                     \
    F(int, prepare, prepare, (void *connection, const char *sql, void **statement))                   \
    F(const char *, prepare_error, prepare_error, (void *statement))                                  \
    F(int, start, pending_prepared_streaming, (void *statement, void **pending))                      \
    F(const char *, start_error, pending_error, (void *pending))                                      \
    F(int, execute, execute_pending, (void *pending, result *out))                                    \
    F(const char *, result_error, result_error, (result * of))                                        \
    F(uint64_t, column_count, column_count, (result * of))                                            \
    F(const char *, column_name, column_name, (result * of, uint64_t column))                         \
    F(void *, column_type, column_logical_type, (result * of, uint64_t column))                       \
    F(void *, arrow_options, result_get_arrow_options, (result * of))                                 \
    F(void *, arrow_schema, to_arrow_schema,                                                          \
      (void *options, void **types, const char **names, uint64_t n, struct ArrowSchema *out))         \
    F(void *, next_chunk, fetch_chunk, (result of))                                                   \
    F(void *, arrow_array, data_chunk_to_arrow, (void *options, void *chunk, struct ArrowArray *out)) \
    F(bool, has_error, error_data_has_error, (void *error))                                           \
    F(const char *, error_text, error_data_message, (void *error))                                    \
    F(void, free_error, destroy_error_data, (void **error))                                           \
    F(void, free_type, destroy_logical_type, (void **type))                                           \
    F(void, free_chunk, destroy_data_chunk, (void **chunk))                                           \
    F(void, free_options, destroy_arrow_options, (void **options))                                    \
    F(void, free_result, destroy_result, (result * of))                                               \
    F(void, free_pending, destroy_pending, (void **pending))                                          \
    F(void, free_statement, destroy_prepare, (void **statement))                                      \
    F(void, disconnect, disconnect, (void **connection))                                              \
    F(void, close, close, (void **database))                                                          \
    F(int, query, query, (void *connection, const char *sql, result *out))                            \
    F(char *, text_at, value_varchar, (result * of, uint64_t column, uint64_t row))                   \
    F(void, free_text, free, (void *text))                                                            \
    F(void, get_context, connection_get_client_context, (void *connection, void **out))               \
    F(void, free_context, destroy_client_context, (void **context))                                   \
    F(void *, get_files, client_context_get_file_system, (void *context))                             \
    F(void *, new_open_options, create_file_open_options, (void))                                     \
    F(int, set_open_option, file_open_options_set_flag, (void *options, int flag, bool value))        \
    F(int, seek_file, file_handle_seek, (void *file, int64_t at))                                     \
    F(int, open_file, file_system_open, (void *files, const char *path, void *options, void **file))  \
    F(void *, files_error, file_system_error_data, (void *files))                                     \
    F(void *, file_error, file_handle_error_data, (void *file))                                       \
    F(int64_t, read_file, file_handle_read, (void *file, void *bytes, int64_t size))                  \
    F(int64_t, size_of_file, file_handle_size, (void *file))                                          \
    F(void, free_open_options, destroy_file_open_options, (void **options))                           \
    F(void, free_file, destroy_file_handle, (void **file))

typedef struct api {
#define MEMBER(returns, name, theirs, parameters) returns(*name) parameters;
    FUNCTIONS(MEMBER)
} api;

static const struct {
    const char *name;
    size_t at;
} functions[] = {
#define ENTRY(returns, name, theirs, parameters) {"duckdb_" #theirs, offsetof(api, name)},
    FUNCTIONS(ENTRY)};

const char *duckdb_version(void)
{
    char lacking[DUCKDB_LACKING_SIZE];
    const char *(*version)(void);
    void *library = duckdb_find(getenv("GREEDYSTEP_DUCKDB"), lacking);
    void *symbol = library != NULL ? dlsym(library, "duckdb_library_version") : NULL;
    if (symbol == NULL)
        return NULL;
    memcpy(&version, &symbol, sizeof symbol);
    return version();
}

/* The library's functions. */
static int load(api *out)
{
#ifdef __APPLE__
    static const char install[] = "brew install duckdb";
#else
    static const char install[] = "python3 -m pip install duckdb";
#endif
    char lacking[DUCKDB_LACKING_SIZE];
    const char *given = getenv("GREEDYSTEP_DUCKDB");
    void *library = duckdb_find(given, lacking);
    if (library == NULL && GREEDYSTEP_STATIC)
        return complain_failed("cannot read Parquet, --sql or object stores: this static build cannot load the DuckDB "
                               "library; use another build, or convert the rows to CSV");
    if (library == NULL && lacking[0] != '\0')
        return complain_failed("cannot load Python's DuckDB module without %s; install it: apt-get install %s", lacking,
                               lacking);
    if (library == NULL && given != NULL)
        return complain_failed("cannot load the DuckDB library that GREEDYSTEP_DUCKDB names: %s", dlerror());
    if (library == NULL)
        return complain_failed(
            "cannot find the DuckDB library, which reads Parquet, --sql and object stores; install it: %s", install);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *symbol = dlsym(library, functions[i].name);
        if (symbol == NULL) {
            dlclose(library);
            return complain_failed("the DuckDB library%s%s has no %s; install DuckDB 1.5 or later",
                                   given != NULL ? " " : "", given != NULL ? given : "", functions[i].name);
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
    bool has_ended; /* DuckDB 1.5 must not be asked again */
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
    if (of->has_ended)
        return 0;
    void *chunk = of->duck.next_chunk(of->rows);
    if (chunk == NULL) {
        of->has_ended = true;
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

/* The first cell of a query as text, to be freed by free_text; NULL after keep_error, and for a cell without a value.
 */
static char *ask(query *of, const char *sql)
{
    result answer = {0};
    of->error[0] = '\0';
    if (of->duck.query(of->connection, sql, &answer) != 0)
        keep_error(of, of->duck.result_error(&answer));
    char *text = of->error[0] == '\0' ? of->duck.text_at(&answer, 0, 0) : NULL;
    of->duck.free_result(&answer);
    return text;
}

static bool run(query *of, const char *sql)
{
    of->duck.free_text(ask(of, sql));
    return of->error[0] == '\0';
}

/* Opens DuckDB and, if the text names an object store, prepares that; nonzero after keep_error.
 *
 * Credentials are DuckDB's: its stored secrets, else the variables AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
 * AWS_SESSION_TOKEN and AWS_REGION, which httpfs reads itself, else the chain of its extension aws: profiles, single
 * sign-on, roles of machines. Without any, objects that everybody may read can be read. AWS_ENDPOINT_URL is where
 * another S3 server is, http://localhost:9000 for instance; httpfs does not read it. */
static int open_database(query *of, const char *text)
{
    if (of->duck.open(NULL, &of->database) != 0 || of->duck.connect(of->database, &of->connection) != 0)
        return keep_error(of, "it cannot be opened");
    run(of, "SET arrow_output_version = '1.4'; SET produce_arrow_string_view = true"); /* words are cheaper so */
    if (strstr(text, "://") == NULL)
        return 0;
    if (!run(of, "LOAD httpfs") && !run(of, "INSTALL httpfs; LOAD httpfs"))
        return EIO;
    if (strstr(text, "s3://") != NULL) {
        char *n_secrets = ask(of, "SELECT count(*) FROM duckdb_secrets() WHERE type = 's3'");
        if (n_secrets != NULL && strcmp(n_secrets, "0") == 0 && getenv("AWS_ACCESS_KEY_ID") == NULL)
            run(of, "CREATE SECRET (TYPE s3, PROVIDER credential_chain)");
        of->duck.free_text(n_secrets);
    }
    const char *url = getenv("AWS_ENDPOINT_URL"), *host = url != NULL ? strstr(url, "://") : NULL;
    char sql[512];
    if (host == NULL || strchr(host, '\'') != NULL)
        return 0;
    snprintf(sql, sizeof sql, "SET s3_endpoint = '%.*s'; SET s3_use_ssl = %s; SET s3_url_style = 'path'",
             (int)strcspn(host + 3, "/"), host + 3, strncmp(url, "https", 5) == 0 ? "true" : "false");
    return run(of, sql) ? 0 : EIO;
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
    /* As far as the first rows. */
    int failed = open_database(of, sql);
    if (failed == 0 && of->duck.prepare(of->connection, sql, &of->statement) != 0)
        failed = keep_error(of, of->duck.prepare_error(of->statement));
    if (failed == 0 && of->duck.start(of->statement, &of->pending) != 0)
        failed = keep_error(of, of->duck.start_error(of->pending));
    if (failed == 0 && of->duck.execute(of->pending, &of->rows) != 0)
        failed = keep_error(of, of->duck.result_error(&of->rows));
    if (failed != 0) {
        code = complain_failed("%s", of->error);
        free_query(of);
        return code;
    }
    of->options = of->duck.arrow_options(&of->rows);
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

/* Writes a text of SQL, and returns where it ends; at most 2 bytes per byte, and 3. */
static char *quote(char *at, const char *text)
{
    *at++ = '\'';
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            *at++ = '\'';
        *at++ = *text;
    }
    *at++ = '\'';
    *at = '\0';
    return at;
}

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
        at = quote(at, paths[i]);
        if (i + 1 < n_paths)
            *at++ = ',';
    }
    memcpy(at, tail, sizeof tail);
    return sql;
}

/* ---- files of object stores ------------------------------------------------------------------------------------- */

typedef struct store {
    query of;
    void *files;
} store;

typedef struct store_file {
    store *in;
    void *handle;
    char name[400]; /* for messages */
} store_file;

/* Takes the object that a call gave. A server that says no to who asks is told apart. */
static gsa_status fail_store(store *in, const char *what, const char *name, void *failure, gsa_error *error)
{
    check_conversion(&in->of, failure);
    const char *remedy = strstr(in->of.error, "403") == NULL ? "" : "; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
    *error = (gsa_error){.status = GSA_IO};
    snprintf(error->message, sizeof error->message, "cannot %s %s: %s%s", what, name, in->of.error, remedy);
    return GSA_IO;
}

static gsa_status open_file(void *ctx, const char *path, void **out, uint64_t *n_bytes, gsa_error *error)
{
    enum { FLAG_READ = 1 };
    store *in = ctx;
    api *duck = &in->of.duck;
    store_file *file = calloc(1, sizeof *file);
    void *options = duck->new_open_options();
    bool is_open = file != NULL && duck->set_open_option(options, FLAG_READ, true) == 0 &&
                   duck->open_file(in->files, path, options, &file->handle) == 0;
    duck->free_open_options(&options);
    int64_t size = is_open ? duck->size_of_file(file->handle) : -1;
    if (size < 0) {
        free(file);
        return fail_store(in, "open", path, duck->files_error(in->files), error);
    }
    file->in = in;
    snprintf(file->name, sizeof file->name, "%s", path);
    *out = file;
    *n_bytes = (uint64_t)size;
    return GSA_OK;
}

static gsa_status read_file(void *ctx, void *bytes, size_t size, size_t *got, gsa_error *error)
{
    store_file *file = ctx;
    api *duck = &file->in->of.duck;
    int64_t n = duck->read_file(file->handle, bytes, (int64_t)size);
    *got = n > 0 ? (size_t)n : 0;
    return n >= 0 ? GSA_OK : fail_store(file->in, "read", file->name, duck->file_error(file->handle), error);
}

static gsa_status seek_file(void *ctx, uint64_t at, gsa_error *error)
{
    store_file *file = ctx;
    api *duck = &file->in->of.duck;
    return duck->seek_file(file->handle, (int64_t)at) == 0
               ? GSA_OK
               : fail_store(file->in, "seek in", file->name, duck->file_error(file->handle), error);
}

static void close_file(void *ctx)
{
    store_file *file = ctx;
    file->in->of.duck.free_file(&file->handle);
    free(file);
}

static int add_name(duckdb_names *to, const char *name, size_t length)
{
    char **at = realloc(to->at, (to->n + 1) * sizeof *at), *copy = malloc(length + 1);
    if (at != NULL)
        to->at = at;
    if (at == NULL || copy == NULL) {
        free(copy);
        return complain_failed("out of memory");
    }
    memcpy(copy, name, length);
    copy[length] = '\0';
    to->at[to->n++] = copy;
    return EXIT_DONE;
}

/* Adds the files that a pattern names, in the order of their names. */
static int add_matching(store *in, const char *pattern, duckdb_names *to)
{
    static const char head[] = "SELECT string_agg(file, chr(10) ORDER BY file) FROM glob(";
    char *sql = malloc(sizeof head + 2 * strlen(pattern) + 4);
    if (sql == NULL)
        return complain_failed("out of memory");
    memcpy(sql, head, sizeof head);
    memcpy(quote(sql + sizeof head - 1, pattern), ")", 2);
    char *names = ask(&in->of, sql);
    free(sql);
    if (names == NULL)
        return complain_failed("cannot open %s: %s", pattern,
                               in->of.error[0] != '\0' ? in->of.error : "no object has such a name");
    int code = EXIT_DONE;
    for (const char *at = names; *at != '\0' && code == EXIT_DONE;) {
        size_t length = strcspn(at, "\n");
        code = add_name(to, at, length);
        at += length + (at[length] == '\n');
    }
    in->of.duck.free_text(names);
    return code;
}

int duckdb_open_files(const char *const *paths, size_t n_paths, gsa_file_source *out, duckdb_names *names)
{
    static store opened; /* a process is one run */
    query *of = &opened.of;
    int code = opened.files == NULL ? load(&of->duck) : EXIT_DONE;
    if (code == EXIT_DONE && opened.files == NULL) {
        void *context = NULL;
        if (open_database(of, paths[0]) != 0 || !run(of, "BEGIN")) /* files look their credentials up */
            return complain_failed("cannot open %s: %s", paths[0], of->error);
        of->duck.get_context(of->connection, &context);
        opened.files = of->duck.get_files(context);
        of->duck.free_context(&context);
    }
    *out = (gsa_file_source){.size = sizeof *out, &opened, open_file, read_file, seek_file, close_file};
    for (size_t i = 0; i < n_paths && code == EXIT_DONE; i++) {
        bool is_pattern = strpbrk(paths[i], "*?[") != NULL && strncmp(paths[i], "http", 4) != 0;
        code = is_pattern ? add_matching(&opened, paths[i], names) : add_name(names, paths[i], strlen(paths[i]));
    }
    return code;
}

void duckdb_free_names(duckdb_names *names)
{
    for (size_t i = 0; i < names->n; i++)
        free(names->at[i]);
    free(names->at);
}
