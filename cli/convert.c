/* `greedystep convert`: rows from one format to another, above all from text to a cache of parsed rows. */
#include "cluster.h"
#include "interrupt.h"
#include "message.h"
#include "output.h"
#include "progress.h"
#include "report.h"
#include "session.h"
#include "style.h"
#include "verbs.h"
#include "views.h"

#include "base/batch.h"
#include "base/error.h"

#include <greedystep/distributed.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const cli_option convert_options[] = {
    {"output", 'o', OPTION_TEXT, true, "FILE", NULL, 0, 0,
     "write the rows here; the name decides: cache (.gsac), Vowpal Wabbit (.vw) or libsvm text, compressed with .gz or "
     ".zst; in a folder, one cache per file"},
    {"format", 0, OPTION_CHOICE, false, "auto|libsvm|gsac|vw", "auto", 0, 0,
     "output format; auto: by the name of FILE"},
    {"local", 0, OPTION_FLAG, false, NULL, NULL, 0, 0,
     "with mpirun: each process has its own DATA files and converts all of them"},
    {"verify", 0, OPTION_FLAG, false, NULL, NULL, 0, 0, "read the cache back and fail unless it has the same rows"},
};

typedef struct converting {
    gsa_reader *reader;
    gsa_writer *writer;
    uint64_t n_files, n_rows, n_entries, n_features, n_bad_rows, bytes_read;
    bool verifies;
    gsa_fingerprint rows; /* what was written, if it is verified */
    cli_progress progress;
} converting;

static gsa_status copy_rows(converting *what, gsa_error *error)
{
    gsa_batch batch;
    gsa_status status;
    uint64_t feature;
    const char *name;
    while ((status = gsa_reader_next(what->reader, &batch, error)) == GSA_OK) {
        gsa_reader_progress reading = progress_of(what->reader);
        what->n_rows += batch.n_rows;
        for (size_t r = 0; r < batch.n_rows; r++) {
            gsai_row row = gsai_row_at(&batch, r);
            for (size_t i = 0; i < row.n; i++) {
                bool is_there = gsai_row_value(&row, i) != 0; /* a value of zero means the same as none */
                what->n_entries += is_there;
                if (is_there && gsai_row_id(&row, i) >= what->n_features)
                    what->n_features = (uint64_t)gsai_row_id(&row, i) + 1;
            }
        }
        if (gsa_reader_begins_file(what->reader))
            gsa_writer_begin_file(what->writer);
        /* Rows that there will be if the rest of the bytes is like those before; 0: unknown. */
        double expected = 0;
        if (reading.bytes_total > 0 && reading.bytes_read > 0)
            expected = (double)what->n_rows * (double)reading.bytes_total / (double)reading.bytes_read;
        progress_show_rows(&what->progress, "converted", what->n_rows, (uint64_t)expected);
        status = interrupt_should_stop(NULL) ? GSA_STOPPED : gsa_writer_write(what->writer, &batch, error);
        if (status != GSA_OK) {
            gsa_reader_locate(what->reader, &batch, error);
            return status;
        }
        if (what->verifies)
            gsa_fingerprint_add(&what->rows, &batch, NULL, batch.n_rows);
    }
    if (status != GSA_END)
        return status;
    for (size_t i = 0; (name = gsa_reader_name_at(what->reader, i, &feature)) != NULL; i++)
        GSA_TRY(gsa_writer_add_name(what->writer, feature, name, error));
    return GSA_OK;
}

/* Reads the file, a cache, back and compares it with what was written. */
static int verify(converting *what, const char *path, const gsai_env *env)
{
    gsa_error error = {0};
    gsa_reader *reader = NULL;
    gsa_fingerprint rows = {0};
    gsa_batch batch;
    gsa_status status = gsa_reader_open(&path, 1, NULL, &env->memory, &env->call, &reader, &error);
    while (status == GSA_OK && (status = gsa_reader_next(reader, &batch, &error)) == GSA_OK) {
        gsa_fingerprint_add(&rows, &batch, NULL, batch.n_rows);
        progress_show_rows(&what->progress, "verified", rows.n_rows, what->n_rows);
    }
    progress_clear(&what->progress);
    gsa_reader_close(reader);
    if (status != GSA_END)
        return complain_error(status, &error);
    if (rows.n_rows == what->rows.n_rows && rows.sum == what->rows.sum)
        return EXIT_DONE;
    return complain_failed("%s does not hold the rows that were written: %" PRIu64 " with fingerprint %016" PRIx64
                           ", read back %" PRIu64 " with %016" PRIx64 "; check disk and memory, and convert again",
                           path, what->rows.n_rows, what->rows.sum, rows.n_rows, rows.sum);
}

static void print_results(const converting *what, const char *path, double seconds)
{
    report_field("rows", "%" PRIu64, what->n_rows);
    if (what->n_bad_rows > 0)
        report_field("bad rows", "%" PRIu64 " (skipped)", what->n_bad_rows);
    report_field("features", "%" PRIu64, what->n_features);
    report_field("entries", "%" PRIu64, what->n_entries);
    report_field("bytes read", "%" PRIu64, what->bytes_read);
    struct stat facts;
    if (stat(path, &facts) == 0 && S_ISREG(facts.st_mode))
        report_field("bytes written", "%llu", (unsigned long long)facts.st_size);
    seconds = fmax(seconds, 1e-9);
    report_field("time", "%.2f s (%.0f rows/s)", seconds, (double)what->n_rows / seconds);
    report_field("speed", "%.0f MB/s read", (double)what->bytes_read / seconds * 1e-6);
    if (what->verifies)
        report_field("verified", "%" PRIu64 " rows, fingerprint %016" PRIx64, what->rows.n_rows, what->rows.sum);
    report_field("output", "%s", path);
}

/* Copies the rows of a reader, which follows the schema if there is one, to a file. */
static gsa_status copy(const cli_arguments *arguments, converting *what, const char *path, const char *schema,
                       const gsai_env *env, gsa_error *error)
{
    const char *format = arguments_text(arguments, "format");
    GSA_TRY(gsa_writer_open(path, strcmp(format, "auto") == 0 ? NULL : format, &env->memory, &env->call, &what->writer,
                            error));
    if (schema != NULL)
        GSA_TRY(gsa_reader_set_schema(what->reader, schema, error));
    GSA_TRY(session_begin_reader(what->reader, error));
    GSA_TRY(gsa_writer_set_schema(what->writer, gsa_reader_schema(what->reader), error));
    GSA_TRY(copy_rows(what, error));
    gsa_writer *writer = what->writer;
    what->writer = NULL;
    return gsa_writer_close(writer, error);
}

static int convert(const cli_arguments *arguments, converting *what, const char *path, const char *schema,
                   const gsai_env *env)
{
    gsa_error error = {0};
    progress_begin(&what->progress, style_is_on(stderr), NULL);
    what->rows = (gsa_fingerprint){0};
    gsa_status status = copy(arguments, what, path, schema, env, &error);
    gsa_reader_progress reading = progress_of(what->reader);
    what->n_bad_rows += reading.n_bad_rows;
    what->bytes_read += reading.bytes_read;
    progress_clear(&what->progress);
    session_tell_recoded(what->reader);
    gsa_writer_discard(what->writer);
    what->writer = NULL;
    if (status != GSA_OK)
        return complain_error(status, &error);
    return what->verifies ? verify(what, path, env) : EXIT_DONE;
}

/* Says whether the output is caches, not text. */
static bool makes_caches(const cli_arguments *arguments)
{
    static const char *const endings[] = {".gsac", ".gsac.gz", ".gsac.zst"};
    const char *path = arguments_text(arguments, "output"), *format = arguments_text(arguments, "format");
    bool is_named = session_is_folder(path);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        is_named = is_named || session_is_named(path, endings[i]);
    return strcmp(format, "gsac") == 0 || (strcmp(format, "auto") == 0 && is_named);
}

/* Text has no place for the offsets of columns. */
static int open_reader(const cli_arguments *arguments, size_t first, size_t n, const gsai_env *env, gsa_reader **out)
{
    gsa_reader_options wanted = {.remember_names = true, .without_offsets = !makes_caches(arguments)};
    return session_open_reader(arguments, &wanted, arguments->positional + first, n, env, out);
}

static int convert_to_file(const cli_arguments *arguments, const char *path, const gsai_env *env)
{
    converting what = {.verifies = arguments_flag(arguments, "verify")};
    if (what.verifies && (strcmp(path, "-") == 0 || !makes_caches(arguments)))
        return complain_usage("--verify is only for a cache in a file; leave it out");
    int code = session_check_not_input(arguments, "-o", path);
    double began = progress_clock();
    if (code == EXIT_DONE)
        code = open_reader(arguments, 0, arguments->n_positional, env, &what.reader);
    if (code == EXIT_DONE)
        code = convert(arguments, &what, path, NULL, env);
    if (code == EXIT_DONE && strcmp(path, "-") != 0 && !message_is_quiet())
        print_results(&what, path, progress_clock() - began);
    gsa_reader_close(what.reader);
    return code;
}

/* ---- a folder ---------------------------------------------------------------------------------------------------- */

enum { PATH_SIZE = 4096 };

/* The name of an input without its folders, compression and format, as a cache in the folder. */
static int cache_path(const char *folder, const char *input, char out[PATH_SIZE])
{
    static const char *const packed[] = {".gz", ".zst", ".xz", ".bz2"};
    const char *slash = strrchr(input, '/'), *name = slash != NULL ? slash + 1 : input;
    size_t size = strlen(name), folder_size = strlen(folder);
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++)
        if (session_is_named(name, packed[i])) {
            size -= strlen(packed[i]);
            break;
        }
    for (size_t i = size; i-- > 1;)
        if (name[i] == '.') {
            size = i;
            break;
        }
    int n =
        snprintf(out, PATH_SIZE, "%s%s%.*s.gsac", folder, folder[folder_size - 1] == '/' ? "" : "/", (int)size, name);
    return n < PATH_SIZE ? EXIT_DONE : complain_failed("the name of the cache of %s is too long", input);
}

/* Refuses what cannot be a file of the folder: streams, other formats, inputs whose caches would have one name, and a
 * cache that would replace its input. */
static int check_names(const cli_arguments *arguments, const char *folder)
{
    char path[PATH_SIZE], other[PATH_SIZE];
    const char *format = arguments_text(arguments, "format");
    struct stat facts;
    if (strcmp(format, "auto") != 0 && strcmp(format, "gsac") != 0)
        return complain_usage("only caches can be written to a folder; leave out --format %s", format);
    for (size_t i = 0; i < arguments->n_positional; i++) {
        const char *input = arguments->positional[i];
        if (strcmp(input, "-") == 0 || (stat(input, &facts) == 0 && S_ISFIFO(facts.st_mode)))
            return complain_failed("%s is a stream and has no name for a cache; give a file as -o, not a folder",
                                   input);
    }
    for (size_t i = 0; i < arguments->n_positional; i++) {
        int code = cache_path(folder, arguments->positional[i], path);
        if (code == EXIT_DONE)
            code = session_check_not_input(arguments, "-o", path);
        for (size_t k = 0; k < i && code == EXIT_DONE; k++) {
            code = cache_path(folder, arguments->positional[k], other);
            if (code == EXIT_DONE && strcmp(path, other) == 0)
                code = complain_failed("%s and %s would both become %s; convert them to two folders",
                                       arguments->positional[k], arguments->positional[i], path);
        }
        if (code != EXIT_DONE)
            return code;
    }
    return EXIT_DONE;
}

/* Reads the columns of the first file, which are those of all files; that of rank 0 decides for all ranks. The text is
 * to be freed; NULL: no columns. */
static int find_schema(const cli_arguments *arguments, cli_cluster *cluster, const gsai_env *env, char **schema)
{
    gsa_error error = {0};
    gsa_reader *reader = NULL;
    int code = open_reader(arguments, 0, 1, env, &reader);
    gsa_status status = code == EXIT_DONE ? gsa_reader_begin(reader, &error) : GSA_OK;
    if (status != GSA_OK)
        code = complain_error(status, &error);
    const char *text = code == EXIT_DONE ? gsa_reader_schema(reader) : NULL;
    *schema = cluster_broadcast(cluster, text);
    if (cluster_is_root(cluster) && text != NULL && *schema == NULL)
        code = complain_failed("out of memory");
    gsa_reader_close(reader);
    return cluster_agree(cluster, code);
}

/* Adds up what all ranks have converted. */
static int add_ranks(const cli_cluster *cluster, converting *what)
{
    const gsa_comm *comm = cluster->comm;
    gsa_error error = {0};
    const unsigned char *all;
    const size_t *sizes;
    converting each;
    if (comm == NULL)
        return EXIT_DONE;
    gsa_status status = comm->allgather(comm->ctx, what, sizeof *what, &all, &sizes, &error);
    if (status != GSA_OK)
        return complain_error(status, &error);
    *what = (converting){.verifies = what->verifies};
    for (size_t r = 0; r < comm->n_ranks; r++) {
        memcpy(&each, all + r * sizeof each, sizeof each);
        what->n_files += each.n_files;
        what->n_rows += each.n_rows;
        what->n_entries += each.n_entries;
        what->n_bad_rows += each.n_bad_rows;
        what->bytes_read += each.bytes_read;
        what->n_features = each.n_features > what->n_features ? each.n_features : what->n_features;
    }
    return EXIT_DONE;
}

/* One cache per file, by all ranks. */
static int convert_to_folder(const cli_arguments *arguments, const char *folder, cli_cluster *cluster,
                             const gsai_env *env)
{
    converting what = {.verifies = arguments_flag(arguments, "verify")};
    double began = progress_clock();
    char path[PATH_SIZE], *schema = NULL;
    bool is_local = arguments_flag(arguments, "local");
    size_t n_ranks = cluster->comm != NULL && !is_local ? cluster->comm->n_ranks : 1;
    size_t rank = cluster->comm != NULL ? cluster->comm->rank : 0;
    int code = cluster_agree(cluster, check_names(arguments, folder));
    if (code == EXIT_DONE)
        code = find_schema(arguments, cluster, env, &schema);
    for (size_t i = is_local ? 0 : rank; i < arguments->n_positional && code == EXIT_DONE; i += n_ranks) {
        code = cache_path(folder, arguments->positional[i], path);
        if (code == EXIT_DONE)
            code = open_reader(arguments, i, 1, env, &what.reader);
        if (code == EXIT_DONE)
            code = convert(arguments, &what, path, i + rank > 0 ? schema : NULL, env);
        what.n_files += code == EXIT_DONE;
        gsa_reader_close(what.reader);
        what.reader = NULL;
    }
    free(schema);
    code = cluster_agree(cluster, code);
    if (code == EXIT_DONE)
        code = add_ranks(cluster, &what);
    what.rows = (gsa_fingerprint){.n_rows = what.n_rows};
    what.verifies = false; /* said by not failing */
    if (code == EXIT_DONE && cluster_is_root(cluster) && !message_is_quiet()) {
        report_field("files", "%" PRIu64, what.n_files);
        print_results(&what, folder, progress_clock() - began);
    }
    return code;
}

static int run_convert(const cli_arguments *arguments)
{
    gsai_env env = session_env(arguments);
    const char *path = arguments_text(arguments, "output");
    cli_cluster cluster = {0};
    interrupt_catch();
    int code = cluster_join(&cluster, false);
    if (code != EXIT_DONE)
        return code;
    if (session_is_folder(path))
        code = convert_to_folder(arguments, path, &cluster, &env);
    else if (cluster.comm == NULL)
        code = convert_to_file(arguments, path, &env);
    else
        code = complain_failed("%zu processes cannot write one file: give a folder, -o FOLDER/", cluster.comm->n_ranks);
    return cluster_leave(&cluster, code);
}

const cli_verb convert_verb = {
    .name = "convert",
    .usage = "DATA... -o FILE [OPTIONS]",
    .summary = "convert rows to a cache that loads without parsing, or to text",
    .details = "Reads DATA and writes its rows to one file. A cache (FILE.gsac) contains parsed rows: every command "
               "reads it in place of text, faster and with the same results. libsvm text loses the columns of a table "
               "and row weights; Vowpal Wabbit text (FILE.vw) can only hold rows that came with feature numbers.\n\nIf "
               "FILE is a folder, every DATA file becomes a cache there, and processes started by mpirun divide the "
               "files among themselves. Use such caches to train with several processes.",
    .examples = "# parse once, train many times\n"
                "greedystep convert train.svm -o train.gsac\n"
                "greedystep train train.gsac -o my.model\n"
                "# the rows of a table as libsvm text, compressed\n"
                "greedystep convert clicks.csv --label clicked -o clicks.svm.gz",
    .options = convert_options,
    .n_options = sizeof convert_options / sizeof *convert_options,
    .reads_data = true,
    .positional = "DATA",
    .run = run_convert,
};
